"""Chapter 8: ``debug_kv_room``, memory in serving."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip, invalid


def wrong_kv_room(gpu_gb, billions, bytes_per_parameter=2):
    return gpu_gb - billions * bytes_per_parameter / 1e9


def _room(rng: Random) -> Case:
    billions = rng.choice((1.0, 7.0, 8.0, 13.0, rng.uniform(1, 15)))
    return Case((billions * 2 + rng.uniform(5, 60), billions))


def _other_bytes(rng: Random) -> Case:
    size = rng.choice((0.5, 1))
    billions = rng.uniform(10, 70)
    return Case((billions * size + rng.uniform(1, 20), billions, size))


def _too_large(rng: Random) -> Case:
    billions = rng.uniform(45, 500)
    return invalid(rng.choice((24.0, 40.0, 80.0)), billions)


EXERCISE = Debug(
    "08 serving_repairs.debug_kv_room",
    section="8.12",
    topic="memory in serving",
    bonus=True,
    wrong=wrong_kv_room,
    cases=(
        Case((80, 8)),
        Case((80, 70, 1)),
        Case((16, 8)),
        invalid(80, 70),
    ),
    groups=(
        Group("models that fit", _room, 4, "Billions of parameters times bytes are GB already."),
        Group("other sizes", _other_bytes, 3, "One byte or half a byte per parameter."),
        Group("models that do not fit", _too_large, 3, "Weights that do not fit are a ValueError, not a number."),
    ),
    slips=(
        Slip("Billions times bytes are GB already; dividing by 1e9 again makes every model fit.", wrong_kv_room),
        Slip(
            "0 GB of room is not the same as too little room: raise when the weights do not fit.",
            edit=(
                'raise ValueError(f"{billions} billion parameters do not fit: {-room:g} GB are missing")',
                "return 0.0",
            ),
        ),
        Slip(
            "Weights that do not fit leave no negative room: raise ValueError.",
            edit=("if room < 0:", "if False:"),
        ),
        Slip(
            "GB are 1e9 bytes here, on both sides.",
            edit=("billions * bytes_per_parameter", "billions * 1e9 * bytes_per_parameter / 2**30"),
        ),
        Slip(
            "The bytes of a parameter are an argument, not always two.",
            edit=("billions * bytes_per_parameter", "billions * 2"),
        ),
    ),
    rights=(
        Right(
            "in bytes",
            edit=(
                "room = gpu_gb - billions * bytes_per_parameter",
                "room = (gpu_gb * 1e9 - billions * 1e9 * bytes_per_parameter) / 1e9",
            ),
        ),
        Right(
            "the share that is left",
            edit=(
                "room = gpu_gb - billions * bytes_per_parameter",
                "room = gpu_gb * (1 - billions * bytes_per_parameter / gpu_gb)",
            ),
        ),
    ),
)
