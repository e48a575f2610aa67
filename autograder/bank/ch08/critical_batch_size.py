"""Chapter 8: ``critical_batch_size``, where multiplying takes as long as reading."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.machines import A100, H100, LLAMA, machine, model
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _ridge(rng: Random) -> Case:
    return Case((*model(rng), *machine(rng)))


def _element(rng: Random) -> list[Case]:
    """Parameters of one byte, of half a byte and of four."""
    sizes = [(model(rng)[0], size) for size in (0.5, 1, 4)]
    return [Case((parameters, size * parameters, *machine(rng))) for parameters, size in sizes]


EXERCISE = Build(
    "08 serving.critical_batch_size",
    section="8.13",
    topic="bound of a pass",
    bonus=True,
    cases=(
        Case((*LLAMA[:2], *H100)),
        Case((*LLAMA[:2], *A100)),
        Case((LLAMA[0], LLAMA[0], *H100)),
        Case((*LLAMA[:2], 8 * H100[0], 8 * H100[1])),
    ),
    groups=(
        Group("models and machines", _ridge, 6, "At this many tokens 2 N B / F is W / BW."),
        Group("sizes of a weight", lambda rng: rng.choice(_element(rng)), 4, "Fewer bytes are read sooner.", _element),
    ),
    slips=(
        Slip(
            "F / BW holds for weights of two bytes only; use the bytes that there are.",
            edit=("weight_bytes / bandwidth", "2 * parameters / bandwidth"),
        ),
        Slip("A parameter takes two operations: multiply and add.", edit=("(2 * parameters", "(parameters")),
        Slip(
            "Turned round: a faster memory makes multiplying the limit sooner.",
            edit=(
                "weight_bytes / bandwidth / (2 * parameters / peak)",
                "2 * parameters / peak / (weight_bytes / bandwidth)",
            ),
        ),
        Slip(
            "The number is not rounded here.",
            edit=(
                "weight_bytes / bandwidth / (2 * parameters / peak)",
                "math.ceil(weight_bytes / bandwidth / (2 * parameters / peak))",
            ),
        ),
    ),
    rights=(
        Right(
            "bytes of a weight first",
            edit=(
                "weight_bytes / bandwidth / (2 * parameters / peak)",
                "(weight_bytes / parameters) * (peak / bandwidth) / 2",
            ),
        ),
        Right(
            "all of it on one line",
            edit=(
                "weight_bytes / bandwidth / (2 * parameters / peak)",
                "0.5 * weight_bytes * peak / (parameters * bandwidth)",
            ),
        ),
    ),
    promises=(
        Promise(
            "not rounded",
            edit=(
                "weight_bytes / bandwidth / (2 * parameters / peak)",
                "weight_bytes / bandwidth // (2 * parameters / peak)",
            ),
        ),
    ),
)
