"""The icons of the theme, drawn in the page: neither icon fonts nor the script that would replace them is served."""

from __future__ import annotations

import functools
import json
import re
from html import escape

from tools.common import ROOT

_ICON = re.compile(
    r'<(?P<tag>i|span) class="(?P<classes>[^"]*\bfa[brs]?\b[^"]*|[^"]*\bfa-[^"]*)"(?P<rest>[^>]*)></(?P=tag)>'
)
_NAME = re.compile(r"\bfa-([a-z-]+)")
#: Classes that say how an icon is drawn, not which one it is.
STYLES = frozenset({"solid", "regular", "brands", "lg", "sm", "fw"})


@functools.cache
def paths() -> dict[str, tuple[int, int, str]]:
    """Name -> width, height and path, of each icon that pages use."""
    return json.loads((ROOT / "tools" / "icons.json").read_text(encoding="utf-8"))["icons"]


def _svg(match: re.Match[str]) -> str:
    names = [name for name in _NAME.findall(match["classes"]) if name not in STYLES]
    if len(names) != 1 or names[0] not in paths():
        raise ValueError(f"an icon must be one of tools/icons.json ({', '.join(paths())}), got {match['classes']!r}")
    width, height, path = paths()[names[0]]
    classes = escape(" ".join(["rz-icon", *match["classes"].split()]))
    rest = re.sub(r'\s*aria-hidden="[^"]*"', "", match["rest"])
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="{classes}"{rest} aria-hidden="true" {box}><path fill="currentColor" d="{path}"/></svg>'


def draw(html: str) -> str:
    """``html`` with a drawing in the place of each empty ``<i class="fa-…">`` or ``<span class="fa-…">``.

    Raises:
        ValueError: an icon is not among those that are kept; the message names it.
    """
    return _ICON.sub(_svg, html)


def trim(css: str) -> str:
    """The theme's style sheet without the rules for the names of the icon fonts."""
    return re.sub(r"(?<=\})(?=\.fa(?:[brs]?[,.:{]|-))[^{}]*\{[^{}]*\}", "", css)
