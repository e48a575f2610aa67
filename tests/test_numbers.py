"""The numbers of the prose: each formula that stands beside one gives it (:mod:`tools.prose_numbers`)."""

from __future__ import annotations

import re

import nbformat
import pytest

from tools.common import notebooks
from tools.pages import EXAMPLE
from tools.prose_numbers import COMMENT, failures

NOTEBOOKS = notebooks()
pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def test_every_formula_gives_its_number(path):
    """Kills a number that is typed and wrong."""
    found = failures(nbformat.read(path, as_version=4).cells)
    assert not found, "\n".join([path.name, *found])


def test_a_worked_example_is_computed(path):
    """Kills a worked example that states the result of a sum without a formula beside it."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if EXAMPLE in cell.metadata.get("tags", ())]
    without = [cell for cell in cells if not COMMENT.search(cell.source)]
    assert [cell["id"] for cell in without if re.search(r"= \d", cell.source)] == []
