"""Figures of an inference server: its requests, slots and steps over time, its memory, and how it chooses tokens.

Every function returns a :class:`~rankzero.figures.picture.Picture` with ``alt``, one sentence that says what it shows.
The data are plain numbers, or objects or mappings with the fields that a function names. Figures of memory are defined
in :mod:`rankzero.figures.kv_cache` and figures of decoding in :mod:`rankzero.figures.decoding`; this module exports
them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from rankzero.charts.marks import COLOURS, group_colour, ink_on, kind_colours
from rankzero.figures.decoding import automaton, bars_p_q
from rankzero.figures.kv_cache import Piece, block_tables, memory_map, pieces, radix_tree
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, counted, legend, panels, styled
from rankzero.figures.runs import time_unit
from rankzero.sim.batching import Run

__all__ = [
    "Piece",
    "Step",
    "automaton",
    "bars_p_q",
    "block_tables",
    "memory_map",
    "pieces",
    "radix_tree",
    "request_gantt",
    "slot_chart",
    "step_bars",
    "timelines",
]

#: Tasks over time: name, start and end, in seconds.
Spans = Sequence[tuple[str, float, float]]


def field(thing: Any, name: str) -> Any:
    """A field of an object, or of a mapping such as a parsed line of JSON."""
    return thing[name] if isinstance(thing, Mapping) else getattr(thing, name)


def _bar(axes: Axes, start: float, end: float, row: float, colour: str, height: float = 0.7, **more: Any) -> None:
    """Draw a bar in a row; its edge keeps a very short bar visible."""
    corner = (start, row - height / 2)
    style: dict[str, Any] = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.6} | more
    axes.add_patch(Rectangle(corner, end - start, height, **style))


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Set up an axis with named rows, the first on top."""
    axes.set(ylim=(max(1, len(names)) - 0.5, -0.5))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)


# One request


@styled
def request_gantt(events: Iterable[Any], request: Any = None) -> Picture:
    """The life of one request: a row for each stage, a bar for each event, and the total of each stage at the right.

    A mark on the runner's row is a token. A run of the model that is not followed by the detokenizer produced no token:
    it processed a part of the prompt.

    Args:
        events: objects or mappings with the ``name`` of the stage, ``request``, ``start`` and ``end``, in seconds.
        request: the request to draw; None means that of the first event.
    """
    every = sorted(events, key=lambda event: (field(event, "start"), field(event, "end")))
    wanted = request if request is not None or not every else field(every[0], "request")
    mine = [event for event in every if field(event, "request") == wanted]
    begin = min((field(event, "start") for event in mine), default=0.0)
    spans = [(str(field(e, "name")), field(e, "start") - begin, field(e, "end") - begin) for e in mine]
    whole = max((end for _, _, end in spans), default=0.0)
    size, unit = time_unit(whole)
    stages = list(dict.fromkeys(name for name, _, _ in spans))
    picture, (axes,) = panels(1, 1, (7.2, 0.9 + 0.34 * max(1, len(stages))))
    sums = dict.fromkeys(stages, 0.0)
    for name, start, end in spans:
        row, colour = stages.index(name), COLOURS[stages.index(name) % len(COLOURS)]
        _bar(axes, start / size, end / size, row, colour)
        sums[name] += end - start
    tokens = [(end / size, stages.index(name)) for name, end in _tokens(spans)]
    axes.plot(*([place[i] for place in tokens] for i in (0, 1)), "|", color=INK, markersize=11, markeredgewidth=1.2)
    for row, spent in enumerate(sums.values()):
        axes.annotate(f"{spent / size:.3g} {unit}", (1.01, row), xycoords=("axes fraction", "data"), va="center")
    _rows(axes, stages)
    axes.set(xlabel=f"time since the request arrived ({unit})", xlim=(0, 1.01 * whole / size or 1.0), ylabel="stage")
    longest = max(sums, key=sums.__getitem__, default="none")
    share = sums.get(longest, 0.0) / (sum(sums.values()) or 1.0)
    picture.alt = (
        f"One request through {counted(len(stages), 'stage')} in {whole / size:.3g} {unit}: {', '.join(stages)}; "
        f"{counted(len(tokens), 'token')}; the longest stage is {longest}, {share:.0%} of the time spent in stages."
    )
    return picture


