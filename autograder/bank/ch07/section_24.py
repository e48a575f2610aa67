"""Section 7.24, Groups of a mesh: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="07-group-counts",
        kind="derive",
        title="Groups of a mesh",
        section="7.24",
        bonus=True,
        parts=tuple(
            Part(
                f"{axis} groups",
                "groups",
                partial(int.__floordiv__, 1024, size),
                tolerance=0,
                slips=(Slip(sentence, value=wrong),),
            )
            for axis, size, sentence, wrong in (
                ("TP", 8, "That is the size of one group.", 8),
                ("PP", 4, "That is the size of one group.", 4),
                ("DP", 32, "Each of the 32 places in a replica has a group of its own.", 1),
            )
        ),
        derivation="Every GPU is in one group of each axis, so an axis of size $n$ has $1024 / n$ groups.",
    ),
)
