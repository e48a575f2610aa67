"""A Matplotlib figure with a description of what it shows, and the style and helpers that all figures share.

Notebooks and the book show a picture as inline SVG whose text and axes take the text colour of the page, light or dark.
Saved to a file it is dark on white. The same picture always gives the same bytes.
"""

from __future__ import annotations

import functools
import html
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Text

#: The colour of text and axes; in a page, :meth:`Picture.html` replaces it with the page's text colour.
INK = "#24292f"
#: Gray for what is of minor importance; readable on light and on dark pages.
QUIET = "#8c8c8c"

#: The smallest type in a picture, points: ten pixels.
SMALL = 7.5

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

P = ParamSpec("P")


class Picture(Figure):
    """A Matplotlib figure with ``alt``, a sentence that says what it shows."""

    alt: str = ""

    def html(self) -> str:
        """The picture as inline SVG that takes the page's text colour, with ``alt`` as its accessible name."""
        buffer = io.StringIO()
        with rc_context(STYLE | {"svg.hashsalt": self.alt}):  # savefig would draw it twice
            face = self.get_facecolor()
            self.set_facecolor("none")
            FigureCanvasSVG(self).print_svg(buffer, metadata=dict.fromkeys(STAMPS["svg"]))
            self.set_facecolor(face)
        drawing = buffer.getvalue().partition("<svg ")[2]
        width = re.search(r'width="([\d.]+)pt"', drawing)
        drawing = re.sub(r' (?:width|height)="[\d.]+pt"', "", drawing, count=2)
        drawing = re.sub(r'<style type="text/css">.*?</style>', "", drawing, count=1, flags=re.DOTALL)
        drawing = re.sub(r'<g id="[^"]*"', "<g", drawing).replace(INK, "currentColor")
        size = _size(float(width[1]) * 4 / 3, self._smallest()) if width else ""
        label = html.escape(self.alt)
        style = f"{size};stroke-linejoin:round;stroke-linecap:butt"
        return f'<div class="rz-figure"><svg role="img" aria-label="{label}" style="{style}" {drawing.strip()}</div>'

    def _smallest(self) -> float:
        """The size of the smallest text, points."""
        texts = (text for text in self.findobj(Text) if text.get_visible() and text.get_text().strip())
        return min((float(text.get_fontsize()) for text in texts), default=float(STYLE["font.size"]))

    def savefig(self, fname: Any, **options: Any) -> None:
        """Like Matplotlib's, without dates and random ids, so that the same picture gives the same bytes."""
        suffix = options.get("format") or str(fname).rpartition(".")[2].lower()
        metadata = dict.fromkeys(STAMPS.get(suffix, ()))
        with rc_context(STYLE | {"svg.hashsalt": self.alt}):
            super().savefig(fname, **({"metadata": metadata or None, "dpi": 150} | options))

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self._forms(), raw=True)

    def _forms(self) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.alt}


def _size(width: float, smallest: float) -> str:
    """The size of a picture in a page: it shrinks with the column until text of ``smallest`` points has ten pixels."""
    return f"width:{width:.0f}px;max-width:100%;min-width:{math.ceil(width * min(1.0, SMALL / smallest))}px;height:auto"


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
            picture.set_layout_engine("none")  # so that drawing it again does not change the layout
            return picture

    return drawn


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Picture, list[Axes]]:
    """An empty picture with ``rows`` by ``columns`` panels; ``size`` is its width and height in inches."""
    picture = Picture(figsize=size, layout="constrained")
    return picture, list(picture.subplots(rows, columns, squeeze=False, **options).flat)


def legend(picture: Picture, names: Mapping[str, str]) -> None:
    """Draw names with their colours under the panels."""
    key(picture, [Patch(facecolor=colour, label=name) for name, colour in names.items()])


def key(picture: Picture, handles: Sequence[Artist]) -> None:
    """Draw a legend of ``handles`` under the panels, with as many columns (at most five) as fit the picture's width."""
    labels = [str(handle.get_label()) for handle in handles]
    counts = range(min(len(handles), 5), 1, -1)
    count = next((n for n in counts if _width(labels, n) <= picture.get_figwidth()), 1)
    if handles:
        picture.legend(handles=handles, loc="outside lower center", ncols=count)


def _width(labels: Sequence[str], columns: int) -> float:
    """Approximate width of a legend, in inches; legends are filled column by column."""
    rows = -(-len(labels) // columns)
    longest = [max(map(len, labels[i : i + rows])) for i in range(0, len(labels), rows)]
    return sum(0.55 + 0.08 * length for length in longest)


def on_circle(count: int) -> list[tuple[float, float]]:
    """Places on the unit circle, clockwise from the top; two places are side by side."""
    turn = -math.pi / 2 if count == 2 else 0.0
    angles = [turn + 2 * math.pi * place / max(1, count) for place in range(count)]
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
