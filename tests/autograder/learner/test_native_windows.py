"""On a system without fork pages open, what needs no ranks works, and the rest is refused in one sentence."""

from __future__ import annotations

import json

import native_windows
import pytest

from autograder import bank
from autograder.sandbox.layers import NO_GRADING
from rankzero.world import systems

#: The tests share one process.
pytestmark = pytest.mark.xdist_group("native windows")

#: What stands between the programs of one process.
END = "-- the next program --"

OPENED = """
import ast, json
from pathlib import Path
for page in sorted([*Path("book").glob("[01]*.ipynb"), *Path("book/deeper").glob("*.ipynb")]):
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {"__name__": "__main__"}
    exec("\\n".join(code[:2]).replace("%pip", "pass  #"), names)
    for cell in code[2:]:
        imports = [one for one in ast.parse(cell).body if isinstance(one, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), page.name, "exec"), names)
    print(page.stem)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each of the programs prints, in one process one after the other: libraries are imported once."""
    folder = tmp_path_factory.mktemp("windows")
    programs = (REFUSALS, COMMANDS.replace("ABSENT", str(folder / "graded")), CHECKS)
    printed = native_windows.run(f"print({END!r})\n".join(programs), RANKZERO_DATA=str(folder / "data"))
    return dict(zip(("refusals", "commands", "checks"), printed.split(f"{END}\n"), strict=True))


@pytest.mark.proof(part="pages")
def test_every_page_opens(tmp_path):
    """Kills: a first cell that stops at ``os.register_at_fork``, or an import of ``fcntl`` below it."""
    opened = native_windows.run(OPENED, RANKZERO_DATA=str(tmp_path)).split()
    pages = [*native_windows.ROOT.glob("book/[01]*.ipynb"), *native_windows.ROOT.glob("book/deeper/*.ipynb")]
    assert sorted(opened) == sorted(page.stem for page in pages)


REFUSALS = """
from rankzero import world
from rankzero.world import shared_weights

world.prepare("json")
for start in (lambda: world.run(print), lambda: shared_weights.create(8).__enter__()):
    try:
        start()
    except (world.WorldError, OSError) as error:
        print(error)
print(vars(world.launch.forkserver)["_forkserver"])
"""


@pytest.mark.proof(part="bank")
def test_a_world_is_refused_in_one_sentence(said):
    assert said["refusals"].splitlines() == [
        systems.WITHOUT_FORK,
        f"weights are shared through named pipes, which Windows does not have: use {systems.ELSEWHERE}",
        "None",
    ]


COMMANDS = """
from autograder.__main__ import main
for command in ("grade labs", "verify --only 03-traffic", "grade-class labs --out ABSENT", "probe"):
    print(main(command.split()))
"""


@pytest.mark.proof(part="bank")
def test_every_command_that_runs_submissions_is_refused_in_one_sentence(said):
    """Kills: ``import pwd``, and a grader that fails half-way."""
    lines = said["commands"].splitlines()
    assert lines.count(f"autograder: {NO_GRADING}") == 3
    assert lines[-2:] == [NO_GRADING, "0"]
    assert [line for line in lines if line in "0123"] == ["3", "3", "3", "0"]


CHECKS = """
import torch
from autograder import check

def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):
    return 6 * (ranks - 1) * (latency + message_bytes / ranks / bandwidth)

def mask_logits(logits, allowed):
    print("called")
    return torch.where(allowed, logits, -torch.inf)

def ring_all_reduce(x):
    return x

for mine in (ring_all_reduce_time, mask_logits, ring_all_reduce):
    print(check(mine) is mine)
"""


@pytest.mark.proof(part="bank")
def test_plain_and_tensor_functions_are_checked_and_ranks_are_refused(said):
    tensor = said["checks"]
    plain, ranks = tensor.split("11-mask-logits: ")[0], tensor.splitlines()[-2:]
    assert "the value is 3x too large" in plain
    assert "called" in tensor
    assert ranks == [
        f"03-ring-all-reduce: {systems.WITHOUT_FORK}. Later cells use the reference.",
        "False",
    ]


REFERENCES = """
import json
from autograder import bank
from autograder.sandbox.layers import NO_GRADING
from autograder.learner.reports import public_paper
from autograder.marking import trusted

faults = {}
for item in bank.builds():
    if item.grade == "tensor":
        outcomes = trusted.run(item, item.solution(), item.cases, 60.0)
        faults[item.id] = [public_paper(item).fault(*pair) for pair in enumerate(outcomes)]
print(json.dumps(faults))
"""


@pytest.mark.proof(part="runs")
def test_every_tensor_function_is_checked_without_ranks():
    faults = json.loads(native_windows.run(REFERENCES).splitlines()[-1])
    assert set(faults) == {item.id for item in bank.builds() if item.grade == "tensor"}
    assert not any(any(found) for found in faults.values())
