"""Chapter 01: the work of a training run and the time it takes, two build items."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.units import TFLOP

# --- training_flops_per_token


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


TRAINING_FLOPS_PER_TOKEN = Build(
    id="01-training-flops-per-token",
    module="scale",
    function="training_flops_per_token",
    grade="call",
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
)


# --- training_time


def _run(rng: Random) -> Case:
    flops = 6 * 10 ** rng.uniform(6, 12.3) * 10 ** rng.uniform(8, 13.6)
    return Case((flops, rng.randint(2, 32_768), rng.uniform(50, 2500) * TFLOP, rng.uniform(0.05, 0.95)))


def _plain_run(rng: Random) -> list[Case]:
    """One device, the whole peak, no work."""
    flops = 10 ** rng.uniform(18, 25)
    return [
        Case((flops, 1, A100_SXM.peak_bf16, rng.uniform(0.1, 0.9))),
        Case((flops, rng.randint(2, 4096), H100_SXM.peak_bf16, 1.0)),
        Case((0.0, rng.randint(1, 4096), H100_SXM.peak_bf16, 0.5)),
    ]


TRAINING_TIME = Build(
    id="01-training-time",
    module="scale",
    function="training_time",
    grade="call",
    section="1.15",
    topic="time of a training run",
    bonus=True,
    cases=(
        Case((8 * 175e9 * 300e9, 1024, 140 * TFLOP, 1.0)),  # Narayanan et al. (2021): 34 days
        Case((8 * 1e12 * 450e9, 3072, 163 * TFLOP, 1.0)),  # and 84 days
        Case((6 * 405e9 * 15.6e12, 16_384, 989.4 * TFLOP, 0.40)),
    ),
    groups=(
        Group("runs", _run, 6, "The work is shared by all devices, each at its share of the peak."),
        listed("one device, whole peak", _plain_run, "There may be one device, its whole peak, or nothing to do."),
    ),
    slips=(
        Slip(
            "The time was multiplied by the utilization: a lower one takes longer.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak) * utilization"),
        ),
        Slip(
            "The utilization was left out: no run sustains the peak.",
            edit=("ranks * peak * utilization", "ranks * peak"),
        ),
        Slip(
            "The peak was doubled: data sheets print it for sparse matrices, the argument is dense.",
            edit=("ranks * peak", "ranks * 2 * peak"),
        ),
        Slip("That is the time of all devices together: they work side by side.", edit=("ranks * peak", "peak")),
        Slip(
            "The time is in hours: seconds are asked for.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak * utilization) / 3600"),
        ),
        Slip(
            "The time is in days: seconds are asked for.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak * utilization) / 86_400"),
        ),
    ),
)

ITEMS = (TRAINING_FLOPS_PER_TOKEN, TRAINING_TIME)
