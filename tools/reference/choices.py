"""When to use what: a decision tree, drawn, and tables: the course's own, and those of deeper pages, quoted."""

from __future__ import annotations

import re
from html import escape
from textwrap import wrap

import nbformat

from experiments import choices
from experiments.ch14.systems import ASPECTS, SYSTEMS
from rankzero.facts.units import GB
from rankzero.room import COLUMN
from tools.common import BOOK
from tools.prose_numbers import stripped

from .markup import section_link, table

#: Tables that stand on a page: the notebook below ``book``, the id of the cell, and the section that explains them.
QUOTED = {
    "libraries": ("deeper/05-data-parallel-deeper", "script-choice", "5.19"),
    "settings": ("deeper/10-scheduling-deeper", "settings", "10.21"),
    "drafts": ("deeper/11-decoding-deeper", "which-draft", "11.23"),
}
_STAGES = (
    "States of 70 billion parameters on one of 64 GPUs, and what a rank sends in a step, in units of what plain data "
    "parallelism sends."
)
#: Sizes of the drawing, in pixels at full width, for a desk and for a phone.
WIDE, PHONE = 720, COLUMN
LETTER, LINE, PADDING, GAP = 7.0, 18, 10, 26


def quoted(page: str, cell: str) -> list[str]:
    """The tables of a text cell, as Markdown.

    Raises:
        ValueError: there is no such cell, or it has no table.
    """
    cells = nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells
    text = next((stripped(one.source) for one in cells if one.get("id") == cell), "")
    found = [part for part in text.split("\n\n") if part.startswith("| ")]
    if not found:
        raise ValueError(f"{page} must have a table in its cell {cell!r}")
    return found


# The tree


def _lines(text: str, width: float) -> list[str]:
    return wrap(text, max(8, int((width - 2 * PADDING) / LETTER)))


def _text(lines: list[str], x: float, top: float) -> str:
    spans = "".join(
        f'<tspan x="{x}" y="{top + PADDING + LINE * (n + 0.75):.1f}">{escape(one)}</tspan>'
        for n, one in enumerate(lines)
    )
    return f"<text>{spans}</text>"


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>'


def tree(width: float) -> str:
    """The tree as SVG: questions below each other on the left, and to the right of each what a yes leads to."""
    left, middle = width * 0.53, width * 0.12
    right = width - left - middle - 2
    parts, y = [], 1.0
    for question in choices.TREE:
        asked, then = _lines(question.text, left), _lines(f"{question.then} ({question.section})", right)
        height = 2 * PADDING + LINE * max(len(asked), len(then))
        centre = y + height / 2
        parts += [
            _box(1, y, left, height, "rz-question"),
            _text(asked, 1 + PADDING, y),
            f'<path d="M{left + 1:.1f} {centre}H{left + middle:.1f}"/>',
            f'<text class="rz-answer" x="{left + middle / 2:.1f}" y="{centre - 5}">yes</text>',
            _box(left + middle, y, right, height, "rz-then"),
            _text(then, left + middle + PADDING, y),
            f'<path d="M{left / 2:.1f} {y + height}v{GAP}"/>',
            f'<text class="rz-answer" x="{left / 2 + 14:.1f}" y="{y + height + GAP / 2 + 5}">no</text>',
        ]
        y += height + GAP
    last = _lines(choices.LAST, left)
    height = 2 * PADDING + LINE * len(last)
    parts += [_box(1, y, left, height, "rz-then"), _text(last, 1 + PADDING, y)]
    return (
        f'<svg viewBox="0 0 {width} {y + height + 1:.0f}" width="{width}" height="{y + height + 1:.0f}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def _told() -> str:
    """The tree for those who cannot see it, and for a search."""
    steps = "".join(
        f"<li>{escape(one.text)} If so: {escape(one.then)} ({section_link(one.section)}).</li>" for one in choices.TREE
    )
    return (
        f"<details><summary>The tree in words</summary><ol>{steps}<li>Otherwise: {choices.LAST}.</li></ol></details>\n"
    )


# Tables


def _ways() -> str:
    rows = [
        (f"**{one.name}** {section_link(one.section)}", one.divides, one.use, one.avoid, one.price, one.place)
        for one in choices.WAYS
    ]
    return table(("way", "a rank has a part of", "use it when", "not when", "it sends", "links"), rows)


def _stages() -> str:
    rows = [
        (str(one.number), f"{one.held / GB:,.1f}", f"{one.sent(1):.3g}", f"{one.sent(8):.3g}", one.use, one.names)
        for one in choices.STAGES
    ]
    heads = ("stage", "GB of states", "sent, 1 micro-step", "sent, 8 micro-steps", "take it when", "in libraries")
    return table(heads, rows)


def _libraries() -> str:
    rows = [(f"**{one.name}**", one.divides, one.use, one.price) for one in choices.LIBRARIES]
    sources = "".join(f"- {one.name}: {one.read}\n" for one in choices.LIBRARIES)
    return f"{table(('library', 'it divides', 'take it when', 'you take on'), rows)}\nRead:\n\n{sources}"


def _systems() -> str:
    rows = [(f"**{one.name}**", *(_flags(getattr(one, name)) for name in ASPECTS.values())) for one in SYSTEMS]
    sources = "".join(f"- {one.name}: {one.read}\n" for one in SYSTEMS)
    return f"{table(('system', *ASPECTS), rows)}\nRead:\n\n{sources}"


def _flags(text: str) -> str:
    """A text whose command-line flags are code: as prose, their two hyphens would become a dash."""
    return re.sub(r"--[\w-]+", r"`\g<0>`", text)


def _quoted(name: str) -> str:
    page, cell, section = QUOTED[name]
    return "\n\n".join(quoted(page, cell)) + f"\n\nFrom section {section_link(section)}.\n"


def text() -> str:
    """The page's generated part."""
    drawn = (
        f'<div class="rz-ideas rz-tree"><div class="rz-wide">{tree(WIDE)}</div>'
        f'<div class="rz-phone" style="display:none">{tree(PHONE)}</div></div>\n'
    )
    parts = {
        "A first layout for training": f"{drawn}\n{_told()}",
        "Ways to divide training": _ways(),
        "Stages of ZeRO": f"{_STAGES}\n\n{_stages()}",
        "Libraries that train": f"{_libraries()}\nThree of them in your own script:\n\n{_quoted('libraries')}",
        "Serving: settings": _quoted("settings"),
        "Serving: drafts, and forms": _quoted("drafts"),
        "Systems for RLHF": f"{_systems()}\nSection {section_link('14.30')} explains the words.\n",
    }
    return "\n".join(f"## {title}\n\n{part}" for title, part in parts.items())
