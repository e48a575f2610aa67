"""Section 3.18, A job that hangs: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-hang",
        kind="trace",
        title="Four dumps",
        section="3.18",
        bonus=True,
        options=(
            "look at the stack of rank 0, which timed out first",
            "look at the stack of rank 2: what keeps it from its call 812?",
            "compare the shapes of call 812: the ranks disagree about it",
            "raise the timeout: the all-reduce is large, and three ranks are still in it",
        ),
        correct=1,
        derivation=(
            "Three ranks wait in call 812. Rank 2 has finished call 811 and has not made the next: it may be loading "
            "data, saving, in a loop of its own or stopped by an error. The dump names the rank; its stack, as py-spy "
            "prints it, says where in the program it is."
        ),
        slips={
            0: "Who times out first only waited first. Rank 0 is in the call where it belongs.",
            2: "Then rank 2 would be in a call 812, too, of another shape. It has not made one.",
            3: "4 MB take less than a second. The three wait for rank 2, and with a longer timeout they wait longer.",
        },
    ),
)
