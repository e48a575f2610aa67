"""Section 11.5, How much faster: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-grow-k",
        kind="trace",
        title="Longer drafts",
        section="11.5",
        options=("rises and levels off", "rises linearly", "levels off and falls", "stays as it is"),
        correct=0,
        derivation="The k-th draft counts only if all before it were accepted: it adds $\\alpha^k$. The sum approaches "
        "$\\alpha/(1-\\alpha)$.",
        slips={
            1: "The k-th draft counts only if all before it were accepted.",
            2: "That is the speed-up, in which drafts cost time. One more draft takes no accepted one away.",
            3: "One more draft may be accepted, too.",
        },
    ),
)
