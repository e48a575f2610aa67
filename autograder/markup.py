"""The subset of Markdown that cards use, as HTML: paragraphs, ``- `` lists, `code`, *emphasis*, **strong**, $math$.

Everything else, HTML included, is escaped and shown as text. In the built book mathematics is wrapped as Sphinx wraps
it; in a notebook the dollar signs stay, and the notebook's own MathJax renders them.
"""

from __future__ import annotations

import re
from html import escape

_INLINE = re.compile(
    r"\\(?P<literal>[$*`\\])"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<math>[^$\s](?:[^$]*[^$\s])?)\$"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*"
    r"|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*",
    re.DOTALL,
)


def _math(source: str, display: bool, book: bool) -> str:
    if not book:
        dollars = "$$" if display else "$"
        return f"{dollars}{escape(source)}{dollars}"
    opening, closing = (r"\[", r"\]") if display else (r"\(", r"\)")
    return f'<span class="math notranslate nohighlight">{opening}{escape(source)}{closing}</span>'


def _token(match: re.Match[str], book: bool) -> str:
    kind, text = match.lastgroup, match[match.lastgroup or 0]
    if kind in ("math", "display"):
        return _math(text, kind == "display", book)
    if kind == "literal":
        return escape(text)
    inner = escape(text) if kind == "code" else inline(text, book)
    return f"<{kind}>{inner}</{kind}>"


def inline(text: str, book: bool) -> str:
    """One line of text as HTML."""
    parts, end = [], 0
    for match in _INLINE.finditer(text):
        parts += [escape(text[end : match.start()]), _token(match, book)]
        end = match.end()
    return "".join(parts) + escape(text[end:])


def _block(lines: list[str], book: bool) -> str:
    if not lines[0].startswith(("- ", "* ")):
        return f"<p>{inline(' '.join(lines), book)}</p>"
    items: list[str] = []
    for line in lines:
        if line.startswith(("- ", "* ")):
            items.append(line[2:])
        else:
            items[-1] += " " + line
    return "<ul>" + "".join(f"<li>{inline(item, book)}</li>" for item in items) + "</ul>"


def blocks(text: str, book: bool) -> str:
    """Paragraphs and lists, separated by blank lines, as HTML."""
    groups = [[line.strip() for line in part.splitlines()] for part in re.split(r"\n\s*\n", text.strip())]
    return "".join(_block(lines, book) for lines in groups if lines)
