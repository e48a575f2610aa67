"""Figures of an RLHF job: memory by phase, rollout slots over time, and the placement of generation and training.

:mod:`rankzero.figures.serving` draws timelines of who works when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from rankzero.charts.marks import COLOURS, group_colour, ink_on
from rankzero.facts.units import GB, MB, format_bytes
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, key, legend, panels, styled, within

Spans = Sequence[tuple[str, float, float]]


class Use(Protocol):
    """The memory of a phase, in bytes: what is resident, and what was copied in and out since the previous phase."""

    @property
    def name(self) -> str: ...
    @property
    def resident(self) -> float: ...
    @property
    def loaded(self) -> float: ...
    @property
    def evicted(self) -> float: ...


@styled
def memory_phases(
    uses: Sequence[Use],
    phases: Sequence[tuple[str, set[str]]],
    sizes: Mapping[str, float],
    capacity: float | None = None,
) -> Picture:
    """Memory by phase, stacked by tenant, with what is copied in and out before each phase.

    Args:
        uses: memory of each phase.
        phases: name and tenants of each phase.
        sizes: bytes of each tenant.
        capacity: memory of a GPU in bytes, drawn as a line.
    """
    top = max([capacity or 0.0, *(use.resident for use in uses)], default=1.0) or 1.0
    unit, name = (GB, "GB") if top >= GB else (MB, "MB")
    colours = {tenant: COLOURS[index % len(COLOURS)] for index, tenant in enumerate(sizes)}
    striped = set(list(sizes)[len(COLOURS) :])
    picture, (axes,) = panels(1, 1, (6.6, 3.9))
    for index, (use, (_, tenants)) in enumerate(zip(uses, phases, strict=True)):
        foot = 0.0
        for tenant in [one for one in sizes if one in tenants]:
            _layer(axes, index, foot, sizes[tenant] / unit, colours[tenant], tenant in striped)
            foot += sizes[tenant] / unit
        axes.annotate(_copied(use), (index - 0.5, 1.02 * top / unit), ha="center", va="bottom", fontsize=8)
        axes.axvline(index - 0.5, color=QUIET, linewidth=0.8, linestyle=(0, (2, 3)))
    if capacity is not None:
        axes.axhline(capacity / unit, color=INK, linewidth=1.2, linestyle=(0, (5, 3)))
        axes.annotate("capacity", (len(uses) - 0.45, capacity / unit), ha="right", va="bottom", fontsize=8)
    axes.set(ylabel=f"memory ({name})", xlim=(-0.95, len(uses) - 0.45), ylim=(0, 1.16 * top / unit))
    axes.set_xticks(range(len(uses)), [use.name for use in uses])
    handles = [
        Patch(facecolor=colours[one], label=one, hatch="///" if one in striped else None, edgecolor=INK, linewidth=0.3)
        for one in sizes
    ]
    key(picture, handles)
    parts = "; ".join(f"{use.name} {format_bytes(use.resident)}, {_copied(use, ', ')}" for use in uses)
    limit = "" if capacity is None else f" of {format_bytes(capacity)}"
    picture.alt = f"Memory{limit} by phase: {parts}."
    return picture


def _layer(axes: Axes, index: int, foot: float, height: float, colour: str, striped: bool) -> None:
    hatch = "///" if striped else None
    bar = Rectangle((index - 0.3, foot), 0.6, height, facecolor=colour, edgecolor=INK, linewidth=0.3, hatch=hatch)
    axes.add_patch(bar)


def _copied(use: Use, between: str = "\n") -> str:
    parts = [f"in {format_bytes(use.loaded)}"] * bool(use.loaded) + [f"out {format_bytes(use.evicted)}"] * bool(
        use.evicted
    )
    return between.join(parts) or "no copy"


class Written(Protocol):
    """A response: its slot, when it was generated, in seconds, and the version of the weights that generated it."""

    @property
    def slot(self) -> int: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def version(self) -> int: ...


Steps = Sequence[tuple[float, float, Sequence[int]]]


@styled
def rollout_slots(runs: Mapping[str, tuple[Sequence[Written], Steps]]) -> Picture:
    """Slots as rows, responses as bars in the colour of the version that generated them, the trainer in the last row.

    Args:
        runs: by name, the responses and the training steps; a step has a start, an end, and the staleness of each of
            its responses.
    """
    rows = {name: 1 + max((one.slot for one in written), default=0) for name, (written, _) in runs.items()}
    heights = [0.5 + 0.16 * (count + 2) for count in rows.values()]
    picture, panes = panels(
        len(runs), 1, (7.2, sum(heights) + 0.5), sharex=True, gridspec_kw={"height_ratios": heights}
    )
    last = 0.0
    for axes, (name, (written, steps)) in zip(panes, runs.items(), strict=True):
        for one in written:
            _bar(axes, one.start, one.end, one.slot, group_colour(one.version))
        for number, (start, end, _) in enumerate(steps):
            _bar(axes, start, end, rows[name] + 0.7, QUIET, str(number + 1))
        last = max([last, *(one.end for one in written), *(end for _, end, _ in steps)])
        axes.set_title(name, loc="left")
        axes.set_ylim(rows[name] + 1.4, -0.7)
        axes.set_yticks([(rows[name] - 1) / 2, rows[name] + 0.7], ["slots", "trainer"])
        axes.tick_params(axis="y", length=0)
    panes[-1].set(xlabel="time (s)", xlim=(0, 1.01 * last or 1.0))
    versions = sorted({one.version for written, _ in runs.values() for one in written})
    shown = {f"version {version}": group_colour(version) for version in versions[:10]}
    legend(picture, shown | {"training step": QUIET})
    picture.alt = "; ".join(_run_text(name, *run) for name, run in runs.items()) + "."
    return picture


def _bar(axes: Axes, start: float, end: float, row: float, colour: str, text: str = "") -> None:
    within(axes, Rectangle((start, row - 0.42), end - start, 0.84, facecolor=colour, edgecolor=INK, linewidth=0.2))
    if text:
        axes.text((start + end) / 2, row, text, ha="center", va="center", fontsize=SMALL, color=ink_on(colour))


def _run_text(name: str, written: Sequence[Written], steps: Steps) -> str:
    ages = [age for step in steps for age in step[2]]
    stale = f"stale by {sum(ages) / len(ages):.2g} on average, {max(ages)} at most" if ages else "none trained"
    over = steps[-1][1] if steps else 0.0
    return f"{name}: {len(written)} responses, {len(steps)} steps, finished after {over:.4g} s, {stale}"


@styled
def placements(cells: Mapping[tuple[str, str], Mapping[str, Spans] | None]) -> Picture:
    """A table of small charts: columns are where the two halves of a job run, rows are when they run.

    Args:
        cells: by where and when, the rows of a chart, each a list of tasks with name, start and end; None for a
            combination that is impossible.
    """
    columns, lines = (list(dict.fromkeys(pair[side] for pair in cells)) for side in (0, 1))
    kinds = list(dict.fromkeys(work for rows in cells.values() for row in (rows or {}).values() for work, _, _ in row))
    colours = {kind: COLOURS[index % len(COLOURS)] for index, kind in enumerate(kinds)}
    every = [end for rows in cells.values() for row in (rows or {}).values() for _, _, end in row]
    picture, panes = panels(len(lines), len(columns), (7.4, 0.5 + 1.15 * len(lines)), sharex=True)
    for index, axes in enumerate(panes):
        line, column = divmod(index, len(columns))
        rows = cells[columns[column], lines[line]]
        axes.set_title(columns[column] if line == 0 else "", fontsize=9)
        axes.set_xlabel("time" if line == len(lines) - 1 else "", fontsize=8)
        axes.set_ylabel(lines[line] if column == 0 else "", fontsize=8)
        _small_chart(axes, rows, colours)
        axes.set_xlim(0, 1.02 * max(every, default=1.0))
        axes.tick_params(labelbottom=False, length=0, labelsize=7)
    legend(picture, colours)
    parts = [f"{', '.join(pair)}: {_end(rows)}" for pair, rows in cells.items()]
    picture.alt = f"Where and when: {'; '.join(parts)}."
    return picture


def _small_chart(axes: Axes, rows: Mapping[str, Spans] | None, colours: Mapping[str, str]) -> None:
    axes.spines[:].set_visible(False)
    axes.set_ylim(1.6, -0.6)
    axes.set_yticks([])
    if rows is None:
        axes.text(0.5, 0.5, "one half has to wait", ha="center", va="center", transform=axes.transAxes, fontsize=SMALL)
        return
    middle = 0.5 if len(rows) == 1 else 0.0
    for row, spans in enumerate(rows.values()):
        for work, start, end in spans:
            _bar(axes, start, end, middle + row, colours[work])
    axes.set_yticks([middle + row for row in range(len(rows))], list(rows))


def _end(rows: Mapping[str, Spans] | None) -> str:
    if rows is None:
        return "one half has to wait"
    return f"finished after {max(end for spans in rows.values() for _, _, end in spans):.3g}"
