"""Figures of RLHF: the data flow of a step, the contents of a batch, directions of gradients, reward hacking."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch, Rectangle

from rankzero import checks
from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, counted, key, legend, panels, styled, within

#: Colours of models that are trained, and of models that are not.
TRAINED, FROZEN = COLOURS[1], COLOURS[0]

#: Colours of the cells of a batch, by their contents.
ENDS = "end of the response"
KINDS = {"prompt": COLOURS[3], "response": COLOURS[0], ENDS: COLOURS[1]}
PADDING = "padding"

# One step

#: The side of an arrow on which its label is drawn.
Side = Literal["above", "above left", "above right", "below left", "below right"]

#: The place of each box: name -> (x, row), with rows counted from the top.
_PLACES = {
    "prompts": (0.0, 1.5),
    "actor": (1.3, 1.5),
    "tokens": (2.6, 1.5),
    "actor again": (4.1, 0),
    "reference": (4.1, 1),
    "reward model": (4.1, 2),
    "critic": (4.1, 3),
    "token rewards": (7.6, 1),
    "GAE": (9.3, 2),
    "actor's loss": (11.1, 0.5),
    "critic's loss": (11.1, 3),
}
_COLOURS = {
    "actor": TRAINED,
    "actor again": TRAINED,
    "critic": TRAINED,
    "reference": FROZEN,
    "reward model": FROZEN,
}
#: Arrows: from, to, the tensor that labels it (each is named only once), where along the arrow the label is, and side.
_ARROWS: tuple[tuple[str, str, str, float, Side], ...] = (
    ("prompts", "actor", "", 0.5, "above"),
    ("actor", "tokens", "", 0.5, "above"),
    ("tokens", "actor again", "", 0.5, "above"),
    ("tokens", "reference", "", 0.5, "above"),
    ("tokens", "reward model", "", 0.5, "above"),
    ("tokens", "critic", "", 0.5, "above"),
    ("actor again", "token rewards", "log-probs", 0.45, "above right"),
    ("reference", "token rewards", "reference log-probs", 0.47, "above"),
    ("reward model", "token rewards", "scores", 0.4, "below right"),
    ("token rewards", "GAE", "rewards", 0.5, "below left"),
    ("critic", "GAE", "values", 0.45, "below right"),
    ("actor again", "actor's loss", "old log-probs", 0.55, "above right"),
    ("GAE", "actor's loss", "advantages", 0.5, "above left"),
    ("GAE", "critic's loss", "returns", 0.5, "below left"),
)


@styled
def data_flow(shapes: Mapping[str, Sequence[int]]) -> Picture:
    """The data flow of one step of PPO for a language model: the tensors that go from one part to another.

    Args:
        shapes: the shapes of the tensors by name: ``prompts``, ``tokens``, ``log-probs``, ``reference log-probs``,
            ``scores``, ``values``, ``rewards``, ``advantages``, ``returns``.

    Raises:
        KeyError: a shape is missing.
    """
    known = dict(shapes) | {"old log-probs": shapes["log-probs"]}
    picture, (axes,) = panels(1, 1, (8.1, 3.7))
    for name, (x, row) in _PLACES.items():
        _box(axes, x, row, name, known if name in ("prompts", "tokens") else {}, _COLOURS.get(name))
    for tail, head, tensor, part, side in _ARROWS:
        _flow(axes, tail, head, f"{tensor} {_shape(known[tensor])}" if tensor else "", part, side)
    axes.set(xlim=(-0.5, 11.6), ylim=(3.4, -0.45))
    axes.set_axis_off()
    legend(picture, {"learns": TRAINED, "frozen": FROZEN})
    listed = ", ".join(f"{name} {_shape(shape)}" for name, shape in shapes.items())
    picture.alt = (
        "The actor writes tokens; one pass of each of four models over them gives log-probabilities, scores and "
        f"values; token rewards, then advantages and returns follow, and two losses: {listed}."
    )
    return picture


def _shape(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _box(
    axes: Axes, x: float, y: float, name: str, shapes: Mapping[str, Sequence[int]], colour: str | None = None
) -> None:
    """Draw a box with its name, one word per line, and, if it is a tensor in ``shapes``, its shape."""
    text = name.replace(" ", "\n") + (f"\n{_shape(shapes[name])}" if shapes else "")
    look: dict[str, Any] = {"facecolor": colour, "linewidth": 0} if colour else {"fill": False, "edgecolor": INK}
    axes.add_patch(FancyBboxPatch((x - 0.44, y - 0.26), 0.88, 0.52, boxstyle="round,pad=0.04", zorder=3, **look))
    axes.text(x, y, text, ha="center", va="center", fontsize=SMALL, color=ink_on(colour) if colour else INK, zorder=4)


def _flow(axes: Axes, tail: str, head: str, label: str, part: float, side: Side) -> None:
    """Draw an arrow from the right edge of a box to the left edge of another, with its label beside it."""
    (x, y), (to_x, to_y) = _PLACES[tail], _PLACES[head]
    start, end = (x + 0.48, y), (to_x - 0.48, to_y)
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=QUIET, linewidth=1.1))
    above, _, across = side.partition(" ")
    place = start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])
    up, way = (-0.04, "bottom") if above == "above" else (0.04, "top")
    ends = {"": "center", "left": "right", "right": "left"}[across]
    axes.text(place[0], place[1] + up, label, ha=ends, va=way, fontsize=7.5)


# A batch


@styled
def batch_grid(
    tokens: Sequence[Sequence[str]], prompt_length: int, mask: Sequence[Sequence[float]], eos: str = "<eos>"
) -> Picture:
    """A batch as a table: a row for each sequence, a cell for each token, coloured by its kind.

    Args:
        tokens: the tokens as text, [B, S].
        prompt_length: number of prompt tokens at the beginning of each row, P.
        mask: [B, S - P], 1 for a real token of the response.
        eos: the text of the token that ends a response.
    """
    size = len(tokens[0]) - prompt_length
    sizes = [len(row) for row in mask]
    checks.require(sizes == [size] * len(tokens), f"have {len(tokens)} rows of {size}", mask=sizes)
    columns = len(tokens[0])
    longest = max(len(word) for row in tokens for word in row)
    width = max(0.36, 0.06 * longest + 0.06)
    picture, (axes,) = panels(1, 1, (max(5.6, 0.9 + width * columns), 1.2 + 0.26 * len(tokens)))
    for row, (words, real) in enumerate(zip(tokens, mask, strict=True)):
        kinds = ["prompt"] * prompt_length + ["response" if one else "" for one in real]
        kinds = [ENDS if kind == "response" and word == eos else kind for kind, word in zip(kinds, words, strict=True)]
        for column, (word, kind) in enumerate(zip(words, kinds, strict=True)):
            _word(axes, column, row, word, KINDS.get(kind))
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(len(tokens) - 0.5, -0.5), xlabel="position", ylabel="response")
    axes.set(xticks=range(columns), yticks=range(len(tokens)))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    empty = Patch(fill=False, edgecolor=QUIET, label=PADDING)
    key(picture, [*(Patch(facecolor=colour, label=kind) for kind, colour in KINDS.items()), empty])
    lengths = [int(sum(row)) for row in mask]
    picture.alt = (
        f"{counted(len(tokens), 'sequence')} of {columns} positions: {counted(prompt_length, 'prompt token')} each, "
        f"then responses of {', '.join(map(str, lengths))} real tokens; the rest is padding."
    )
    return picture


def _word(axes: Axes, column: int, row: int, word: str, colour: str | None) -> None:
    look: dict[str, Any] = {"facecolor": colour, "linewidth": 0} if colour else {"fill": False, "edgecolor": "#8888"}
    within(axes, Rectangle((column - 0.47, row - 0.44), 0.94, 0.88, **look))
    ink = ink_on(colour) if colour else QUIET
    axes.text(column, row, word, ha="center", va="center", fontsize=SMALL, color=ink)


@styled
def token_values(tables: Mapping[str, Sequence[Sequence[float]]], mask: Sequence[Sequence[float]]) -> Picture:
    """Tables of one number for each token, side by side: orange above zero, blue below, an outline where masked.

    Args:
        tables: the numbers [B, T], by title.
        mask: [B, T], 1 for a real token; the same for all tables.
    """
    rows, columns = len(mask), len(mask[0])
    picture, views = panels(1, len(tables), (0.6 + 0.46 * columns * len(tables), 0.95 + 0.34 * rows), sharey=True)
    for axes, (title, table) in zip(views, tables.items(), strict=True):
        real = [
            value for row, kept in zip(table, mask, strict=True) for value, one in zip(row, kept, strict=True) if one
        ]
        top = max(map(abs, real), default=0) or 1.0
        for row in range(rows):
            for column in range(columns):
                _number(axes, column, row, table[row][column] if mask[row][column] else None, top)
        axes.set(title=title, xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), xlabel="token")
        axes.set(xticks=range(columns), yticks=range(rows))
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    views[0].set_ylabel("response")
    means = "; ".join(f"{title}: row means {_means(table, mask)}" for title, table in tables.items())
    picture.alt = f"Numbers of {counted(rows, 'response')}, token by token; {means}."
    return picture


def _number(axes: Axes, column: int, row: int, value: float | None, top: float) -> None:
    """Draw a cell, in a stronger colour for a larger absolute value."""
    corner = (column - 0.46, row - 0.44)
    if value is None:
        within(axes, Rectangle(corner, 0.92, 0.88, fill=False, edgecolor="#8888", linewidth=0.5))
        return
    strength = 0.15 + 0.85 * min(1.0, abs(value) / top)
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(COLOURS[1] if value >= 0 else COLOURS[0]))
    colour = to_hex((red, green, blue))
    within(axes, Rectangle(corner, 0.92, 0.88, facecolor=colour, linewidth=0))
    axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color=ink_on(colour))


def _means(table: Sequence[Sequence[float]], mask: Sequence[Sequence[float]]) -> str:
    """The mean over each row's real tokens, as text."""
    means = [
        sum(value * one for value, one in zip(row, kept, strict=True)) / (sum(kept) or 1)
        for row, kept in zip(table, mask, strict=True)
    ]
    return ", ".join(f"{0.0 if abs(mean) < 5e-3 else mean:.2f}" for mean in means)


