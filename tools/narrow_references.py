"""References within the columns of a page: :func:`narrowed` lays out anew what a card folds and is wider than its box.

The reference on a card is as it stands in ``solutions``, where lines may have 120 characters (:mod:`tools.columns`).
"""

from __future__ import annotations

import re
from html import unescape

from tools import columns

_FOLD = re.compile(r'(<details class="rz-reference">.*?<div class="highlight"><pre>)(.*?)(</pre></div>)', re.S)


def text_of(html: str) -> str:
    """The characters of highlighted code."""
    return unescape(re.sub(r"<[^>]+>", "", html)).strip("\n")


def _wide(code: str) -> bool:
    return any(len(line) > columns.WIDTH for line in code.split("\n"))


def _coloured(code: str) -> str:
    """The code with the classes of Pygments."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return f"<span></span>{highlight(code, PythonLexer(), HtmlFormatter(nowrap=True))}"


def narrowed(html: str) -> str:
    """A page whose folded references are within its columns."""
    wide = list(filter(_wide, (text_of(fold[2]) for fold in _FOLD.finditer(html))))
    fitted = dict(zip(wide, columns.fitted(wide), strict=True))

    def laid_out(fold: re.Match[str]) -> str:
        code = fitted.get(text_of(fold[2]))
        return fold[0] if code is None else fold[1] + _coloured(code) + fold[3]

    return _FOLD.sub(laid_out, html)
