"""Figures of a run, drawn from its event log or from computed arrays.

Every function returns a :class:`~rankzero.figures.picture.Picture`, a Matplotlib figure with ``alt``, one sentence that
says what it shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle

from rankzero.charts.marks import (
    COLOURS,
    RECEIVED,
    REDUCING,
    SENT,
    STRIPES,
    Block,
    State,
    blocks,
    ink_on,
    kind_colours,
    lanes,
)
from rankzero.events import Event, Ledger
from rankzero.figures.picture import INK, Picture, legend, panels, styled, within
from rankzero.room import room

#: The most columns of a table of numbers on a phone; the others stand below them.
ABREAST = 6
#: So many characters do not reach beyond a cell.
FITS = 3

#: Operations that have the same colours in every picture of a run, and in the timelines of the explorers.
FIRST = ("send", "recv", "forward", "backward", "backward pass")


class Run(Protocol):
    """Anything with events: the result of a world or of a simulator."""

    @property
    def events(self) -> Iterable[Event]: ...


def messages(events: Iterable[Event]) -> list[tuple[Event, Event]]:
    """Each send with its receive; the messages from one rank to another are received in the order they were sent."""
    sends: dict[tuple[int, int], list[Event]] = defaultdict(list)
    receives: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.start):
        if event.operation == "send":
            sends[event.rank, event.peers[0]].append(event)
        elif event.operation == "recv" and event.peers:  # a receive from any rank that was never waited for has none
            receives[event.peers[0], event.rank].append(event)
    return [pair for pairs, sent in sends.items() for pair in zip(sent, receives[pairs], strict=False)]


def time_unit(span: float) -> tuple[float, str]:
    """The unit for displaying a span of ``span`` seconds: its size in seconds, and its name."""
    return next(((size, name) for size, name in ((1.0, "s"), (1e-3, "ms")) if span >= size), (1e-6, "µs"))


def _colours(operations: Iterable[str]) -> dict[str, str]:
    """A colour for each operation: those of ``FIRST`` in that order, as in the explorers, then the others by name."""
    return kind_colours(sorted(set(operations), key=lambda name: ((*FIRST, name).index(name), name)))


@styled
def spacetime(run: Run, lanes: Sequence[str] = ()) -> Picture:
    """A run over time: a row for each rank, a bar for each operation, an arrow for each message.

    Args:
        run: anything with ``events``.
        lanes: names of the rows if they are not ranks but, for example, the streams of one rank.
    """
    events = list(run.events)
    ranks = 1 + max((event.rank for event in events), default=0)
    span = max((event.end for event in events), default=1.0)
    unit, name = time_unit(span)
    picture, (axes,) = panels(1, 1, (7.0, 1.1 + 0.55 * ranks))
    colours = _colours(event.operation for event in events)
    for rank in range(ranks):
        _bars(axes, rank, [event for event in events if event.rank == rank], unit, colours)
    pairs = messages(events)
    for sent, received in pairs:
        tail, head = (sent.start / unit, sent.rank), (received.end / unit, received.rank)
        within(axes, FancyArrowPatch(tail, head, arrowstyle="->", mutation_scale=8, linewidth=0.9, color=INK))
    axes.set(xlabel=f"time since the start ({name})", ylabel="rank", xlim=(0, 1.02 * span / unit))
    axes.set(ylim=(ranks - 0.5, -0.5), yticks=range(ranks))
    if lanes:
        axes.set(yticklabels=lanes, ylabel="")
    legend(picture, colours)
    arrows = "; arrows are messages" if pairs else ""
    rows = f"in {', '.join(lanes)}" if lanes else f"of {ranks} ranks"
    picture.alt = f"{len(events)} operations {rows} over time: {', '.join(colours)}{arrows}."
    return picture


def _bars(axes: Axes, rank: int, events: Sequence[Event], unit: float, colours: Mapping[str, str]) -> None:
    places, count = lanes([(event.start, event.end) for event in events])
    height = 0.7 / count
    for index, event in enumerate(events):
        corner = (event.start / unit, rank - 0.35 + places[index] * height)
        bar = Rectangle(
            corner,
            (event.end - event.start) / unit,
            height,
            facecolor=colours[event.operation],
            edgecolor=INK,
            linewidth=0.4,
        )
        within(axes, bar)


@styled
def ledger_bars(runs: Any) -> Picture:
    """Bytes that each rank sent and received, for one run or, side by side, for a dict of runs by name.

    A run is a :class:`~rankzero.events.Ledger` or an object with a method ``ledger()``.
    """
    named = runs if isinstance(runs, Mapping) and not isinstance(runs, Ledger) else {"": runs}
    ledgers = {name: run if isinstance(run, Ledger) else run.ledger() for name, run in named.items()}
    top = max((max(book.sent(r), book.received(r)) for book in ledgers.values() for r in range(book.ranks)), default=0)
    power = next((p for p in (4, 3, 2, 1) if top >= 1000**p), 0)
    picture, views = panels(1, len(ledgers), (max(3.2, 2.1 * len(ledgers)), 2.5), sharey=True)
    for axes, (name, book) in zip(views, ledgers.items(), strict=True):
        ranks = range(book.ranks)
        axes.bar([r - 0.2 for r in ranks], [book.sent(r) / 1000**power for r in ranks], 0.38, color=SENT)
        axes.bar([r + 0.2 for r in ranks], [book.received(r) / 1000**power for r in ranks], 0.38, color=RECEIVED)
        unit = ("B", "kB", "MB", "GB", "TB")[power]
        axes.set(title=name, xlabel="rank", xticks=ranks, ylabel=f"bytes ({unit})" if _leads(axes) else "")
    legend(picture, {"sent": SENT, "received": RECEIVED})
    most = [f"{name + ': ' if name else ''}{_most(book):,}" for name, book in ledgers.items()]
    picture.alt = f"Bytes sent and received by each rank; the most that one rank sent is {', '.join(most)} bytes."
    return picture


def _most(book: Ledger) -> int:
    return max((book.sent(rank) for rank in range(book.ranks)), default=0)


@styled
def block_picture(runs: Mapping[str, tuple[State, State]]) -> Picture:
    """What collectives do: for each, which rank holds which block before and after it.

    Args:
        runs: by operation, what each rank holds before and after, one number per block; None for nothing or for an
            undefined result. Values must differ between ranks, as ``10 * rank + place`` does.
    """
    ranks = max(len(before) for before, _ in runs.values())
    columns = min(2, len(runs))
    rows = -(-len(runs) // columns)
    side = 0.42 * ranks + 0.55
    picture, views = panels(rows, 2 * columns, (2 * columns * side, rows * (side + 0.1)))
    for index, (operation, states) in enumerate(runs.items()):
        pair = views[2 * index : 2 * index + 2]
        for axes, cells in zip(pair, blocks(operation, *states), strict=True):
            _block_panel(axes, cells, ranks)
        pair[0].set_title(operation, loc="left", fontweight="bold")
        pair[0].set_xlabel("block, before")
        pair[1].set_xlabel("block, after")
    for axes in views[2 * len(runs) :]:
        axes.set_axis_off()
    names = {f"from rank {rank}": COLOURS[rank % len(COLOURS)] for rank in range(ranks)}
    legend(picture, names | ({"striped: all ranks": STRIPES[0]} if REDUCING & set(runs) else {}))
    picture.alt = f"Blocks on {ranks} ranks before and after {', '.join(runs)}; the colour is the rank it came from."
    return picture


def _cell(axes: Axes, column: int, row: int, text: str, colour: str, **more: Any) -> None:
    """Draw a filled square with a readable text on it."""
    corner = (column - 0.46, row - 0.46)
    within(axes, Rectangle(corner, 0.92, 0.92, facecolor=colour, linewidth=0, clip_on=False, **more))
    centred: Any = {"ha": "center", "va": "center", "in_layout": len(text) > FITS}
    axes.text(column, row, text, color=ink_on(colour), fontsize=8, **centred)


def _square(axes: Axes, rows: int, columns: int, **labels: Any) -> None:
    """Set up the axes of a table of cells, with row 0 on top and integers on both axes."""
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), xticks=range(columns), yticks=range(rows), **labels)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _block_panel(axes: Axes, cells: Sequence[Block], ranks: int) -> None:
    _square(axes, ranks, ranks, aspect="equal", ylabel="rank")
    empty = {(row, place) for row in range(ranks) for place in range(ranks)} - {(c.rank, c.place) for c in cells}
    for row, place in sorted(empty):
        corner = (place - 0.44, row - 0.44)
        within(axes, Rectangle(corner, 0.88, 0.88, fill=False, linewidth=0.5, edgecolor="#8888"))
    for cell in cells:
        stripes = {"hatch": "////", "edgecolor": STRIPES[1]} if cell.origin is None else {}
        _cell(axes, cell.place, cell.rank, cell.label, cell.colour, **stripes)


@styled
def heat_map(steps: Sequence[Sequence[Sequence[float]]]) -> Picture:
    """The number of contributions in each chunk of each rank, one panel per step: ``steps[step][rank][chunk]``."""
    ranks, chunks = len(steps[0]), len(steps[0][0])
    top = max(value for step in steps for row in step for value in row)
    columns = min(4, len(steps))
    rows = -(-len(steps) // columns)
    picture, views = panels(rows, columns, (columns * 1.85, rows * (0.3 * ranks + 0.8)))
    for index, (axes, step) in enumerate(zip(views, steps, strict=False)):
        _shaded(axes, step, top)
        axes.set(title=f"step {index}" if index else "start", xlabel="chunk", ylabel="rank" if _leads(axes) else "")
    for axes in views[len(steps) :]:
        axes.set_axis_off()
    complete = sum(value == top for row in steps[-1] for value in row)
    picture.alt = (
        f"Contributions in each chunk of each rank at the start and after each of {len(steps) - 1} steps; at the end "
        f"{complete} of {ranks * chunks} chunks hold {top:g}."
    )
    return picture


def _leads(axes: Axes) -> bool:
    """Whether a panel is the first of its row."""
    spec = axes.get_subplotspec()
    return spec is None or spec.is_first_col()


@styled
def matrix(table: Mapping[str, Sequence[float]], *, x: str, y: str, alt: str, columns: Sequence[str] = ()) -> Picture:
    """A table of numbers in cells that are lighter the larger the number is.

    Args:
        table: the numbers of each row, by the name of the row.
        x: what the columns are.
        y: what the rows are.
        alt: one sentence that says what the table shows.
        columns: names of the columns; by default they are numbered from 0.
    """
    rows, count = list(table.values()), max(map(len, table.values()))
    names = columns or [str(index) for index in range(count)]
    parts = -(-count // room(count, ABREAST))
    share = -(-count // parts)
    picture, views = panels(parts, 1, (1.3 + 0.38 * share, parts * (0.8 + 0.34 * len(rows))))
    for axes, start in zip(views, range(0, count, share), strict=True):
        shown = [row[start : start + share] for row in rows]
        _shaded(axes, shown, max((value for row in rows for value in row), default=0))
        axes.set_xticks(range(len(shown[0])), names[start : start + share])
        axes.set_yticks(range(len(rows)), list(table))
        axes.set(xlabel=x, ylabel=y)
    picture.alt = alt
    return picture


@styled
def routing(sizes: Sequence[Sequence[float]], unit: str = "elements") -> Picture:
    """An all-to-all as a matrix: row ``r``, column ``c`` is what rank ``r`` has for rank ``c``; sums in the margins.

    The sums leave out what a rank has for itself, because it is not sent.
    """
    ranks = len(sizes)
    sent = [sum(value for c, value in enumerate(row) if c != r) for r, row in enumerate(sizes)]
    received = [sum(row[c] for r, row in enumerate(sizes) if r != c) for c in range(ranks)]
    picture, (axes,) = panels(1, 1, (1.9 + 0.75 * ranks, 1.0 + 0.5 * ranks))
    _shaded(axes, sizes, max((value for row in sizes for value in row), default=0))
    for rank in range(ranks):
        axes.text(ranks - 0.35, rank, f"sends {sent[rank]:g}", va="center")
    space = room(" ", "\n")
    axes.set_xticks(range(ranks), [f"{rank}\ngets{space}{received[rank]:g}" for rank in range(ranks)])
    axes.set(ylabel="from rank", xlabel=f"to rank ({unit})")
    slowest = max(sent + received, default=0)
    picture.alt = f"What {ranks} ranks send to each other; at most {slowest:g} {unit} leave a rank or come to it."
    return picture


def _shaded(axes: Axes, table: Sequence[Sequence[float]], top: float) -> None:
    """Draw a table whose cells are shaded by value, from 0 to ``top``."""
    shades = colormaps["viridis"]
    _square(axes, len(table), len(table[0]))
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            _cell(axes, column, row, f"{value:g}", to_hex(shades(0.25 + 0.75 * value / (top or 1))))
