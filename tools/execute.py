"""Execute notebooks in parallel, and store the results from which the book is built.

A notebook is executed again only if something it depends on has changed: the store has a folder for each page, in which
executed copies are named by the fingerprint of what the page depends on (:mod:`tools.page_inputs`). Every notebook runs
in a kernel of its own, in an empty folder. nbclient runs the cells, and jupyter-cache hands their outputs to Sphinx;
its own executors know a notebook by its cells alone, and would keep what a module printed that has changed since.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools import kernels, page_cells
from tools.common import ROOT
from tools.page_inputs import Course

CELL_TIMEOUT = 120  # seconds
#: Notebooks that run side by side: one more than cores, since worlds and servers spend much of their time waiting.
WORKERS = (cpu_count() or 1) + 1
#: As many notebooks are worth a server of kernels.
MANY = 4
#: Characters of a printed line that a page shows whole.
WIDEST = 88
KEPT = 3  # executed copies of a page, so that going back to an earlier state is cheap
#: A cell that is run last and not kept: it prints the modules that the kernel has loaded, in lines of their own, since
#: putting pieces of output together takes seconds for one long line.
LOADED = 'import sys, builtins; builtins.print(*(name for name in sys.modules if name != "__main__"), sep="\\n")'
_FOLDERS = re.compile(rf"{re.escape(str(ROOT))}/(?=\w)|[~/][\w./~-]*/lib/(?=python3)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Run:
    """One executed notebook: its path, seconds taken, and the sentence and traceback of a failure (or None)."""

    path: Path
    seconds: float
    failure: str | None
    notebook: nbformat.NotebookNode


def label(path: Path) -> str:
    """A page's name in the store: its file's, preceded by its folder's unless that is one of the book's."""
    return path.stem if path.parent.name in ("book", "deeper") else f"{path.parent.name}-{path.stem}"


def places(paths: Iterable[Path], store: Path) -> dict[Path, Path]:
    """The path of each notebook's executed copy for the current state of the course; it may not exist yet."""
    course = Course.read()
    return {path: store / label(path) / f"{course.fingerprint(path)}.ipynb" for path in paths}


def explain(path: Path, notebook: nbformat.NotebookNode, error: Exception) -> str:
    """What went wrong, with the name of the cell and its own traceback; a cell that hangs has none."""
    for cell in notebook.cells if not isinstance(error, CellTimeoutError) else ():
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ()):
                trace = _COLOURS.sub("", "\n".join(output.traceback))
                return f"{path.name}, cell {cell.get('id')!r}: {output.ename}: {output.evalue}\n{trace}"
    return f"{path.name}: {type(error).__name__}: {_COLOURS.sub('', str(error))}"


def _unseen(path: Path, fingerprint: str, modules: Iterable[str]) -> str | None:
    """Why a run must not be kept: its fingerprint would not identify its state. None if it may be kept."""
    course = Course.read()
    if lost := course.overlooked(path, modules):
        return f"{path.name} loads {', '.join(lost)}, which its code does not name: name the chapter there"
    if course.fingerprint(path) != fingerprint:
        return f"the course changed while {path.name} ran: build again"
    return None


def too_wide(path: Path, notebook: nbformat.NotebookNode) -> str | None:
    """Which printed line is wider than a page; None if all fit. A measured line may be wider on a slow machine, and
    of a program that is printed the page shows a listing."""
    for cell in notebook.cells:
        if {"nbval-ignore-output", "source"} & set(cell.metadata.get("tags", ())):
            continue
        printed = "".join(output.text for output in cell.get("outputs", ()) if output.get("name") == "stdout")
        if wide := [line for line in printed.splitlines() if len(line) > WIDEST]:
            place = f"{path.name}, cell {cell.get('id')!r}"
            return f"{place}: {len(wide[0])} characters of at most {WIDEST} in a line: {wide[0]}"
    return None


def execute(path: Path, fingerprint: str, timeout: float = CELL_TIMEOUT, server: Path | None = None) -> Run:
    """Run one notebook from top to bottom in an empty folder; its ``fingerprint`` must not change meanwhile.

    ``server`` forks its kernel (:mod:`tools.kernels`); without one it is started anew.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(LOADED))
    began = time.monotonic()
    forked: dict[str, Any] = {"kernel_manager_class": kernels.manager(server)} if server else {}
    with tempfile.TemporaryDirectory() as empty:
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            resources={"metadata": {"path": empty}},
            extra_arguments=["--log-level=ERROR"],
            coalesce_streams=True,  # what is printed arrives in pieces, which may end in the middle of a line
            record_timing=False,
            shutdown_kernel="immediate",  # to take all of torch apart takes a kernel seconds
            **forked,
        )
        try:
            client.execute()
            modules = "".join(output.get("text", "") for output in notebook.cells[-1].outputs).split()
            failure = _unseen(path, fingerprint, modules)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failure = explain(path, notebook, error)
    notebook.cells.pop()
    return Run(path, time.monotonic() - began, failure or too_wide(path, notebook), notebook)


def _side_by_side(wanted: Mapping[Path, str]) -> Iterator[Run]:
    """Execute :data:`WORKERS` at a time; yields runs as they finish."""
    if not wanted:
        return
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(kernels.server()) if len(wanted) >= MANY and hasattr(os, "fork") else None
        pool = stack.enter_context(ProcessPoolExecutor(min(len(wanted), WORKERS), mp_context=get_context("spawn")))
        for future in as_completed([pool.submit(execute, *one, CELL_TIMEOUT, server) for one in wanted.items()]):
            yield future.result()


def keep(notebook: nbformat.NotebookNode, place: Path) -> None:
    """Write an executed copy atomically, and remove all but the page's latest few."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".part")
    nbformat.write(notebook, draft)
    draft.replace(place)
    by_age = sorted(place.parent.glob("*.ipynb"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in by_age[KEPT:]:
        old.unlink()


def fill(stored: Mapping[Path, Path]) -> Iterator[Run]:
    """Execute the notebooks that have no stored copy yet, and store those that succeed."""
    for run in _side_by_side({path: place.stem for path, place in stored.items() if not place.exists()}):
        if run.failure is None:
            keep(run.notebook, stored[run.path])
        yield run


def copy(path: Path, target: Path) -> Path:
    """Where :func:`copies` writes a page with the outputs of the store."""
    return target / "notebooks" / f"{label(path)}.ipynb"


def copies(stored: Mapping[Path, Path], target: Path) -> None:
    """Write what a build reads: a cache for Sphinx in ``target/cache``, of the cells as a page shows them, and in
    ``target/notebooks`` the pages as they are now with the outputs of the store, for the second run that compares."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "notebooks").mkdir(parents=True)
    cache = get_cache(str(target / "cache"))
    for path, place in stored.items():
        place.touch()
        notebook = with_outputs(nbformat.read(path, as_version=4), nbformat.read(place, as_version=4))
        nbformat.write(notebook, copy(path, target))
        without_folders(notebook)
        bundle = CacheBundleIn(page_cells.shown(notebook), str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def without_folders(notebook: nbformat.NotebookNode) -> None:
    """Shorten the paths in tracebacks, which name the folders of the machine that built the book."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if output.output_type == "error":
            output.traceback = [_FOLDERS.sub("", line) for line in output.traceback]


def with_outputs(page: nbformat.NotebookNode, executed: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The page as it is now with what its code cells printed; text may have changed since."""
    cells = ([cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (page, executed))
    for cell, ran in zip(*cells, strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    return page
