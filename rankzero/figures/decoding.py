"""Figures of decoding: the automaton of a constraint, and the distributions of a target and a draft model.

:mod:`rankzero.figures.serving` exports these functions too.
"""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch

from rankzero import checks
from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, counted, legend, panels, styled

#: Colours of the current state and of the others.
LIT, OTHER = COLOURS[1], COLOURS[0]
#: Columns of states, after which the picture continues in a row below.
ROW = 9
#: Radius of a circle, distance between columns (between rows it is 1), and inches per unit.
RADIUS, STEP, SCALE = 0.27, 1.15, 0.7
#: Radius of a circle in points, by which arrows are shortened at both ends.
SHRINK = 72 * SCALE * RADIUS


class Automaton(Protocol):
    """An automaton: its states, and its edges by byte, where ``edges[state][byte]`` is the next state."""

    @property
    def start(self) -> int: ...
    @property
    def accepting(self) -> Iterable[int]: ...
    @property
    def edges(self) -> Mapping[int, Mapping[int, int]]: ...


Place = tuple[float, float]


@styled
def automaton(
    dfa: Automaton,
    current: int | None = None,
    labels: Mapping[tuple[int, int], str] | None = None,
    allowed: Sequence[str] | None = None,
) -> Picture:
    """An automaton: circles for states (double where a text may end), arrows for bytes, the current state highlighted.

    Args:
        dfa: the automaton; states that cannot be reached from the start are left out.
        current: the state to highlight.
        labels: labels of arrows, by the states at their two ends; other arrows show their bytes.
        allowed: texts of the tokens that may follow, shown below.
    """
    accepting, places, arrows = set(dfa.accepting), _places(dfa), _arrows(dfa, labels or {})
    low, wide = min(y for _, y in places.values()) - 0.6, max(x for x, _ in places.values()) + 0.6
    high = max(y for _, y in places.values()) + 0.9
    text = (
        textwrap.fill(f"may follow: {_listed(allowed or [])}", max(40, round(11 * wide))) if allowed is not None else ""
    )
    height = 0.25 * bool(text) * (1 + text.count("\n")) + 0.35 * (current is not None)
    picture, (axes,) = panels(1, 1, (max(3.8, SCALE * (wide + 0.9)), SCALE * (high - low) + height))
    for (state, after), label in arrows.items():
        if state in places:
            _arrow(axes, places, state, after, label, (after, state) in arrows)
    for state, place in places.items():
        _state(axes, state, place, state == current, state in accepting)
    x, y = places[dfa.start]
    axes.add_patch(FancyArrowPatch((x - 0.75, y), (x - RADIUS, y), arrowstyle="->", mutation_scale=9, color=INK))
    axes.set(xlim=(-0.9, wide), ylim=(low, high), aspect="equal")
    axes.set_axis_off()
    if text:
        axes.text(0, 0, text, transform=axes.transAxes, va="top", fontsize=9)
    legend(picture, {"current state": LIT, "other states": OTHER} if current is not None else {})
    parts = [f"An automaton of {counted(len(places), 'state')}, {len(accepting & set(places))} accepting"]
    parts += [f"state {current} is highlighted"] if current is not None else []
    parts += [f"{counted(len(allowed), 'token')} may follow: {_listed(allowed)}"] if allowed is not None else []
    picture.alt = "; ".join(parts) + "."
    return picture


def _listed(texts: Sequence[str], most: int = 12) -> str:
    """The first texts in quotes, and the number of further ones."""
    shown = "  ".join(f"'{text}'" for text in map(_visible, texts[:most]))
    return (shown or "nothing") + (f"  and {len(texts) - most} more" if len(texts) > most else "")


def _visible(text: str) -> str:
    """``text`` with unprintable characters escaped."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _arrows(dfa: Automaton, labels: Mapping[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The label of every arrow, by the states at its two ends."""
    taken: dict[tuple[int, int], list[int]] = {}
    for state, row in dfa.edges.items():
        for byte, after in row.items():
            taken.setdefault((state, after), []).append(byte)
    return {ends: labels.get(ends, byte_ranges(found)) for ends, found in taken.items()}


def byte_ranges(taken: Iterable[int], most: int = 3) -> str:
    """Bytes as text: ``0-9``, ``a b``, ``"``; with more than ``most`` ranges, only the number of bytes."""
    ordered = sorted(taken)
    runs = [[byte for _, byte in run] for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0])]
    parts = [part for run in runs for part in ([run] if len(run) > 2 else [[byte] for byte in run])]
    if len(parts) > most:
        return f"{len(ordered)} bytes"
    return " ".join(_byte(part[0]) + (f"-{_byte(part[-1])}" if len(part) > 1 else "") for part in parts)


def _byte(value: int) -> str:
    return chr(value) if 32 < value < 127 else "space" if value == 32 else f"x{value:02x}"


