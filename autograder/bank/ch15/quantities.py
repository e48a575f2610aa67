"""What several questions of the capstone compute with."""

from __future__ import annotations

from autograder.items import lazily

checkpoints = lazily("solutions.ch15.checkpointing")

PARAMETERS = 405e9


def interval_of(stall: float, mtbf: float, method: str = "daly") -> float:
    return checkpoints.optimal_checkpoint_interval(stall, mtbf, method)
