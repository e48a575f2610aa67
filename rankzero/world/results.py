"""What a run of a world gives back, and what it refuses, wherever the ranks are. Standard library only."""

from __future__ import annotations

import inspect
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, get_args

from rankzero.events import Event, Ledger
from rankzero.world.job import OUTPUT_LIMIT, Backend, RankOutcome

MOST_RANKS = 64
MOST_SECONDS = 7 * 86_400  # of a run: PyTorch's own waits end after a week (rank.py)
#: How many ranks a summary has, and how many characters of each value.
SHOWN, WIDEST = 16, 72
SHORT = reprlib.Repr()
SHORT.maxlist = SHORT.maxtuple = SHORT.maxdict = SHORT.maxset = 8
SHORT.maxstring = SHORT.maxlong = SHORT.maxother = WIDEST
LIBRARY_OUTPUT = re.compile(r"\[Gloo\] Rank \d+ is connected|\[[WEIF]\d{4} \d\d:\d\d")  # PyTorch's own log lines


class WrongCall(TypeError):
    """A function that cannot take its arguments. A notebook shows the sentence without the frames of this package."""

    def _render_traceback_(self) -> list[str]:
        return [f"TypeError: {self}"]


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        rows = [f"  rank {rank}: {value}; {traffic}" for rank, value, traffic in self._summary()]
        return "\n".join([self._head, *rows, *(f"  {one}" for one in self._more)])

    def _repr_html_(self) -> str:
        """What a notebook shows of a run that is the last line of a cell."""
        head = "".join(f"<th>{name}</th>" for name in ("rank", "returned", "bytes"))
        cells = [(str(rank), f"<code>{escape(value)}</code>", traffic) for rank, value, traffic in self._summary()]
        rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"<p>{self._head}</p>{table}{''.join(self._more)}"

    @property
    def _head(self) -> str:
        ranks = f"World of {self.ranks} rank{'s' if self.ranks > 1 else ''}"
        try:
            return f"{ranks}, {self.seconds:.3g} s"
        except RuntimeError:  # a page has no time
            return ranks

    @property
    def _more(self) -> list[str]:
        """A line for the ranks that a summary leaves out, if there are any."""
        more = self.ranks - SHOWN
        return [f"... and {more} more rank{'s' if more > 1 else ''}"] if more > 0 else []

    def _summary(self) -> list[tuple[int, str, str]]:
        """For each rank: its number, the beginning of its value, and the bytes that it sent and received."""
        rows = []
        for rank, value in enumerate(self.values[:SHOWN]):
            own = [event for event in self.events if event.rank == rank]
            sent, received = sum(event.sent for event in own), sum(event.received for event in own)
            rows.append((rank, _shortened(value), f"{sent:,} B sent, {received:,} B received"))
        return rows


def _shortened(value: Any) -> str:
    """The representation of a value on one line, cut where it is long."""
    text = " ".join(SHORT.repr(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 4]} ..."


def check(fn: Any, ranks: Any, timeout: Any, backend: Any, withheld: Any) -> None:
    """Refuse arguments of ``run`` that are outside their ranges.

    Raises:
        TypeError, ValueError: one is; the message names it and its value.
    """
    if not callable(fn):
        raise TypeError(f"fn must be callable, got {fn!r}")
    if not isinstance(ranks, int) or isinstance(ranks, bool) or not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks must be an integer from 1 to {MOST_RANKS}, got {ranks!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= MOST_SECONDS:
        raise ValueError(f"timeout must be a positive number of seconds, at most a week, got {timeout!r}")
    if backend is not None and backend not in get_args(Backend):
        raise ValueError(f"backend must be 'gloo', 'nccl' or None, got {backend!r}")
    if withheld is not None and (ranks < 2 or type(withheld) is not int or not 0 <= withheld < ranks):
        raise ValueError(f"withheld must be one of at least 2 ranks or None, got {withheld!r} with ranks={ranks}")


def check_call(fn: Any, args: Sequence[Any]) -> None:
    """Refuse arguments that a function cannot take, before every rank says so.

    Raises:
        WrongCall: the message names the function, its parameters and the arguments.
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some functions in C have none
        return
    try:
        signature.bind(*args)
    except TypeError as error:
        name = getattr(fn, "__name__", type(fn).__name__)
        given = ", ".join(map(_shortened, args))
        meant = "; the number of ranks is given by name, as in ranks=4" if args and type(args[-1]) is int else ""
        raise WrongCall(f"{name}{signature} cannot be called as {name}({given}): {error}{meant}") from None


def lines(outcome: RankOutcome) -> tuple[str, ...]:
    """What a rank printed, without PyTorch's log lines."""
    printed = outcome.output.decode(errors="replace").removesuffix("\n")
    kept = [line for line in printed.split("\n") if not LIBRARY_OUTPUT.match(line)] if outcome.output else []
    if outcome.dropped:
        kept.append(f"... cut after {OUTPUT_LIMIT:,} bytes; {outcome.dropped:,} more were printed")
    return tuple(kept)