# Gradients


@styled
def gradient_arrows(
    arrows: Mapping[str, Mapping[str, Sequence[float]]], targets: Mapping[str, Sequence[float]]
) -> Picture:
    """Gradients with respect to three logits, as arrows; their components sum to 0, so they lie in a plane.

    Equal arrows are drawn once, with all their names; an arrow of length 0 is a dot.

    Args:
        arrows: gradients of three components, by the title of the panel and by name.
        targets: gradients to compare with, drawn as wide arrows in the background of every panel.
    """
    every = [*(one for panel in arrows.values() for one in panel.values()), *targets.values()]
    checks.require(all(len(one) == 3 for one in every), "have three numbers each", gradients=every)
    picture, views = panels(1, len(arrows), (4.0 * len(arrows), 3.8), sharex=True, sharey=True)
    flat = [_flat(one) for one in every]
    reach = max(math.hypot(*tip) for tip in flat) or 1.0
    spans = [(min(0.0, *(tip[i] for tip in flat)), max(0.0, *(tip[i] for tip in flat))) for i in (0, 1)]
    for axes, (title, panel) in zip(views, arrows.items(), strict=True):
        for index, target in enumerate(targets.values()):
            wide: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 24, "linewidth": 8, "alpha": 0.35}
            patch = FancyArrowPatch((0, 0), _flat(target), shrinkA=0, shrinkB=0, color=COLOURS[index], **wide)
            axes.add_patch(patch)
        _thin_arrows(axes, _equal(panel, reach), reach)
        limits = [(low - 0.25 * reach, high + 0.25 * reach) for low, high in spans]
        axes.set(title=title, xlim=limits[0], ylim=limits[1], aspect="equal", xlabel="(logit 0 - logit 1) / √2")
    views[0].set_ylabel("(logit 0 + logit 1 - 2 logit 2) / √6")
    legend(picture, {name: COLOURS[index] for index, name in enumerate(targets)})
    tips = (
        f"{title}, {' and '.join(names)} at ({x:.3f}, {y:.3f})"
        for title, panel in arrows.items()
        for (x, y), names in _equal(panel, reach).items()
    )
    picture.alt = f"Gradients in the plane of three logits: {'; '.join(tips)}."
    return picture


