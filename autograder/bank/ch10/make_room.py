"""Chapter 10: ``make_room``, preemption."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


def _one(rng: Random) -> Case:
    """The pool is full and one of the first needs a block: the last one goes."""
    held = [rng.randint(1, 6) for _ in range(rng.randint(3, 6))]
    need = [0] * len(held)
    need[rng.randrange(len(held) - 2)] = 1
    return Case((held, need, 0))


def _enough(rng: Random) -> Case:
    held = [rng.randint(1, 6) for _ in range(rng.randint(2, 6))]
    need = [rng.randint(0, 2) for _ in held]
    return Case((held, need, sum(need) + rng.randint(0, 3)))


def _several(rng: Random) -> Case:
    """A chunk that needs more than the last one holds."""
    held = [rng.randint(1, 3) for _ in range(rng.randint(4, 7))]
    need = [rng.choice((0, 0, 1)) for _ in held]
    need[rng.randint(0, 1)] = rng.randint(3, 6)
    return Case((held, need, rng.randint(0, 2)))


def _itself(rng: Random) -> Case:
    """The one that needs blocks is the last that runs."""
    held = [rng.randint(1, 6) for _ in range(rng.randint(2, 6))]
    need = [0] * (len(held) - 1) + [rng.randint(1, 4)]
    return Case((held, need, rng.randint(0, need[-1] - 1)))


def _mixed(rng: Random) -> Case:
    held = [rng.randint(0, 6) for _ in range(rng.randint(3, 8))]
    need = [rng.choice((0, 0, 1, rng.randint(0, 4))) for _ in held]
    return Case((held, need, rng.randint(0, 3)))


EXERCISE = Build(
    "10 scheduler.make_room",
    section="10.4",
    topic="preemption",
    cases=(
        Case(([3, 2, 1], [1, 0, 0], 0)),
        Case(([3, 2, 1], [0, 0, 1], 0)),
        Case(([3, 2, 1], [0, 0, 1], 1)),
        Case(([1, 1, 1], [2, 0, 0], 0)),
        Case(([5, 5], [0, 1], 0)),  # vLLM, tests/v1/core/test_scheduler.py
        Case(([], [], 6)),
    ),
    groups=(
        Group("a full pool", _one, 5, "One block is missing: who leaves, and what is free afterwards?"),
        Group("blocks for all", _enough, 4, "Nobody leaves while there are blocks; what is taken is not free."),
        Group("several leave", _several, 5, "The next one leaves only while blocks are still missing."),
        Group("the last one needs a block", _itself, 4, "It preempts itself, and gives back what it holds."),
        Group("everything mixed", _mixed, 6, "Take the requests in turn; each first makes room, then takes."),
    ),
    slips=(
        Slip(
            "The request that was admitted last is preempted, not the first.",
            edit=("            free += held[going]\n", "            free += held[len(held) - 1 - going]\n"),
        ),
        Slip(
            "A request that is preempted gives back all blocks that it holds.",
            edit=("            free += held[going]\n", "            free += 1\n"),
        ),
        Slip(
            "Blocks that a request takes are not free for the next one.",
            edit=("        free -= blocks\n", ""),
        ),
        Slip(
            "A request that is still short of blocks when all behind it have left is preempted itself.",
            edit=("going > turn:", "going > turn + 1:"),
        ),
        Slip(
            "Preempt only while blocks are missing: with just enough nobody leaves.",
            edit=("while blocks > free", "while blocks and blocks >= free"),
        ),
    ),
    promises=(
        Promise("one after the other", edit=("enumerate(need)", "enumerate([sum(need)] * bool(need))")),
        Promise(
            "that may be the request itself",
            edit=("going > turn:", "going > turn + 1:"),
        ),
    ),
)
