"""The first program of chapter 1 on the opening page, with the place where it runs."""

from __future__ import annotations

import nbformat

from rankzero.facts.chapters import CHAPTERS
from tools import world_runs
from tools.common import BOOK

#: The cell of chapter 1.
CELL = "first-run"


def text() -> str:
    """The program, and where the page's script offers to run it."""
    cells = nbformat.read(BOOK / f"{CHAPTERS[0].page}.ipynb", 4).cells
    (cell,) = (cell for cell in cells if cell["id"] == CELL)
    return f"```python\n{cell.source}\n```\n\n{world_runs.place(world_runs.sorted_out(cells)[0][CELL])}\n"
