"""Section 1.17, How many devices hold it: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

scale = lazily("solutions.ch01.scale")


QUESTIONS = (
    Question(
        id="01-moe-two-sizes",
        kind="derive",
        title="Two sizes of a mixture",
        section="1.17",
        bonus=True,
        ask="training",
        unit="FLOP",
        answer=lambda: scale.training_flops_per_token(12.880e9) * 1e12,
        slips=(
            Slip(
                "That counts all experts: a token visits two of eight in each layer.",
                value=lambda: scale.training_flops_per_token(46.703e9) * 1e12,
            ),
            Slip("That is the forward pass alone.", value=lambda: 2 * 12.880e9 * 1e12),
        ),
        derivation="Work follows the parameters that a token meets, $6 N_\\text{active} D$ with "
        "$N_\\text{active} = 12.880 \\cdot 10^9$ and $D = 10^{12}$. Memory follows all of them.",
    ),
)
