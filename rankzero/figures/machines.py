"""Diagrams of machines: devices with links, nodes with ranks. :mod:`rankzero.figures.diagrams` exports them too."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from rankzero import checks
from rankzero.charts.marks import COLOURS, group_colour, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, canvas, counted, key, on_circle, panels, styled, within

#: The codes of ``nvidia-smi topo -m`` that come after NVLinks, from near to far.
CODES = ("PIX", "PXB", "PHB", "NODE", "SYS")


@styled
def link_circle(
    names: Sequence[str], links: Mapping[str, Mapping[str, str]], ring: Sequence[str] | None = None
) -> Picture:
    """Devices on a circle, a line for each pair in the colour of its link, and thick lines for the hops of a ring.

    Args:
        names: the devices, in the order of the circle.
        links: the code of each pair, in one or both directions: ``{"GPU0": {"GPU1": "NV2"}}``.
        ring: devices in the order of a ring; the last is joined to the first.
    """
    pairs = {(a, b): code for i, a in enumerate(names) for b in names[i + 1 :] if (code := _code(links, a, b))}
    codes = sorted(set(pairs.values()), key=_distance_key)
    looks = {code: _link_style(code, codes) for code in codes}
    places = dict(zip(names, on_circle(len(names)), strict=True))
    side = 4.2 + 0.05 * len(names)
    picture, axes = canvas((side + 0.6, side), 1.22)
    hops = [frozenset(hop) for hop in zip(ring or (), [*(ring or ())[1:], *(ring or ())[:1]], strict=True)]
    thin = 1.2 if len(names) <= 10 else 0.7
    for pair, code in sorted(pairs.items(), key=lambda item: (frozenset(item[0]) in hops, -_distance_key(item[1])[0])):
        ends = [places[name] for name in pair]
        colour, dashes = looks[code]
        width = 5.0 if frozenset(pair) in hops else thin
        axes.plot(*zip(*ends, strict=True), color=colour, linewidth=width, linestyle=dashes, solid_capstyle="round")
    for name, (x, y) in places.items():
        _device(axes, name, (x, y), len(names))
    key(picture, [Line2D([], [], color=looks[c][0], linestyle=looks[c][1], linewidth=2, label=c) for c in codes])
    counts = Counter(pairs.values())
    counts_text = ", ".join(f"{code} {counts[code]}" for code in codes) or "none"
    text = f"{counted(len(names), 'device')}; pairs by link from near to far: {counts_text}"
    if ring and len(ring) > 1:
        slowest = max((_code(links, *hop) for hop in zip(ring, [*ring[1:], ring[0]], strict=True)), key=_distance_key)
        text += f"; the slowest hop of the ring {' → '.join([*ring, ring[0]])} is {slowest or 'no link'}"
    picture.alt = text + "."
    return picture


def _code(links: Mapping[str, Mapping[str, str]], a: str, b: str) -> str:
    """The code of a pair, in whichever direction it is given; empty if it is missing."""
    return links.get(a, {}).get(b) or links.get(b, {}).get(a) or ""


def _distance_key(code: str) -> tuple[int, int, str]:
    """A key that sorts codes from near to far: NVLinks, more links first, then the other codes, unknown ones last."""
    if code.startswith("NV") and code[2:].isdigit():
        return 0, -int(code[2:]), code
    return 1 + (CODES.index(code) if code in CODES else len(CODES)), 0, code


def _link_style(code: str, codes: Sequence[str]) -> tuple[str, Any]:
    """Colour and dashes of a link: NVLinks are solid, every other code has a fixed style."""
    bundles = [other for other in codes if _distance_key(other)[0] == 0]
    if code in bundles:
        return (COLOURS[0], COLOURS[3], COLOURS[5])[bundles.index(code) % 3], "solid"
    dashes = {"PIX": "solid", "PXB": (0, (6, 2)), "PHB": (0, (4, 2)), "NODE": (0, (4, 2, 1, 2)), "SYS": (0, (1, 2))}
    colours = {"PIX": COLOURS[4], "PXB": COLOURS[7], "PHB": COLOURS[2], "NODE": COLOURS[6], "SYS": COLOURS[1]}
    return colours.get(code, QUIET), dashes.get(code, (0, (1, 4)))


def _device(axes: Axes, name: str, place: tuple[float, float], count: int) -> None:
    ground = {"boxstyle": "round,pad=0.35", "edgecolor": INK, "facecolor": "white", "linewidth": 0.8}
    size = 9 if count <= 10 else 7.5
    axes.text(*place, name, ha="center", va="center", fontsize=size, color="black", bbox=ground, zorder=4)


@styled
def rank_grid(sizes: Mapping[str, int], ranks_per_node: int, axis: str) -> Picture:
    """Nodes as rows, devices as columns, ranks in the cells; the colour is the group along ``axis``.

    Args:
        sizes: size of each axis, the outermost first: ``{"dp": 2, "pp": 2, "tp": 4}``.
        ranks_per_node: devices per node; ranks fill the nodes one after the other.
        axis: a key of ``sizes``.
    """
    checks.one_of(sizes, axis=axis)
    ranks = math.prod(sizes.values())
    nodes = -(-ranks // ranks_per_node)
    cell = min(0.42, 8.0 / nodes)
    picture, (axes,) = panels(1, 1, (1.1 + 0.5 * ranks_per_node, 0.8 + cell * nodes))
    groups = [_group(rank, sizes, axis) for rank in range(ranks)]
    for rank, group in enumerate(groups):
        node, device = divmod(rank, ranks_per_node)
        colour = group_colour(group)
        within(axes, Rectangle((device - 0.46, node - 0.45), 0.92, 0.9, facecolor=colour, linewidth=0))
        if 50 * cell >= SMALL:
            size = min(9.0, 50 * cell)
            axes.text(device, node, str(rank), ha="center", va="center", fontsize=size, color=ink_on(colour))
    axes.set(xlim=(-0.5, ranks_per_node - 0.5), ylim=(nodes - 0.5, -0.5), xticks=range(ranks_per_node))
    axes.set(xlabel="device", ylabel="node", yticks=range(0, nodes, 1 if 50 * cell >= SMALL else 8))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    leaving = sum(len(found) > 1 for found in _nodes(groups, ranks_per_node).values())
    picture.alt = (
        f"{counted(ranks, 'rank')} on {counted(nodes, 'node')} of {counted(ranks_per_node, 'device')}, coloured by "
        f"group along {axis}; groups that leave a node: {leaving} of {len(set(groups))}."
    )
    return picture


def _group(rank: int, sizes: Mapping[str, int], axis: str) -> int:
    """The number of a rank's group. Groups are numbered in the order of their first rank."""
    names = list(sizes)
    stride = math.prod(sizes[name] for name in names[names.index(axis) + 1 :])
    return rank // (stride * sizes[axis]) * stride + rank % stride


def _nodes(groups: Sequence[int], ranks_per_node: int) -> dict[int, set[int]]:
    """The nodes of each group."""
    found: dict[int, set[int]] = {group: set() for group in groups}
    for rank, group in enumerate(groups):
        found[group].add(rank // ranks_per_node)
    return found
