"""Section 7.22, Capacity and balance: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

experts = lazily("solutions.ch07.experts")


QUESTIONS = (
    Question(
        id="07-capacity",
        kind="derive",
        title="Room in an expert",
        section="7.22",
        bonus=True,
        ask="per expert",
        unit="assignments",
        answer=lambda: experts.expert_capacity(4096, 64, 2, 1.25),
        tolerance=0,
        slips=(
            Slip("Each token makes two choices.", value=lambda: experts.expert_capacity(4096, 64, 1, 1.25)),
            Slip(
                "That divides the tokens by 8: two choices of each are shared by 64 experts.",
                value=lambda: experts.expert_capacity(4096, 8, 1, 1.25),
            ),
            Slip("That is without the factor.", value=lambda: experts.expert_capacity(4096, 64, 2)),
        ),
        derivation="$\\lceil c\\,T k / E \\rceil$ with $c = 1.25$, $T = 4096$, $k = 2$, $E = 64$.",
    ),
)
