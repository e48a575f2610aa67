"""The oldest torch that the course runs on, and one sentence for whoever has an older one.

Gloo, which carries the worlds on a machine without GPUs, reduces and scatters and takes averages since torch 2.8
(pull requests 149781 and 149869 of pytorch/pytorch). There it still drops the average of ``reduce_scatter_tensor``, so
that ``fully_shard`` sums gradients (issue 162338); the sources of 2.10 hand the operation on.
"""

from __future__ import annotations

import re
from importlib import metadata

#: The same bound stands in ``pyproject.toml``.
OLDEST = "2.10"


def require() -> None:
    """Refuse a torch that is too old, without importing it.

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
    """Major and minor number: ``"2.13.0+cpu"`` is (2, 13)."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
