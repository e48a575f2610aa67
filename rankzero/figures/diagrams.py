"""Diagrams of ranks and devices: which rank waits for which, trees, links and rings, nodes and groups.

Every function returns a :class:`~rankzero.figures.picture.Picture` whose ``alt`` says how much of everything it shows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Patch

from rankzero.charts.marks import COLOURS, RECEIVED, SENT, ink_on
from rankzero.figures.machines import link_circle, rank_grid
from rankzero.figures.picture import INK, PHONE, QUIET, SMALL, Picture, canvas, counted, key, on_circle, styled
from rankzero.room import room

__all__ = ["link_circle", "rank_grid", "trees", "wait_graph"]

Place = tuple[float, float]


# Wait-for graphs


@styled
def wait_graph(blocked: Mapping[int, tuple[str, int]], ranks: int, others: str = "has finished") -> Picture:
    """Ranks on a circle, with an arrow from each blocked rank to the rank it waits for.

    Args:
        blocked: for each blocked rank, the call it is blocked in and the rank it waits for: ``{0: ("send", 1)}``.
        ranks: number of ranks.
        others: what the key says of those that are not blocked.
    """
    cycle = _cycle(blocked)
    places = on_circle(ranks)
    side = 2.6 + 0.16 * ranks
    picture, axes = canvas((side + 0.6, 1.6 if ranks == 2 else side))
    if ranks == 2:
        axes.set_ylim(-0.5, 0.5)
    verbs = dict.fromkeys(verb for verb, _ in blocked.values())
    colours = {verb: {"send": SENT, "recv": RECEIVED}.get(verb, COLOURS[2]) for verb in verbs}
    for rank, (verb, peer) in blocked.items():
        back = blocked.get(peer, ("", -1))[1] == rank
        bend = 0.28 if back else 0.0
        _arrow(axes, places[rank], places[peer], colours[verb], 3.0 if rank in cycle else 1.3, bend)
        _verb(axes, places[rank], places[peer], verb, bend)
    for rank, place in enumerate(places):
        _node(axes, place, rank, 0.17, COLOURS[6] if rank in cycle else COLOURS[3] if rank in blocked else None)
    kinds = {"in the cycle": cycle, "waits too" if cycle else "waits": set(blocked) - set(cycle)}
    fills = dict(zip(kinds, (COLOURS[6], COLOURS[3]), strict=True))
    handles: list[Artist] = [Patch(facecolor=fills[name], label=name) for name, found in kinds.items() if found]
    if len(blocked) < ranks:
        handles.append(Patch(fill=False, edgecolor=INK, label=others))
    key(picture, handles)
    picture.alt = _waits_alt(blocked, ranks, cycle)
    return picture


def _cycle(blocked: Mapping[int, tuple[str, int]]) -> list[int]:
    """The ranks that wait for each other in a cycle, beginning with the lowest; empty if there is no cycle."""
    for start in sorted(blocked):
        path = [start]
        while path[-1] in blocked and (peer := blocked[path[-1]][1]) not in path:
            path.append(peer)
        if path[-1] in blocked and blocked[path[-1]][1] == start:
            return path
    return []


def _waits_alt(blocked: Mapping[int, tuple[str, int]], ranks: int, cycle: Sequence[int]) -> str:
    if not blocked:
        return f"{counted(ranks, 'rank')}, and none waits."
    ways = {"send": "to", "recv": "from"}
    calls = {rank: f"in {verb} {ways.get(verb, 'with')} rank {peer}" for rank, (verb, peer) in sorted(blocked.items())}
    waits = f"rank {', rank '.join(f'{rank} {call}' for rank, call in calls.items())}"
    verbs = Counter(verb for verb, _ in blocked.values())
    short = ", ".join(f"{count} in {verb}" for verb, count in sorted(verbs.items()))
    loop = f"the cycle {' → '.join(map(str, [*cycle, cycle[0]]))} never ends" if cycle else "there is no cycle of waits"
    return f"{len(blocked)} of {counted(ranks, 'rank')} wait, {waits if len(calls) <= 4 else short}; {loop}."


def _arrow(axes: Axes, tail: Place, head: Place, colour: str, width: float, bend: float) -> None:
    """An arrow between two nodes, from rim to rim."""
    shape: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 9 + 3 * width,
        "connectionstyle": f"arc3,rad={bend}",
    }
    axes.add_patch(FancyArrowPatch(tail, head, color=colour, linewidth=width, shrinkA=14, shrinkB=15, **shape))


def _verb(axes: Axes, tail: Place, head: Place, verb: str, bend: float) -> None:
    """The verb beside the middle of its arrow, on the side toward which the arrow bends."""
    (x, y), (x2, y2) = tail, head
    length = math.hypot(x2 - x, y2 - y) or 1.0
    over, down = (y2 - y) / length, (x - x2) / length
    aside = bend / 2 * length + 0.08 + 0.14 * abs(over) + 0.05 * abs(down)  # a word is wider than high
    middle = ((x + x2) / 2 + aside * over, (y + y2) / 2 + aside * down)
    axes.text(*middle, verb, ha="center", va="center", fontsize=9)


def _node(axes: Axes, place: Place, name: object, radius: float, colour: str | None) -> None:
    """A disc with a name in it, or a ring if there is no colour."""
    look = {"facecolor": colour} if colour else {"fill": False}
    axes.add_patch(Circle(place, radius, edgecolor=INK, linewidth=0.8, zorder=3, **look))
    axes.text(*place, str(name), ha="center", va="center", zorder=4, color=ink_on(colour) if colour else INK)


# Trees


@styled
def trees(
    parents: Sequence[Sequence[int | None]],
    values: Sequence[float] | Sequence[Sequence[float]] | None = None,
    unit: str = "",
) -> Picture:
    """Trees over the same ranks, side by side (stacked for more than 16 ranks), with optional bars for each rank.

    Args:
        parents: for each tree, the parent of every rank; None for the root. Ranks are drawn from left to right, and
            children below their parent.
        values: a number for each rank, or a list of such numbers for each tree, drawn as bars beneath.
        unit: unit of the numbers: ``"GB received"``.
    """
    ranks, count = len(parents[0]), len(parents)
    depths = [[_depth(tree, rank) for rank in range(ranks)] for tree in parents]
    levels = 1 + max(map(max, depths))
    above = ranks > room(16, 4)
    rows, columns = (count, 1) if above else (1, count)
    heights = [*[0.34 * levels + 0.35] * rows, *([1.3] if values is not None else [])]
    picture = Picture(figsize=(room(7.0, PHONE), sum(heights) + 0.5), layout="constrained")
    grid = picture.add_gridspec(len(heights), columns, height_ratios=heights)
    for index, (tree, depth) in enumerate(zip(parents, depths, strict=True)):
        axes = picture.add_subplot(grid[divmod(index, columns)])
        _tree(axes, tree, depth, levels, COLOURS[index % len(COLOURS)])
        axes.set_title(f"tree {index + 1}" if count > 1 else "", loc="left")
    if values is not None:
        _bars(picture.add_subplot(grid[rows, :]), values, unit)
    names = {
        f"passes on in tree {i + 1}" if count > 1 else "passes on": COLOURS[i % len(COLOURS)] for i in range(count)
    }
    key(
        picture,
        [*(Patch(facecolor=c, label=n) for n, c in names.items()), Patch(fill=False, edgecolor=INK, label="leaf")],
    )
    picture.alt = _trees_alt(parents, depths, values, unit)
    return picture


def _depth(tree: Sequence[int | None], rank: int) -> int:
    """Number of steps from ``rank`` up to the root."""
    steps, parent = 0, tree[rank]
    while parent is not None:
        steps, parent = steps + 1, tree[parent]
        if steps > len(tree):
            raise ValueError(f"parents must lead to a root, rank {rank} goes round in a circle")
    return steps


def _tree(axes: Axes, tree: Sequence[int | None], depth: Sequence[int], levels: int, colour: str) -> None:
    for rank, parent in enumerate(tree):
        if parent is not None:
            axes.plot([rank, parent], [depth[rank], depth[parent]], color=QUIET, linewidth=1.2, zorder=1)
    for rank, level in enumerate(depth):
        inner = rank in tree
        ground = {"boxstyle": "circle,pad=0.22", "edgecolor": INK, "linewidth": 0.7}
        ground |= {"facecolor": colour} if inner else {"facecolor": "white"}
        ink = ink_on(colour) if inner else "black"
        size = 8 if len(tree) <= 16 else SMALL
        axes.text(rank, level, str(rank), ha="center", va="center", color=ink, fontsize=size, bbox=ground, zorder=2)
    axes.set(xlim=(-0.7, len(tree) - 0.3), ylim=(levels - 0.5, -0.6))
    axes.set_axis_off()


def _bars(axes: Axes, values: Sequence[float] | Sequence[Sequence[float]], unit: str) -> None:
    """A bar for each rank; values for each tree are stacked in the trees' colours."""
    parts = _parts(values)
    foot = [0.0] * len(parts[0])
    for index, part in enumerate(parts):
        colour = COLOURS[index % len(COLOURS)] if len(parts) > 1 else QUIET
        axes.bar(range(len(part)), part, 0.7, bottom=foot, color=colour)
        foot = [low + value for low, value in zip(foot, part, strict=True)]
    axes.set(xlabel="rank", ylabel=unit, xlim=(-0.7, len(foot) - 0.3), xticks=range(len(foot)))
    axes.tick_params(axis="x", length=0)


def _parts(values: Sequence[float] | Sequence[Sequence[float]]) -> list[list[float]]:
    rows = [list(row) for row in values if isinstance(row, Sequence)]
    return rows or [[float(value) for value in values if isinstance(value, int | float)]]


def _trees_alt(
    parents: Sequence[Sequence[int | None]],
    depths: Sequence[Sequence[int]],
    values: Sequence[float] | Sequence[Sequence[float]] | None,
    unit: str,
) -> str:
    ranks, count = len(parents[0]), len(parents)
    inner = Counter(rank for tree in parents for rank in set(tree) - {None})
    deep = " and ".join(str(max(depth)) for depth in depths)
    text = f"{'A tree' if count == 1 else f'{count} trees'} of depth {deep} over {counted(ranks, 'rank')}"
    if count > 1:
        twice = sum(times == count for times in inner.values())
        text += f"; ranks that have children in every tree: {twice or 'none'}"
    else:
        text += f"; ranks that are leaves: {ranks - len(inner)}"
    if values is not None:
        most = max(sum(parts) for parts in zip(*_parts(values), strict=True))
        text += f"; the most at one rank is {most:g} {unit}".rstrip()
    return text + "."
