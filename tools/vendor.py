"""Fetch the scripts that the built book serves itself: ``python -m tools.vendor``.

Charts (Vega), Python in the browser (Pyodide), formulas (KaTeX) and search (MiniSearch) come from npm in the exact
versions of ``package.json``; the editor (CodeMirror) is bundled from npm packages; the script that sets formulas where
KaTeX cannot (MathJax) comes from a Python package. They go into ``.cache/static/vendor``, which the build copies into
``_static``. What no page has goes into ``.cache``: axe, for tests and benchmarks, and reveal.js, for slides.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools import vendor_editor
from tools.common import CACHE, ROOT, VENDOR, say

#: The fonts of KaTeX that its style sheet names.
FACES = (
    *("AMS-Regular", "Caligraphic-Bold", "Caligraphic-Regular", "Fraktur-Bold", "Fraktur-Regular"),
    *(f"Main-{style}" for style in ("Bold", "BoldItalic", "Italic", "Regular")),
    *("Math-BoldItalic", "Math-Italic", "SansSerif-Bold", "SansSerif-Italic", "SansSerif-Regular", "Script-Regular"),
    *(f"Size{size}-Regular" for size in (1, 2, 3, 4)),
    "Typewriter-Regular",
)
#: npm package -> the files of it that the book serves.
FILES = {
    "vega": ("build/vega.min.js",),
    "vega-lite": ("build/vega-lite.min.js",),
    "vega-embed": ("build/vega-embed.min.js",),
    "katex": (
        "dist/katex.min.js",
        "dist/katex.min.css",
        "LICENSE",
        *(f"dist/fonts/KaTeX_{face}.woff2" for face in FACES),
    ),
    "minisearch": ("dist/umd/index.js", "LICENSE.txt"),
    "pyodide": (
        "pyodide.js",
        "pyodide.mjs",
        "pyodide.asm.js",
        "pyodide.asm.wasm",
        "python_stdlib.zip",
        "pyodide-lock.json",
    ),
}
#: npm package -> the files of it that tests, benchmarks and slides use, but no page.
CHECKS = {"axe-core": ("axe.min.js",), "reveal.js": ("dist/reveal.js", "dist/reveal.css", "LICENSE")}
#: The consequence where one of those is missing.
WITHOUT = {"axe-core": "the accessibility of pages is not tested", "reveal.js": "no slides can be made"}


def versions(group: str = "dependencies") -> dict[str, str]:
    """Package -> exact version, from ``package.json``."""
    return json.loads((ROOT / "package.json").read_text())[group]


def mathjax() -> None:
    """Copy the one script that draws mathematics as SVG (no font files), and its small extensions."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package sphinx-mathjax-offline is not installed")
    source, target = Path(spec.origin).parent / "static" / "mathjax", VENDOR / "mathjax"
    shutil.copytree(
        source / "input" / "tex" / "extensions", target / "input" / "tex" / "extensions", dirs_exist_ok=True
    )
    shutil.copy(source / "tex-svg.js", target / "tex-svg.js")


def unpack(archive: Path, names: tuple[str, ...], target: Path) -> None:
    """Take ``names`` out of an npm archive (whose folder is ``package``) into the new folder ``target``. Fonts keep
    their folder, where style sheets look for them."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for name in names:
            member = tar.extractfile(f"package/{name}") if f"package/{name}" in tar.getnames() else None
            if member is None:
                raise FileNotFoundError(f"{archive.name} has no file {name}")
            place = fresh / ("fonts" if "/fonts/" in name else "") / Path(name).name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(member.read())
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def one_format(sheet: Path) -> None:
    """Keep one format of each font in a style sheet: every browser that can run the book reads WOFF2."""
    text = sheet.read_text(encoding="utf-8")
    sheet.write_text(re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", text), encoding="utf-8")


def fetch(package: str, version: str, names: tuple[str, ...], target: Path) -> str | None:
    """Fetch ``names`` of one npm package into the folder ``target``; returns a sentence if that fails."""
    if not shutil.which("npm"):
        return "npm is missing"
    with tempfile.TemporaryDirectory() as folder:
        pack = ["npm", "pack", f"{package}@{version}", "--silent", "--pack-destination", folder]
        done = subprocess.run(pack, cwd=folder, capture_output=True, text=True)
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            return f"npm could not fetch {package} {version}: {(done.stderr or done.stdout).strip()[-300:]}"
        try:
            unpack(archives[0], names, target)
        except FileNotFoundError as error:
            return str(error)
    return None


def main() -> int:
    """Fetch everything, what pages need first; returns 1 if something is missing (the book still builds, and says what
    it does without)."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    mathjax()
    for package, version in versions().items():
        if problem := fetch(package, version, FILES[package], VENDOR / package):
            say(f"{problem}; built pages do without it")
            return 1
    one_format(VENDOR / "katex" / "katex.min.css")
    if problem := vendor_editor.bundle():
        say(f"{problem}; functions are not written in the built pages")
        return 1
    say(f"scripts of the book: {', '.join(f'{name} {version}' for name, version in versions().items())}")
    status = 0
    for package, names in CHECKS.items():
        if problem := fetch(package, versions("devDependencies")[package], names, CACHE / package):
            say(f"{problem}; {WITHOUT[package]}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
