"""Every cost model of the course beside every figure that others published for it. Standard library only.

Each chapter has its own module, beside the one with the figures. The table is printed by ``make bench``.
"""

from __future__ import annotations

import importlib
import importlib.util

from rankzero.facts.chapters import CHAPTERS

from .comparison import Comparison


def comparisons(prefix: str) -> tuple[Comparison, ...]:
    """The models of one chapter, ``"03"`` or ``"cap"``; none where nothing is published that a model gives."""
    (name,) = (f"experiments.{chapter.package}.comparisons" for chapter in CHAPTERS if chapter.prefix == prefix)
    return importlib.import_module(name).COMPARISONS if importlib.util.find_spec(name) else ()


def every() -> tuple[Comparison, ...]:
    """The models of all chapters, in the order of the book."""
    return tuple(one for chapter in CHAPTERS for one in comparisons(chapter.prefix))
