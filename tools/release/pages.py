"""Run a page as a learner has it: the notebook alone in an empty folder, in a Python that has the wheel."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from rankzero.facts.chapters import CHAPTERS
from tools import execute
from tools.common import notebooks
from tools.install_cells import EXTRAS
from tools.release import bare, environments

#: Seconds for a page.
LIMIT = 240
#: Says where the course was found.
WHERE = "import rankzero; print(rankzero.__file__)"


def chosen(name: str) -> list[Path]:
    """The pages of a chapter, named by its number (``"7"``, ``"07"``) or ``"cap"``; all pages without a name.

    Raises:
        ValueError: there is no such chapter.
    """
    chapters = [one for one in CHAPTERS if name in ("", one.prefix, str(one.number), f"{one.number:02}")]
    if not chapters:
        raise ValueError(f"N must be the number of a chapter, 1 to {CHAPTERS[-1].number}, or cap, got {name!r}")
    starts = tuple(f"{chapter.number:02}-" for chapter in chapters)
    return [path for path in notebooks() if path.stem.startswith(starts)]


def extra(page: Path) -> str:
    """The extra of the distribution that the page's first cell installs; empty if it is none."""
    return EXTRAS.get(page.stem.removesuffix("-deeper"), ("",))[0]


def manager(python: Path) -> type[AsyncKernelManager]:
    """A kernel manager whose kernels are of another Python."""

    class Manager(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            command = [str(python), "-m", "ipykernel_launcher", "-f", self.connection_file]
            return [*command, *(extra_arguments or ())]

    return Manager


async def run(page: Path, python: Path, torch: bool) -> tuple[str, str | None]:
    """Run a page to its end, or as far as it goes without torch; returns what to say of it, and what went wrong."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "course")
        folder.mkdir()
        alone = Path(shutil.copy(page, folder))
        notebook = nbformat.read(alone, as_version=4)
        notebook = notebook if torch else bare.statements(notebook)
        notebook.cells.append(nbformat.v4.new_code_cell(WHERE, id="where"))
        failure = await _executed(alone, notebook, python, environments.settings(Path(home)), not torch)
    told = f"{time.monotonic() - began:.0f} s"
    if failure or torch:
        return told, failure
    ran, failure = bare.judged(notebook.cells)
    return f"{ran} of {len(notebook.cells)} statements without torch, {told}", failure


async def _executed(
    page: Path, notebook: nbformat.NotebookNode, python: Path, settings: dict[str, str], errors: bool
) -> str | None:
    """Run a notebook in the folder of its page; ``errors`` do not end it where they are judged afterwards."""
    options: dict[str, Any] = {"resources": {"metadata": {"path": str(page.parent)}}, "shutdown_kernel": "immediate"}
    options |= {"kernel_manager_class": manager(python), "kernel_name": "python3", "allow_errors": errors}
    client = NotebookClient(notebook, timeout=execute.CELL_TIMEOUT, **options)
    try:
        await asyncio.wait_for(client.async_execute(env=settings), LIMIT)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return execute.explain(page, notebook, error)
    except TimeoutError:
        return f"{page.name}: it did not end within {LIMIT} seconds"
    return misplaced(notebook.cells[-1].outputs[0].get("text", "nowhere").strip(), python)


def misplaced(course: str, python: Path) -> str | None:
    """What is wrong with the place from which a page took the course: it must be the environment's; None if it is."""
    environment = f"{python.parents[1]}{os.sep}"
    return None if course.startswith(environment) else f"the page took the course from {course}"
