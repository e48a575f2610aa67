"""Says where an answer is typed that it will not be readable in the file that is handed in.

``predict`` judges any value; a submission is read and never run (:mod:`autograder.submission.typed`), so there an
answer must stand in the call, or be a name that can be followed.
"""

from __future__ import annotations

import sys

UNREADABLE = (
    "This answer counts here, but it cannot be read when you hand in the notebook: type the number or the text itself "
    "into the call."
)


def _cells() -> list[str]:
    """The cells that the notebook has run, the running one last; none outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    history = getattr(shell, "history_manager", None)
    return list(getattr(history, "input_hist_raw", ()))


def warn(question: str) -> None:
    """Print a sentence if the running cell answers ``question`` in a way that a grader cannot read."""
    cells = _cells()
    if cells and not readable(question, cells):
        print(UNREADABLE)


def readable(question: str, cells: list[str]) -> bool:
    """Whether the last of some cells types an answer to ``question`` that is read without running it."""
    from autograder.submission import magics, notebook, typed  # not needed outside a notebook
    from autograder.submission.units import Unreadable

    trees = []
    for cell in cells:
        try:
            trees.append(notebook.parse(magics.restored(cell))[1])
        except (Unreadable, RecursionError):
            continue
    return typed.reads_last(trees, question)
