"""A Matplotlib figure with a description of what it shows, and the style and helpers that all figures share.

Notebooks and the book show a picture as inline SVG whose text and axes take the text colour of the page, light or dark.
Saved to a file it is dark on white. The same picture always gives the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import html
import io
import itertools
import math
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Text

from rankzero.room import COLUMN, on_phone, phone, room

#: The colour of text and axes; in a page, :meth:`Picture.html` replaces it with the page's text colour.
INK = "#24292f"
#: Gray for what is of minor importance; readable on light and on dark pages.
QUIET = "#8c8c8c"

#: The smallest type in a picture, points: ten pixels; and what is left of it where a picture shrinks with its column.
SMALL, LEAST = 7.5, 6.75
#: The width of a picture on a phone, inches, and how many letters of a title fit there.
PHONE, LETTERS = COLUMN / 96, 44

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "legend.frameon": False,
    "hatch.linewidth": 3.0,
    "svg.fonttype": "path",
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    **{f"axes.{part}color": INK for part in ("edge", "label", "title")},
}

#: Metadata that would differ between two saves of one picture, by file type.
STAMPS = {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Producer", "Creator"), "png": ("Software",)}

#: An id that Matplotlib has made up, where it is given and where it is used.
ID = re.compile(r'(?<=[#"])[a-z][0-9a-f]{10}(?=[")])')

P = ParamSpec("P")


class Picture(Figure):
    """A Matplotlib figure with ``alt``, a sentence that says what it shows.

    Attributes:
        again: draws it once more; None for a picture that was not made by a function of the course.
    """

    alt: str = ""
    again: Callable[[], Picture] | None = None

    def html(self) -> str:
        """The picture as inline SVG that takes the page's text colour, with ``alt`` as its accessible name.

        In the book a picture that is too wide for a phone is followed by the drawing that a phone shows instead.
        """
        if os.environ.get("RANKZERO_BOOK") != "1" or self.again is None or self._least() <= COLUMN:
            return f'<div class="rz-figure">{self._svg()}</div>'
        with phone():
            twin = self.again()
        twin.alt = self.alt
        return f'<div class="rz-figure">{self._svg("rz-wide")}{twin._svg("rz-phone")}</div>'

    def _svg(self, kind: str = "") -> str:
        """The drawing, of a class that says where it is shown."""
        buffer = io.StringIO()
        with rc_context(STYLE | {"svg.hashsalt": self.alt + kind}):  # savefig would draw it twice
            face = self.get_facecolor()
            self.set_facecolor("none")
            FigureCanvasSVG(self).print_svg(buffer, metadata=dict.fromkeys(STAMPS["svg"]))
            self.set_facecolor(face)
        drawing = buffer.getvalue().partition("<svg ")[2]
        drawing = re.sub(r' (?:width|height)="[\d.]+pt"', "", drawing, count=2)
        drawing = re.sub(r'<style type="text/css">.*?</style>', "", drawing, count=1, flags=re.DOTALL)
        drawing = with_ids(re.sub(r'<g id="[^"]*"', "<g", drawing).replace(INK, "currentColor"))
        width, least = self._pixels(), self._least()
        style = f"width:{width:.0f}px;max-width:100%;min-width:{least}px;height:auto"
        style += ";stroke-linejoin:round;stroke-linecap:butt" + (";display:none" if kind == "rz-phone" else "")
        named = f'role="img" aria-label="{html.escape(self.alt)}" data-smallest="{4 / 3 * self._smallest():g}"'
        shown = f'class="{kind}" ' if kind else ""
        return f'<svg {shown}{named} style="{style}" {drawing.strip()}'

    def _pixels(self) -> float:
        return 96 * float(self.get_figwidth())

    def _least(self) -> int:
        """The width at which its smallest text has nine pixels."""
        return math.ceil(self._pixels() * min(1.0, LEAST / self._smallest()))

    def _smallest(self) -> float:
        """The size of the smallest text, points."""
        texts = (text for text in self.findobj(Text) if text.get_visible() and text.get_text().strip())
        return min((float(text.get_fontsize()) for text in texts), default=float(STYLE["font.size"]))

    def savefig(self, fname: Any, **options: Any) -> None:
        """Like Matplotlib's, without dates and random ids, so that the same picture gives the same bytes."""
        suffix = options.get("format") or str(fname).rpartition(".")[2].lower()
        metadata = dict.fromkeys(STAMPS.get(suffix, ()))
        settings: dict[str, Any] = {"metadata": metadata or None, "dpi": 150} | options
        with rc_context(STYLE | {"svg.hashsalt": self.alt}):
            super().savefig(fname, **settings)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self._forms(), raw=True)

    def _forms(self) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.alt}


def with_ids(drawing: str) -> str:
    """The drawing with ids that depend on what can be read in it: those of Matplotlib depend on the last digit of a
    number, which the layout does not always give alike."""
    ids = list(dict.fromkeys(ID.findall(drawing)))
    drawing = ID.sub(lambda found: f"{found[0][0]}_{ids.index(found[0])}", drawing)
    digest = hashlib.sha256(drawing.encode()).hexdigest()[:10]
    return re.sub(r"(?<=[#\"][a-z])_(\d+)(?=[\")])", rf"{digest}_\1", drawing)


