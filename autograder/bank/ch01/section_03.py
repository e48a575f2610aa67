"""Section 1.3, Hello world: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-order-of-arrival",
        kind="trace",
        title="Order in a world of eight",
        section="1.3",
        options=(
            "it is in rank order, whoever reaches the call first",
            "it is in the order in which the ranks reached the call",
            "it is in rank order, because the ranks reach the call in rank order",
            "it starts with the rank's own pair, so it differs from rank to rank",
        ),
        correct=0,
        derivation="An all-gather promises where each value ends up: entry $r$ is what rank $r$ handed in. It promises "
        "nothing about when anybody calls it; the operating system decides that, and it may differ in every run.",
        slips={
            1: "Then the list could differ from run to run. The place in the list is the sender's rank.",
            2: "Nothing makes rank 0 call first: eight independent processes run at their own pace.",
            3: "The list is the same on every rank: rank 5's own pair is at place 5.",
        },
    ),
)
