"""A pipeline schedule played in the simulator, and what is read off its chart: idle time and memory. Standard library.

>>> found = pipeline_chart("1f1b", 4, 8)
>>> found.makespan, found.peaks, round(found.fraction, 4), round(found.overhead, 4)
(33.0, (4.0, 3.0, 2.0, 1.0), 0.2727, 0.375)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankzero.sim.schedules import Times, parse_op

from .pipeline import peak_in_flight, pipeline_schedule, simulate_schedule

#: The schedules by the names that people use.
SCHEDULES = {"gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "interleaved 1F1B", "zb-h1": "ZB-H1"}


@dataclass(frozen=True)
class Chart:
    """A simulated schedule.

    Attributes:
        orders: what each rank does.
        times: start and end of every operation, seconds.
        idle: by rank, seconds of the makespan in which it does nothing.
        peaks: by rank, the most micro-batches whose activations it holds at once, in units of a whole stage.
    """

    orders: list[list[str]]
    times: dict[str, tuple[float, float]]
    idle: tuple[float, ...]
    peaks: tuple[float, ...]

    @property
    def makespan(self) -> float:
        """When the last operation ends, seconds."""
        return max(end for _, end in self.times.values())

    @property
    def own_idle(self) -> tuple[float, ...]:
        """By rank, seconds in which it does nothing between its own first start and its own last end.

        A rank idles this long if it begins the next step at once, without waiting for the other ranks.
        """
        ends = [(self.times[order[0]][0], self.times[order[-1]][1]) for order in self.orders]
        return tuple(idle - (self.makespan - (b - a)) for idle, (a, b) in zip(self.idle, ends, strict=True))

    @property
    def fraction(self) -> float:
        """Idle time of all ranks over their total time."""
        return sum(self.idle) / (len(self.idle) * self.makespan)

    @property
    def overhead(self) -> float:
        """Idle time of all ranks over their useful time."""
        return sum(self.idle) / (len(self.idle) * self.makespan - sum(self.idle))


def pipeline_chart(
    schedule: str,
    ranks: int,
    microbatches: int,
    virtual_stages: int = 1,
    forward: float = 1.0,
    backward: float = 2.0,
    hop: float = 0.0,
    slow: Mapping[int, float] | None = None,
) -> Chart:
    """Simulate a schedule and read off its idle time and memory.

    Args:
        schedule: a key of :data:`SCHEDULES`, or ``"zb-h2"``.
        ranks: of the pipeline.
        microbatches: of one step.
        virtual_stages: chunks on each rank, for ``"interleaved"``; 1 for the others.
        forward: time of one micro-batch on all chunks of a rank, seconds.
        backward: the same for the backward; ZB-H1 and ZB-H2 take half of it for each of its halves.
        hop: time of a message, seconds.
        slow: by stage, how many times longer its operations take.
    """
    if schedule == "zb-h2":
        orders = zb_h2(ranks, microbatches)
    else:
        orders = pipeline_schedule(schedule, ranks, microbatches, virtual_stages)
    half = backward / 2
    plain = {"F": forward, "I": half, "W": half} if schedule.startswith("zb") else {"F": forward, "B": backward}
    durations = {kind: seconds / virtual_stages for kind, seconds in plain.items()}
    for stage, factor in (slow or {}).items():
        durations |= {f"{stage}{kind}": factor * plain[kind] / virtual_stages for kind in plain}
    times = simulate_schedule(orders, durations, hop)
    end = max(stop for _, stop in times.values())
    idle = [end - sum(times[op][1] - times[op][0] for op in order) for order in orders]
    return Chart(orders, times, tuple(idle), tuple(peak_in_flight(order) / virtual_stages for order in orders))


def zb_h2(ranks: int, microbatches: int) -> list[list[str]]:
    """The orders of ZB-H2: twice the warm-up of ZB-H1, and twice as many weight gradients put off.

    Rank r of p warms up with ``2 (p - 1 - r)`` forwards and lets ``2 r`` micro-batches wait for their W. Rank 2r of
    ZB-H1 on 2p - 1 ranks does the same, so the orders are those of every second rank there.

    Source: Qi et al. (2024), arXiv:2401.10241, section 2.2.
    """
    deep = pipeline_schedule("zb-h1", 2 * ranks - 1, microbatches)
    return [[f"{rank}{op.removeprefix(str(2 * rank))}" for op in order] for rank, order in enumerate(deep[::2])]


def chart_text(times: Times, ranks: int, columns: int = 72) -> str:
    """A chart in characters: a row for each rank; ``a`` is the forward of micro-batch 0, ``A`` its backward.

    A weight gradient on its own is ``*``, idle time is ``.``; with more than 26 micro-batches the letters repeat.
    """
    end = max((stop for _, stop in times.values()), default=0.0) or 1.0
    rows = [["."] * columns for _ in range(ranks)]
    for op, (start, stop) in times.items():
        stage, kind, microbatch = parse_op(op)
        letter = chr(ord("a") + microbatch % 26)
        mark = {"F": letter, "W": "*"}.get(kind, letter.upper())
        for place in range(round(start / end * columns), round(stop / end * columns)):
            rows[stage % ranks][place] = mark
    return "\n".join(f"rank {rank:<3} {''.join(row)}" for rank, row in enumerate(rows))
