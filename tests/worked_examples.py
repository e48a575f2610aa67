"""The texts of a page, above all its worked examples, for tests that compute their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

import nbformat

from tools.common import BOOK
from tools.pages import EXAMPLE


def texts(page: str, tag: str = "") -> dict[str, str]:
    """The texts of a notebook, each on one line, by the id of the cell; with a ``tag``, those that have it."""
    cells = nbformat.read(BOOK / f"{page}.ipynb", 4).cells
    found = (cell for cell in cells if cell.cell_type == "markdown")
    return {
        cell["id"]: re.sub(r"\s+", " ", cell.source)
        for cell in found
        if not tag or tag in cell.metadata.get("tags", ())
    }


def examples(page: str) -> dict[str, str]:
    """The texts of a notebook's worked examples, as :func:`texts` gives them."""
    return texts(page, EXAMPLE)


def missing(text: str, parts: Iterable[str]) -> list[str]:
    """The computed parts that a text does not hold."""
    return [part for part in parts if part not in text]
