"""Chapter 14: ``debug_src``, global ranks and groups."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch14.shared import numbers
from autograder.bank.rules import every
from autograder.items import Case, Debug, Group, Promise, Right, Slip
from rankzero.events import Event


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
    return Case(tuple((numbers(rng, "float32", *shape),) for _ in range(ranks)))


def serving_alone(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Only the serving half calls anything."""
    stray = next((event for event in events if event.rank < len(case.args) // 2), None)
    return f"rank {stray.rank} called {stray.operation}: it trains, and has no part in this" if stray else None


def _weights_for(case: Case) -> list[int]:
    """The serving ranks but the first of them need its tensor."""
    ranks = len(case.args)
    return [least_received.first_tensor(case) * (rank > ranks // 2) for rank in range(ranks)]


def shared(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """What the rank returned, its own tensor, and whether it took part in creating a group."""
    return {
        "returned": answer["returned"],
        "own tensor afterwards": answer["own tensor afterwards"],
        "took part in creating a group": answer["groups created"] > 0,
    }


_SHARE = "        dist.broadcast(weights, src=serving[0], group=group)\n"

_MESSAGES = """        if dist.get_rank() == serving[0]:
            for other in serving[1:]:
                dist.send(x.contiguous(), other)
        else:
            dist.recv(weights, serving[0])
"""


EXERCISE = Debug(
    "14 weight_push.debug_src",
    section="14.19",
    topic="global ranks and groups",
    bonus=True,
    grade="world",
    probe="ch14_weights.shared",
    rule=every(serving_alone, least_received.heard(_weights_for)),
    concludes=shared,
    wrong=wrong_src,
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
    rights=(
        Right(
            "zeros on those that receive",
            edit=(_SHARE, "        weights = weights * (dist.get_rank() == serving[0])\n" + _SHARE),
        ),
        Right("messages to one after the other", edit=(_SHARE, _MESSAGES)),
    ),
    promises=(
        Promise("unchanged afterwards", edit=("weights = x.clone()", "weights = x")),
        Promise("A new tensor: on a serving rank the first serving rank's", edit=("src=serving[0]", "src=serving[-1]")),
    ),
)
