"""Section 11.5, How much faster: its questions."""

from __future__ import annotations

from autograder.bank.ch11.quantities import TOKENS, speed, tokens
from autograder.items import Choice, Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")

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
    Question(
        id="11-best-k",
        kind="derive",
        title="The best draft length",
        section="11.5",
        parts=(
            Part(
                "best k",
                "drafts",
                lambda: speculative.optimal_draft_length(0.7, 10 / 50, 8),
                tolerance=0,
                slips=(
                    Slip("That gives the most tokens per pass: drafts cost time.", value=8),
                    Slip("Close, but a little slower than the best.", value=4),
                    Slip("Close, but a little slower than the best.", value=2),
                ),
            ),
            Part(
                "speed-up",
                "times",
                lambda: speed(0.7, 3, 10 / 50),
                tolerance=0.005,
                slips=(
                    Slip("That is k = 4.", value=lambda: speed(0.7, 4, 10 / 50)),
                    Slip("That is k = 8.", value=lambda: speed(0.7, 8, 10 / 50)),
                    Slip("That is k = 2.", value=lambda: speed(0.7, 2, 10 / 50)),
                    Slip("The draft is free there.", value=lambda: tokens(0.7, 3)),
                    Slip("The draft is charged once per round there.", value=lambda: tokens(0.7, 3) / 1.2),
                ),
            ),
        ),
        derivation=TOKENS + " Divide by $k \\cdot 10/50 + 1$ and compare $k = 0, \\dots, 8$.",
    ),
)
