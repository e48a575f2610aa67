"""Chapter 8: ``critical_batch_size``, roofline of decode."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.machines import A100, H100, LLAMA, machine, model
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _ridge(rng: Random, least: float, most: float) -> Case:
    """A context that takes ``least`` to ``most`` of what lets reading win."""
    (parameters, weights), (peak, bandwidth) = model(rng), machine(rng)
    kv = rng.choice((32_768, 131_072, 524_288))
    context = rng.uniform(least, most) * 2 * parameters / peak * bandwidth / kv
    return Case((parameters, weights, float(kv), context, peak, bandwidth))


def _balanced(rng: Random) -> Case:
    """A sequence adds as much reading as computing; powers of two, so that every way of computing it is exact."""
    power = rng.randint(7, 10)
    return Case((2.0**33, 2.0**34, 2.0 ** (26 - power), 2**power, 2.0**49, 2.0**41))


def _no_cache(rng: Random) -> list[Case]:
    """Parameters of one byte and of four."""
    sizes = [(model(rng)[0], size) for size in (1, 4)]
    return [Case((parameters, size * parameters, 131_072.0, 0.0, *machine(rng))) for parameters, size in sizes]


EXERCISE = Build(
    "08 serving.critical_batch_size",
    section="8.4",
    topic="roofline of decode",
    cases=(
        Case((*LLAMA, 0, *H100)),
        Case((*LLAMA, 128, *H100)),
        Case((*LLAMA, 400, *H100)),
        Case((*LLAMA, 2048, *H100)),
        Case((*LLAMA, 0, *A100)),
    ),
    groups=(
        Group(
            "short contexts",
            lambda rng: _ridge(rng, 0.05, 0.9),
            6,
            "At this batch both terms of the decode step are equal.",
        ),
        Group(
            "long contexts",
            lambda rng: _ridge(rng, 1.05, 20),
            4,
            "Where reading always wins, or adds just as much, the answer is inf.",
            lambda rng: [_balanced(rng)],
        ),
        Group(
            "no context",
            lambda rng: _ridge(rng, 0, 0),
            3,
            "Without a cache, bytes of a parameter still matter.",
            _no_cache,
        ),
    ),
    slips=(
        Slip(
            "A negative batch means that reading wins at every batch: return inf.",
            edit=("weight_bytes / bandwidth / gain if gain > 0 else math.inf", "weight_bytes / bandwidth / gain"),
        ),
        Slip(
            "F / BW is the ridge for weights of two bytes; use the bytes that there are.",
            edit=("weight_bytes / bandwidth / gain", "2 * parameters / bandwidth / gain"),
        ),
        Slip(
            "More cache to read makes computing catch up later, not earlier.",
            edit=(
                "weight_bytes / bandwidth / gain if gain > 0 else math.inf",
                "weight_bytes / bandwidth / (2 * parameters / peak + kv_bytes_per_token * context / bandwidth)",
            ),
        ),
        Slip(
            "Every sequence brings its own cache to read.",
            edit=(
                "weight_bytes / bandwidth / gain if gain > 0 else math.inf",
                "weight_bytes / bandwidth / (2 * parameters / peak)",
            ),
        ),
        Slip("A parameter takes two operations: multiply and add.", edit=("2 * parameters", "parameters")),
        Slip(
            "The batch is not rounded here.",
            edit=("weight_bytes / bandwidth / gain", "math.ceil(weight_bytes / bandwidth / gain)"),
        ),
    ),
    rights=(
        Right(
            "in bytes",
            edits=(
                (
                    "gain = 2 * parameters / peak - kv_bytes_per_token * context / bandwidth",
                    "gain = 2 * parameters / peak * bandwidth - kv_bytes_per_token * context",
                ),
                ("weight_bytes / bandwidth / gain", "weight_bytes / gain"),
            ),
        ),
        Right(
            "the batch without a cache, stretched",
            edits=(
                (
                    "gain = 2 * parameters / peak - kv_bytes_per_token * context / bandwidth",
                    "gain = 1 - kv_bytes_per_token * context * peak / (2 * parameters * bandwidth)",
                ),
                ("weight_bytes / bandwidth / gain", "weight_bytes / (2 * parameters) * (peak / bandwidth) / gain"),
            ),
        ),
    ),
    promises=(
        Promise(
            "If it adds at least as much reading, no batch is large enough.",
            edit=("gain if gain > 0 else math.inf", "(gain or 1e-300) if gain >= 0 else math.inf"),
        ),
        Promise(
            "not rounded",
            edit=("return weight_bytes / bandwidth / gain if", "return weight_bytes / bandwidth // gain if"),
        ),
    ),
)
