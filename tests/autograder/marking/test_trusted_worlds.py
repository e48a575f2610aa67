"""Trusted programs in worlds: the log of a case holds what the program did in it, and nothing else."""

from __future__ import annotations

import torch
import torch.distributed as dist

from autograder.items import Build, Case
from autograder.marking import trusted_worlds


def two_flags(rank):
    """All-reduces one byte, as a program does whose ranks agree on a yes or no, then eight."""
    flag = torch.zeros(1, dtype=torch.uint8)
    dist.all_reduce(flag)
    dist.all_reduce(torch.zeros(8, dtype=torch.uint8))
    return flag.item()


def test_a_message_of_one_byte_does_not_begin_another_case():
    item = Build("03 target.two_flags", "3.1", "boundary", (), (), (), grade="world")
    cases = [Case(((0,), (1,)))] * 2
    outcomes = trusted_worlds.together(item, two_flags, cases, timeout=20.0)
    for outcome in outcomes:
        sent = [(event.rank, event.sent) for event in outcome.events if event.operation == "all_reduce"]
        assert sorted(sent) == [(0, 1), (0, 8), (1, 1), (1, 8)]


def fails_on_rank_1():
    if dist.get_rank() == 1:
        raise KeyError("no")
    dist.barrier()


def test_a_program_that_fails_costs_no_other_its_answers():
    """Kills: a bank of which nothing can be judged because of one reference."""
    bad, good = (Build(f"03 target.{n}", "3.1", "failure", (), (), (), grade="world") for n in ("bad", "good"))
    broken = trusted_worlds.Run(bad, fails_on_rank_1, Case(((), ())))
    right = trusted_worlds.Run(good, two_flags, Case(((0,), (1,))))
    outcomes = trusted_worlds.ended([right, broken, right], timeout=20.0)
    assert [outcome.kind for outcome in outcomes] == ["value", "raised", "value"]
    assert outcomes[1].error == "KeyError on rank 1 only"
    assert [len(outcome.events) for outcome in outcomes[::2]] == [4, 4]
