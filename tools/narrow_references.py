"""References within the columns of a page: :func:`narrowed` lays out anew what a card folds and is wider than its box.

The reference on a card is as it stands in ``solutions``, where lines may have 120 characters (:mod:`tools.code_width`).
Strings and comments, which no formatter breaks, are broken here.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from html import unescape
from pathlib import Path

from tools import code_width

#: The box on a card is a little narrower than the page's column.
WIDTH = code_width.WIDTH - 2
_FOLD = re.compile(r'(<details class="rz-reference">.*?<div class="highlight"><pre>)(.*?)(</pre></div>)', re.S)
#: A line with one string and nothing else, between brackets: indentation, kind, quote, text, what follows.
_STRING = re.compile(r"""( *)([fr]*)(["'])(.*)\3(,?)""")
#: A line with a comment behind code, or with a comment alone.
_COMMENT = re.compile(r"( *)(\S.*?)?(?(2)  )# (.*)")


def text_of(html: str) -> str:
    """The characters of highlighted code."""
    return unescape(re.sub(r"<[^>]+>", "", html)).strip("\n")


def _wide(code: str) -> bool:
    return any(len(line) > WIDTH for line in code.split("\n"))


def _string(match: re.Match[str]) -> list[str]:
    """A string in pieces, each of which ends at a space that stands in no braces."""
    indent, kind, quote, text, end = match.groups()
    room = WIDTH - len(f"{indent}{kind}{quote}{quote}{end}")
    pieces = []
    while len(text) > room:
        ends = [index for index in range(1, room + 1) if text[index - 1] == " " and _closed(text[:index])]
        if not ends:
            break
        pieces.append(text[: ends[-1]])
        text = text[ends[-1] :]
    pieces.append(text)
    lines = [f"{indent}{kind if '{' in piece else kind.replace('f', '')}{quote}{piece}{quote}" for piece in pieces]
    return [*lines[:-1], lines[-1] + end]


def _closed(text: str) -> bool:
    return text.count("{") == text.count("}")


def _comment(match: re.Match[str]) -> list[str]:
    """A comment on lines of its own above its code, or below where the code closes a bracket and opens a block."""
    indent, code, text = match.groups()
    below = (code or "").startswith(")")
    margin = indent + "    " * below + "# "
    lines = textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin)
    kept = [indent + code] if code else []
    return kept + lines if below else lines + kept


def broken(code: str) -> str:
    """``code`` with its long strings and comments broken; it stays the same program."""
    lines = []
    for line in code.split("\n"):
        if len(line) <= WIDTH:
            lines.append(line)
        elif match := _STRING.fullmatch(line):
            lines += _string(match)
        else:
            lines += _comment(match) if (match := _COMMENT.fullmatch(line)) else [line]
    made = "\n".join(lines)
    try:
        same = ast.dump(ast.parse(made)) == ast.dump(ast.parse(code))
    except SyntaxError:
        same = False
    return made if same else code


def _coloured(code: str) -> str:
    """The code with the classes of Pygments."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return f"<span></span>{highlight(code, PythonLexer(), HtmlFormatter(nowrap=True))}"


def narrowed(pages: Mapping[Path, str]) -> dict[Path, str]:
    """The HTML of pages, with folded references within the columns of a page."""
    folds = [fold for html in pages.values() if "rz-reference" in html for fold in _FOLD.finditer(html)]
    wide = list(dict.fromkeys(filter(_wide, (text_of(fold[2]) for fold in folds))))
    fitted = dict(zip(wide, map(broken, code_width.fitted(wide, WIDTH)), strict=True))

    def laid_out(fold: re.Match[str]) -> str:
        code = fitted.get(text_of(fold[2]))
        return fold[0] if code is None else fold[1] + _coloured(code) + fold[3]

    return {path: _FOLD.sub(laid_out, html) if "rz-reference" in html else html for path, html in pages.items()}
