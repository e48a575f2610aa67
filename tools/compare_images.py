"""A pytest plugin: nbval compares pictures too (without nbdime it would pass them over)."""

from __future__ import annotations

import pytest

PICTURES = {"image/png", "image/jpeg"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take pictures off the list of what nbval does not compare."""
    for notebook in {item.parent for item in items}:
        skipped = getattr(notebook, "skip_compare", None)
        if skipped is not None:
            notebook.skip_compare = tuple(kind for kind in skipped if kind not in PICTURES)  # type: ignore[union-attr]