def _tokens(spans: Spans) -> list[tuple[str, float]]:
    """The runs of the model that produced a token: the stage, and when the token was ready."""
    stages = [(name, end) for name, _, end in spans if "runner" in name or "detokenizer" in name]
    runs = [stage for stage in stages if "runner" in stage[0]]
    followed = [first for first, then in pairwise(stages) if "runner" in first[0] and "detokenizer" in then[0]]
    return runs if len(runs) == len(stages) else followed


# Slots of a batch


@styled
def slot_chart(runs: Mapping[str, Run], labels: bool = True) -> Picture:
    """Which request is in which slot at each step, with the runs stacked on one time axis.

    A request has the same colour in all runs.

    Args:
        runs: the runs, by the name of their policy.
        labels: whether to show the numbers of requests that are wide enough.
    """
    heights = [0.5 + 0.19 * run.slots for run in runs.values()]
    picture, panes = panels(
        len(runs), 1, (7.2, sum(heights) + 0.5), sharex=True, gridspec_kw={"height_ratios": heights}
    )
    span = max((run.makespan for run in runs.values()), default=0) or 1
    for axes, (name, run) in zip(panes, runs.items(), strict=True):
        for request in range(len(run.lengths)):
            _request(axes, run, request, span if labels else None)
        axes.axvline(run.makespan, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.set(ylabel="slot", ylim=(run.slots - 0.5, -0.5), yticks=range(0, run.slots, 1 + run.slots // 9))
        axes.set_title(f"{name}: {run.steps:,} steps, {run.idle_share:.1%} of the slot-steps idle", loc="left")
    panes[-1].set(xlabel="step", xlim=(0, 1.005 * span))
    if any(run.finishes[i] - run.starts[i] > run.lengths[i] for run in runs.values() for i in range(len(run.lengths))):
        legend(picture, {"the answer is done, the slot is kept": QUIET})
    parts = [
        f"{name} takes {run.steps:,} steps on {counted(run.slots, 'slot')} and leaves {run.idle_share:.1%} of the "
        f"slot-steps idle"
        for name, run in runs.items()
    ]
    picture.alt = f"Slots over steps: {'; '.join(parts)}."
    return picture


def _request(axes: Axes, run: Run, request: int, span: int | None) -> None:
    """Draw a request: the steps that give it tokens, then those in which it still occupies its slot."""
    start, row, length = run.starts[request], run.places[request], run.lengths[request]
    colour = group_colour(request)
    if start + length < run.finishes[request]:
        _bar(axes, start + length, run.finishes[request], row, QUIET, 0.26, linewidth=0)
    _bar(axes, start, start + length, row, colour, 0.84, edgecolor=INK, linewidth=0.4)
    if span and length > 0.012 * span * len(str(request)):
        middle = (start + length / 2, row)
        axes.text(*middle, str(request), ha="center", va="center", fontsize=SMALL, color=ink_on(colour))


# Steps


@dataclass(frozen=True)
class Step:
    """One step of an engine.

    Attributes:
        decode: number of sequences that got their next token.
        prefill: number of prompt tokens processed in the same step.
        seconds: duration of the step, which is the time between two tokens of a decoding sequence.
    """

    decode: int
    prefill: int
    seconds: float


@styled
def step_bars(steps: Sequence[Any] | Mapping[str, Sequence[Any]]) -> Picture:
    """Tokens of each step, decode and prefill stacked, and below them the duration of each step; runs side by side.

    Args:
        steps: objects or mappings with ``decode``, ``prefill`` and ``seconds``, like :class:`Step`, or with ``start``
            and ``end`` in place of ``seconds``, like the entries of an engine's log; or several such runs by name.
    """
    runs = cast("Mapping[str, Sequence[Any]]", steps if isinstance(steps, Mapping) else {"": steps})
    most = max((_seconds(step) for run in runs.values() for step in run), default=0.0)
    size, unit = time_unit(most)
    picture, views = panels(2, len(runs), (max(4.6, 2.9 * len(runs)), 3.6), sharex="col", sharey="row")
    for column, (name, run) in enumerate(runs.items()):
        tokens, gaps = views[column], views[len(runs) + column]
        places, decode = range(len(run)), [field(step, "decode") for step in run]
        tokens.bar(places, decode, 0.9, color=COLOURS[0])
        tokens.bar(places, [field(step, "prefill") for step in run], 0.9, bottom=decode, color=COLOURS[1])
        gaps.bar(places, [_seconds(step) / size for step in run], 0.9, color=COLOURS[2])
        tokens.set(title=name, xlabel="step")
        gaps.set(xlabel="step")
        gaps.xaxis.set_major_locator(MaxNLocator(integer=True))
    views[0].set_ylabel("tokens in the step")
    views[len(runs)].set_ylabel(f"time of the step ({unit})")
    legend(picture, {"decode": COLOURS[0], "prefill": COLOURS[1], "time between two tokens": COLOURS[2]})
    picture.alt = (
        f"Tokens and time of each step; {'; '.join(_steps_text(name, run, size, unit) for name, run in runs.items())}."
    )
    return picture


def _seconds(step: Any) -> float:
    """The duration of a step."""
    known = "seconds" in step if isinstance(step, Mapping) else hasattr(step, "seconds")
    return field(step, "seconds") if known else field(step, "end") - field(step, "start")


def _steps_text(name: str, run: Sequence[Any], size: float, unit: str) -> str:
    tokens = max((field(step, "decode") + field(step, "prefill") for step in run), default=0)
    longest = max((_seconds(step) for step in run), default=0.0)
    text = f"at most {counted(tokens, 'token')} and {longest / size:.3g} {unit} in one of {counted(len(run), 'step')}"
    return f"{name}: {text}" if name else text


# Timelines


@styled
def timelines(runs: Mapping[str, Mapping[str, Spans]], kinds: Sequence[str] = ()) -> Picture:
    """Rows of tasks over time, with the runs stacked on one time axis; a colour for each kind of task.

    Args:
        runs: by the names of run and row, the name, start and end of each task, in seconds.
        kinds: names that get the first colours, in this order, whether they occur or not, so that several pictures
            have the same colours; the others follow in the order in which they appear.
    """
    heights = [0.45 + 0.36 * len(rows) for rows in runs.values()]
    picture, panes = panels(
        len(runs), 1, (7.2, sum(heights) + 0.7), sharex=True, gridspec_kw={"height_ratios": heights}
    )
    every = [span for rows in runs.values() for row in rows.values() for span in row]
    begin = min((start for _, start, _ in every), default=0.0)
    whole = max((end for _, _, end in every), default=begin) - begin
    size, unit = time_unit(whole)
    names = [name for name, _, _ in every]
    colours = {name: colour for name, colour in kind_colours([*kinds, *names]).items() if name in names}
    for axes, (title, rows) in zip(panes, runs.items(), strict=True):
        for row, spans in enumerate(rows.values()):
            for name, start, end in spans:
                _bar(
                    axes, (start - begin) / size, (end - begin) / size, row, colours[name], edgecolor=INK, linewidth=0.3
                )
        _rows(axes, list(rows))
        axes.set_title(title, loc="left")
    panes[0].set_ylabel(" ")
    panes[-1].set(xlabel=f"time ({unit})", xlim=(0, 1.005 * whole / size or 1.0))
    legend(picture, colours)
    picture.alt = f"{'; '.join(_busy_text(title, rows) for title, rows in runs.items())}."
    return picture


def _busy_text(title: str, rows: Mapping[str, Spans]) -> str:
    """How long a run took, and how busy each row was."""
    ends = [end for spans in rows.values() for _, _, end in spans]
    starts = [start for spans in rows.values() for _, start, _ in spans]
    whole = max(ends, default=0.0) - min(starts, default=0.0)
    size, unit = time_unit(whole)
    shares = [f"{name} busy {sum(e - s for _, s, e in spans) / (whole or 1):.0%}" for name, spans in rows.items()]
    text = f"{' and '.join(shares)} of {whole / size:.3g} {unit}"
    return f"{title}: {text}" if title else text[0].upper() + text[1:]
