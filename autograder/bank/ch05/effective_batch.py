"""Chapter 5: ``effective_batch``, accumulation."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _replicas(rng: Random) -> Case:
    """Replicas of one GPU each."""
    return Case((rng.randint(2, 16), rng.randint(2, 64), rng.choice((2, 3, 8, 24, 64, 1024))))


def _shared(rng: Random) -> Case:
    """Replicas of several GPUs."""
    each = rng.choice((2, 3, 8, 16, 128))
    return Case((rng.randint(1, 8), rng.randint(2, 40), each * rng.randint(2, 128), each))


def _one_replica(rng: Random) -> Case:
    gpus = rng.choice((2, 4, 8, 16))
    return Case((rng.randint(1, 8), rng.randint(1, 40), gpus, gpus))


EXERCISE = Build(
    "05 batching.effective_batch",
    section="5.11",
    topic="accumulation",
    bonus=True,
    cases=(
        Case((4, 64, 8)),
        Case((1, 16, 16_384, 128)),  # Llama 3 405B: 8 GPUs for each layer, 16 stages
        Case((2, 3, 4, 4)),
    ),
    groups=(
        Group("one GPU each", _replicas, 5, "Every replica works on rows of its own, micro-batch after micro-batch."),
        Group("several GPUs each", _shared, 8, "The GPUs of one replica work on the same rows."),
        Group("one replica", _one_replica, 3, "A single replica is possible, however many GPUs it takes."),
    ),
    slips=(
        Slip(
            "Every GPU was counted: those of one replica work on the same rows.",
            edit=("micro_batch * micro_steps * (gpus // gpus_per_replica)", "micro_batch * micro_steps * gpus"),
        ),
        Slip(
            "The micro-steps were left out: their rows belong to the same step.",
            edit=("micro_batch * micro_steps * (gpus // gpus_per_replica)", "micro_batch * (gpus // gpus_per_replica)"),
        ),
        Slip(
            "The micro-batch was left out: that counts passes.",
            edit=("micro_batch * micro_steps * (gpus // gpus_per_replica)", "micro_steps * (gpus // gpus_per_replica)"),
        ),
        Slip(
            "That is the batch of one replica.",
            edit=("micro_batch * micro_steps * (gpus // gpus_per_replica)", "micro_batch * micro_steps"),
        ),
    ),
)
