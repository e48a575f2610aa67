"""A pytest plugin that skips every test that would start after a deadline.

``RANKZERO_DEADLINE`` holds the deadline, in seconds as ``time.time()`` counts them.
"""

from __future__ import annotations

import os
import time

import pytest

REASON = "no time was left"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test, before its fixtures are made, if the deadline has passed."""
    if time.time() > float(os.environ["RANKZERO_DEADLINE"]):
        pytest.skip(REASON)
