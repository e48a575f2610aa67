"""Chapter 5: ``zero_traffic``, traffic of ZeRO."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.shared import parameters, several_ranks, states
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _sent_bytes(rng: Random, stage: int | None = None) -> Case:
    weight, gradient = rng.choice((1, 2, 0.5)), rng.choice((4, 8.0))
    sizes = {"gradient_bytes": gradient, "weight_bytes": weight}
    return Case(states(rng, stage).args, sizes)


def _sent_often(rng: Random, stage: int | None = None) -> Case:
    steps = {"micro_steps": rng.randint(2, 64)}
    return Case(states(rng, stage).args, steps)


def _kept_whole(rng: Random, stage: int = 3) -> Case:
    steps = {"reshard": False, "micro_steps": rng.choice((1, 1, 4, 16))}
    return Case((parameters(rng), stage, several_ranks(rng)), steps)


def _nothing_sent(rng: Random) -> Case:
    size, ranks = rng.choice(((parameters(rng), 1), (0, several_ranks(rng))))
    return Case((size, rng.randrange(4), ranks), {"micro_steps": rng.choice((1, 8))})


EXERCISE = Build(
    "05 zero.zero_traffic",
    section="5.13",
    topic="traffic of ZeRO",
    bonus=True,
    cases=(
        *(Case((7e9, stage, 64)) for stage in range(4)),  # the ZeRO paper, section 7: stage 3 sends half as much more
        Case((70e9, 3, 64)),
        Case((70e9, 3, 64), {"reshard": False}),
        *(Case((7e9, stage, 64), {"micro_steps": 4}) for stage in (1, 2, 3)),
        Case((3.1875e9, 3, 128), {"gradient_bytes": 4, "reshard": False}),
        Case((70e9, 1, 64), {"gradient_bytes": 4}),
        Case((7e9, 2, 1)),
    ),
    groups=(
        listed(
            "stages",
            lambda rng: [states(rng, stage) for stage in (0, 1, 2, 3) * 2],
            "Write down each collective of a stage: which tensor does it move, and how often in a step?",
        ),
        Group(
            "other byte sizes",
            _sent_bytes,
            6,
            "Weights and gradients may differ in size: which of them does each collective move?",
            corners=lambda rng: [_sent_bytes(rng, stage) for stage in range(4)],
        ),
        listed(
            "several micro-steps",
            lambda rng: [_sent_often(rng, stage) for stage in (0, 1, 2, 3) * 2],
            "A rank that keeps whole gradients reduces once; one that keeps a slice has to reduce in every micro-step.",
        ),
        Group(
            "weights kept for the backward pass",
            _kept_whole,
            6,
            "Without resharding, stage 3 gathers the weights once in a micro-step; other stages do not change.",
            corners=lambda rng: [_kept_whole(rng, stage) for stage in (0, 1, 2, 3)],
        ),
        Group("nothing to send", _nothing_sent, 4, "One rank, or no parameters: nothing is sent."),
    ),
    slips=(
        Slip(
            "Stages 1 and 2 scatter the reduced gradients; then each rank's updated weights must be gathered.",
            edit=("gathered = weight_bytes\n", "gathered = 0.0\n"),
        ),
        Slip(
            "Optimizer states never travel: it is the updated weights that are gathered.",
            edit=("gathered = weight_bytes\n", "gathered = 12.0\n"),
        ),
        Slip(
            "A gather is half of an all-reduce: stage 3 sends two gathers of weights and one reduce-scatter.",
            edit=("micro_steps * weight_bytes", "micro_steps * 2 * weight_bytes"),
        ),
        Slip(
            "A rank's own slice does not travel: each collective moves (N-1)/N of the tensor.",
            edit=("(ranks - 1) / ranks * params", "params"),
        ),
        Slip(
            "Stages 2 and 3 keep a slice of the gradients, so they reduce in every micro-step; yours reduces once.",
            edits=(("micro_steps if stage >= 2 else 1", "1"), ("micro_steps * weight_bytes", "weight_bytes")),
        ),
        Slip(
            "Stages 0 and 1 accumulate whole gradients and reduce once; yours communicates in every micro-step.",
            edits=(
                ("micro_steps if stage >= 2 else 1", "micro_steps"),
                ("gathered = gradient_bytes", "gathered = micro_steps * gradient_bytes"),
                ("gathered = weight_bytes\n", "gathered = micro_steps * weight_bytes\n"),
            ),
        ),
        Slip(
            "Without resharding the weights stay gathered: one gather in a micro-step, not two.",
            edit=("(2 if reshard else 1)", "2"),
        ),
    ),
    rights=(
        Right(
            "one share less",
            edit=(
                "float((ranks - 1) / ranks * params * (reductions * gradient_bytes + gathered))",
                "float(params * (reductions * gradient_bytes + gathered) * (1 - 1 / ranks))",
            ),
        ),
        Right(
            "each collective in bytes",
            edit=(
                "float((ranks - 1) / ranks * params * (reductions * gradient_bytes + gathered))",
                "float(sum(params * size * (ranks - 1) / ranks"
                " for size in (*[gradient_bytes] * reductions, gathered)))",
            ),
        ),
    ),
    promises=(
        Promise(
            "optimizer states never travel",
            edit=("        gathered = weight_bytes\n", "        gathered = weight_bytes + 12.0\n"),
        ),
        Promise(
            "stages 2 and 3 keep only a slice, so they reduce in every micro-step",
            edit=("micro_steps if stage >= 2 else 1", "micro_steps if stage >= 3 else 1"),
        ),
        Promise(
            "and stage 3 gathers in every micro-step too",
            edit=("gathered = micro_steps * weight_bytes", "gathered = weight_bytes"),
        ),
        Promise(
            "The other stages do not use it",
            edit=("        gathered = weight_bytes\n", "        gathered = weight_bytes * (1 if reshard else 2)\n"),
        ),
        Promise(
            "Stages 0 and 1 accumulate whole gradients and reduce once",
            edit=("micro_steps if stage >= 2 else 1", "micro_steps"),
        ),
    ),
)
