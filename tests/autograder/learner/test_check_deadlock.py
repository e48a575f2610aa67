"""A deadlock inside ``check`` is told at once, however long a case may take."""

from __future__ import annotations

import pytest

from autograder import bank, check
from autograder.learner import checking
from rankzero.world import launch
from rankzero.world.reports import explain

PROGRAMS = {
    "nobody sends": "    dist.recv(torch.ones(1), (dist.get_rank() + 1) % dist.get_world_size())",
    "one leaves": "    if dist.get_rank():\n        dist.barrier()",
    "a handle": "    dist.isend(torch.ones(1), (dist.get_rank() + 1) % dist.get_world_size()).wait()",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_ranks_that_wait_for_each_other_are_told_in_check(name, monkeypatch, tmp_path, capsys):
    """Kills: 13 to 26 seconds of silence in a notebook."""
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path))
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)
    monkeypatch.setattr(checking, "TIME", 200.0)
    endings = []
    monkeypatch.setattr(launch, "explain", lambda ending, *rest: endings.append(ending) or explain(ending, *rest))
    names: dict = {"__name__": "__main__"}
    source = f"import torch\nimport torch.distributed as dist\ndef roll_call(value):\n{PROGRAMS[name]}\n    return []\n"
    exec(compile(source, "<ipython-input-1>", "exec"), names)
    assert check(names["roll_call"]) is bank.find_function("roll_call").solution()
    assert endings == ["stuck"]
    assert "deadlock" in capsys.readouterr().out
