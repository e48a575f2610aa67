"""Chapter 14: weights pushed in buckets, a root to correct, an engine that must not be left behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.groups import listed
from autograder.bank.rules import every
from autograder.items import Build, Case, Debug, Group, Slip, Tensor
from rankzero.events import Event

SIZES = {"float32": 4, "float64": 8, "int64": 8, "int32": 4, "bool": 1}


def _numbers(rng: Random, dtype: str, *shape: int) -> Tensor:
    kinds = {"bool": lambda: rng.randint(0, 1), "int64": lambda: rng.randint(1, 10**12)}
    draw = kinds.get(dtype, lambda: rng.uniform(-2, 2))
    return Tensor.of([draw() for _ in range(math.prod(shape))], dtype, shape)


# --- push_weights

#: Names with types and shapes: a small model as its state names it. Sorted, the names are in another order.
MODEL = {
    "embed.weight": ("float32", 7, 4),
    "block.0.up": ("float32", 9, 4),
    "block.0.down": ("float32", 4, 9),
    "block.0.bias": ("float32", 9),
    "norm.weight": ("float32", 4),
}
BUFFERS = {"norm.steps": ("int64",), "block.0.mask": ("bool", 5), "angles": ("float64", 3)}

Shapes = dict[str, tuple]


def _push(
    rng: Random,
    shapes: Shapes,
    bucket_bytes: int,
    ranks: int = 4,
    trainer: int = 0,
    members: Any = None,
    **options: Any,
) -> Case:
    """Every rank has other numbers under the same names, and names them in an order of its own."""

    def state(rank: int) -> dict[str, Tensor]:
        names = list(shapes)
        Random(f"{rank} {len(names)}").shuffle(names)
        return {name: _numbers(rng, *shapes[name]) for name in names}

    group = list(members or range(ranks))
    return Case(tuple((state(rank), trainer, group, bucket_bytes) for rank in range(ranks)), options)


def _models(rng: Random) -> list[Case]:
    """Buckets of a few tensors; a bucket that is smaller than some tensors."""
    return [_push(rng, MODEL, rng.choice((260, 300))), _push(rng, MODEL, rng.choice((40, 120)), 3)]


def _inside(rng: Random) -> list[Case]:
    """The trainer is not rank 0, and not all ranks are members."""
    few = {name: MODEL[name] for name in ("embed.weight", "block.0.up", "norm.weight")}
    return [_push(rng, few, 200, 4, 2, (2, 3)), _push(rng, few, 150, 4, 3, (1, 3))]


def _buffers(rng: Random) -> list[Case]:
    return [_push(rng, MODEL | BUFFERS, 170, 2), _push(rng, BUFFERS, 30, 3, 1)]


def _shared(rng: Random) -> list[Case]:
    """Two names for one memory, beside a transposed weight; an empty tensor, also between two large ones."""
    tied = MODEL | {"head.weight": MODEL["embed.weight"]}
    empty = tied | {"adapter": ("float32", 0, 4)}
    return [
        _push(rng, tied, 180, 2, ties=[("head.weight", "embed.weight")]),
        _push(rng, empty, 10**6, 2, 1, ties=[("head.weight", "embed.weight")], turned=["block.0.up"]),
        _push(rng, {"a": ("float32", 9), "b": ("float32", 0, 4), "c": ("float32", 2, 5)}, 20, 2),
    ]


def _due(case: Case) -> list[int]:
    """Bytes of each bucket: names in order, tied ones once."""
    state, _, _, bucket_bytes = case.args[0]
    again = {name for name, _ in case.kwargs.get("ties", ()) if _ < name} | {
        other for name, other in case.kwargs.get("ties", ()) if name < other
    }
    buckets: list[int] = []
    for name in sorted(set(state) - again):
        size = SIZES[state[name].dtype] * math.prod(state[name].shape)
        if not size:
            continue
        if not buckets or buckets[-1] + size > bucket_bytes:
            buckets.append(0)
        buckets[-1] += size
    return buckets


def buckets_alone(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """The trainer broadcasts the buckets, and there is nothing else."""
    trainer = case.args[0][1]
    other = next((event.operation for event in events if event.operation != "broadcast"), None)
    if other:
        return f"a rank called {other}: buckets are broadcast"
    sent, due = [event.sent for event in events if event.rank == trainer], _due(case)
    if sent != due:
        return f"the trainer sent {_listed(sent)}; filled in the order of the names they are {_listed(due)}"
    return None


def _listed(sizes: Sequence[int]) -> str:
    return f"{len(sizes)} buckets of {', '.join(f'{size:,}' for size in sizes)} bytes"


PUSH = Build(
    id="14-push-weights",
    module="weight_push",
    function="push_weights",
    grade="world",
    probe="ch14_weights.pushed",
    section="14.5",
    topic="weights in buckets",
    cases=(
        _push(Random("a model"), {"b": ("float32", 3), "a": ("float32", 2, 2), "c": ("float32", 5)}, 28, 3),
        _push(Random("steps"), {"weight": ("float32", 2), "steps": ("int64",)}, 100, 2),
        _push(Random("inside"), {"weight": ("float32", 2, 2)}, 8, 4, 2, (2, 3)),
    ),
    groups=(
        listed("models", _models, "A bucket holds as many tensors as fit."),
        listed("a part of the world", _inside, "src is a global rank."),
        Group("buffers", lambda rng: rng.choice(_buffers(rng)), 1, "Whole numbers and flags travel too."),
        listed("tied", _shared, "One memory is sent once, whatever its names; an empty tensor is not sent."),
    ),
    slips=(
        Slip(
            "New tensors were put in place of the old: who holds the old ones never sees them. Copy.",
            edit=(
                "tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))",
                "name = min(name for name, held in state.items() if held is tensor)\n"
                "            state[name] = part.clone().view(tensor.dtype).view(tensor.shape)",
            ),
        ),
        Slip("Ranks list their tensors in different orders: sort the names.", edit=("sorted(state)", "state")),
        Slip(
            "Buffers were left out: a state holds whole numbers and flags too.",
            edit=("if tensor.numel():", "if tensor.is_floating_point() and tensor.numel():"),
        ),
        Slip(
            "Everything went in one bucket: that needs a second copy of the model.",
            edit=("_buckets(_distinct(state), bucket_bytes)", "[_distinct(state)]"),
        ),
        Slip(
            "Every tensor went alone: fill buckets.",
            edit=("_buckets(_distinct(state), bucket_bytes)", "[[tensor] for tensor in _distinct(state)]"),
        ),
        Slip(
            "src is a global rank, not the place in the group.",
            edit=("src=trainer", "src=dist.get_group_rank(rollout_group, trainer)"),
        ),
        Slip(
            "Tied weights are one memory under two names: send it once.",
            edit=(
                "found.setdefault((tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype), tensor)",
                "found[name] = tensor",
            ),
        ),
    ),
    rule=buckets_alone,
)

# --- debug_src


def wrong_src(x):
    import torch.distributed as dist

    ranks = dist.get_world_size()
    serving = list(range(ranks // 2, ranks))
    group = dist.new_group(serving)
    weights = x.clone()
    if dist.get_rank() in serving:
        dist.broadcast(weights, src=0, group=group)
    return weights


def _tensors(rng: Random, ranks: int, *shape: int) -> Case:
    return Case(tuple((_numbers(rng, "float32", *shape),) for _ in range(ranks)))


def serving_alone(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Only the serving half calls anything."""
    stray = next((event for event in events if event.rank < len(case.args) // 2), None)
    return f"rank {stray.rank} called {stray.operation}: it trains, and has no part in this" if stray else None


def _weights_for(case: Case) -> list[int]:
    """The serving ranks but the first of them need its tensor."""
    ranks = len(case.args)
    return [least_received.first_tensor(case) * (rank > ranks // 2) for rank in range(ranks)]


DEBUG_SRC = Debug(
    id="14-debug-src",
    module="weight_push",
    function="debug_src",
    grade="world",
    section="14.5",
    topic="global ranks and groups",
    probe="ch14_weights.shared",
    cases=(_tensors(Random("four"), 4, 2), _tensors(Random("two"), 2, 3)),
    groups=(
        Group(
            "four ranks",
            lambda rng: _tensors(rng, 4, rng.randint(1, 5), rng.randint(1, 5)),
            3,
            "The source is the first serving rank, by the number that it has in the world.",
        ),
        Group("two ranks", lambda rng: _tensors(rng, 2, rng.randint(1, 9)), 2, "A group may have one rank alone."),
    ),
    slips=(
        Slip("src counts in the world: rank 0 is not in the group. Name the first serving rank.", wrong_src),
        Slip(
            "Rank 0 was taken into the group, and its weights went out: it does not serve.",
            program=wrong_src,
            edit=("serving = list(range(ranks // 2, ranks))", "serving = [0, *range(ranks // 2, ranks)]"),
        ),
        Slip(
            "The broadcast went to the whole world: the ranks that train keep their own.",
            edit=(
                "    if dist.get_rank() in serving:\n        dist.broadcast(weights, src=serving[0], group=group)",
                "    dist.broadcast(weights, src=serving[0])",
            ),
        ),
        Slip(
            "The group was created by its members alone: every rank of the world calls `new_group`, and only members "
            "use the group.",
            edits=(
                ("    group = dist.new_group(serving)\n", ""),
                (
                    "        dist.broadcast(weights, src=serving[0]",
                    "        group = dist.new_group(serving)\n        dist.broadcast(weights, src=serving[0]",
                ),
            ),
        ),
        Slip("The first serving rank has the weights, not the last.", edit=("src=serving[0]", "src=serving[-1]")),
        Slip(
            "One rank is the source for all of its group: it must be the same for every member.",
            edit=("src=serving[0]", "src=dist.get_rank()"),
        ),
    ),
    rule=every(serving_alone, least_received.heard(_weights_for)),
    wrong=wrong_src,
)

# --- debug_rebinding


def wrong_rebinding(layer, weight, bias):
    import torch

    layer.weight = torch.nn.Parameter(weight)
    layer.bias = torch.nn.Parameter(bias)


def _layer(rng: Random, frozen: bool = False, dtype: str = "float32") -> Case:
    out, into, rows = rng.randint(2, 5), rng.randint(2, 5), rng.randint(1, 4)
    shapes = ((out, into), (out,), (out, into), (out,), (rows, into))
    return Case(tuple(_numbers(rng, dtype, *shape) for shape in shapes), {"frozen": True} if frozen else {})


DEBUG_REBINDING = Debug(
    id="14-debug-rebinding",
    module="weight_push",
    function="debug_rebinding",
    grade="tensor",
    probe="ch14_weights.served",
    section="14.5",
    topic="weights in place",
    bonus=True,
    tolerance=1e-5,
    cases=(_layer(Random("layer")), _layer(Random("frozen"), True)),
    groups=(
        Group("layers", _layer, 4, "The engine reads at the addresses that it captured."),
        Group("frozen", lambda rng: _layer(rng, True, "float64"), 3, "A layer that needs no gradients stays so."),
    ),
    slips=(
        Slip("A new Parameter has a new address: copy into the old one, without gradients.", wrong_rebinding),
        Slip(
            "`.data = ` gives the parameter another memory: the engine reads the old one.",
            edits=(("weight.copy_(weight)", "weight.data = weight"), ("bias.copy_(bias)", "bias.data = bias")),
        ),
        Slip(
            "`assign=True` puts new tensors in place of the old.",
            edits=(
                ("layer.weight.copy_(weight)", 'layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)'),
                ("layer.bias.copy_(bias)", "layer.weight.requires_grad_(True)"),
            ),
        ),
        Slip("The bias is a parameter, too.", edit=("\n        layer.bias.copy_(bias)", "")),
        Slip(
            "Parameters must go on asking for gradients: copy under `torch.no_grad()`.",
            edit=("layer.weight.copy_(weight)", "layer.requires_grad_(False)\n        layer.weight.copy_(weight)"),
        ),
    ),
    wrong=wrong_rebinding,
)

ITEMS = (PUSH, DEBUG_SRC, DEBUG_REBINDING)
