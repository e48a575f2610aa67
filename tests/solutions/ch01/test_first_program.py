"""The first program on real ranks: what every rank hears, and what it costs."""

from __future__ import annotations

import pytest
import torch.distributed as dist

from rankzero import world
from solutions.ch01.first_program import debug_gather, roll_call

SAID = (-2.5, 1e300, 0.1, 0.1)


def say(numbers: tuple[float, ...]) -> tuple[list[float], list[float]]:
    mine = numbers[dist.get_rank()]
    return roll_call(mine), debug_gather(mine)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_everyone_hears_everyone_in_rank_order(ranks):
    """Kills one buffer for all, sorted values, float32, and a result on rank 0 only."""
    run = world.run(say, SAID[:ranks], ranks=ranks)
    for heard, _ in run.values:
        assert heard == list(SAID[:ranks])


def test_the_mended_program_hears_everyone():
    run = world.run(say, (0.0, 10.0, 20.0, 30.0), ranks=4)
    assert all(heard == [0, 10, 20, 30] for _, heard in run.values)


def test_one_all_gather_of_eight_bytes():
    ledger = world.run(roll_call, 7.5, ranks=4).ledger()
    assert ledger.operations == ("all_gather",)
    for rank in range(4):
        assert (ledger.calls(rank), ledger.sent(rank), ledger.received(rank)) == (1, 8, 32)
