"""What several questions of chapter 2 compute with."""

from __future__ import annotations

from autograder.bank.ch02.shared import ring
from autograder.items import lazily

deadlock = lazily("solutions.ch02.deadlock")


def rounds(ranks: int, first_receiver: bool) -> int:
    """Rounds of a ring in which rank 0 alone receives first, or else every odd rank."""
    programs = ring(ranks, (lambda rank: rank != 0) if first_receiver else (lambda rank: rank % 2 == 0))
    return deadlock.simulate(programs)[0]
