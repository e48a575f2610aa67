"""Chapter 5: ``zero_memory``, memory of model states."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.shared import parameters, several_ranks, states
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _bytes_given(rng: Random, stage: int | None = None) -> Case:
    sizes = [rng.choice((0, 0.5, 1, 2, 4, 6, 8.0)) for _ in range(3)]
    ranks, stage = several_ranks(rng), rng.randrange(4) if stage is None else stage
    if rng.random() < 0.5:
        return Case((parameters(rng), stage, ranks, *sizes))
    names = ("optimizer_bytes", "weight_bytes", "gradient_bytes")
    return Case((parameters(rng), stage), {"ranks": ranks, **dict(zip(names, sizes, strict=True))})


def _one_rank(rng: Random, stage: int | None = None) -> Case:
    return Case((parameters(rng), rng.randrange(4) if stage is None else stage, 1))


def _few_parameters(rng: Random) -> Case:
    return Case((rng.choice((0, 0.0, 1, 3, 5.0)), rng.randrange(4), rng.choice((3, 7, 1000))))


EXERCISE = Build(
    "05 zero.zero_memory",
    section="5.6",
    topic="memory of model states",
    cases=(
        *(Case((7.5e9, stage, 64)) for stage in range(4)),  # the ZeRO paper's first figure: 120, 31.4, 16.6, 1.88 GB
        *(Case((70e9, stage, 8)) for stage in (1, 2, 3)),
        Case((1e12, 3, 1024)),  # the ZeRO paper's table 1: 15.6 GB
        Case((1e9, 3, 7)),
        *(Case((1e9, stage, 3, 2, 4, 12)) for stage in (2, 3)),
        Case((6.7e9, 2, 5, 0.5, 2, 6)),
        Case((8.03e9, 3, 1, 2, 4, 12)),
        Case((0, 2, 8)),
    ),
    groups=(
        listed(
            "stages and ranks",
            lambda rng: [states(rng, stage) for stage in (0, 1, 2, 3) * 2],
            "Stages add up, and what a stage slices is divided by the number of ranks.",
        ),
        Group(
            "other byte sizes",
            _bytes_given,
            6,
            "The three byte arguments may be given, by position or by name, and may be 0 or fractions.",
            corners=lambda rng: [_bytes_given(rng, stage) for stage in (0, 1, 2, 3)],
        ),
        listed(
            "one rank",
            lambda rng: [_one_rank(rng, stage) for stage in range(4)],
            "With one rank, every stage holds everything.",
        ),
        Group(
            "few parameters",
            _few_parameters,
            6,
            "Nothing is rounded or padded, however few the parameters.",
            corners=lambda rng: [Case((3, stage, 7)) for stage in range(4)] + [Case((0, rng.randrange(4), 8))],
        ),
    ),
    slips=(
        Slip(
            "You left out the 4-byte master copy: Adam in mixed precision keeps 12 bytes a parameter, not 8.",
            edit=("optimizer_bytes: float = 12.0", "optimizer_bytes: float = 8.0"),
        ),
        Slip(
            "Stage 1 slices the fp32 master copy too: it is part of the optimizer states.",
            edit=(
                "optimizer = optimizer_bytes /",
                "master = min(4.0, optimizer_bytes)\n    optimizer = master + (optimizer_bytes - master) /",
            ),
        ),
        Slip(
            "Stages add up: `stage >= 1`, not `stage == 1`. Your stage 3 keeps a full optimizer.",
            edits=(("stage >= 2", "stage == 2"), ("stage >= 1", "stage == 1")),
        ),
        Slip(
            "Stages add up: stage 3 slices the gradients too. Yours keeps them whole there.",
            edit=("stage >= 2", "stage == 2"),
        ),
        Slip(
            "All is divided from stage 1 on: that is stage 3.",
            edit=(
                "params * (weights + gradients + optimizer)",
                "params * (weight_bytes + gradient_bytes + optimizer_bytes) / (ranks if stage >= 1 else 1)",
            ),
        ),
        Slip(
            "Gradients are sharded from stage 2 on, not gone: a rank keeps its slice.",
            edit=("weights + gradients", "weights + (0.0 if stage >= 2 else gradient_bytes)"),
        ),
        Slip(
            "A rank keeps 1/N of what is sliced; (N-1)/N is what it saves.",
            edits=(
                ("/ (ranks if stage >= 3", "* (1 - 1 / ranks if stage >= 3"),
                ("/ (ranks if stage >= 2", "* (1 - 1 / ranks if stage >= 2"),
                ("/ (ranks if stage >= 1", "* (1 - 1 / ranks if stage >= 1"),
            ),
        ),
        Slip(
            "The stages are shifted by one: stage 1 already slices the optimizer states.",
            edits=(("stage >= 3", "stage > 3"), ("stage >= 2", "stage > 2"), ("stage >= 1", "stage > 1")),
        ),
        Slip(
            "The stages are shifted by one: stage 0 slices nothing, stage 1 only the optimizer states.",
            edits=(("stage >= 3", "stage >= 2"), ("stage >= 2", "stage >= 1"), ("ranks if stage >= 1 else 1", "ranks")),
        ),
        Slip(
            "The result is in bytes; you return GB.",
            edit=("params * (weights + gradients + optimizer)", "params * (weights + gradients + optimizer) / 1e9"),
        ),
        Slip(
            "The result is in bytes; you return GiB.",
            edit=("params * (weights + gradients + optimizer)", "params * (weights + gradients + optimizer) / 2**30"),
        ),
        Slip(
            "Slices are real quotients: floor division drops the part of a byte that does not divide evenly.",
            edit=(
                "params * (weights + gradients + optimizer)",
                "params * weight_bytes // (ranks if stage >= 3 else 1) + params * gradient_bytes // (ranks if stage "
                ">= 2 else 1) + params * optimizer_bytes // (ranks if stage >= 1 else 1)",
            ),
        ),
    ),
    rights=(
        Right(
            "each part in bytes",
            edit=(
                "float(params * (weights + gradients + optimizer))",
                "float(optimizer * params + gradients * params + weights * params)",
            ),
        ),
        Right(
            "sliced and kept apart",
            edit=(
                "    return float(params * (weights + gradients + optimizer))\n",
                "    sizes = (optimizer_bytes, gradient_bytes, weight_bytes)\n"
                "    return params * sum(sizes[:stage]) / ranks + params * float(sum(sizes[stage:]))\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "one rank holds everything, whatever the stage",
            edit=("weight_bytes / (ranks if stage >= 3 else 1)", "weight_bytes / (max(ranks, 2) if stage >= 3 else 1)"),
        ),
        Promise(
            "12 is Adam in fp32: master copy of the weight, first moment and second moment, 4 bytes each.",
            edit=("optimizer_bytes: float = 12.0", "optimizer_bytes: float = 8.0"),
        ),
        Promise(
            "nothing rounded or padded",
            edit=("return float(params *", "return float(-(-params // ranks) * ranks *"),
        ),
    ),
)
