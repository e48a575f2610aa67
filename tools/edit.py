"""Edit a notebook as text: ``make text NOTEBOOK=book/03-collectives.ipynb``, edit, ``make notebook NOTEBOOK=...``.

The text is Python with ``# %%`` cells under ``.cache/text``; the first line of a cell holds its id and tags.
Converting there and back changes nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import jupytext
import nbformat

from tools.common import CACHE, fail, say, write

TEXTS = CACHE / "text"


def to_text(source: str) -> str:
    """The notebook ``source`` (JSON) as Python with ``# %%`` cells."""
    notebook = nbformat.reads(source, as_version=4)
    for cell in notebook.cells:
        cell.metadata["cell"] = cell.pop("id")
    notebook.metadata["jupytext"] = {"cell_metadata_filter": "all", "notebook_metadata_filter": "all"}
    return jupytext.writes(notebook, fmt="py:percent")


def to_notebook(text: str) -> str:
    """The notebook (JSON) of a text that :func:`to_text` wrote.

    Raises:
        ValueError: a cell has no name.
    """
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.metadata.pop("jupytext", None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, 1):
        name = cell.metadata.pop("cell", None)
        for blanks in ("lines_to_next_cell", "lines_to_end_of_cell_marker"):  # how the text was spaced
            cell.metadata.pop(blanks, None)
        if not name:
            raise ValueError(f'cell {number} must have a name, as in: # %% cell="ring-steps"')
        cell["id"] = name
    if "kernelspec" not in notebook.metadata:
        raise ValueError("it must begin with the head of another page's text, the lines from # --- to # ---")
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def main(argv: list[str] | None = None) -> int:
    """The command line: ``text NOTEBOOK`` or ``notebook NOTEBOOK``."""
    parser = argparse.ArgumentParser(prog="python -m tools.edit", description="Edit a notebook as text.")
    parser.add_argument("direction", choices=("text", "notebook"), help="what to write")
    parser.add_argument("notebook", type=Path, help="for example book/03-collectives.ipynb")
    arguments = parser.parse_args(argv)
    text = TEXTS / f"{arguments.notebook.stem}.py"
    source, target = (arguments.notebook, text) if arguments.direction == "text" else (text, arguments.notebook)
    if not source.is_file():
        parser.error(f"there is no file {source}")
    target.parent.mkdir(parents=True, exist_ok=True)
    convert = to_text if arguments.direction == "text" else to_notebook
    try:
        write(target, convert(source.read_text(encoding="utf-8")))
    except ValueError as error:
        return fail(f"{source}: {error}")
    say(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
