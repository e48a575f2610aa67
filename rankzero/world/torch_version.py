"""The oldest torch that the course runs on, and a clear error for older versions.

Worlds use Gloo on machines without GPUs. It supports reduce-scatter and averages since torch 2.8 (pull requests 149781
and 149869 of pytorch/pytorch). But there ``reduce_scatter_tensor`` still ignores a request for the average, so that
``fully_shard`` sums gradients (issue 162338); from 2.10 on it passes the request on.
"""

from __future__ import annotations

import re
from importlib import metadata

#: ``pyproject.toml`` has the same bound.
OLDEST = "2.10"


def require() -> None:
    """Raise an error if the installed torch is too old, without importing it.

    Raises:
        RuntimeError: the installed torch is older than ``OLDEST``; the message names both and says what to do.
    """
    installed = metadata.version("torch")
    if _numbers(installed) < _numbers(OLDEST):
        raise RuntimeError(
            f"Rank Zero needs torch {OLDEST} or later, and this is torch {installed}: "
            "run pip install --upgrade torch, then restart"
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Major and minor version: ``"2.13.0+cpu"`` is (2, 13)."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