def _thin_arrows(axes: Axes, tips: Mapping[tuple[float, float], Sequence[str]], reach: float) -> None:
    """Draw arrows with their names beyond the tips."""
    for (x, y), names in tips.items():
        length = math.hypot(x, y)
        if not length:
            axes.plot([0], [0], "o", color=INK, markersize=7)
            axes.annotate(", ".join(names), (0, 0), xytext=(6, 8), textcoords="offset points")
            continue
        thin: dict[str, Any] = {"arrowstyle": "->", "mutation_scale": 12, "linewidth": 1.4, "color": INK}
        axes.add_patch(FancyArrowPatch((0, 0), (x, y), shrinkA=0, shrinkB=0, **thin))
        beyond = 1 + 0.09 * reach / length
        axes.text(beyond * x, beyond * y, ", ".join(names), ha="center", va="center")


def _flat(gradient: Sequence[float]) -> tuple[float, float]:
    """Coordinates of a gradient in the plane of vectors whose three components sum to 0."""
    a, b, c = gradient
    return (a - b) / math.sqrt(2), (a + b - 2 * c) / math.sqrt(6)


def _equal(arrows: Mapping[str, Sequence[float]], reach: float) -> dict[tuple[float, float], list[str]]:
    """The distinct tips of the arrows, each with the names of its arrows; tips near 0 or each other are merged."""
    tips: dict[tuple[float, float], list[str]] = {}
    for name, gradient in arrows.items():
        x, y = _flat(gradient)
        tip = (0.0, 0.0) if math.hypot(x, y) < 1e-6 * reach else (x, y)
        near = next((known for known in tips if math.dist(known, tip) < 1e-6 * reach), tip)
        tips.setdefault(near, []).append(name)
    return tips


