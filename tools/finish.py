"""The last step of a build: pages lose what they do not need and get what was made for them.

Mathematics is set, icons are drawn, results that wait for an answer are marked, references fit their boxes, and the
theme's scripts that would set, draw and search while a page is read are removed. A finished page is left alone, so that
a build which rewrites one page finishes only that page.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools import icons, mathematics, narrow_references, search_index, veil
from tools.common import BOOK, VENDOR, say
from tools.mathematics import Formula

STYLE = '<link rel="stylesheet" type="text/css" href="{root}_static/{name}" />'
SCRIPT = '<script defer="defer" src="{root}_static/{name}"></script>'
#: The name of a toggle in the sidebar.
BELOW = "Page below this chapter"
#: A script that runs before anything is drawn.
FIRST = '<script src="{root}_static/{name}"></script>'


def without_scripts(html: str, *names: str) -> str:
    """``html`` without the elements that load a script whose path ends with one of ``names``."""
    files = "|".join(map(re.escape, names))
    return re.sub(rf'\s*<script\b[^>]*\bsrc="[^"]*(?:{files})(?:\?[^"]*)?"[^>]*></script>', "", html)


def with_head(html: str, line: str, name: str) -> str:
    """``html`` with one more line at the end of its head, which loads ``_static/name``; once."""
    if f"_static/{name}" in html:
        return html
    root = re.search(r'data-content_root="([^"]*)"', html)
    return html.replace("</head>", f"  {line.format(root=root[1] if root else '', name=name)}\n  </head>", 1)


def with_mathematics(html: str, made: Mapping[Formula, str]) -> str:
    """A page whose formulas are set, with the style sheet that they need, and without the script that sets them."""
    html = mathematics.replaced(mathematics.together(html), made.__getitem__)
    html = re.sub(r"\s*<script>window\.MathJax = .*?</script>", "", html)
    html = without_scripts(html, "tex-svg.js")
    return with_head(html, STYLE, "vendor/katex/katex.min.css") if 'class="katex' in html else html


def with_icons(html: str) -> str:
    """A page whose icons are drawn, without the script that would draw them."""
    return with_head(without_scripts(icons.draw(html), "scripts/fontawesome.js"), STYLE, "light.css")


def with_named_charts(html: str) -> str:
    """A page whose charts have one accessible name each, so that a screen reader does not read out every mark."""
    return re.sub(r'(<div class="rz-chart" role="img"[^>]*><svg) (?!aria-hidden)', r'\1 aria-hidden="true" ', html)


def with_named_toggles(html: str) -> str:
    """A page whose sidebar says what the toggle beside a chapter opens: the page that lies deeper."""
    return html.replace(
        '<summary><span class="toctree-toggle"', f'<summary aria-label="{BELOW}"><span class="toctree-toggle"'
    )


def with_veils(html: str) -> str:
    """A page whose results wait for an answer, with what veils them before anything is drawn."""
    html = veil.veiled(html)
    if " data-veil=" not in html:
        return html
    return with_head(with_head(html, STYLE, "veil.css"), FIRST, "veil.js")


def with_one_bar(html: str) -> str:
    """A page whose buttons work: the theme binds the first menu button that it finds, and the first one stood in a bar
    that no page shows. The bar stays, empty: scripts of the theme measure it. Newer themes do the same (up to
    pydata-sphinx-theme 0.24), and sphinx-book-theme 1.4 needs a Sphinx that Jupyter Book 1 excludes."""
    return re.sub(r'(<header id="pst-header"[^>]*>).*?(</header>)', r"\1\2", html, flags=re.DOTALL)


def with_one_title(html: str) -> str:
    """A page whose title is not the book's twice: "Rank Zero", not "Rank Zero — Rank Zero"."""
    return re.sub(r"<title>(.+?) (?:&#8212;|—) \1</title>", r"<title>\1</title>", html)


def with_search(html: str) -> str:
    """A page that loads the search index only when somebody searches."""
    html = without_scripts(html, "searchtools.js", "language_data.js", "searchindex.js", "sphinx_highlight.js")
    return with_head(html, SCRIPT, "search.js")


def write(path: Path, text: str) -> None:
    """Write a file atomically, unless it already holds ``text``."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def copy_static(folders: Iterable[Path], target: Path) -> None:
    """Copy what changed in ``folders`` to ``target``. Sphinx does so only when it writes a page."""
    for folder in folders:
        for path in folder.rglob("*"):
            place = target / path.relative_to(folder)
            if path.is_file() and (not place.exists() or place.stat().st_mtime < path.stat().st_mtime):
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)


def finish(output: Path, pages: list[str]) -> None:
    """Finish the HTML in ``output``; ``pages`` are the names of the book's pages in their order, without suffix.

    Raises:
        ValueError: a formula cannot be set or an icon is not known; the message names it.
    """
    copy_static([BOOK / "_static", VENDOR.parent], output / "_static")
    texts = {path: path.read_text(encoding="utf-8") for path in output.rglob("*.html") if "_static" not in path.parts}
    if reason := mathematics.why_not():
        say(f"mathematics is set by a script when a page is read: {reason}")
    else:
        made = mathematics.typeset(formula for html in texts.values() for formula in mathematics.formulas(html))
        texts = {path: with_mathematics(html, made) for path, html in texts.items()}
    texts = {path: with_one_title(with_one_bar(html)) for path, html in texts.items()}
    texts = {
        path: with_veils(with_head(with_named_toggles(with_named_charts(with_icons(html))), SCRIPT, "formulas.js"))
        for path, html in texts.items()
    }
    texts = narrow_references.narrowed(texts)
    if (VENDOR / "minisearch").is_dir():
        texts = {path: with_search(html) for path, html in texts.items()}
    else:
        say("search finds pages, not sections: MiniSearch is not here (make vendor)")
    for path, html in texts.items():
        write(path, html)
    write(output / "_static" / "search-data.js", search_index.script(search_index.collect(output, pages)))
    sheet = output / "_static" / "styles" / "pydata-sphinx-theme.css"
    write(sheet, icons.trim(sheet.read_text(encoding="utf-8")))
