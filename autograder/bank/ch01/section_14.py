"""Section 1.14, The work, to the last FLOP: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

scale = lazily("solutions.ch01.scale")


def _attention_share() -> float:
    """FLOP of attention over those of the matrices of one layer, 12 d^2 parameters, for d = 12288 and s = 2048."""
    matrices = 12 * 12_288**2
    return scale.training_flops_per_token(matrices, 1, 12_288, 2048) / scale.training_flops_per_token(matrices) - 1


QUESTIONS = (
    Choice(
        id="01-counted-ratio",
        kind="trace",
        title="The step over its forward pass",
        section="1.14",
        bonus=True,
        options=(
            "exactly 3: whatever the forward pass multiplies, the backward pass multiplies twice as often",
            "a little over 3, because attention has no weights but costs something on the way back as well",
            "exactly 2: the backward pass retraces the forward pass once",
            "well below 3, because only the weights need a gradient",
        ),
        correct=0,
        derivation="After a product $Y = XW$ come two of the same size on the way back, one for the gradient of $X$ "
        "and one for that of $W$. The same holds for the two products of attention, in which both factors are "
        "activations and both need a gradient.",
        slips={
            1: "The products of attention double as well: both of their factors need a gradient.",
            2: "It retraces it twice: a gradient for each of the two factors of every product.",
            3: "To reach the weights of earlier layers, the gradient passes through the activations of later ones.",
        },
    ),
    Question(
        id="01-attention-share",
        kind="derive",
        title="Attention beside the matrices",
        section="1.14",
        bonus=True,
        parts=(
            Part(
                "attention over matrices, as a fraction",
                "",
                _attention_share,
                slips=(
                    Slip("That is in percent: a fraction of 1 is asked for.", value=lambda: 100 * _attention_share()),
                    Slip(
                        "That charges the attention of the whole sequence to one token.",
                        value=lambda: 4 * 12_288 * 2048**2 / (24 * 12_288**2),
                    ),
                    Slip("That counts the causal half alone.", value=lambda: _attention_share() / 2),
                    Slip("That takes d² parameters for a layer: it has 12 d².", value=lambda: 12 * _attention_share()),
                ),
            ),
            Part(
                "sequence at which both cost the same",
                "tokens",
                lambda: 2048 / _attention_share(),
                slips=(Slip("That counts the causal half alone.", value=lambda: 2 * 2048 / _attention_share()),),
            ),
        ),
        derivation="Forward, a layer of $12 d^2$ parameters costs $24 d^2$ FLOP per token, and attention over "
        "$s$ positions $4 s d$: the ratio is $s / (6 d)$, and backward it is the same. It grows with $s$, so "
        "attention may be left out for sequences much shorter than $6 d$. Here $d = 12288$, and $s = 2048$ in "
        "the first part.",
    ),
)
