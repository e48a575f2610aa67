"""Write the built book as a folder that any static host serves, under any path: ``python -m tools.site``.

All links are relative. The folder is the built book without what no page uses, and with a service worker, so that pages
that were visited open without a network.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from pathlib import Path

from tools.common import BOOK, HTML, ROOT, fail, say
from tools.finish import SCRIPT, with_head

SITE = ROOT / "_build" / "site"
#: Files that no page requests.
UNUSED = ("*.map", "locales", ".buildinfo")
#: Files that only a page which was not finished (``tools/finish.py``) requests: pattern -> how their address ends.
UNFINISHED = {
    "fontawesome.js*": "scripts/fontawesome.js",
    "mathjax": "vendor/mathjax/tex-svg.js",
    "searchtools.js": "searchtools.js",
    "searchindex.js": "searchindex.js",
    "language_data.js": "language_data.js",
}
STAMP = "STAMP"
#: Every site has it, and no built book: it lies beside the opening page.
WORKER = "offline-worker.js"


def stamp(folder: Path) -> str:
    """Twelve hexadecimal digits that change with any file of a folder."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return total.hexdigest()[:12]


def unused(texts: list[str]) -> tuple[str, ...]:
    """The files, as patterns of their names, that pages with these texts do without."""
    asked = {pattern for pattern, address in UNFINISHED.items() if any(address in text for text in texts)}
    return (*UNUSED, *(pattern for pattern in UNFINISHED if pattern not in asked))


def replaceable(folder: Path) -> bool:
    """Whether nothing is lost with a folder: it is empty or a site."""
    return (folder / WORKER).is_file() or (folder.is_dir() and not any(folder.iterdir()))


def make(html: Path = HTML, target: Path = SITE) -> Path:
    """Write the site of the book built in ``html``; the site that was in ``target`` before is removed.

    Raises:
        ValueError: ``target`` holds something else than a site.
    """
    if target.exists() and not replaceable(target):
        raise ValueError(f"output must be a new or empty folder, or one with an earlier site, got {target}")
    texts = [path.read_text(encoding="utf-8") for path in html.rglob("*.html") if "_static" not in path.parts]
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(html, fresh, ignore=shutil.ignore_patterns(*unused(texts)))
    for path in fresh.rglob("*.html"):
        if "_static" not in path.parts:
            text = path.read_text(encoding="utf-8")
            path.write_text(with_head(text, SCRIPT, "offline.js"), encoding="utf-8")
    worker = (BOOK / "_static" / WORKER).read_text(encoding="utf-8")
    (fresh / "_static" / WORKER).unlink(missing_ok=True)
    (fresh / WORKER).write_text(worker.replace(STAMP, stamp(fresh)), encoding="utf-8")
    (fresh / ".nojekyll").touch()  # GitHub Pages leaves out folders whose names begin with an underscore
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return target


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__.split(":", 1)[0])
    parser.add_argument("--html", type=Path, default=HTML, help="the built book")
    parser.add_argument("--output", type=Path, default=SITE, help="folder to write: a site that is there is replaced")
    chosen = parser.parse_args(argv)
    if not (chosen.html / "index.html").is_file():
        return fail(f"there is no built book in {chosen.html}: run make book")
    try:
        target = make(chosen.html.resolve(), chosen.output.resolve())
    except ValueError as error:
        return fail(str(error))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    say(f"wrote {target} ({size / 1e6:.0f} MB): put it on any static host, under any path")
    return 0


if __name__ == "__main__":
    sys.exit(main())
