"""In a rank's worker: the group of a cell's world, which records each operation and posts it to the grader's broker."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from rankzero.world import recorder, source_locations
from rankzero.world.call_log import CallLog

#: The name under which all ranks meet in ``new_group``; groups of a program have numbers for names.
MEETING = "new_group"


def link(group: Any, channel: Any, log: CallLog) -> Any:
    """This rank's side of the channel during one run.

    ``waiting`` is the operation in which the run was ended, or ``asking`` the line that only asked whether it was done.
    ``places`` says of each operation of the channel to which event of the log it belongs: those of an object collective
    are one event, and -1 stands for none.
    """

    class Link(group.Link):
        waiting = ""
        asking: source_locations.Location | None = None

        def announce(self, operation: Any) -> None:
            meets = operation.facts["name"] == MEETING
            self.places.append(-1 if meets else len(log.calls) - (log.object_call is None))
            super().announce(operation)

        def block(self, operation: Any, how: str) -> None:
            try:
                super().block(operation, how)
            except group.Abort:
                if not (self.waiting or self.asking):
                    self.note_end(operation, how)
                raise

        def note_end(self, operation: Any, how: str) -> None:
            self.asking = source_locations.of_frame(sys._getframe(1)) if how == "poll" else None
            if not self.asking:  # the slot is empty while a future is waited for
                shown = bytes(log.slot).partition(b"\0")[0].decode(errors="replace")
                self.waiting = shown or f"!{log.calls[self.places[operation.facts['handle']]]}"

    def caller() -> tuple[int, int | None]:
        place = source_locations.of_frame(sys._getframe(1))
        return 0, place.line if place else None

    made = Link(channel, caller)
    made.log, made.places = log, []
    return made


def _meeting(group: Any, link: Any, ranks: int, new_group: Callable[..., Any]) -> Callable[..., Any]:
    """``new_group`` as the library has it: nobody returns from it before every rank of the world has called it."""

    @functools.wraps(new_group)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = new_group(*args, **kwargs)
        facts = {"operation": "barrier", "group": list(range(ranks)), "name": MEETING, "types": []}
        group.Operation(link, {**facts, "gives": [], "takes": []}, [], [], lambda pieces: None).wait()
        return made

    return call


@contextlib.contextmanager
def _installed(group: Any, link: Any, ranks: int) -> Iterator[None]:
    """Record in the block; the library is as before after it."""
    before = [(module, dict(vars(module))) for module in (dist, c10d)]
    c10d.new_group = dist.new_group = _meeting(group, link, ranks, c10d.new_group)
    recorder.install(link.log)
    try:
        yield
    finally:
        for module, names in before:
            vars(module).update(names)


@contextlib.contextmanager
def joined(group: Any, link: Any, rank: int, ranks: int) -> Iterator[None]:
    """Within this context, the worker is ``rank`` of a fresh world."""
    with _installed(group, link, ranks), group.linked(link, rank, ranks):
        yield
