"""What tests of several rooms share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tools import browser as chrome

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side: one core for each


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """One Chromium for the session."""
    if chrome.executable() is None:
        pytest.skip("Chromium is not installed (make debian)")
    with chrome.chromium() as running:
        yield running
