"""Build the book: ``python -m tools.build_book``.

The notebooks are executed first, in parallel; then Sphinx and myst-nb turn the pages and the outputs into HTML, with
the settings and the contents of a Jupyter Book. A failing cell stops the build with its own error, and a warning of
Sphinx counts as an error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import yaml

from tools import bundle, execute, finish, own_runs, sphinx_settings, world_runs
from tools.common import CACHE, HTML, ROOT, VENDOR, fail, kernel_environment, say
from tools.course import data as course_data
from tools.course import questions


def pages(source: Path = ROOT) -> list[Path]:
    """The files of the table of contents, in its order."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc.get("parts", ()) for chapter in part["chapters"]]
    files = [one["file"] for chapter in chapters for one in (chapter, *chapter.get("sections", ()))]
    names = [toc["root"], *files]
    found = [source / f"{name}{suffix}" for name in names for suffix in (".ipynb", ".md")]
    return [path for path in found if path.exists()]


def notebooks(source: Path = ROOT) -> list[Path]:
    """The notebooks among the pages."""
    return [path for path in pages(source) if path.suffix == ".ipynb"]


def run_notebooks(stored: Mapping[Path, Path]) -> list[str]:
    """Execute the notebooks that are not stored yet, printing a line for each; returns the failures."""
    failures = []
    for run in execute.fill(stored):
        say(f"{'failed' if run.failure else 'executed'} {run.path.name} in {run.seconds:.1f} s")
        failures += [run.failure] if run.failure else []
    return failures


def contents(source: Path, page: Path | None, target: Path) -> Path:
    """The table of contents of a build: the book's, or one with only its opening page and ``page``."""
    if page is None:
        return source / "_toc.yml"
    root = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))["root"]
    name = page.relative_to(source).with_suffix("").as_posix()
    toc = target / "_toc.yml"
    toc.write_text(yaml.safe_dump({"format": "jb-book", "root": root, "chapters": [{"file": name}]}), encoding="utf-8")
    return toc


def settings(source: Path, cache: Path, page: Path | None = None) -> dict[str, Any]:
    """What Sphinx is told: what ``_config.yml`` says, and what is this build's own. Scripts and styles are those of the
    course, whatever book is built."""
    told = sphinx_settings.read(source / "_config.yml")
    told["html_static_path"] = [str(ROOT / folder) for folder in told["html_static_path"]]
    told |= {name: str(ROOT / told[name]) for name in ("html_favicon", "html_logo")}
    told["external_toc_path"] = str(contents(source, page, cache))
    told["nb_execution_cache_path"] = str(cache / "cache")
    if page is not None:  # its links to the other pages lead nowhere
        told["suppress_warnings"] = [*told["suppress_warnings"], "myst.xref_missing"]
    return told


def render(told: dict[str, Any], source: Path, output: Path) -> bool:
    """Turn the pages into HTML with Sphinx; returns False if there were warnings."""
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                *(source, None, output, output.with_name(".doctrees"), "html", told),
                status=None,
                warning=sys.stderr,
                warningiserror=True,
                keep_going=True,
            )
            app.build()
    except SphinxError as error:
        fail(f"{error.category}: {error}")
        return False
    return app.statuscode == 0


def forget(doctrees: Path, states: Mapping[str, str]) -> Path:
    """Discard Sphinx's parsed copy of each page whose outputs have changed since the last complete build.

    Sphinx itself looks only at the pages' own files. Returns the file in which to record the states once the build has
    succeeded; until then it does not exist.
    """
    record = doctrees / "states.json"
    shown = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    record.unlink(missing_ok=True)
    for name, state in states.items():
        if shown.get(name) != state:
            (doctrees / f"{name}.doctree").unlink(missing_ok=True)
    return record


def write_bundles(source: Path) -> None:
    """Write what Python in the pages starts from. Another book than the course's leaves the course's bundles alone: all
    builds share their folder."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    if source == ROOT:
        cells = [nbformat.read(path, as_version=4).cells for path in notebooks()]
        plain = {module for page in cells for module in own_runs.modules(page)}
        bundle.write(VENDOR, plain, {module for page in cells for module in world_runs.modules(page)})


def executed(chosen: Sequence[Path], output: Path, store: Path) -> Mapping[Path, Path] | None:
    """Execute the notebooks of the chosen pages and copy them next to ``output``. Returns where each is stored, or None
    if a cell failed."""
    os.environ.update(kernel_environment())
    stored = execute.places([path for path in chosen if path.suffix == ".ipynb"], store)
    if failures := run_notebooks(stored):
        fail("\n\n".join(failures) + "\n\nthe book was not built: the cells above failed")
        return None
    execute.copies(stored, output.with_name("executed"))
    return stored


def build(source: Path = ROOT, output: Path = HTML, store: Path = CACHE / "notebooks", page: Path | None = None) -> int:
    """Execute and render the book, or one ``page`` of it; returns the exit status."""
    began = time.monotonic()
    whole = pages(source)
    chosen = whole if page is None else [whole[0], page]
    stored = executed(chosen, output, store)
    if stored is None:
        return 1
    seconds = time.monotonic() - began
    write_bundles(source)
    names = {path.relative_to(source).with_suffix("").as_posix(): path for path in chosen}
    states = {name: stored[path].stem if path in stored else "" for name, path in names.items()}
    record = forget(output.with_name(".doctrees"), states)
    if not render(settings(source, output.with_name("executed"), page), source, output):
        return fail("the book was not built: the lines above are warnings, and a warning is an error")
    finish.write(output / "_static" / "course-data.js", course_data.script(course_data.collect()))
    copies = {path: execute.copy(path, output.with_name("executed")) for path in stored}
    for name, text in questions.scripts(copies).items():
        finish.write(output / "_static" / name, text)
    try:
        finish.finish(output, list(names))
    except ValueError as error:
        return fail(f"the book was not built: {error}")
    record.write_text(json.dumps(states), encoding="utf-8")
    say(f"built {len(chosen)} pages in {time.monotonic() - began:.1f} s ({seconds:.1f} s in the notebooks)")
    opening = output / "index.html"
    opening = opening.relative_to(ROOT) if opening.is_relative_to(ROOT) else opening
    say(f"open {opening}; to run code in its pages, serve it (make serve)")
    if not (VENDOR / "pyodide").is_dir():
        say(f"explorers are static: {VENDOR.relative_to(CACHE.parent)} has no Pyodide (make vendor)")
    return 0


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.build_book", description="Build the book.")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder with _config.yml and _toc.yml")
    parser.add_argument("--output", type=Path, default=HTML, help="folder for the HTML")
    parser.add_argument("--cache", type=Path, default=CACHE / "notebooks", help="folder for executed notebooks")
    parser.add_argument("--page", type=Path, help="a notebook: build only it and the opening page")
    chosen = parser.parse_args(argv)
    source, output, store = chosen.source.resolve(), chosen.output.resolve(), chosen.cache.resolve()
    page = chosen.page and chosen.page.resolve()
    needed = [source / "_config.yml", source / "_toc.yml", *([page] if page else [])]
    if missing := [str(path) for path in needed if not path.is_file()]:
        parser.error(f"there is no file {' or '.join(missing)}")
    if page and not page.is_relative_to(source):
        parser.error(f"page must be in {source}, got {page}")
    return build(source, output, store, page)


if __name__ == "__main__":
    sys.exit(main())
