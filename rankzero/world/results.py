"""What a run of a world gives back, and what it refuses, wherever the ranks are. Standard library only."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, get_args

from rankzero.events import Event, Ledger
from rankzero.world.job import OUTPUT_LIMIT, Backend, RankOutcome

MOST_RANKS = 64
LIBRARY_OUTPUT = re.compile(r"\[Gloo\] Rank \d+ is connected|\[[WEIF]\d{4} \d\d:\d\d")  # PyTorch's own log lines


@dataclass(frozen=True)
class World:
    """The results of a run of ``ranks`` processes.

    Attributes:
        values: what the function returned, by rank; tensors are plain copies on the CPU.
        lines: what each rank printed, standard output and warnings, by rank; cut at 1 MiB for each rank.
        events: every operation that was called, by rank and then in the order of the calls.
        ranks: number of processes.
        seconds: time from the common start, after the ranks had joined, to the end of the last rank's function.
    """

    values: tuple[Any, ...]
    lines: tuple[tuple[str, ...], ...]
    events: tuple[Event, ...]
    ranks: int
    seconds: float

    @property
    def text(self) -> str:
        """All printed lines, in rank order."""
        return "\n".join(line for lines in self.lines for line in lines)

    def ledger(self) -> Ledger:
        """Bytes by rank and operation."""
        return Ledger(self.events, self.ranks)


def check(fn: Any, ranks: Any, timeout: Any, backend: Any, withheld: Any) -> None:
    """Refuse arguments of ``run`` that are outside their ranges.

    Raises:
        TypeError, ValueError: one is; the message names it and its value.
    """
    if not callable(fn):
        raise TypeError(f"fn must be callable, got {fn!r}")
    if not isinstance(ranks, int) or isinstance(ranks, bool) or not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks must be an integer from 1 to {MOST_RANKS}, got {ranks!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if backend is not None and backend not in get_args(Backend):
        raise ValueError(f"backend must be 'gloo', 'nccl' or None, got {backend!r}")
    if withheld is not None and (ranks < 2 or type(withheld) is not int or not 0 <= withheld < ranks):
        raise ValueError(f"withheld must be one of at least 2 ranks or None, got {withheld!r} with ranks={ranks}")


def lines(found: RankOutcome) -> tuple[str, ...]:
    """What a rank printed, without PyTorch's log lines."""
    printed = found.output.decode(errors="replace").removesuffix("\n")
    kept = [line for line in printed.split("\n") if not LIBRARY_OUTPUT.match(line)] if printed else []
    if found.dropped:
        kept.append(f"... cut after {OUTPUT_LIMIT:,} bytes; {found.dropped:,} more were printed")
    return tuple(kept)