class Live:
    """A place in a notebook's output, where each picture shown replaces the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, picture: Picture) -> None:
        """Show ``picture`` at once, while the cell continues to run."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display(picture._forms(), raw=True, display_id=True)
        else:
            self._handle.update(picture._forms(), raw=True)


def styled(draw: Callable[P, Picture]) -> Callable[P, Picture]:
    """A decorator for functions that draw: it applies the course's style and fixes the layout."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Picture:
        with rc_context(STYLE):
            picture = draw(*args, **kwargs)
            engine = picture.get_layout_engine()
            if engine is not None:
                engine.execute(picture)
                if on_phone() and _wrap(picture):
                    engine.execute(picture)
            picture.set_layout_engine("none")  # so that drawing it again does not change the layout
            picture.again = functools.partial(drawn, *args, **kwargs)
            return picture

    return drawn


def _wrap(picture: Picture) -> bool:
    """Break titles and labels of axes that are longer than their panel is wide; whether there are any."""
    broken = False
    for axes in picture.axes:
        letters = max(12, int(LETTERS * axes.get_position().width))
        for text in (axes.title, axes._left_title, axes.xaxis.label):  # type: ignore[attr-defined]
            if len(text.get_text()) > letters and "\n" not in text.get_text():
                text.set_text(textwrap.fill(text.get_text(), letters, break_long_words=False))
                broken = True
    return broken


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Picture, list[Axes]]:
    """An empty picture with ``rows`` by ``columns`` panels; ``size`` is its width and height in inches.

    On a phone as many panels stand in a row as have three quarters of that room, and the others below them.
    """
    fit = room(columns, _abreast(columns, size[0]))
    if fit < columns:
        size = size[0], size[1] * columns / fit
        rows, columns, options = rows * columns // fit, fit, _stacked(options)
    picture = Picture(figsize=(room(size[0], min(size[0], PHONE)), size[1]), layout="constrained")
    return picture, list(picture.subplots(rows, columns, squeeze=False, **options).flat)


def _abreast(columns: int, width: float) -> int:
    """How many panels of a row with ``columns`` fit beside each other on a phone; only a divisor leaves no gap."""
    divisors = [count for count in range(1, columns + 1) if columns % count == 0]
    return max((count for count in divisors if 0.75 * width / columns * count <= PHONE), default=1)


def _stacked(options: Mapping[str, Any]) -> dict[str, Any]:
    """What holds for panels that stand below each other and not side by side."""
    return {name: value for name, value in options.items() if name != "gridspec_kw"}


def within(axes: Axes, artist: Artist) -> None:
    """Add what lies within a panel whose limits are set, so that neither the limits nor the layout have to measure it:
    in a picture of hundreds of cells that takes most of the time."""
    artist.set_in_layout(False)
    axes.add_artist(artist)


def legend(picture: Picture, names: Mapping[str, str]) -> None:
    """Draw names with their colours under the panels."""
    key(picture, [Patch(facecolor=colour, label=name) for name, colour in names.items()])


def key(picture: Picture, handles: Sequence[Artist]) -> None:
    """Draw a legend of ``handles`` under the panels, with as many columns (at most five) as fit the picture's width."""
    for handle in handles:
        handle.set_label(textwrap.fill(str(handle.get_label()), room(1000, LETTERS)))
    labels = [str(handle.get_label()) for handle in handles]
    counts = range(min(len(handles), 5), 1, -1)
    count = next((n for n in counts if _width(labels, n) <= picture.get_figwidth()), 1)
    if handles:
        picture.set_figheight(picture.get_figheight() + room(0.0, 0.2 * (-(-len(handles) // count) - 1)))
        picture.legend(handles=handles, loc="outside lower center", ncols=count)


def _width(labels: Sequence[str], columns: int) -> float:
    """Approximate width of a legend, in inches; they are filled column by column, the first columns with one more."""
    rows, more = divmod(len(labels), columns)
    ends = [rows * column + min(column, more) for column in range(columns + 1)]
    longest = [max(map(len, labels[start:end]), default=0) for start, end in itertools.pairwise(ends)]
    return sum(0.55 + 0.08 * length for length in longest)


def on_circle(count: int) -> list[tuple[float, float]]:
    """Places on the unit circle, clockwise from the top; two places are side by side."""
    turn = -math.pi / 2 if count == 2 else 0.0
    angles = [turn + 2 * math.pi * index / max(1, count) for index in range(count)]
    return [(math.sin(angle), math.cos(angle)) for angle in angles]


def canvas(size: tuple[float, float], reach: float = 1.25) -> tuple[Picture, Axes]:
    """A picture of the area around the unit circle, without visible axes."""
    picture, (axes,) = panels(1, 1, size)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_axis_off()
    return picture, axes


def counted(count: int, noun: str) -> str:
    """A count with its noun: ``1 rank``, ``2 ranks``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
