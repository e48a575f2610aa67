"""Chapter 01: the work of a training run and the time it takes, two build items.

Wrong programs are complete in themselves.
"""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.hardware import A100_SXM, H100_SXM
from rankzero.units import TFLOP

# --- training_flops_per_token


def slip_forward_only(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return 2 * parameters + 4 * layers * width * context * (0.5 if causal else 1)


def slip_no_attention(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return 6 * parameters


def slip_attention_forward(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return 6 * parameters + 4 * layers * width * context * (0.5 if causal else 1)


def slip_whole_sequence(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return 6 * parameters + 12 * layers * width * context**2 * (0.5 if causal else 1)


def slip_never_causal(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return 6 * parameters + 12 * layers * width * context


def slip_all_halved(parameters, layers=0, width=0, context=0, causal=False):
    if not 0 <= parameters < float("inf") or min(layers, width, context) < 0:
        raise ValueError("out of range")
    return (6 * parameters + 12 * layers * width * context) * (0.5 if causal else 1)


def slip_unchecked_flops(parameters, layers=0, width=0, context=0, causal=False):
    return 6 * parameters + 12 * layers * width * context * (0.5 if causal else 1)


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


def _impossible_work(rng: Random) -> list[Case]:
    parameters, layers, width, context = _shape(rng)
    return [
        invalid(-parameters),
        invalid(parameters, -layers, -width, context),
        invalid(parameters, layers, -width, context),
        invalid(parameters, layers, width, -context),
        invalid(float("nan")),
        invalid(float("inf"), layers, width, context),
    ]


TRAINING_FLOPS_PER_TOKEN = Build(
    id="01-training-flops-per-token",
    module="scale",
    function="training_flops_per_token",
    grade="call",
    section="1.1",
    topic="work of a training run",
    cases=(
        Case((175e9,)),  # GPT-3: 6 FLOP for each parameter and token
        Case((7_504_658_432, 32, 4096, 8192)),  # Llama 3 8B: its matrices, the head among them
        Case((7_504_658_432, 32, 4096, 8192), {"causal": True}),
        invalid(-1.0),
    ),
    groups=(
        Group("with attention", _with_attention, 5, "Attention adds work for every layer, width and position."),
        Group("without attention", _without, 4, "Layers, width and context may be left out: attention is 0 then."),
        Group("causal", _causal, 4, "A causal model needs half of the attention; the rest stays."),
        Group(
            "nothing of something",
            lambda rng: rng.choice(_nothing(rng)),
            5,
            "Parameters, layers and positions may be 0, or left out.",
            _nothing,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_impossible_work(rng)),
            6,
            "Bad input must raise ValueError: counts that are negative or not finite.",
            _impossible_work,
        ),
    ),
    slips=(
        Slip("That is the forward pass alone: backward is twice as much again.", slip_forward_only),
        Slip("Attention was left out: its keys and values are no parameters.", slip_no_attention),
        Slip("Attention was counted forward only: backward is twice as much again.", slip_attention_forward),
        Slip("The attention of a whole sequence was charged to one token.", slip_whole_sequence),
        Slip("causal was not used: half of the attention is masked and need not be computed.", slip_never_causal),
        Slip("causal halves the attention, not the matrices.", slip_all_halved),
        Slip("Impossible arguments were accepted: negative counts, nan.", slip_unchecked_flops),
    ),
)


# --- training_time


def slip_times_utilization(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (ranks * peak) * utilization


def slip_utilization_forgotten(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (ranks * peak)


def slip_sparse_peak(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (ranks * 2 * peak * utilization)


def slip_device_seconds(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (peak * utilization)


def slip_hours(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (ranks * peak * utilization) / 3600


def slip_days(flops, ranks, peak, utilization):
    if flops < 0 or ranks < 1 or peak <= 0 or not 0 < utilization <= 1:
        raise ValueError("out of range")
    return flops / (ranks * peak * utilization) / 86_400


def slip_unchecked_time(flops, ranks, peak, utilization):
    return flops / (ranks * peak * utilization)


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


def _impossible_run(rng: Random) -> list[Case]:
    flops, ranks, peak = 10 ** rng.uniform(18, 25), rng.randint(2, 4096), H100_SXM.peak_bf16
    return [
        invalid(-flops, ranks, peak, 0.4),
        invalid(flops, 0, peak, 0.4),
        invalid(flops, -ranks, peak, 0.4),
        invalid(flops, ranks, -peak, 0.4),
        invalid(flops, ranks, 0.0, 0.4),
        invalid(flops, ranks, peak, 0.0),
        invalid(flops, ranks, peak, 1.5),
        invalid(flops, ranks, peak, 40),
        invalid(flops, ranks, peak, float("nan")),
    ]


TRAINING_TIME = Build(
    id="01-training-time",
    module="scale",
    function="training_time",
    grade="call",
    section="1.1",
    topic="time of a training run",
    cases=(
        Case((8 * 175e9 * 300e9, 1024, 140 * TFLOP, 1.0)),  # Narayanan et al. (2021): 34 days
        Case((8 * 1e12 * 450e9, 3072, 163 * TFLOP, 1.0)),  # and 84 days
        Case((6 * 405e9 * 15.6e12, 16_384, 989.4 * TFLOP, 0.40)),
        invalid(1e24, 1024, 312 * TFLOP, 1.2),
    ),
    groups=(
        Group("runs", _run, 6, "The work is shared by all devices, each at its share of the peak."),
        Group(
            "one device, whole peak",
            lambda rng: rng.choice(_plain_run(rng)),
            3,
            "There may be one device, its whole peak, or nothing to do.",
            _plain_run,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_impossible_run(rng)),
            9,
            "Bad input must raise ValueError: negative work, no devices, no peak, a utilization above 1.",
            _impossible_run,
        ),
    ),
    slips=(
        Slip("The time was multiplied by the utilization: a lower one takes longer.", slip_times_utilization),
        Slip("The utilization was left out: no run sustains the peak.", slip_utilization_forgotten),
        Slip(
            "The peak was doubled: data sheets print it for sparse matrices, the argument is dense.", slip_sparse_peak
        ),
        Slip("That is the time of all devices together: they work side by side.", slip_device_seconds),
        Slip("The time is in hours: seconds are asked for.", slip_hours),
        Slip("The time is in days: seconds are asked for.", slip_days),
        Slip("Impossible arguments were accepted: no devices, a utilization above 1.", slip_unchecked_time),
    ),
)

ITEMS = (TRAINING_FLOPS_PER_TOKEN, TRAINING_TIME)
