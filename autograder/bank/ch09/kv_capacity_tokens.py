"""Chapter 9: ``kv_capacity_tokens``, capacity."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB


def _beside_weights(rng: Random, gpus: int, overhead: float) -> Case:
    """Weights that leave room for a number of tokens and a part of one, far from a whole number."""
    memory, usable = rng.choice((24, 40, 80, 141)) * GB, rng.choice((0.75, 0.8, 0.875, 0.9, 0.95))
    kv = 1024.0 * rng.choice((36, 70, 128, 320, 504, 800))
    room = gpus * (memory * usable - overhead)
    tokens = int(rng.uniform(0.2, 0.8) * room / kv) + rng.uniform(0.1, 0.9)
    return Case((memory, gpus, room - tokens * kv, kv, usable, overhead))


def _machine(rng: Random) -> Case:
    return _beside_weights(rng, rng.choice((1, 2, 4, 8, 16)), rng.choice((0.0, rng.uniform(0.5, 4) * GB)))


def _machines(rng: Random) -> list[Case]:
    shapes = ((1, 0.0), (8, 0.0), (2, 2.5 * GB), (4, 1.5 * GB), (8, 3 * GB))
    kv = 1024.0 * rng.choice((36, 70, 128, 320))
    return [*(_beside_weights(rng, gpus, overhead) for gpus, overhead in shapes), Case((40 * GB, 1, 0, kv))]


def _too_small(rng: Random) -> list[Case]:
    gpus, kv = rng.choice((1, 2, 4)), 1024.0 * rng.choice((128, 320))
    return [
        Case((80 * GB, gpus, gpus * 80 * GB + rng.uniform(10, 90) * GB, kv)),
        Case((24 * GB, gpus, gpus * 24 * GB - 1 * GB, kv, 0.75)),
        Case((80 * GB, gpus, 10 * GB, kv, 0.5, 60 * GB)),
        Case((80 * GB, gpus, gpus * 80 * GB, kv, 1.0)),
    ]


EXERCISE = Build(
    "09 kv_cache.kv_capacity_tokens",
    section="9.14",
    topic="capacity",
    bonus=True,
    cases=(
        Case((80 * GB, 8, 141_107_412_992, 327_680)),  # Llama 3 70B on 8 H100
        Case((80 * GB, 4, 141_107_412_992, 327_680)),
        Case((80 * GB, 1, 141_107_412_992, 327_680)),
        Case((80 * GB, 1, 16_060_522_496, 131_072)),  # Llama 3 8B
        Case((80 * GB, 8, 140 * GB, 327_680, 1.0, 2.5 * GB)),
    ),
    groups=(
        Group("machines", _machine, 9, "All GPUs' usable memory, less their overhead and the weights.", _machines),
        listed("nothing left", _too_small, "Where weights and overhead take everything, no token fits: 0."),
    ),
    slips=(
        Slip(
            "The weights are those of the whole model: the GPUs hold them once, together.",
            edit=(
                "math.floor(room / kv_bytes_per_token)",
                "int(gpus * (memory_per_gpu * usable - overhead_per_gpu - weight_bytes) // kv_bytes_per_token)",
            ),
        ),
        Slip(
            "Memory in GB was divided by bytes in GiB: 7.4 % too many.",
            edit=("math.floor(room / kv_bytes_per_token)", "int(room / 1e9 // (kv_bytes_per_token / 2**30))"),
        ),
        Slip(
            "Where nothing is left no token fits: 0, not a negative number.",
            edit=("max(0, math.floor(room / kv_bytes_per_token))", "int(room // kv_bytes_per_token)"),
        ),
        Slip(
            "Every GPU has its overhead.",
            edit=(
                "gpus * (memory_per_gpu * usable - overhead_per_gpu)",
                "gpus * memory_per_gpu * usable - overhead_per_gpu",
            ),
        ),
        Slip(
            "The usable share is one of the whole memory, weights included.",
            edit=(
                "math.floor(room / kv_bytes_per_token)",
                "int((gpus * (memory_per_gpu - overhead_per_gpu) - weight_bytes) * usable // kv_bytes_per_token)",
            ),
        ),
    ),
    rights=(
        Right(
            "each GPU's share of everything",
            edit=(
                "room = gpus * (memory_per_gpu * usable - overhead_per_gpu) - weight_bytes",
                "room = (memory_per_gpu * usable - overhead_per_gpu - weight_bytes / gpus) * gpus",
            ),
        ),
        Right(
            "divided down",
            edit=("max(0, math.floor(room / kv_bytes_per_token))", "int(max(0, room) // kv_bytes_per_token)"),
        ),
    ),
    promises=(
        Promise(
            "never below 0",
            edit=("max(0, math.floor(room / kv_bytes_per_token))", "math.floor(room / kv_bytes_per_token)"),
        ),
        Promise("bytes of each GPU for activations", edit=("usable - overhead_per_gpu)", "usable) - overhead_per_gpu")),
        Promise("of the whole model", edit=(" - weight_bytes\n", " - gpus * weight_bytes\n")),
    ),
)
