"""Chapter 9: ``debug_units``, capacity."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Promise, Right, Slip


def wrong_units(gpu_gb, weights_gb, kv_bytes, context):
    return int(max(0.0, gpu_gb - weights_gb) / (kv_bytes * context / 2**30))


def _gpu(rng: Random) -> Case:
    """Room for some 30 to 300 requests, and more than half of another: no two units agree."""
    kv, context = 1024 * rng.choice((36, 128, 320)), rng.choice((512, 1024, 2048))
    requests = rng.randint(30, 300) + rng.uniform(0.55, 0.9)
    weights = rng.uniform(1, 40)
    return Case((weights + requests * kv * context / 1e9, weights, kv, context))


def _full(rng: Random) -> list[Case]:
    return [
        Case((24.0, rng.uniform(40, 90), 131_072, 1024)),
        Case((80.0, 80.0, 327_680, 4096)),
        Case((24.0, rng.uniform(40, 90), 36_864, 512)),
    ]


def units_request_by_request(gpu_gb, weights_gb, kv_bytes, context):
    free, count = (gpu_gb - weights_gb) * 1e9, 0
    while kv_bytes * context * (count + 1) <= free:
        count += 1
    return count


EXERCISE = Debug(
    "09 kv_cache.debug_units",
    section="9.14",
    topic="capacity",
    bonus=True,
    wrong=wrong_units,
    cases=(Case((72.0, 16.0, 131_072, 8192)), Case((576.0, 141.1, 327_680, 32_768)), Case((24.0, 141.1, 327_680, 64))),
    groups=(
        Group("GPUs", _gpu, 8, "Divide bytes by bytes."),
        listed("no room", _full, "Where the weights take all, no request fits."),
    ),
    slips=(
        Slip("GB were divided by GiB, 7.4 % apart: divide bytes by bytes.", wrong_units),
        Slip(
            "GiB were divided by GB, 7.4 % apart: divide bytes by bytes.",
            edit=("free / (kv_bytes * context)", "free / 2**30 / (kv_bytes * context / 1e9)"),
        ),
        Slip("A request that fits in part does not fit: round down.", edit=("return int", "return round")),
        Slip(
            "Where the weights take all memory no request fits: 0, not a negative number.",
            edit=("max(0.0, gpu_gb - weights_gb)", "(gpu_gb - weights_gb)"),
        ),
    ),
    rights=(
        Right("request by request", program=units_request_by_request),
        Right("tokens first", edit=("int(free / (kv_bytes * context))", "int(free / kv_bytes / context)")),
    ),
    promises=(
        Promise(
            "rounded down",
            edit=("return int(free / (kv_bytes * context))", "return round(free / (kv_bytes * context))"),
        ),
        Promise("0 where the weights take all memory", edit=("max(0.0, gpu_gb - weights_gb)", "(gpu_gb - weights_gb)")),
    ),
)
