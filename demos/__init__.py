"""Programs to run: ``python -m demos`` lists them by chapter, ``python -m demos ring --help`` says what one takes."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def names() -> dict[str, str]:
    """Every demo and its module, in the order of the book: ``{"ring": "demos.ch03.ring"}``."""
    files = sorted(file for file in HERE.glob("ch*/*.py") if file.stem != "__init__")
    return {file.stem: f"demos.{file.parent.name}.{file.stem}" for file in files}
