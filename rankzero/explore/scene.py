"""A picture as data: boxes, arrows and labels, and the sentence that says what happens in it; drawn as inline SVG.

The colours are names that a page gives its own values (``--rz-accent`` and its like in ``book/_static/rankzero.css``),
and text has the colour of the text around it, so that a picture is right in light and in dark. Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from rankzero import checks

#: What a picture may ask for on the narrowest screen, pixels: the column of a page that is 390 pixels wide.
NARROW = 340
#: The smallest text on any screen, pixels.
SMALLEST = 10
#: How many times larger than drawn a picture may become where there is room.
LARGEST = 1.4

#: Length and half the width of the head of an arrow.
HEAD, HALF = 7.0, 4.0

Tone = Literal["accent", "right", "quiet"]


@dataclass(frozen=True)
class Box:
    """A rectangle with a text, and a smaller note below the text.

    Attributes:
        x, y: of its upper left corner.
        width, height: its size.
        text: what stands in it.
        note: a second, smaller line.
        tone: the colour of its ground and of a strong outline.
        fill: how much of that colour the ground has, 0 to 1.
        strong: whether its outline is thick: what this step changed.
        size: of the text.
        ghost: whether it only shows where a later step has a box.
    """

    x: float
    y: float
    width: float
    height: float
    text: str = ""
    note: str = ""
    tone: Tone = "accent"
    fill: float = 0.0
    strong: bool = False
    size: float = 14.0
    ghost: bool = False

    @property
    def smallest(self) -> float:
        """The size of its smallest text."""
        return min(10.0, self.size) if self.note else self.size

    def svg(self) -> str:
        """The box as SVG elements."""
        ink = f"var(--rz-{self.tone})"
        line = f'stroke="{ink}" stroke-width="2.5"' if self.strong else 'stroke="var(--rz-line)"'
        line += ' stroke-dasharray="3 3"' if self.ghost else ""
        ground = f'fill="{ink}" fill-opacity="{0.4 * self.fill:.2g}"' if self.fill else 'fill="none"'
        middle = self.x + self.width / 2
        place = f'x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}"'
        parts = [f'<rect {place} rx="3" {ground} {line}/>']
        if self.text:
            rise = self.height * 0.45 if self.note else self.height / 2 + 0.36 * self.size
            weight = ' font-weight="700"' if self.strong else ""
            place = f'x="{middle:g}" y="{self.y + rise:g}" font-size="{self.size:g}"'
            parts.append(f"<text {place}{weight}>{escape(self.text)}</text>")
        if self.note:
            parts.append(
                f'<text x="{middle:g}" y="{self.y + self.height - 6:g}" font-size="10">{escape(self.note)}</text>'
            )
        return "".join(parts)


@dataclass(frozen=True)
class Arrow:
    """A straight arrow from (``x1``, ``y1``) to its tip (``x2``, ``y2``): something moves in this step."""

    x1: float
    y1: float
    x2: float
    y2: float

    smallest = math.inf

    def __post_init__(self) -> None:
        length = math.dist((self.x1, self.y1), (self.x2, self.y2))
        checks.require(length >= HEAD, f"be at least {HEAD:g} long", arrow=self)

    def svg(self) -> str:
        """The arrow as SVG elements; the head is a triangle of its own, because markers would need ids."""
        length = math.dist((self.x1, self.y1), (self.x2, self.y2))
        right, down = (self.x2 - self.x1) / length, (self.y2 - self.y1) / length
        x, y = self.x2 - HEAD * right, self.y2 - HEAD * down
        corners = [(self.x2, self.y2), (x - HALF * down, y + HALF * right), (x + HALF * down, y - HALF * right)]
        points = " ".join(f"{a:.4g},{b:.4g}" for a, b in corners)
        line = f'<path d="M{self.x1:g} {self.y1:g}L{x:.4g} {y:.4g}" stroke="var(--rz-accent)" stroke-width="2"/>'
        return f'{line}<polygon points="{points}" fill="var(--rz-accent)"/>'


@dataclass(frozen=True)
class Label:
    """A line of text; ``y`` is its base line, and ``anchor`` says which part of it stands at ``x``."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"
    size: float = 12.0
    quiet: bool = False

    @property
    def smallest(self) -> float:
        """The size of its text."""
        return self.size

    @property
    def box(self) -> Box:
        """About the room that it takes."""
        width = 0.6 * self.size * len(self.text)
        left = {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return Box(self.x - left, self.y - self.size, width, self.size)

    def svg(self) -> str:
        """The label as an SVG element."""
        anchor = "" if self.anchor == "middle" else f' text-anchor="{self.anchor}"'
        ink = ' fill="var(--rz-quiet)"' if self.quiet else ""
        place = f'x="{self.x:g}" y="{self.y:g}" font-size="{self.size:g}"'
        return f"<text {place}{anchor}{ink}>{escape(self.text)}</text>"


Mark = Box | Arrow | Label


@dataclass(frozen=True)
class Scene:
    """One picture.

    Attributes:
        width, height: its size as drawn, pixels.
        marks: what is drawn, in this order; arrows come on top of the rest.
        says: one or two sentences that say what happens in this step, with its numbers.
        alt: everything that one can read off the picture, for readers who cannot see it.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    says: str
    alt: str

    def __post_init__(self) -> None:
        checks.require(bool(self.says.strip() and self.alt.strip()), "be sentences", says=self.says, alt=self.alt)
        rule = f"be at most {NARROW}, so that a narrow screen has text of {SMALLEST} pixels"
        checks.require(self.least <= NARROW, rule, least=self.least)

    @property
    def least(self) -> int:
        """The width at which the smallest text has :data:`SMALLEST` pixels."""
        smallest = min((mark.smallest for mark in self.marks), default=math.inf)
        return math.ceil(self.width * min(1.0, SMALLEST / smallest))

    def svg(self) -> str:
        """The picture as inline SVG. It grows and shrinks with its column, within what its text allows."""
        still = "".join(mark.svg() for mark in self.marks if not isinstance(mark, Arrow))
        moves = "".join(mark.svg() for mark in self.marks if isinstance(mark, Arrow))
        size = f"width:{LARGEST * self.width:.0f}px;max-width:100%;min-width:{self.least}px;height:auto"
        return (
            f'<svg role="img" aria-label="{escape(self.alt)}" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'style="{size}" fill="currentColor" text-anchor="middle" font-family="inherit">'
            f'{still}<g class="rz-moves">{moves}</g></svg>'
        )


def with_ghosts(scenes: Sequence[Scene]) -> list[Scene]:
    """The pictures of a process, each with an outline where a later one has a box and it has nothing.

    So the first picture shows the stage on which the process will run, and not an empty page.
    """
    return [_with_ghosts(scene, scenes[index + 1 :]) for index, scene in enumerate(scenes)]


def _with_ghosts(scene: Scene, later: Sequence[Scene]) -> Scene:
    taken = [mark.box if isinstance(mark, Label) else mark for mark in scene.marks if not isinstance(mark, Arrow)]
    ghosts: list[Box] = []
    for box in (mark for other in later for mark in other.marks if isinstance(mark, Box)):
        if not any(_overlap(box, other) for other in [*taken, *ghosts]):
            ghosts.append(Box(box.x, box.y, box.width, box.height, ghost=True))
    return replace(scene, marks=(*ghosts, *scene.marks))


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have more in common than their edges."""
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 1 and down > 1
