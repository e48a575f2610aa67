"""The frame of a report as one HTML file: style, tables, lists. No script, and nothing is asked of another host.

Functions whose text arguments are ready HTML say so; all others escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from autograder.markup import inline

#: Colours by name, in light and in dark.
COLOURS = {
    "text": ("#1b2026", "#e7eaee"),
    "quiet": ("#56606d", "#a6b0bc"),
    "page": ("#ffffff", "#14181d"),
    "panel": ("#f3f5f7", "#1e242b"),
    "line": ("#cdd3da", "#39424d"),
    "accent": ("#15656f", "#70c9d4"),
    "right": ("#18703f", "#6fcf97"),
    "wrong": ("#a8251d", "#ff9f95"),
    "bar": ("#8fb9c4", "#3f7480"),
}

_STYLE = """\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:62rem;padding:1.5rem 1.25rem 4rem;background:var(--page);color:var(--text);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.25;margin:.25rem 0 .5rem}
h2{font-size:1.25rem;margin:2.25rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .25rem}
p,ul,dl{margin:.4rem 0}
p,li,dd{max-width:44rem}
ul{padding-left:1.3rem}
li{margin:.15rem 0}
a{color:var(--accent)}
code{font:.92em/1.4 ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
.lead{font-size:1.15rem}
.quiet{color:var(--quiet)}
.right{color:var(--right)}
.wrong{color:var(--wrong)}
.note{background:var(--panel);border-left:4px solid var(--accent);padding:.6rem 1rem;margin:.8rem 0}
.note.bad{border-color:var(--wrong)}
.state{font-size:.85rem;font-weight:600;margin-left:.5rem;white-space:nowrap}
.scroll{overflow-x:auto;margin:.6rem 0}
.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-size:.93rem}
caption{text-align:left;color:var(--quiet);padding:.2rem 0 .4rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line)}
thead th,thead td{vertical-align:bottom;font-weight:600}
tbody th{font-weight:400}
td code,th code{overflow-wrap:normal}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.wide{min-width:16rem;overflow-wrap:anywhere}
.bar{min-width:6rem;width:20%}
.bar.long{width:65%}
.bar span{display:block;height:.85rem;margin-top:.35rem;background:var(--bar)}
summary{cursor:pointer;margin:.5rem 0}
dt{font-weight:600;margin-top:.4rem}
dd{margin:0;overflow-wrap:anywhere}
@media print{body{max-width:none}.scroll{overflow:visible}}
"""


def _variables(which: int) -> str:
    return ":root{" + "".join(f"--{name}:{pair[which]};" for name, pair in COLOURS.items()) + "}"


def document(title: str, body: str) -> str:
    """A whole page; ``body`` is ready HTML. Its policy lets no script run and nothing be fetched."""
    style = f"{_variables(0)}@media(prefers-color-scheme:dark){{{_variables(1)}}}{_STYLE}"
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n"
        "</html>\n"
    )
    return page.encode("utf-8", "replace").decode()  # a file name may hold what is not UTF-8


def said(sentence: str) -> str:
    """A sentence of the bank, which may hold a little Markdown, as HTML."""
    return inline(sentence, book=False)


def code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def link(address: str, text: str) -> str:
    """``text`` as a link, or alone where there is no address."""
    return f'<a href="{escape(address)}">{escape(text)}</a>' if address else escape(text)


def paragraph(html: str, kind: str = "") -> str:
    """A paragraph of ready HTML."""
    return f'<p class="{kind}">{html}</p>' if kind else f"<p>{html}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of ready HTML, or nothing."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def folded(summary: str, html: str) -> str:
    """Ready HTML behind a summary."""
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def bar(share: float) -> str:
    """A bar of a table, for the eye alone: the number stands beside it."""
    return f'<span aria-hidden="true" style="width:{100 * min(1.0, max(0.0, share)):.1f}%"></span>'


def table(caption: str, columns: Sequence[tuple[str, str]], lines: Sequence[Sequence[str]]) -> str:
    """A table of ready HTML cells; ``columns`` are names with classes (``number``, ``wide``, ``bar``); both may be "".

    The first cell of a line is its heading. It scrolls by itself where the page is narrow.
    """
    kinds = [f' class="{kind}"' if kind else "" for _, kind in columns]
    names = [escape(name) for name, _ in columns]
    head = "".join(
        f'<th scope="col"{kind}>{name}</th>' if name else "<td></td>" for name, kind in zip(names, kinds, strict=True)
    )
    rows = []
    for first, *rest in lines:
        cells = "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))
        rows.append(f'<tr><th scope="row"{kinds[0]}>{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>"
        + "\n".join(rows)
        + "</tbody></table></div>"
    )


def pairs(entries: Iterable[tuple[str, str]]) -> str:
    """Names with their values, as a list of terms; entries without a value are left out."""
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in entries if value)
    return f"<dl>{terms}</dl>" if terms else ""
