"""First build of the book against a rebuild after a change to one page: ``python -m benchmarks.rebuild``.

Both run in a copy of the course's settings and pages, with a cache of their own; packages and scripts are shared.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat

from benchmarks._rows import Row, arguments, finish

ROOT = Path(__file__).resolve().parent.parent


def build(source: Path) -> float:
    """Seconds of one build, the start of Python included."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "tools.build_book", "--source", str(source), "--output", str(source / "html")]
    subprocess.run([*command, "--cache", str(source / "cache")], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


def change(page: Path, kind: str) -> None:
    """Change one page: a sentence of its text, or a line of its code."""
    notebook = nbformat.read(page, as_version=4)
    cell = next(cell for cell in reversed(notebook.cells) if cell.cell_type == kind)
    cell.source += "\n\nOne more sentence." if kind == "markdown" else "\n# one more line"
    nbformat.write(notebook, page)


def row(name: str, again: float, first: float) -> Row:
    """A build beside the first one."""
    fair = "The same command and the same cache; packages and scripts are there already."
    return Row(f"build, {name}", again, "s", "the first build", first, fair)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    options = arguments(__doc__).parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "course"
        source.mkdir()
        for name in ("_config.yml", "_toc.yml"):
            shutil.copy(ROOT / name, source / name)
        shutil.copytree(ROOT / "book", source / "book")
        page = sorted((source / "book").glob("*.ipynb"))[0]
        first = build(source)
        found = [Row("first build of the book, every notebook executed", first, "s")]
        print(f"{'first build':<34}{first:7.2f} s")
        for kind, name in (("markdown", "a sentence of one page changed"), ("code", "a line of its code changed")):
            change(page, kind)
            again = build(source)
            print(f"{name:<34}{again:7.2f} s   1/{first / again:.1f} of the first")
            found.append(row(name, again, first))
        nothing = build(source)
        print(f"{'nothing changed':<34}{nothing:7.2f} s   1/{first / nothing:.1f} of the first")
    return finish([*found, row("nothing changed", nothing, first)], options)


if __name__ == "__main__":
    sys.exit(main())
