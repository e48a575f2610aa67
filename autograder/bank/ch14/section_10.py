"""Section 14.10, Two processes that do not wait: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-bound-four",
        kind="trace",
        title="A larger bound",
        section="14.10",
        options=(
            "Next to none: one side works nearly all the time already, and the other waits for it",
            "About as much as a bound of 1 gained over 0",
            "Four times what a bound of 1 gained",
            "It takes longer: older answers teach less",
        ),
        correct=0,
        derivation="Batches are alike here, so that one side is always the slower one. At a bound of 1 it hardly waits "
        "any more, and nobody can wait less than not at all.",
        slips={
            1: "A bound of 1 ended the turns; there are none left to end.",
            2: "A bound says how far one side may run ahead. It runs only as far as the other one lags.",
            3: "How much an answer teaches does not change the time of an update.",
        },
    ),
)