# Reward hacking


@styled
def over_distance(runs: Mapping[str, Sequence[tuple[float, float, float]]]) -> Picture:
    """The reward model's score and the judge's score of each run, against the distance from the reference policy.

    Args:
        runs: by name, points ``(KL to the reference per response in nats, score, judge)`` in the order of training.

    Source: the curves of Gao et al. (2022), arXiv:2210.10760.
    """
    picture, views = panels(1, 2, (7.6, 3.4), sharex=True)
    for column, (axes, what) in enumerate(zip(views, ("reward model's score", "judge"), strict=True), 1):
        for index, points in enumerate(runs.values()):
            colour = COLOURS[index % len(COLOURS)]
            along = [math.sqrt(max(0.0, point[0])) for point in points]
            axes.plot(along, [point[column] for point in points], color=colour, linewidth=1.6)
            axes.plot(along[-1:], [points[-1][column]], "o", color=colour, markeredgecolor=INK, markeredgewidth=0.6)
        axes.set(title=what, xlabel="√KL to the reference, per response (√nats)", ylabel="points")
        axes.grid(color="#888888", alpha=0.3, linewidth=0.6)
    legend(picture, {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(runs)})
    ends = "; ".join(
        f"{name}: score {points[-1][1]:.2f}, judge {points[-1][2]:.2f} at KL {points[-1][0]:.1f}"
        for name, points in runs.items()
    )
    picture.alt = f"Score and judge against the root of the KL, the end of each run marked. {ends}."
    return picture


# Wrong loops


@styled
def curves_of_loops(usual: Sequence[Sequence[float]], others: Mapping[str, Sequence[Sequence[float]]]) -> Picture:
    """Learning curves of several programs, a panel for each: a line for each run, over the range of the right runs.

    That range takes half of the height of each panel. A curve that leaves its panel is cut off, and a number says where
    it ends.

    Args:
        usual: of the right program, a curve for each run with one value for each batch.
        others: the curves of each program, by its name.
    """
    rows = -(-len(others) // 4)
    picture, views = panels(rows, 4, (7.2, 0.5 + 1.2 * rows), sharex=True, sharey=True)
    low, high = min(map(min, usual)), max(map(max, usual))
    spare = (high - low) / 2
    floor, roof = ([pick(values) for values in zip(*usual, strict=True)] for pick in (min, max))
    for axes, (name, curves) in zip(views, others.items(), strict=False):
        axes.fill_between(range(len(floor)), floor, roof, color=QUIET, alpha=0.6, linewidth=0)
        for curve in curves:
            axes.plot(range(len(curve)), curve, color=COLOURS[0], linewidth=1)
        axes.set(ylim=(low - spare, high + spare))
        axes.set_title(textwrap.fill(name, 20), fontsize=8)
        axes.grid(color="#888888", alpha=0.3, linewidth=0.6)
        outside = [curve[-1] for curve in curves if abs(curve[-1] - (low + high) / 2) > 2 * spare]
        if outside:
            axes.text(0.97, 0.06, f"ends at {_range(outside, 0)}", ha="right", transform=axes.transAxes, fontsize=SMALL)
    for axes in views[len(others) :]:
        axes.set_axis_off()
    for axes in views:
        if axes.get_subplotspec().is_last_row():  # type: ignore[union-attr]
            axes.set_xlabel("batch")
    picture.supylabel("mean reward (deviations)", fontsize=9)
    lines = [Line2D([], [], color=COLOURS[0], linewidth=1, label="a run")]
    key(picture, [*lines, Patch(facecolor=QUIET, alpha=0.6, label="the right program's runs")])
    ends = "; ".join(f"{name} {_range([curve[-1] for curve in curves])}" for name, curves in others.items())
    picture.alt = (
        f"Mean reward by batch of {counted(len(others), 'program')}. The right runs end at "
        f"{_range([curve[-1] for curve in usual])}, the others at: {ends}."
    )
    return picture


def _range(values: Sequence[float], digits: int = 1) -> str:
    low, high = (f"{0.0 if abs(value) < 0.05 else value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
