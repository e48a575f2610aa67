"""The judge: ``predict``, ``check`` and ``scorecard`` for notebooks, ``python -m autograder`` for submissions.

Names are imported on first use, so that the command line starts at once.
"""

from __future__ import annotations

from typing import Any

#: Where each name of the notebooks lives.
HOMES = {"predict": "predicting", "check": "checking", "scorecard": "progress", "export_progress": "progress"}

__all__ = ["check", "export_progress", "predict", "scorecard"]


def __getattr__(name: str) -> Any:
    import importlib

    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
