"""What a worker keeps between runs, and how ranks meet in ``new_group``: as in processes that start anew."""

from __future__ import annotations

import random

import pytest

from tests.autograder.page.headless import Page

IMPORTS = """import torch
import torch.distributed as dist
from rankzero import world
from experiments.ch04.hierarchical_all_reduce import hierarchical_all_reduce, uncut_all_reduce
"""
GROUPS = """def groups(makers):
    made = []
    for ranks in ([0, 1], [2, 3]):
        if dist.get_rank() in makers(ranks):
            made.append(dist.new_group(ranks))
    return len(made)


"""


@pytest.fixture(scope="module")
def page():
    with Page(4) as opened:
        yield opened


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize("name", ["hierarchical_all_reduce", "uncut_all_reduce"])
def test_what_a_module_keeps_belongs_to_one_run(page, name):
    """Kills groups of an earlier run: this module makes its groups once in a process and keeps them."""
    for _ in range(2):
        reply = page.run(f"print(world.run({name}, torch.ones(4), 2, ranks=4).values[3])", before=IMPORTS)
        assert reply["why"] == ""
        assert page.printed == ["tensor([4., 4., 4., 4.])"]


def test_all_ranks_meet_in_new_group(page):
    """Members or not: then every rank has both groups, and the run counts no operation for it."""
    reply = page.run(f"{GROUPS}print(world.run(groups, lambda ranks: range(4), ranks=4).values)", before=IMPORTS)
    assert page.printed == ["(2, 2, 2, 2)"]
    assert reply["world"]["events"] == []


def test_ranks_wait_in_new_group_for_one_that_does_not_call_it(page):
    """Kills a group that its first member makes alone; the words are those of a real world."""
    reply = page.run(f"{GROUPS}world.run(groups, lambda ranks: ranks[:1], ranks=4)", before=IMPORTS)
    assert reply["why"].splitlines()[0] == (
        "WorldError: deadlock: rank 0 waits in new_group([0, 1]) at line 5; rank 1 has finished; "
        "rank 2 waits in new_group([2, 3]) at line 5; rank 3 has finished"
    )


LEFT = """import random
import warnings
def left():
    warnings.warn("shown each time")
    seen = torch.ones(1, requires_grad=True).sum().requires_grad, random.random()
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")
    return seen


run = world.run(left, ranks=2)
print(run.values)
print(run.text)
"""


def test_what_a_function_leaves_set_belongs_to_one_run(page):
    """Kills a run that lacks gradients, a rank's own random numbers or warnings because of the run before."""
    numbers = tuple((True, random.Random(rank).random()) for rank in range(2))
    for _ in range(2):
        assert page.run(LEFT, before=IMPORTS)["why"] == ""
        assert page.printed == [f"{numbers}", *["cell line 4: UserWarning: shown each time"] * 2]
