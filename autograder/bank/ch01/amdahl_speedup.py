"""Chapter 1: ``amdahl_speedup``, speed-up."""

from __future__ import annotations

from autograder.bank.ch01.shared import GROUPS
from autograder.items import Build, Case, Right, Slip

EXERCISE = Build(
    "01 scaling.amdahl_speedup",
    section="1.13",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.05, 16)),
        Case((0.1, 8)),
        Case((0.004, 1024)),  # the fixed problem of Gustafson (1988): about 201
        Case((0.0, 64)),
    ),
    groups=GROUPS,
    slips=(
        Slip(
            "Serial and parallel part are swapped.",
            edits=(
                ("return ranks", "return 1"),
                ("1 + serial_fraction * (ranks - 1)", "1 - serial_fraction + serial_fraction / ranks"),
            ),
        ),
        Slip(
            "That is for a problem that grows with the ranks: here it stays.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "serial_fraction + (1 - serial_fraction) * ranks"),
        ),
        Slip(
            "That is the limit for many ranks: the parallel part takes time too.",
            edit=(
                "ranks / (1 + serial_fraction * (ranks - 1))",
                "min(1 / serial_fraction, ranks) if serial_fraction else ranks",
            ),
        ),
        Slip(
            "That is the time that is left: the speed-up is one over it.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "serial_fraction + (1 - serial_fraction) / ranks"),
        ),
        Slip(
            "The serial part was left out: no number of ranks makes it shorter.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "(1 - serial_fraction) * ranks"),
        ),
    ),
    rights=(
        Right(
            "time that is left",
            edit=(
                "ranks / (1 + serial_fraction * (ranks - 1))",
                "1 / (serial_fraction + (1 - serial_fraction) / ranks)",
            ),
        ),
        Right(
            "shared out",
            edit=(
                "ranks / (1 + serial_fraction * (ranks - 1))",
                "ranks / (ranks * serial_fraction + 1 - serial_fraction)",
            ),
        ),
    ),
)
