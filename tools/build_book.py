"""Build the book: ``python -m tools.build_book``.

First the notebooks run, side by side, into a cache; then Jupyter Book turns the pages and the cached outputs into HTML.
A failing cell ends the build with its own error; a warning of Sphinx is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import yaml

from tools import bundle, execute
from tools.common import BOOK, CACHE, HTML, ROOT, VENDOR, fail, kernel_environment, say


def pages(source: Path = ROOT) -> list[Path]:
    """The files of the table of contents, in its order."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc.get("parts", ()) for chapter in part["chapters"]]
    names = [toc["root"], *(chapter["file"] for chapter in chapters)]
    found = [source / f"{name}{suffix}" for name in names for suffix in (".ipynb", ".md")]
    return [path for path in found if path.exists()]


def notebooks(source: Path = ROOT) -> list[Path]:
    """The notebooks among the pages."""
    return [path for path in pages(source) if path.suffix == ".ipynb"]


def run_notebooks(paths: list[Path], cache: Path) -> list[str]:
    """Execute what is new; one line for each. Returns the failures."""
    failures = []
    for run in execute.fill(paths, cache):
        say(f"{'failed' if run.failure else 'executed'} {run.path.name} in {run.seconds:.1f} s")
        failures += [run.failure] if run.failure else []
    return failures


def render(source: Path, output: Path, cache: Path) -> bool:
    """Turn the pages into HTML with Jupyter Book; False when it warned."""
    from jupyter_book.sphinx import build_sphinx

    overrides = {
        "external_toc_path": str(source / "_toc.yml"),
        "nb_execution_cache_path": str(cache / "cache"),
        "html_static_path": [str(BOOK / "_static"), str(VENDOR.parent)],
        "html_favicon": str(BOOK / "_static" / "favicon.svg"),
        "latex_individualpages": False,
    }
    return not build_sphinx(
        source,
        output,
        path_config=source / "_config.yml",
        confoverrides=overrides,
        noconfig=True,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )


def build(source: Path = ROOT, output: Path = HTML, caches: Path = CACHE / "notebooks") -> int:
    """The whole chain; returns the exit status."""
    began = time.monotonic()
    os.environ.update(kernel_environment())
    paths = notebooks(source)
    cache = execute.folder(caches)
    if failures := run_notebooks(paths, cache):
        return fail("\n\n".join(failures) + "\n\nthe book was not built: the cells above failed")
    executed = time.monotonic() - began
    execute.copies(paths, cache)
    bundle.write(VENDOR / "python.json")
    if not render(source, output, cache):
        return fail("the book was not built: the lines above are warnings, and a warning is an error")
    say(f"built {len(pages(source))} pages in {time.monotonic() - began:.1f} s ({executed:.1f} s in the notebooks)")
    say(f"open {(output / 'index.html').relative_to(ROOT) if output.is_relative_to(ROOT) else output / 'index.html'}")
    if not (VENDOR / "pyodide").is_dir():
        say(f"explorers stay still: {VENDOR.relative_to(CACHE.parent)} has no Pyodide (make vendor)")
    return 0


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.build_book", description="Build the book.")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder with _config.yml and _toc.yml")
    parser.add_argument("--output", type=Path, default=HTML, help="folder for the HTML")
    parser.add_argument("--cache", type=Path, default=CACHE / "notebooks", help="folder for executed notebooks")
    arguments = parser.parse_args(argv)
    return build(arguments.source.resolve(), arguments.output.resolve(), arguments.cache.resolve())


if __name__ == "__main__":
    sys.exit(main())
