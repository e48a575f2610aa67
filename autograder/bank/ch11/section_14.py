"""Section 11.14, Tokens and times: its questions."""

from __future__ import annotations

from autograder.bank.ch11.quantities import TOKENS, speed, tokens
from autograder.items import Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")

QUESTIONS = (
    Question(
        id="11-tokens-8-5",
        kind="derive",
        title="Tokens of a target pass",
        section="11.14",
        bonus=True,
        ask="tokens",
        unit="tokens",
        answer=lambda: tokens(0.8, 5),
        tolerance=0.005,
        slips=(
            Slip(
                "The token that the target adds is missing: the exponent is k + 1.",
                value=lambda: tokens(0.8, 4),
            ),
            Slip("That is alpha times k: what follows a rejected draft is dropped.", value=4.0),
            Slip("That is 1 + alpha k: what follows a rejected draft is dropped.", value=5.0),
            Slip(
                "Those are the accepted drafts: the target adds one token of its own.",
                value=lambda: tokens(0.8, 5) - 1,
            ),
        ),
        derivation=TOKENS + " With $\\alpha = 0.8$ and $k = 5$.",
    ),
    Question(
        id="11-all-five",
        kind="derive",
        title="Seventy percent, five drafts",
        section="11.14",
        bonus=True,
        parts=(
            Part(
                "all accepted",
                "probability",
                lambda: 0.7**5,
                tolerance=0.005,
                slips=(Slip("That is one draft.", value=0.7),),
            ),
            Part(
                "accepted drafts",
                "mean",
                lambda: tokens(0.7, 5) - 1,
                tolerance=0.005,
                slips=(
                    Slip("That is alpha k: what follows a rejected draft is dropped.", value=3.5),
                    Slip("That counts the target's own token.", value=lambda: tokens(0.7, 5)),
                ),
            ),
            Part(
                "tokens per round",
                "mean",
                lambda: tokens(0.7, 5),
                tolerance=0.005,
                slips=(
                    Slip("That is 1 + alpha k: what follows a rejected draft is dropped.", value=4.5),
                    Slip("The target's own token is missing.", value=lambda: tokens(0.7, 5) - 1),
                ),
            ),
        ),
        derivation="All five: $0.7^5$. " + TOKENS + " One of them is the target's own.",
    ),
    Question(
        id="11-speedup-75",
        kind="derive",
        title="Four drafts at five percent",
        section="11.14",
        bonus=True,
        parts=(
            Part(
                "tokens",
                "tokens per pass",
                lambda: tokens(0.75, 4),
                tolerance=0.005,
                slips=(
                    Slip("The token that the target adds is missing.", value=lambda: tokens(0.75, 3)),
                    Slip(
                        "Those are the accepted drafts: the target adds one token of its own.",
                        value=lambda: tokens(0.75, 4) - 1,
                    ),
                    Slip("That is 1 + alpha k: what follows a rejected draft is dropped.", value=4.0),
                ),
            ),
            Part(
                "speed-up",
                "times",
                lambda: speed(0.75, 4, 0.05),
                tolerance=0.005,
                slips=(
                    Slip("The draft is free there.", value=lambda: tokens(0.75, 4)),
                    Slip("Four draft passes in a round, not one.", value=lambda: tokens(0.75, 4) / 1.05),
                    Slip("Four draft passes in a round, not five.", value=lambda: tokens(0.75, 4) / 1.25),
                    Slip(
                        "The token that the target adds is missing.",
                        value=lambda: (tokens(0.75, 4) - 1) / 1.2,
                    ),
                ),
            ),
        ),
        derivation=TOKENS + " They cost $4 \\cdot 0.05 + 1$ target passes of time.",
    ),
    Question(
        id="11-perfect-draft",
        kind="derive",
        title="A draft that is never wrong",
        section="11.14",
        bonus=True,
        ask="speed-up",
        unit="times",
        answer=lambda: speed(1, 8, 10 / 50),
        tolerance=0.005,
        slips=(
            Slip("The ninth token, the target's own, is missing.", value=lambda: 8 / (8 * 10 / 50 + 1)),
            Slip("The draft is free there.", value=9),
            Slip("The target still checks: 50 ms in every round.", value=50 / 10),
        ),
        derivation="Nine tokens in a round: eight drafts and one more. It takes eight draft passes of 10 ms and a "
        "target pass of 50 ms.",
    ),
    Question(
        id="11-best-k",
        kind="derive",
        title="The best draft length",
        section="11.14",
        bonus=True,
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
    Question(
        id="11-below-half",
        kind="derive",
        title="Half of the drafts rejected",
        section="11.14",
        bonus=True,
        parts=(
            Part(
                "shortest best k",
                "drafts",
                lambda: speculative.optimal_draft_length(0.5, 0.2),
                tolerance=0,
                slips=(
                    Slip("It helps: alpha must exceed c, not a half.", value=0),
                    Slip("A shorter draft is as fast.", value=2),
                ),
            ),
            Part(
                "speed-up",
                "times",
                lambda: speed(0.5, 1, 0.2),
                tolerance=0.005,
                slips=(
                    Slip("It helps: alpha must exceed c, not a half.", value=1),
                    Slip("That is k = 3.", value=lambda: speed(0.5, 3, 0.2)),
                    Slip("The draft is free there.", value=1.5),
                ),
            ),
        ),
        derivation="With one draft the speed-up is $(1 + \\alpha)/(1 + c)$, above 1 whenever $\\alpha > c$. A second "
        "draft adds $\\alpha^2$ tokens and costs $c$ more.",
    ),
)
