"""Chapter 1: ``training_flops_per_token``, work of a training run."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _shape(rng: Random) -> tuple[float, int, int, int]:
    """A model whose attention is between a hundredth and some ten times of the rest."""
    layers, width = rng.randint(8, 128), 128 * rng.randint(8, 128)
    return 12.0 * layers * width**2 * rng.uniform(0.5, 1.5), layers, width, 2 ** rng.randint(11, 17)


def _with_attention(rng: Random) -> Case:
    return Case(_shape(rng))


def _without(rng: Random) -> Case:
    return Case((10 ** rng.uniform(6, 12.3),))


def _causal(rng: Random) -> Case:
    parameters, layers, width, context = _shape(rng)
    return Case((parameters,), {"layers": layers, "width": width, "context": context, "causal": True})


def _nothing(rng: Random) -> list[Case]:
    parameters, layers, width, context = _shape(rng)
    return [
        Case((0, layers, width, context)),
        Case((0,)),
        Case((parameters, layers, width)),
        Case((parameters, layers), {"context": context}),
        Case((parameters,), {"width": width, "context": context, "causal": True}),
    ]


WHOLE_WORK = "6.0 * parameters + 12 * layers * width * context * (0.5 if causal else 1)"


EXERCISE = Build(
    "01 scale.training_flops_per_token",
    section="1.14",
    topic="work of a training run",
    bonus=True,
    cases=(
        Case((175e9,)),  # GPT-3: 6 FLOP for each parameter and token
        Case((7_504_658_432, 32, 4096, 8192)),  # Llama 3 8B: its matrices, the head among them
        Case((7_504_658_432, 32, 4096, 8192), {"causal": True}),
    ),
    groups=(
        Group("with attention", _with_attention, 5, "Attention adds work for every layer, width and position."),
        Group("without attention", _without, 4, "Layers, width and context may be left out: attention is 0 then."),
        Group("causal", _causal, 4, "A causal model needs half of the attention; the rest stays."),
        listed("nothing of something", _nothing, "Parameters, layers and positions may be 0, or left out."),
    ),
    slips=(
        Slip(
            "That is the forward pass alone: backward is twice as much again.",
            edits=(("return 6.0", "return 2"), ("12 * layers", "4 * layers")),
        ),
        Slip(
            "Attention was left out: its keys and values are no parameters.",
            edit=("6.0 * parameters + 12 * layers * width * context * (0.5 if causal else 1)", "6 * parameters"),
        ),
        Slip(
            "Attention was counted forward only: backward is twice as much again.", edit=("12 * layers", "4 * layers")
        ),
        Slip(
            "The attention of a whole sequence was charged to one token.",
            edit=("12 * layers * width * context", "12 * layers * width * context**2"),
        ),
        Slip(
            "causal was not used: half of the attention is masked and need not be computed.",
            edits=(("12 * layers * width * context", "12 * layers * width"), ("0.5 if causal else 1", "context")),
        ),
        Slip(
            "causal halves the attention, not the matrices.",
            edit=(
                "6.0 * parameters + 12 * layers * width * context * (0.5 if causal else 1)",
                "(6 * parameters + 12 * layers * width * context) * (0.5 if causal else 1)",
            ),
        ),
    ),
    rights=(
        Right(
            "forward and backward apart",
            edit=(
                f"    return {WHOLE_WORK}",
                "    forward = 2 * parameters + 4 * layers * width * context / (2 if causal else 1)\n"
                "    return forward + 2 * forward",
            ),
        ),
        Right("six drawn out", edit=(WHOLE_WORK, "6 * (parameters + (1 if causal else 2) * layers * width * context)")),
    ),
    promises=(
        Promise("4 FLOP per layer, unit of width and position forward, and twice that backward", edit=("12 *", "8 *")),
        Promise("of a mixture only the experts that a token visits", why="it says what the caller counts"),
        Promise("0 leaves attention out", edit=("12 * layers", "12 * (layers or 1)")),
        Promise("causal: count only the half of the attention", edit=(" * (0.5 if causal else 1)", "")),
    ),
)
