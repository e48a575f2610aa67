"""Figures of weight synchronization: resharding a matrix, times of different transports, buckets in a pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.facts.units import format_bytes, format_time
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, counted, legend, panels, styled
from rankzero.figures.plots import curves

Box = tuple[int, int, int, int]

#: Opacity of the parts that a rank keeps; parts that it receives are opaque.
KEPT = 0.35


class Move(Protocol):
    """A box, given by its rows and columns, that ``destination`` gets from ``source``."""

    @property
    def source(self) -> int: ...
    @property
    def destination(self) -> int: ...
    @property
    def box(self) -> Box: ...


class Span(Protocol):
    """The time that a bucket spends in a stage, from ``start`` to ``end`` in seconds."""

    @property
    def stage(self) -> int: ...
    @property
    def bucket(self) -> int: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...


@styled
def reshard(shape: tuple[int, int], source: Sequence[Box], plan: Sequence[Move], itemsize: int = 2) -> Picture:
    """Resharding a matrix: which rank holds which part, and what each rank ends up with, coloured by source.

    Args:
        shape: rows and columns.
        source: the box that each rank holds at first; if several ranks hold the same box, only the lowest is shown.
        plan: the transfers; if source and destination are equal, the rank keeps what it has.
        itemsize: bytes per element.
    """
    ranks = len(source)
    columns = min(ranks, 4) + 1
    rows = math.ceil(ranks / (columns - 1))
    picture, panes = panels(rows, columns, (7.4, 0.4 + rows * (0.5 + 1.35 * shape[0] / shape[1])))
    for index in range(rows):
        _sheet(panes[index * columns], shape, "held" if index == 0 else "")
        for rank, box in enumerate(source):
            if index == 0 and source.index(box) == rank:
                _part(panes[0], box, rank, str(rank))
        panes[index * columns].set_visible(index == 0)
    sent = _received(plan, ranks)
    for rank in range(rows * (columns - 1)):
        axes = panes[rank // (columns - 1) * columns + 1 + rank % (columns - 1)]
        axes.set_visible(rank < ranks)
        if rank < ranks:
            _sheet(axes, shape, f"rank {rank}: gets {format_bytes(sent[rank] * itemsize)}")
            for move in plan:
                if move.destination == rank:
                    kept = move.source == rank
                    _part(axes, move.box, move.source, "" if kept else str(move.source), KEPT if kept else 1.0)
    legend(picture, {f"from rank {rank}": COLOURS[rank % len(COLOURS)] for rank in range(ranks)})
    each = ", ".join(f"rank {rank} {format_bytes(size * itemsize)}" for rank, size in enumerate(sent))
    picture.alt = (
        f"A matrix of {shape[0]} x {shape[1]} on {counted(ranks, 'rank')}: on the left who holds which part, beside it "
        f"what each rank comes to hold and from whom. Received: {each}."
    )
    return picture


def _received(plan: Iterable[Move], ranks: int) -> list[int]:
    """Number of elements that each rank gets from other ranks."""
    sizes = [0] * ranks
    for move in plan:
        row0, row1, col0, col1 = move.box
        sizes[move.destination] += (row1 - row0) * (col1 - col0) * (move.source != move.destination)
    return sizes


def _sheet(axes: Axes, shape: tuple[int, int], title: str) -> None:
    """Draw an empty matrix."""
    axes.set(xlim=(-0.1, shape[1] + 0.1), ylim=(shape[0] + 0.1, -0.1), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.add_patch(Rectangle((0, 0), shape[1], shape[0], facecolor="none", edgecolor=QUIET, linewidth=0.8))
    axes.set_title(title, fontsize=8)


def _part(axes: Axes, box: Box, rank: int, text: str, strength: float = 1.0) -> None:
    """Draw a box in the colour of a rank, with a text in it."""
    row0, row1, col0, col1 = box
    if row0 >= row1 or col0 >= col1:
        return
    colour = COLOURS[rank % len(COLOURS)]
    size = (col1 - col0, row1 - row0)
    axes.add_patch(Rectangle((col0, row0), *size, facecolor=colour, alpha=strength, edgecolor=INK, linewidth=0.6))
    if text:
        middle = ((col0 + col1) / 2, (row0 + row1) / 2)
        axes.text(*middle, text, ha="center", va="center", fontsize=8, color=ink_on(colour))


def roads(times: Mapping[str, Mapping[int, float]], lines: Mapping[str, tuple[float, float]]) -> Picture:
    """Measured times of several transports by size, and the line fitted to each.

    Args:
        times: by transport, the measured seconds by size in bytes.
        lines: by transport, the fitted start-up time in seconds and bandwidth in bytes/s (infinite for a flat line).
    """
    sizes = sorted({size for rows in times.values() for size in rows})
    fitted = {
        road: [(float(size), max(alpha + size / rate, 1e-9)) for size in sizes] for road, (alpha, rate) in lines.items()
    }
    points = {road: [(float(size), seconds) for size, seconds in rows.items()] for road, rows in times.items()}
    last = ", ".join(f"{road} {format_time(rows[max(rows)])}" for road, rows in times.items())
    alt = (
        f"Seconds against bytes on logarithmic axes for {counted(len(times), 'road')}. At {format_bytes(sizes[-1])}: "
        f"{last}."
    )
    return curves(fitted, points, x="size (B)", y="time (s)", log="xy", alt=alt)


@styled
def buckets(spans: Sequence[Span], stages: Sequence[str]) -> Picture:
    """Buckets in a pipeline: stages are rows, and buckets are bars with their numbers.

    Args:
        spans: the time of each bucket in each stage.
        stages: names of the stages, in order.
    """
    picture, (axes,) = panels(1, 1, (7.0, 0.7 + 0.42 * len(stages)))
    end = max(span.end for span in spans)
    for span in spans:
        colour = COLOURS[span.bucket % 2]
        corner = (span.start, span.stage - 0.38)
        axes.add_patch(Rectangle(corner, span.end - span.start, 0.76, facecolor=colour, edgecolor=INK, linewidth=0.4))
        if span.end - span.start > 0.02 * end:
            middle = ((span.start + span.end) / 2, span.stage)
            axes.text(*middle, str(span.bucket), ha="center", va="center", fontsize=SMALL, color=ink_on(colour))
    axes.set(xlim=(0, end * 1.005), ylim=(len(stages) - 0.5, -0.5), xlabel="time (s)")
    axes.set_yticks(range(len(stages)), stages)
    count = len({span.bucket for span in spans})
    picture.alt = (
        f"{counted(count, 'bucket')} pass {', '.join(stages)}, all stages at work at once; the last one leaves after "
        f"{format_time(end)}."
    )
    return picture
