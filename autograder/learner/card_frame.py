"""What all cards share: when they are live, how they are displayed, the frame, and pieces of markup.

In the built book (``RANKZERO_BOOK=1``) a question's card contains a form and, as data, the answers; the script
``book/_static/rankzero.js`` makes it live. In a notebook, cards are static: answers are typed into the call.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from html import escape
from typing import Any

from autograder.learner.progress import Standing

#: The style of cards in a notebook; the book has ``rankzero.css``.
STYLE = (
    "<style>.rz-card{border-left:3px solid var(--jp-brand-color1,#4a7fb5);padding:.2em 0 .2em 1em;margin:.6em 0;"
    "max-width:46em;line-height:1.5}.rz-card p{margin:.35em 0}.rz-kind{font-size:.85em;opacity:.8}"
    ".rz-kind b{letter-spacing:.05em;text-transform:uppercase}.rz-card .rz-title{font-weight:600}"
    ".rz-card ol,.rz-card ul{margin:.35em 0;padding-left:1.6em}.rz-card ol.rz-letters{list-style:lower-alpha}"
    ".rz-card summary{cursor:pointer}.rz-card pre{overflow-x:auto}.rz-card td,.rz-card th{text-align:left!important}"
    "</style>"
)
#: A symbol and a word for each state, so that nothing depends on color.
STATES: dict[Standing, str] = {"right": "✓ right", "wrong": "✗ not yet", "open": "○ open"}


def in_book() -> bool:
    """Whether the book is being built: cards must be live, and say nothing about the machine that builds them."""
    return os.environ.get("RANKZERO_BOOK") == "1"


def show(html: str, text: str) -> None:
    """Display a card: HTML (and text) in a notebook, HTML alone in the book, printed text anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/html": html} if in_book() else {"text/html": html, "text/plain": text}, raw=True)


def card(kind: str, identifier: str, body: str, data: dict[str, Any] | None = None, classes: str = "") -> str:
    """The frame of every card. ``data`` is for the page's script."""
    attribute = f' data-card="{escape(json.dumps(data, sort_keys=True))}"' if data else ""
    anchor = f' id="rz-{identifier}"' if in_book() and identifier else ""
    name = f" <code>{escape(identifier)}</code>" if identifier else ""
    head = f'<p class="rz-kind"><b>{kind}</b>{name}</p>'
    style = "" if in_book() else STYLE
    return f'{style}<section class="rz-card{classes}"{anchor}{attribute}>{head}{body}</section>'


def folded(summary: str, body: str, unfolded: bool = False, name: str = "") -> str:
    """Something that opens on a click, under its summary; ``name`` is its class in the style sheet."""
    return f'<details class="{name}"{" open" if unfolded else ""}><summary>{summary}</summary>{body}</details>'


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose cells are already HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return f'<div class="rz-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
