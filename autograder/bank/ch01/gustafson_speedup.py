"""Chapter 1: ``gustafson_speedup``, speed-up."""

from __future__ import annotations

from autograder.bank.ch01.shared import GROUPS
from autograder.items import Build, Case, Promise, Right, Slip

EXERCISE = Build(
    "01 scaling.gustafson_speedup",
    section="1.13",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.004, 1024)),  # measured in 1988: 1020
        Case((0.008, 1024)),  # measured in 1988: 1016
        Case((0.1, 8)),
        Case((1.0, 64)),
    ),
    groups=GROUPS,
    slips=(
        Slip(
            "Serial and parallel part are swapped.",
            edit=("ranks - serial_fraction * (ranks - 1)", "1 - serial_fraction + serial_fraction * ranks"),
        ),
        Slip(
            "That is for a problem that stays: here it grows with the ranks.",
            edit=("ranks - serial_fraction * (ranks - 1)", "1 / (serial_fraction + (1 - serial_fraction) / ranks)"),
        ),
        Slip(
            "The serial part was left out: it is done once, in its share of the time.",
            edit=("ranks - serial_fraction * (ranks - 1)", "(1 - serial_fraction) * ranks"),
        ),
    ),
    rights=(
        Right(
            "parts added",
            edit=("ranks - serial_fraction * (ranks - 1)", "serial_fraction + (1 - serial_fraction) * ranks"),
        ),
        Right("above one", edit=("ranks - serial_fraction * (ranks - 1)", "1 + (ranks - 1) * (1 - serial_fraction)")),
    ),
    promises=(
        Promise(
            "each does the parallel work that one rank did alone before",
            edit=("ranks - serial_fraction * (ranks - 1)", "ranks / (1 + serial_fraction * (ranks - 1))"),
        ),
    ),
)
