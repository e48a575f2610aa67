"""Section 8.8, Which token: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-top-p-edge",
        kind="trace",
        title="The token that crosses",
        section="8.8",
        options=("2 and 2", "1 and 2", "2 and 3", "1 and 1"),
        correct=0,
        derivation="0.5 alone is less than 0.79. With 0.3 the sum is 0.8, which reaches 0.79 and 0.8 both: the token "
        "that crosses the limit stays.",
        slips={
            1: "The token that crosses 0.79 stays, too. Otherwise less than 0.79 would be left.",
            2: "0.5 + 0.3 reaches 0.8. Nothing more is needed.",
            3: "The token that crosses the limit stays. With the likeliest alone 0.5 would be left.",
        },
    ),
)
