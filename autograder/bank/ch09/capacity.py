"""Chapter 09: tokens and requests that fit beside the weights."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip
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


KV_CAPACITY = Build(
    id="09-kv-capacity-tokens",
    module="kv_cache",
    function="kv_capacity_tokens",
    grade="call",
    section="9.4",
    topic="capacity",
    cases=(
        Case((80 * GB, 8, 141_107_412_992, 327_680)),  # Llama 3 70B on 8 H100
        Case((80 * GB, 4, 141_107_412_992, 327_680)),
        Case((80 * GB, 1, 141_107_412_992, 327_680)),
        Case((80 * GB, 1, 16_060_522_496, 131_072)),  # Llama 3 8B
        Case((80 * GB, 8, 140 * GB, 327_680, 1.0, 2.5 * GB)),
    ),
    groups=(
        Group("machines", _machine, 9, "All GPUs' usable memory, less their overhead and the weights.", _machines),
        Group(
            "nothing left",
            lambda rng: rng.choice(_too_small(rng)),
            4,
            "Where weights and overhead take everything, no token fits: 0.",
            _too_small,
        ),
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
)


def _pool(rng: Random, block: int, whole: bool) -> Case:
    """A pool for some requests and a part of another."""
    need = rng.randint(2, 40)
    context = need * block if whole else need * block - rng.randint(1, block - 1)
    return Case(
        ((need * rng.randint(8, 60) + rng.randint(1, need - 1)) * block + rng.randint(0, block - 1), context, block)
    )


def _any_pool(rng: Random) -> Case:
    return _pool(rng, rng.choice((8, 16, 32, 64)), rng.random() < 0.3)


def _pools(rng: Random) -> list[Case]:
    """Contexts of a little more than whole blocks, so that blocks count; and of whole blocks."""
    short = [Case((rng.randint(60, 99) * 20 * block, 2 * block + 1, block)) for block in (16, 32, 64)]
    return [*short, *(_pool(rng, block, whole=True) for block in (8, 16, 32))]


def _ends(rng: Random) -> list[Case]:
    block, context = rng.randint(8, 64), rng.randint(20, 900)
    return [
        Case((0, context, block)),
        Case((block - 1, 1, block)),
        Case((context * rng.randint(2, 9), context)),
        Case((block, block, block)),
    ]


MAX_REQUESTS = Build(
    id="09-max-concurrent-requests",
    module="kv_cache",
    function="max_concurrent_requests",
    grade="call",
    section="9.4",
    topic="capacity",
    cases=(
        Case((1_464_843, 4096, 16)),
        Case((1_464_843, 131_072, 16)),
        Case((1_327_186, 32_768, 16)),
        Case((100, 17, 16)),
        Case((15, 1, 16)),
        Case((100, 17)),
    ),
    groups=(
        Group("pools", _any_pool, 12, "Whole blocks of the pool, over the blocks that one request takes.", _pools),
        Group("ends", lambda rng: rng.choice(_ends(rng)), 4, "Less than a block holds nothing.", _ends),
    ),
    slips=(
        Slip(
            "The last request does not fit: round down.",
            edit=(
                "(capacity_tokens // block_size) // -(-context // block_size)",
                "-(-(capacity_tokens // block_size) // -(-context // block_size))",
            ),
        ),
        Slip(
            "A request takes whole blocks: its last one may be partly empty.",
            edit=("(capacity_tokens // block_size) // -(-context // block_size)", "capacity_tokens // context"),
        ),
        Slip(
            "The partly filled last block counts as well.",
            edit=("-(-context // block_size)", "max(1, context // block_size)"),
        ),
        Slip(
            "A request whose tokens fill its blocks takes no block more.",
            edit=("-(-context // block_size)", "(context // block_size + 1)"),
        ),
    ),
)


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


UNITS = Debug(
    id="09-debug-units",
    module="kv_cache",
    function="debug_units",
    grade="call",
    section="9.4",
    topic="capacity",
    cases=(Case((72.0, 16.0, 131_072, 8192)), Case((576.0, 141.1, 327_680, 32_768)), Case((24.0, 141.1, 327_680, 64))),
    groups=(
        Group("GPUs", _gpu, 8, "Divide bytes by bytes."),
        Group("no room", lambda rng: rng.choice(_full(rng)), 3, "Where the weights take all, no request fits.", _full),
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
    wrong=wrong_units,
)

ITEMS = (KV_CAPACITY, MAX_REQUESTS, UNITS)
