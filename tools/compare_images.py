"""A pytest plugin that makes nbval compare pictures too, which it skips if nbdime is missing."""

from __future__ import annotations

import pytest

PICTURES = {"image/png", "image/jpeg"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Remove pictures from the list of outputs that nbval does not compare."""
    for notebook in {item.parent for item in items}:
        skipped = getattr(notebook, "skip_compare", None)
        if skipped is not None:
            notebook.skip_compare = tuple(kind for kind in skipped if kind not in PICTURES)  # type: ignore[union-attr]
