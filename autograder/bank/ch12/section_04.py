"""Section 12.4, A second network that expects: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-cutoff",
        kind="trace",
        title="The step at the limit",
        section="12.4",
        options=(
            "a catastrophe: 49 less than expected",
            "as good as every other push: 0",
            "slightly worse than the others: 1 less than expected",
            "better than the others: the limit was reached",
        ),
        correct=0,
        derivation="$\\delta = 1 + 0.98\\,V(s') - 50$. With $V(s') = 0$, as behind an end, that is $1 - 50$. With "
        "$V(s') = 50$ it is 0.",
        slips={
            1: "So it is if the state that was reached is asked for its value. Treated as an end, that value is 0.",
            2: "One reward more or less is not what is lost: behind an end nothing is expected, and the critic had "
            "expected 50.",
            3: "The TD error knows no limit: it is the reward and what is expected after it, minus what was "
            "expected before.",
        },
    ),
)
