"""The milestone's example: three requests on an engine, pass by pass.

>>> [sum(len(tokens) for _, tokens, _, _ in one.pieces) for one in passes()]
[8, 4, 2, 2, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, panels, styled
from rankzero.room import room
from rankzero.server.jobs import Job, JobRequest
from solutions.ch11.engine import EngineCore

#: Prompts and answers, a token for each letter. The first four tokens of c are those of a.
PROMPTS = {"a": "storms", "b": "rains", "c": "storks"}
ANSWERS = {"a": "end", "b": "go", "c": "up"}
#: Of the device.
SIZES = {"blocks": 6, "block_size": 4, "budget": 8, "slots": 2}

#: The narrowest column of a pass and the gap after each, in squares.
NARROWEST, GAP = 3.6, 0.9


@dataclass(frozen=True)
class Pass:
    """What one step asks of the device, and what it returns.

    Attributes:
        pieces: name, tokens as text, position of the first, table.
        said: name, text, reason.
    """

    pieces: tuple[tuple[str, str, int, tuple[int, ...]], ...]
    said: tuple[tuple[str, str, str], ...]


class _Letters(Job):
    """A device without a model: the answers are known."""

    def __init__(self) -> None:
        super().__init__({**SIZES, "vocabulary": [[letter] for letter in range(128)], "eos": 0}, lambda question: {})
        self.pieces: list[tuple[str, str, int, tuple[int, ...]]] = []

    def forward(self, pieces: Any) -> list[list[float]]:
        self.pieces = [(name, bytes(tokens).decode(), start, tuple(table)) for name, tokens, start, table in pieces]
        return [[] for _ in self.pieces]

    def choose(self, logits: Any, request: JobRequest, number: int, allowed: Any = None) -> int:
        return ord(ANSWERS[request.name][number])


def passes(make: Callable[[Any], Any] = EngineCore) -> list[Pass]:
    """The example on an engine, until every answer has ended."""
    job = _Letters()
    engine = make(job)
    for name, prompt in PROMPTS.items():
        engine.submit(JobRequest(name, list(prompt.encode()), len(ANSWERS[name])))
    found: list[Pass] = []
    while sum(reason != "" for one in found for *_, reason in one.said) < len(PROMPTS):
        said = engine.step()
        found.append(Pass(tuple(job.pieces), tuple(said)))
    return found


@styled
def served() -> Picture:
    """The example: a row for each request, a column for each pass, a square for each token that it computes."""
    found, names = passes(), list(PROMPTS)
    wide = room(7.0, 3.6)
    picture, (axes,) = panels(1, 1, (wide, 1.7))
    left, seen = 0.0, set[str]()
    for number, one in enumerate(found, 1):
        count, widest = sum(len(tokens) for _, tokens, _, _ in one.pieces), NARROWEST
        axes.text(left, -1.15, f"pass {number}", fontsize=SMALL, weight="bold")
        axes.text(left, -0.75, f"{count} token{'s' * (count > 1)}", fontsize=SMALL)
        for name, tokens, start, _ in one.pieces:
            row, found_again = names.index(name), 0 if name in seen else start
            text = PROMPTS[name][:found_again] + tokens
            for place, token in enumerate(text):
                _square(axes, left + place, row, token, "" if place < found_again else COLOURS[row])
            seen.add(name)
            widest = max(widest, len(text))
        left += widest + GAP
    axes.set(xlim=(-0.2, left - GAP + 0.2), ylim=(2.5, -1.5), yticks=range(3), yticklabels=names, xticks=[])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    told = "; ".join(f"pass {n}: {_told(one)}" for n, one in enumerate(found, 1))
    picture.alt = f"Tokens that each pass computes. {told}. The first four tokens of c are found in a block of a."
    return picture


def _told(one: Pass) -> str:
    return " and ".join(f"{tokens} of {name}" for name, tokens, _, _ in one.pieces)


def _square(axes: Axes, left: float, row: int, letter: str, colour: str) -> None:
    """A token: computed, in a colour; or found in the pool, in outline."""
    style: dict[str, Any] = {"facecolor": colour} if colour else {"fill": False, "edgecolor": QUIET, "linestyle": ":"}
    axes.add_patch(Rectangle((left, row - 0.38), 0.9, 0.76, **style))
    ink = ink_on(colour) if colour else INK
    axes.text(left + 0.45, row, letter, ha="center", va="center", fontsize=SMALL, color=ink)
