"""Messages whose two ends disagree, and buffers used too early: real programs and their outcomes.

The outcomes were observed with Gloo on Linux and the version of torch that ``OBSERVED_WITH`` names; a test reproduces
them. None is guaranteed: another version, system or backend may behave differently.

    world.run(MISMATCHES["longer"].program, ranks=2).values
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks, world

#: The version of torch whose Gloo produced the outcomes below.
OBSERVED_WITH = "2.13"

#: Elements of the 16 MiB message that gets overwritten.
MANY = 4 * 2**20


@dataclass(frozen=True)
class Mismatch:
    """A program with a fault, and its outcome.

    Attributes:
        title: the fault, in a few words.
        program: what every rank runs.
        ranks: how many it needs.
        values: what each rank returned; None if the world did not finish.
        reports: how the reports of ranks that did not finish begin: ``{1: "died: abort"}``.
    """

    title: str
    program: Callable[[], Any]
    ranks: int = 2
    values: tuple[Any, ...] | None = None
    reports: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run: the ranks' values, or the world's error and its reports by rank."""

    values: tuple[Any, ...] | None
    reports: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.values is None:
            return "; ".join(f"rank {rank} {report}" for rank, report in enumerate(self.reports))
        return "; ".join(f"rank {rank} has {value}" for rank, value in enumerate(self.values) if value is not None)

    def is_of(self, mismatch: Mismatch) -> bool:
        """Whether this is the outcome that the catalogue records."""
        begun = all(self.reports[rank].startswith(words) for rank, words in mismatch.reports.items() if self.reports)
        return self.values == mismatch.values and begun and bool(self.reports) == bool(mismatch.reports)


def observe(name: str, timeout: float = 2.0) -> Outcome:
    """Run a program of the catalogue on real ranks.

    Args:
        name: a key of ``MISMATCHES``.
        timeout: seconds after which ranks that are still waiting are terminated.
    """
    checks.one_of(MISMATCHES, name=name)
    mismatch = MISMATCHES[name]
    try:
        run = world.run(mismatch.program, ranks=mismatch.ranks, timeout=timeout, backend="gloo")
    except world.WorldError as error:
        return Outcome(None, tuple(report.what for report in error.reports))
    return Outcome(run.values)


def longer() -> list[float] | None:
    """Four floats are sent; the receiver has room for eight, each initialized to -1."""
    if dist.get_rank() == 0:
        dist.send(torch.tensor([1.0, 2.0, 3.0, 4.0]), 1)
        return None
    buffer = torch.full((8,), -1.0)
    dist.recv(buffer, 0)
    return buffer.tolist()


def shorter() -> list[float] | None:
    """Eight floats are sent; the receiver has room for four."""
    if dist.get_rank() == 0:
        dist.send(torch.ones(8), 1)
        return None
    buffer = torch.full((4,), -1.0)
    dist.recv(buffer, 0)
    return buffer.tolist()


def dtype() -> int | None:
    """The float 1.0 is sent; the receiver has a buffer of one int32."""
    if dist.get_rank() == 0:
        dist.send(torch.ones(1), 1)
        return None
    buffer = torch.zeros(1, dtype=torch.int32)
    dist.recv(buffer, 0)
    return int(buffer)


def source() -> float | None:
    """Rank 0 sends to rank 1; rank 1 receives from rank 2; rank 2 does nothing."""
    buffer = torch.ones(1)
    if dist.get_rank() == 0:
        dist.send(buffer, 1)
    if dist.get_rank() == 1:
        dist.recv(buffer, 2)
    return float(buffer)


def overwrite() -> list[float] | None:
    """16 MiB of ones are sent without blocking and zeroed before the wait."""
    if dist.get_rank() == 0:
        ones = torch.ones(MANY)
        handle: Any = dist.isend(ones, 1)
        ones.zero_()
        dist.barrier()
        handle.wait()
        return None
    dist.barrier()  # by now the sender has zeroed its buffer
    buffer = torch.full((MANY,), -1.0)
    dist.recv(buffer, 0)
    return [float(buffer.min()), float(buffer.max())]


def early_read() -> list[list[float]] | None:
    """A receive is posted; its buffer is read before and after the wait."""
    if dist.get_rank() == 0:
        dist.barrier()
        dist.send(torch.ones(4), 1)
        return None
    buffer = torch.zeros(4)
    handle: Any = dist.irecv(buffer, 0)
    early = buffer.tolist()
    dist.barrier()  # the sender does not send before this
    handle.wait()
    return [early, buffer.tolist()]


#: By name: four mismatches between a send and its receive, then two buffers used too early.
MISMATCHES = {
    "longer": Mismatch("a buffer longer than the message", longer, values=(None, [1.0, 2.0, 3.0, 4.0, *[-1.0] * 4])),
    "shorter": Mismatch("a buffer shorter than the message", shorter, reports={1: "died: abort (SIGABRT)"}),
    "dtype": Mismatch("a buffer of another type", dtype, values=(None, 1065353216)),
    "source": Mismatch(
        "a receive from the wrong rank",
        source,
        ranks=3,
        reports={0: "waits in send(dst=1)", 1: "waits in recv(src=2)", 2: "has finished"},
    ),
    "overwrite": Mismatch("a send buffer overwritten before wait", overwrite, values=(None, [0.0, 0.0])),
    "early-read": Mismatch("a receive buffer read before wait", early_read, values=(None, [[0.0] * 4, [1.0] * 4])),
}
