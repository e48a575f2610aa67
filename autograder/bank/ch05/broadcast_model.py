"""Chapter 5: ``broadcast_model``, equal starts."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.rules import Events, Values
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def sent_once(case: Case, _values: Values, events: Events) -> str | None:
    """Broadcasts alone, and of as many bytes as the model has."""
    if len(case.args) == 1:
        return None
    values, buffer = case.args[0]
    size = sum(len(tensor.data) for tensor in (*values, buffer))
    for rank in range(len(case.args)):
        mine = [event for event in events if event.rank == rank]
        other = next((event.operation for event in mine if event.operation != "broadcast"), None)
        if other:
            return f"rank {rank} called {other}: the first rank's values are broadcast"
        if (moved := sum(event.sent + event.received for event in mine)) != size:
            return f"rank {rank} took part in broadcasts of {moved:,} bytes; each tensor once is {size:,} bytes"
    return None


def _model(rng: Random, sizes: tuple[int, ...]) -> tuple[list[Tensor], Tensor]:
    def drawn(size: int) -> Tensor:
        return Tensor.of([round(rng.uniform(-9, 9), 1) for _ in range(size)], "float64")

    return [drawn(size) for size in sizes], drawn(2)


def _models(rng: Random, ranks: int, sizes: tuple[int, ...]) -> Case:
    return Case(tuple(_model(rng, sizes) for _ in range(ranks)))


def _ordinary(rng: Random) -> Case:
    return _models(rng, rng.randint(2, 4), tuple(rng.randint(1, 6) for _ in range(rng.randint(2, 4))))


def _alone(rng: Random) -> Case:
    return _models(rng, 1, (rng.randint(1, 6), 2))


#: Every tensor is replaced by a new one.
_REPLACED = (
    "dist.broadcast(tensor, group=group, group_src=0)",
    "pass\n"
    "        for name, old in [*model.named_parameters(), *model.named_buffers()]:\n"
    "            new = old.detach().clone()\n"
    "            dist.broadcast(new, group=group, group_src=0)\n"
    "            if name in dict(model.named_parameters()):\n"
    "                new = torch.nn.Parameter(new, old.requires_grad)\n"
    "            setattr(model, name, new)",
)

EXERCISE = Build(
    "05 training.broadcast_model",
    section="5.19",
    topic="equal starts",
    bonus=True,
    grade="world",
    probe="ch05.started",
    rule=sent_once,
    cases=(_models(Random("05-broadcast-model"), 2, (3, 1)),),
    groups=(
        Group("models", _ordinary, 4, "Every rank ends with the first rank's tensors: parameters and buffers."),
        Group("one rank", _alone, 1, "One rank keeps what it has."),
    ),
    slips=(
        Slip(
            "The frozen parameter was left out: no gradient makes it equal later.",
            edit=(
                "(*model.parameters(), *model.buffers())",
                "[*(p for p in model.parameters() if p.requires_grad), *model.buffers()]",
            ),
        ),
        Slip(
            "The buffer was left out: it belongs to the model's state.",
            edit=("(*model.parameters(), *model.buffers())", "model.parameters()"),
        ),
        Slip(
            "The ranks' values were averaged: all ranks take those of the first.",
            edit=(
                "dist.broadcast(tensor, group=group, group_src=0)",
                "dist.all_reduce(tensor, group=group)\n            tensor /= dist.get_world_size(group)",
            ),
        ),
        Slip(
            "The model holds new tensors now, and an optimizer would go on with the old ones: fill them in place.",
            edit=_REPLACED,
        ),
    ),
    rights=(
        Right(
            "without their gradients",
            edit=(
                "dist.broadcast(tensor, group=group, group_src=0)",
                "dist.broadcast(tensor.data, group=group, group_src=0)",
            ),
        ),
        Right(
            "end to end in one broadcast",
            edit=(
                "        for tensor in (*model.parameters(), *model.buffers()):\n"
                "            dist.broadcast(tensor, group=group, group_src=0)\n",
                "        tensors = [*model.parameters(), *model.buffers()]\n"
                "        flat = torch.cat([tensor.flatten() for tensor in tensors])\n"
                "        dist.broadcast(flat, group=group, group_src=0)\n"
                "        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):\n"
                "            tensor.copy_(part.view_as(tensor))\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "A frozen parameter is sent too, and so is a buffer",
            edit=(
                "(*model.parameters(), *model.buffers())",
                "[*(p for p in model.parameters() if p.requires_grad), *model.buffers()]",
            ),
        ),
        Promise("The tensors are filled in place", edit=_REPLACED),
        Promise(
            "Each tensor is sent once.",
            edit=("(*model.parameters(), *model.buffers())", "2 * [*model.parameters(), *model.buffers()]"),
        ),
    ),
)
