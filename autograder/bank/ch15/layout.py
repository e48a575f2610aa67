"""The capstone: layers on stages, memory of a stage, bytes that a GPU sends."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15.wrong_memory import MEMORY_PER_STAGE
from autograder.bank.ch15.wrong_traffic import TRAFFIC_PER_GPU
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_70B, LLAMA3_405B, Model

RECOMPUTE = ("none", "selective", "full")
SHARDS = ("optimizer", "optimizer+gradients", "all")

# --- partition_layers


def _uneven(rng: Random) -> Case:
    """A remainder, and places reserved at both ends."""
    stages, each = rng.choice((4, 8, 12, 16)), rng.randint(3, 12)
    first, last = rng.randint(1, 2), rng.randint(1, 2)
    return Case((stages * each + rng.randint(1, stages - 1) - first - last, stages, first, last))


def _nothing_reserved(rng: Random) -> Case:
    stages = rng.randint(3, 16)
    return Case((stages * rng.randint(1, 12) + rng.randint(1, stages - 1), stages))


def _even(rng: Random) -> Case:
    stages, each = rng.randint(2, 16), rng.randint(2, 12)
    return Case((stages * each - 2, stages), {"reserved_first": 1, "reserved_last": 1})


def _few(rng: Random) -> Case:
    """One stage, or stages without a layer."""
    return rng.choice((Case((rng.randint(2, 40), 1, 1, 1)), Case((rng.randint(1, 3), 3, 1, 1)), Case((2, 4, 1, 1))))


def _too_much_reserved(rng: Random) -> list[Case]:
    """More places reserved on the first stage, or on the last one, than it gets."""
    cases = []
    for first in (True, False):
        stages, each = rng.randint(4, 10), rng.randint(2, 5)
        places, much = stages * each + rng.randint(0, stages - 1), each + rng.randint(2, 4)
        reserved = (much, 1) if first else (1, much)
        cases.append(invalid(places - much - 1, stages, *reserved))
    return cases


PARTITION = Build(
    id="cap-partition-layers",
    module="run_plan",
    function="partition_layers",
    grade="call",
    section="15.15",
    bonus=True,
    topic="layers per stage",
    cases=(
        Case((126, 16, 1, 1)),  # Llama 3.1 405B: one layer fewer on the first and on the last stage
        Case((126, 16)),
        Case((80, 4)),
        Case((10, 4)),
        Case((32, 4, 1, 1)),
        Case((2, 4, 1, 1)),
        invalid(20, 8, 5, 1),
    ),
    groups=(
        Group("uneven", _uneven, 5, "Spread layers and reserved places; what is left over goes to the last stages."),
        Group("nothing reserved", _nothing_reserved, 4, "Without reserved places, too, the last stages hold more."),
        Group("even", _even, 3, "Even when nothing is left over, the reserved places are taken away again."),
        Group("few layers", _few, 3, "One stage holds everything; a stage may hold no layer."),
        listed(
            "too much reserved",
            _too_much_reserved,
            "The embedding or the head may count as more layers than a stage gets: then there is no partition.",
        ),
    ),
    slips=(
        Slip(
            "Rounded down: some layers are on no stage.",
            edit=(
                "[each + (1 if stage >= stages - more else 0) for stage in range(stages)]",
                "[places // stages] * stages",
            ),
        ),
        Slip(
            "Rounded up: there are more layers than the model has.",
            edit=(
                "[each + (1 if stage >= stages - more else 0) for stage in range(stages)]",
                "[-(-places // stages)] * stages",
            ),
        ),
        Slip(
            "The first stages hold the most micro-batches: what is left over goes to the last ones.",
            edit=(
                "each + (1 if stage >= stages - more else 0)",
                "places // stages + (1 if stage < places % stages else 0)",
            ),
        ),
        Slip(
            "The reserved places are for the embedding and the head: subtract them at the two ends.",
            edits=(
                ("divmod(places, stages)", "divmod(layers, stages)"),
                ("counts[0] -= reserved_first", "counts[0] += reserved_first"),
                ("counts[-1] -= reserved_last", "counts[-1] += reserved_last"),
            ),
        ),
        Slip(
            "The reserved places are ignored.",
            edit=(
                "return counts",
                "more = layers % stages\n"
                "    return [layers // stages + (1 if stage >= stages - more else 0) for stage in range(stages)]",
            ),
        ),
        Slip(
            "A stage was left with fewer than no layers.",
            edit=(
                "if min(counts) < 0:",
                "if False:",
            ),
        ),
    ),
)

# --- memory_per_stage


def _llama(rng: Random, layers: int) -> Model:
    """A shape with grouped queries, and heads together not as wide as the hidden state."""
    kv_heads, head_dim = rng.choice((2, 4, 8)), rng.choice((64, 128))
    heads = kv_heads * rng.choice((2, 4, 8))
    hidden = heads * head_dim + 64 * rng.randint(1, 9)
    return Model(
        f"{layers} layers", layers, hidden, heads, kv_heads, head_dim, 3 * hidden + 64, rng.randint(1, 90) * 1000
    )


def _staged(rng: Random, recompute: str | None = None, shard: str | None = None, few: bool | None = None) -> Case:
    """A pipeline with fewer micro-batches than stages (``few``), or with more."""
    partition = [rng.randint(1, 9) for _ in range(rng.randint(5, 16))]
    few = rng.random() < 0.5 if few is None else few
    microbatches = rng.randint(2, 4) if few else rng.randint(18, 64)
    ranks = rng.choice((3, 6, 8)), rng.choice((2, 4)), rng.choice((3, 8, 64))
    options = {"shard": shard or rng.choice(SHARDS), "recompute": recompute or rng.choice(RECOMPUTE)}
    tokens = rng.choice((4096, 8192, 16_384))
    return Case((_llama(rng, sum(partition)), partition, *ranks, microbatches, tokens), options)


def _every_kind(rng: Random) -> list[Case]:
    pairs = [(recompute, SHARDS[place]) for place, recompute in enumerate(RECOMPUTE)]
    return [_staged(rng, recompute, shard, few) for recompute, shard in pairs for few in (True, False)]


def _one_stage(rng: Random) -> Case:
    layers = rng.randint(4, 40)
    case = (_llama(rng, layers), [layers], rng.choice((1, 2)), 1, rng.choice((1, 8)), rng.randint(1, 8), 4096)
    return Case(case, {"gradient_bytes": rng.choice((2, 4)), "recompute": rng.choice(RECOMPUTE)})


_405B = (LLAMA3_405B, [7, *[8] * 14, 7], 8, 1, 128, 16, 8192)

MEMORY = Build(
    id="cap-memory-per-stage",
    module="run_plan",
    function="memory_per_stage",
    grade="call",
    section="15.4",
    topic="memory of a stage",
    cases=(
        Case(_405B),  # the paper's second layout: 16 micro-batches of one sequence
        Case(_405B, {"recompute": "selective"}),
        Case(_405B, {"shard": "optimizer", "recompute": "full"}),
        Case((LLAMA3_8B, [16, 16], 2, 2, 2, 1, 8192), {"shard": "all", "gradient_bytes": 2}),
        Case((LLAMA2_7B, [32], 1, 1, 8, 4, 4096)),
    ),
    groups=(
        Group("pipelines", _staged, 8, "Each stage by itself: its layers, its ends, its micro-batches.", _every_kind),
        Group("one stage", _one_stage, 3, "One stage holds everything, and one micro-batch at a time."),
    ),
    slips=MEMORY_PER_STAGE,
)

# --- traffic_per_gpu


def _sent(rng: Random, recompute: str | None = None) -> Case:
    """Every dimension is there, and the layers do not divide by the stages."""
    pp = rng.choice((4, 8, 16))
    model = _llama(rng, pp * rng.randint(2, 8) + rng.randint(1, pp - 1))
    ranks = rng.choice((3, 6, 8)), rng.choice((3, 5, 16)), pp, rng.choice((2, 3, 8, 64))
    options = {"virtual_stages": rng.randint(2, 8), "recompute": recompute or rng.choice(RECOMPUTE)}
    return Case((model, *ranks, rng.randint(2, 64), rng.choice((8192, 32_768, 131_072))), options)


def _alone(rng: Random) -> Case:
    """One rank in some dimensions: nothing to send there."""
    ranks = [rng.choice((2, 4, 8)) for _ in range(4)]
    for place in rng.sample(range(4), rng.randint(2, 4)):
        ranks[place] = 1
    return Case((_llama(rng, 16), *ranks, rng.randint(1, 16), 8192))


TRAFFIC = Build(
    id="cap-traffic-per-gpu",
    module="run_plan",
    function="traffic_per_gpu",
    grade="call",
    section="15.3",
    topic="traffic of a GPU",
    cases=(
        Case((LLAMA3_405B, 8, 1, 16, 128, 16, 8192)),  # the paper's second layout
        Case((LLAMA3_405B, 8, 16, 16, 8, 16, 131_072)),  # the third, with long sequences
        Case((LLAMA3_405B, 8, 1, 16, 64, 32, 8192), {"virtual_stages": 8}),  # the first; 8 chunks are assumed
        Case((LLAMA3_70B, 4, 2, 1, 8, 8, 16_384), {"recompute": "full"}),
        Case((LLAMA3_8B, 1, 1, 1, 1, 8, 8192)),
    ),
    groups=(
        listed(
            "all dimensions",
            lambda rng: [_sent(rng, recompute) for recompute in RECOMPUTE * 2],
            "Layers times collectives times what a ring sends, for one step.",
        ),
        Group("one rank", _alone, 4, "A dimension of one rank sends nothing."),
    ),
    slips=TRAFFIC_PER_GPU,
)
