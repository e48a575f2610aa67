"""Chapter 14: ``push_weights``, weights in buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch14.shared import numbers
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor
from rankzero.events import Event

SIZES = {"float32": 4, "float64": 8, "int64": 8, "int32": 4, "bool": 1}

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
        return {name: numbers(rng, *shapes[name]) for name in names}

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


def push_into_one_buffer(state, trainer, rollout_group, bucket_bytes):
    """Buckets are cut by cumulative sizes, bytes go through one buffer that is written and read in slices."""
    import torch
    import torch.distributed as dist

    seen, tensors = set(), []
    for name in sorted(state):
        key = state[name].data_ptr(), state[name].shape
        if state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name].detach())
    start = 0
    while start < len(tensors):
        end, size = start + 1, tensors[start].nbytes
        while end < len(tensors) and size + tensors[end].nbytes <= bucket_bytes:
            size += tensors[end].nbytes
            end += 1
        buffer, offset = torch.empty(size, dtype=torch.uint8), 0
        for tensor in tensors[start:end]:
            buffer[offset : offset + tensor.nbytes] = tensor.contiguous().flatten().view(torch.uint8)
            offset += tensor.nbytes
        dist.broadcast(buffer, trainer, group=rollout_group)
        offset = 0
        for tensor in tensors[start:end]:
            piece = buffer[offset : offset + tensor.nbytes].clone()
            tensor.copy_(piece.view(tensor.dtype).reshape(tensor.shape))
            offset += tensor.nbytes
        start = end


EXERCISE = Build(
    "14 weight_push.push_weights",
    section="14.19",
    bonus=True,
    topic="weights in buckets",
    grade="world",
    probe="ch14_weights.pushed",
    rule=buckets_alone,
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
    rights=(
        Right("one buffer, written in slices", program=push_into_one_buffer),
        Right(
            "a list that is filled from behind",
            edits=(
                ("    buckets: list[list[torch.Tensor]] = []\n    room = 0\n", "    buckets = [[]]\n"),
                (
                    "        if not buckets or tensor.nbytes > room:\n"
                    "            buckets.append([])\n"
                    "            room = bucket_bytes\n"
                    "        buckets[-1].append(tensor)\n"
                    "        room -= tensor.nbytes\n"
                    "    return buckets\n",
                    "        if sum(one.nbytes for one in (*buckets[-1], tensor)) > bucket_bytes:\n"
                    "            buckets.append([])\n"
                    "        buckets[-1].append(tensor)\n"
                    "    return [bucket for bucket in buckets if bucket]\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "They are overwritten in place on all ranks but the trainer.",
            edit=(
                "tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))",
                "name = min(name for name, held in state.items() if held is tensor)\n"
                "            state[name] = part.clone().view(tensor.dtype).view(tensor.shape)",
            ),
        ),
        Promise(
            "*global* rank that has the new weights",
            edit=("src=trainer", "src=dist.get_group_rank(rollout_group, trainer)"),
        ),
        Promise("unless one tensor alone is larger", edit=("tensor.nbytes > room", "tensor.nbytes >= room")),
        Promise("An empty tensor is not sent", edit=("        if tensor.numel():\n", "        if True:\n")),
    ),
)
