"""Kernels that are forked: no notebook can tell them from others, or knows of another notebook."""

from __future__ import annotations

import os

import nbformat
import pytest

from tools import execute, kernels
from tools.common import kernel_environment

#: What a page could tell its kernel by, on lines of their own.
TOLD = """import json, os, signal, sys, warnings
import matplotlib
import torch
from rankzero import world
from rankzero.explore.display import still
apart = {"JPY_PARENT_PID", "MPLBACKEND", "PWD"}
print(json.dumps({name: value for name, value in os.environ.items() if name not in apart}, sort_keys=True))
print(sys.path, [os.path.basename(sys.argv[0]), *sys.argv[3:]], os.listdir(), __name__, sys.stdin.fileno())
print(matplotlib.rcParams["backend"], torch.get_num_threads())
print([signal.getsignal(one) for one in (signal.SIGCHLD, signal.SIGTERM)], os.getsid(0) == os.getpid() == os.getpgid(0))
print("leftover" in globals(), hasattr(sys, "leftover"), "LEFTOVER" in os.environ)
print(sorted(name for name in sys.modules if name.startswith(("tools", "tests", "solutions", "experiments"))))
leftover = sys.leftover = os.environ["LEFTOVER"] = "left"
print(world.run(sum, [1, 2], ranks=2).values)
point = {"mark": "point", "data": {"values": [{"a": 1}, {"a": 2}]}, "encoding": {"x": {"field": "a"}}}
print(*(still(lambda: point, {}, "point") for _ in range(2)))"""


def told(path, server):
    run = execute.execute(path, "", server=server)
    assert run.notebook.cells[0].outputs, run.failure
    return "".join(output.text for output in run.notebook.cells[0].outputs)


@pytest.mark.proof(part="notebooks")
def test_a_forked_kernel_is_like_any_other(tmp_path, monkeypatch):
    for name, value in kernel_environment().items():
        monkeypatch.setenv(name, value)
    page = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(TOLD)]), page)
    with kernels.server() as server:
        assert told(page, server) == told(page, server) == told(page, None)
        left = kernels.ask(server, arguments=["-f", str(tmp_path / "c")], folder=str(tmp_path), environment={})
    left.wait(30.0)  # it goes with its server
    assert not os.path.exists(server)