def _places(dfa: Automaton) -> dict[int, Place]:
    """A place for each reachable state: columns by distance from the start, to the right, then back in the next row."""
    places: dict[int, Place] = {}
    layers, top = _layers(dfa), 0.0
    for first in range(0, len(layers), ROW):
        band = layers[first : first + ROW]
        lanes = max(map(len, band))
        for column, states in enumerate(band):
            x = STEP * (column if first // ROW % 2 == 0 else ROW - 1 - column)
            middle = top - (lanes - 1) / 2
            places |= {state: (x, middle + (len(states) - 1) / 2 - index) for index, state in enumerate(states)}
        top -= lanes + 0.35
    return places


def _layers(dfa: Automaton) -> list[list[int]]:
    """The reachable states by their distance from the start, in bytes."""
    depth, waiting = {dfa.start: 0}, deque([dfa.start])
    while waiting:
        state = waiting.popleft()
        for after in dict.fromkeys(dfa.edges.get(state, {}).values()):
            if after not in depth:
                depth[after] = depth[state] + 1
                waiting.append(after)
    layers: list[list[int]] = [[] for _ in range(1 + max(depth.values()))]
    for state, steps in depth.items():
        layers[steps].append(state)
    return layers


def _state(axes: Axes, state: int, place: Place, lit: bool, accepting: bool) -> None:
    colour = LIT if lit else OTHER
    axes.add_patch(Circle(place, RADIUS, facecolor=colour, edgecolor=INK, linewidth=0.8, zorder=3))
    if accepting:
        axes.add_patch(Circle(place, RADIUS - 0.05, fill=False, edgecolor=ink_on(colour), linewidth=1, zorder=4))
    axes.text(*place, str(state), ha="center", va="center", fontsize=8, color=ink_on(colour), zorder=5)


def _arrow(axes: Axes, places: Mapping[int, Place], state: int, after: int, label: str, both_ways: bool) -> None:
    """An arrow with its label. It is bent if it spans several columns or stays in one, or if there is one back."""
    (x, y), (to_x, to_y) = places[state], places[after]
    style: dict[str, Any] = {"arrowstyle": "->", "mutation_scale": 9, "linewidth": 0.9, "color": INK, "zorder": 2}
    if state == after:
        loop = FancyArrowPatch((x - 0.13, y + 0.22), (x + 0.13, y + 0.22), connectionstyle="arc3,rad=-1.4", **style)
        axes.add_patch(loop)
        axes.text(x, y + 0.47, label, ha="center", va="bottom", fontsize=SMALL)
        return
    near = 0 < abs(to_x - x) < 1.5 * STEP and not both_ways
    bend = 0.0 if near else 0.3 if x == to_x else 0.25
    style |= {"connectionstyle": f"arc3,rad={bend}", "shrinkA": SHRINK, "shrinkB": SHRINK}
    axes.add_patch(FancyArrowPatch((x, y), (to_x, to_y), **style))
    middle = ((x + to_x) / 2 + bend * (to_y - y) / 2, (y + to_y) / 2 - bend * (to_x - x) / 2)
    if x == to_x:
        side = 0.05 if to_y > y else -0.05
        axes.text(middle[0] + side, middle[1], label, ha="left" if side > 0 else "right", va="center", fontsize=SMALL)
    else:
        axes.text(middle[0], middle[1] + 0.03, label, ha="center", va="bottom", fontsize=SMALL)


# Two distributions


@styled
def bars_p_q(p: Sequence[float], q: Sequence[float], names: Sequence[str] | None = None) -> Picture:
    """The distributions of a target and a draft model, token by token: what they share, and what only one of them has.

    The shared part is the probability that a drafted token is accepted. The excess of the target is the distribution,
    up to a factor, from which the replacement of a rejected token is drawn.

    Args:
        p: the target's probabilities.
        q: the draft's probabilities, as many.
        names: names of the tokens; by default their numbers.
    """
    checks.require(len(p) == len(q), f"have as many entries as p, {len(p)}", q=q)
    shared = [min(pair) for pair in zip(p, q, strict=True)]
    more = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    less = [max(0.0, b - a) for a, b in zip(p, q, strict=True)]
    accepted, rest, tokens = sum(shared), sum(more), range(len(p))
    picture, (both, redrawn) = panels(1, 2, (6.8, 2.9), gridspec_kw={"width_ratios": (3, 2)})
    both.bar(tokens, shared, 0.8, color=COLOURS[0])
    both.bar(tokens, more, 0.8, bottom=shared, color=COLOURS[1])
    both.bar(tokens, less, 0.8, bottom=shared, fill=False, edgecolor=QUIET, linewidth=1.2, linestyle=(0, (3, 2)))
    both.set(title=f"accepted: {accepted:.4g}", ylabel="probability", xlabel="token")
    redrawn.bar(tokens, [value / rest if rest else value for value in (more if rest else p)], 0.8, color=COLOURS[1])
    redrawn.set(title="redrawn when rejected", xlabel="token", ylabel="probability")
    for axes in (both, redrawn):
        axes.set_xticks(tokens, names or [str(token) for token in tokens])
    legend(picture, {"both have it": COLOURS[0], "only the target": COLOURS[1], "only the draft (dashed)": QUIET})
    residual = ", ".join(f"{value / rest if rest else value:.3g}" for value in (more if rest else p))
    picture.alt = (
        f"Target and draft over {counted(len(p), 'token')}: they share {accepted:.4g}, the probability of acceptance; "
        f"a rejected token is redrawn from {residual}."
    )
    return picture
