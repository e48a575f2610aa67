"""The judge of the course.

``predict``, ``design``, ``check`` and ``scorecard`` are for notebooks, ``python -m autograder`` is for submissions.
Names are imported on first use, so that the command line starts at once.
"""

from __future__ import annotations

from typing import Any

#: The module in ``autograder.learner`` that defines each name.
HOMES = {
    "predict": "predicting",
    "design": "designing",
    "check": "checking",
    "scorecard": "scorecard",
    "export_progress": "progress",
}

__all__ = ["check", "design", "export_progress", "predict", "scorecard"]


def __getattr__(name: str) -> Any:
    import importlib

    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.learner.{HOMES[name]}"), name)
