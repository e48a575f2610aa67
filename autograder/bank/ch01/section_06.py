"""Section 1.6, Groups: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-own-groups-only",
        kind="debug",
        title="Each rank makes its own groups",
        section="1.6",
        options=(
            "runs differ: a hang, wrong sums, or the right ones",
            "the same sums as before, with half as many calls",
            "an error on every rank: the calls do not match",
            "a hang in every run: all ranks wait in new_group",
        ),
        correct=0,
        derivation="Each process counts the groups it has made, and members meet by that count. Rank 0's first "
        "group is [0, 2] and rank 1's first group is [1, 3]. Both are number 1, so ranks meet that do not belong "
        "together. Whether they hang, add up wrong numbers or come through unharmed depends on who arrives first.",
        slips={
            1: "With fewer calls, two different groups get the same number, and their members mix.",
            2: "Nobody compares the calls, and that is the trouble: a wrong meeting looks like a right one.",
            3: "That happens in some runs. In others all ranks finish, with wrong sums or by luck the right ones.",
        },
    ),
)
