"""Slides of the chapters: ``python -m tools.handouts.slides [NN ...] [--html FOLDER] [--out FOLDER]``.

A section becomes up to four slides: the question with which it opens, its first picture (of a stepper each step), its
first question with the options, and what to remember. A chapter is one file, ``_build/slides/03-collectives.html``,
that any browser shows without a network: reveal.js moves the slides, and Space is the next one.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag

from autograder.sections import BOOK
from rankzero.facts.chapters import CHAPTERS, Chapter
from tools.common import CACHE, HTML, ROOT, fail, say

REVEAL = CACHE / "reveal.js"
SLIDES = ROOT / "_build" / "slides"
#: Letters of a question above which it is set smaller.
LONG = 700
STYLE = """
:root { --pst-color-background: #fff; --pst-color-border: #c9cfd6; --pst-color-danger: #b02a2a;
  --pst-color-primary: #1a6be6; --pst-color-success: #0b7d3e; --pst-color-surface: #f3f4f5;
  --pst-color-text-base: #212832; --pst-color-text-muted: #48566b; --rz-accent: #1a6be6; --rz-line: #c9cfd6;
  --rz-quiet: #48566b; --rz-right: #0b7d3e; --rz-wrong: #b02a2a; color-scheme: light; }
body { background: #fff; color: var(--pst-color-text-base); font-family: system-ui, sans-serif; margin: 0; }
.reveal .slides { text-align: left; }
.reveal .slides section { font-size: 30px; line-height: 1.4; }
.reveal h1 { font-size: 1.9em; line-height: 1.15; } .reveal h2 { font-size: 1.35em; margin: 0 0 0.6em; }
.reveal small { color: var(--pst-color-text-muted); font-size: 0.7em; }
.reveal a { color: var(--pst-color-primary); }
.reveal code, .reveal pre { font-size: 0.85em; }
.reveal svg { display: block; height: auto !important; margin: 0 auto; max-height: 470px; width: 100% !important; }
.reveal figcaption, .reveal .told { font-size: 0.72em; margin-top: 0.5em; }
.reveal .remember { border-left: 6px solid var(--pst-color-primary); font-size: 1.15em; padding-left: 1em; }
.reveal .slide-number { left: 8px; right: auto; }
.reveal .long { font-size: 0.7em; }
.reveal ol.options { list-style: none; margin: 0.6em 0 0; padding: 0; } .reveal ol.options li { margin: 0.25em 0; }
.reveal table { border-collapse: collapse; font-size: 0.8em; }
.reveal :is(th, td) { border-bottom: 1px solid var(--pst-color-border); padding: 0.2em 0.6em; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script>{script}</script>
<script>Reveal.initialize({{ center: false, controls: true, hash: true, height: 720, margin: 0.06, slideNumber: "c/t",
  transition: "none", width: 1180 }});</script>
</body>
</html>
"""


def portable(node: Tag, page: str) -> str:
    """A part of a page as it can stand in another file: formulas as MathML, links into the hosted book, no scripts."""
    node = copy.copy(node)
    for formula in node.select(".katex"):
        if math := formula.find("math"):
            formula.replace_with(math)
    for gone in node.select("script, button, noscript, .headerlink, .rz-phone, .rz-heard, input"):
        gone.decompose()
    for link in node.select("a[href]"):
        link["href"] = urljoin(f"{BOOK}/{page}.html", str(link["href"]))
    return str(node)


def _slide(*parts: str) -> str:
    return f"<section>{''.join(parts)}</section>"


def _pictures(section: Tag, page: str) -> Iterator[str]:
    """The first picture of a section; of a stepper, each step with its sentence."""
    found = section.select_one("figure.rz-stepper, .cell_output svg, .cell_output img")
    if found is None:
        return
    if found.name != "figure":
        figure = found.find_parent("figure")
        yield portable(figure if isinstance(figure, Tag) and not figure.select(".rz-controls") else found, page)
        return
    for frame in found.select(".rz-frames > li"):
        drawn, told = frame.find("svg"), frame.find("p")
        if isinstance(drawn, Tag):
            yield portable(drawn, page) + (f'<div class="told">{portable(told, page)}</div>' if told else "")


def _asked(section: Tag, page: str) -> str:
    """The first question of a section, with its options and without its answer; empty if it has none."""
    card = section.select_one("section.rz-card[data-card]")
    cell = card and card.find_parent("div", class_="cell")
    if not isinstance(card, Tag) or not isinstance(cell, Tag):
        return ""
    before = []
    for one in cell.find_previous_siblings():
        if one.name not in ("p", "ul", "ol") or len(before) == 3:
            break
        before.insert(0, one)
        if one.find("strong"):
            break
    options = "".join(f"<li>{portable(span, page)}</li>" for span in card.select(".rz-option label > span"))
    long = sum(len(one.get_text()) for one in before) > LONG
    text = f"<div{' class=long' if long else ''}>{''.join(portable(one, page) for one in before)}</div>"
    return text + (f'<ol class="options">{options}</ol>' if options else "")


def slides_of(section: Tag, page: str) -> list[str]:
    """The slides of one section."""
    title = section.find("h2")
    heading = f"<h2>{re.sub('#$', '', title.get_text())}</h2>" if isinstance(title, Tag) else ""
    opening = section.find("p", recursive=False)
    result = [_slide(heading, portable(opening, page))] if isinstance(opening, Tag) else []
    result += [_slide(heading, picture) for picture in _pictures(section, page)]
    if asked := _asked(section, page):
        result.append(_slide(heading, asked))
    for kept in section.select(".rz-takeaway p"):
        result.append(_slide(heading, f'<div class="remember">{portable(kept, page)}</div>'))
    return result


def chapter_slides(chapter: Chapter, html: str) -> str:
    """The slides of a chapter from its built page, as one complete HTML file.

    Raises:
        FileNotFoundError: reveal.js is not here.
    """
    article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    stacks = [_slide(f"<h1>{chapter.number}. {chapter.title}</h1><p><small>Rank Zero, {chapter.part}</small></p>")]
    for heading in article.select("section > h2") if article else ():
        if isinstance(heading.parent, Tag) and re.match(r"\d+\.\d+ ", heading.get_text()):
            stacks.append(f"<section>{''.join(slides_of(heading.parent, chapter.page))}</section>")
    return PAGE.format(
        title=f"{chapter.number}. {chapter.title}",
        style=f"{(REVEAL / 'reveal.css').read_text(encoding='utf-8')}\n{STYLE}",
        slides="\n".join(stacks),
        script=(REVEAL / "reveal.js").read_text(encoding="utf-8").replace("</script", "<\\/script"),
    )


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.handouts.slides", description="Slides of the chapters.")
    parser.add_argument("chapters", nargs="*", type=int, metavar="NN", help="numbers of chapters; default: all")
    parser.add_argument("--html", type=Path, default=HTML, help="the built book")
    parser.add_argument("--out", type=Path, default=SLIDES, help="folder to write")
    chosen = parser.parse_args(argv)
    if unknown := {*chosen.chapters} - {chapter.number for chapter in CHAPTERS}:
        missing = " or ".join(map(str, sorted(unknown)))
        return fail(f"there is no chapter {missing}; there are {CHAPTERS[0].number} to {CHAPTERS[-1].number}")
    if not (chosen.html / "index.html").is_file():
        return fail(f"there is no built book in {chosen.html}: run make book")
    if not (REVEAL / "reveal.js").is_file():
        return fail("reveal.js is not here: run make vendor")
    chosen.out.mkdir(parents=True, exist_ok=True)
    for chapter in CHAPTERS:
        if not chosen.chapters or chapter.number in chosen.chapters:
            built = chosen.html / "book" / f"{chapter.page}.html"
            text = chapter_slides(chapter, built.read_text(encoding="utf-8"))
            (chosen.out / f"{chapter.page}.html").write_text(text, encoding="utf-8")
            say(f"wrote {chosen.out / f'{chapter.page}.html'} ({text.count('<section><h2>')} slides)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
