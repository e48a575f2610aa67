"""Execute notebooks side by side into a cache that Sphinx reads: each one only when its code, or the course, changed.

The cache does not see a change in our own packages, so its folder's name holds a hash of them. Every notebook runs in a
fresh kernel, in an empty folder. The executed copies stand next to the cache, for the second run that compares.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools.common import CACHE, ROOT

CELL_TIMEOUT = 120  # seconds
PACKAGES = ("rankzero", "solutions", "experiments", "autograder")
KEPT = 3  # caches of older states, so that going back is cheap
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Run:
    """One executed notebook: its path, seconds taken, and the sentence and traceback of a failure (or None)."""

    path: Path
    seconds: float
    failure: str | None
    notebook: nbformat.NotebookNode


def fingerprint(root: Path = ROOT, packages: Sequence[str] = PACKAGES) -> str:
    """Twelve hexadecimal digits that change when anything changes that a notebook imports."""
    files = [root / "constraints.txt"]
    for package in packages:
        files += sorted(p for p in (root / package).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def folder(root: Path = CACHE / "notebooks") -> Path:
    """The cache of the present state of the course; older ones but the last few are removed."""
    present = root / fingerprint()
    present.mkdir(parents=True, exist_ok=True)
    present.touch()
    by_age = sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in by_age[KEPT:]:
        shutil.rmtree(old)
    return present


def explain(path: Path, notebook: nbformat.NotebookNode, error: Exception) -> str:
    """What went wrong, with the name of the cell and its own traceback."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ()):
                trace = _COLOURS.sub("", "\n".join(output.traceback))
                return f"{path.name}, cell {cell.get('id')!r}: {output.ename}: {output.evalue}\n{trace}"
    return f"{path.name}: {type(error).__name__}: {_COLOURS.sub('', str(error))}"


def execute(path: Path, timeout: float = CELL_TIMEOUT) -> Run:
    """Run one notebook from top to bottom in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    began, failure = time.monotonic(), None
    with tempfile.TemporaryDirectory() as empty:
        where = {"metadata": {"path": empty}}
        quiet = ["--log-level=ERROR"]
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            resources=where,
            extra_arguments=quiet,
            record_timing=False,
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failure = explain(path, notebook, error)
    return Run(path, time.monotonic() - began, failure, notebook)


def _known(cache: JupyterCacheAbstract, path: Path) -> bool:
    try:
        cache.match_cache_notebook(nbformat.read(path, as_version=4))
    except KeyError:
        return False
    return True


def _side_by_side(paths: Sequence[Path]) -> Iterator[Run]:
    """Execute in as many processes as there are cores; runs come as they finish."""
    if not paths:
        return
    with ProcessPoolExecutor(min(len(paths), cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(execute, path) for path in paths]):
            yield future.result()


def fill(paths: Iterable[Path], target: Path) -> Iterator[Run]:
    """Execute what the cache in ``target`` does not hold yet, and keep what succeeded."""
    cache = get_cache(str(target / "cache"))
    unknown = [path for path in paths if not _known(cache, path)]
    for run in _side_by_side(unknown):
        if run.failure is None:
            bundle = CacheBundleIn(run.notebook, str(run.path), data={"execution_seconds": run.seconds})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        yield run


def copies(paths: Iterable[Path], target: Path) -> Path:
    """Write the executed copies of cached notebooks into ``target/executed`` and return that folder."""
    cache, executed = get_cache(str(target / "cache")), target / "executed"
    shutil.rmtree(executed, ignore_errors=True)
    executed.mkdir(parents=True)
    for path in paths:
        _, notebook = cache.merge_match_into_notebook(nbformat.read(path, as_version=4))
        nbformat.write(notebook, executed / path.name)
    return executed
