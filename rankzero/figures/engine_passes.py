"""What an engine computes, pass by pass: a row for each request, a square for each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, panels, styled, within
from rankzero.room import room

#: The narrowest column of a pass and the gap after each, in squares.
NARROWEST, GAP = 3.6, 0.9

#: A request's name, the tokens that are computed, a letter for each, and the position of the first of them.
Piece = tuple[str, str, int]


@styled
def served(passes: Sequence[Sequence[Piece]], prompts: Mapping[str, str]) -> Picture:
    """A column for each pass; what a request finds in the pool at its first pass is drawn in outline.

    Args:
        passes: the pieces of each.
        prompts: of each request, by its name.
    """
    names = list(prompts)
    picture, (axes,) = panels(1, 1, (room(7.0, 3.6), 0.5 + 0.4 * len(names)))
    left, seen = 0.0, set[str]()
    for number, pieces in enumerate(passes, 1):
        count, widest = sum(len(tokens) for _, tokens, _ in pieces), NARROWEST
        axes.text(left, -1.15, f"pass {number}", fontsize=SMALL, weight="bold")
        axes.text(left, -0.75, f"{count} token{'s' * (count != 1)}", fontsize=SMALL)
        for name, tokens, start in pieces:
            row, found = names.index(name), 0 if name in seen else start
            text = prompts[name][:found] + tokens
            for place, token in enumerate(text):
                _square(axes, left + place, row, token, "" if place < found else COLOURS[row])
            seen.add(name)
            widest = max(widest, len(text))
        left += widest + GAP
    axes.set(xlim=(-0.2, left - GAP + 0.2), ylim=(len(names) - 0.5, -1.5))
    axes.set(yticks=range(len(names)), yticklabels=names, xticks=[])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    told = "; ".join(f"pass {number}: {_told(pieces)}" for number, pieces in enumerate(passes, 1))
    picture.alt = f"Tokens that each pass computes. {told}."
    return picture


def _told(pieces: Sequence[Piece]) -> str:
    return " and ".join(f"{tokens} of {name}" for name, tokens, _ in pieces)


def _square(axes: Axes, left: float, row: int, letter: str, colour: str) -> None:
    """A token: computed, in a colour; or found in the pool, in outline."""
    style: dict[str, Any] = {"facecolor": colour} if colour else {"fill": False, "edgecolor": QUIET, "linestyle": ":"}
    within(axes, Rectangle((left, row - 0.38), 0.9, 0.76, **style))
    ink = ink_on(colour) if colour else INK
    axes.text(left + 0.45, row, letter, ha="center", va="center", fontsize=SMALL, color=ink)
