"""Several cases in one world, each seen as if it had a world of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch.distributed as dist

from rankzero import world

Case = tuple[Any, ...]


def _one_by_one(fn: Callable[..., Any], cases: tuple[Case, ...]) -> list[Any]:
    """What each case returns; in the log, a barrier stands behind each."""
    values = []
    for case in cases:
        values.append(fn(*case))
        dist.barrier()
    return values


@functools.cache
def runs(fn: Callable[..., Any], cases: tuple[Case, ...], ranks: int) -> dict[Case, world.World]:
    """For each case, values and events of ``fn(*case)``, which calls no barrier itself."""
    whole = world.run(_one_by_one, fn, cases, ranks=ranks)
    events: list[list[Any]] = [[] for _ in cases]
    for rank in range(ranks):
        place = 0
        for event in (event for event in whole.events if event.rank == rank):
            if event.operation == "barrier":
                place += 1
            else:
                events[place].append(event)
        assert place == len(cases)
    return {
        case: replace(whole, values=tuple(value[place] for value in whole.values), events=tuple(events[place]))
        for place, case in enumerate(cases)
    }
