"""The worked examples of a page, for tests that compute their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

import nbformat

from tools.common import BOOK
from tools.pages import EXAMPLE


def examples(page: str) -> dict[str, str]:
    """The texts of a notebook's worked examples, each on one line, by the id of the cell."""
    cells = nbformat.read(BOOK / f"{page}.ipynb", 4).cells
    found = (cell for cell in cells if EXAMPLE in cell.metadata.get("tags", ()))
    return {cell["id"]: re.sub(r"\s+", " ", cell.source) for cell in found}


def missing(text: str, parts: Iterable[str]) -> list[str]:
    """The computed parts that a text does not hold."""
    return [part for part in parts if part not in text]
