"""Claims in circulation that are wrong or hold only sometimes, with the right number computed. Standard library only.

The numbers in a claim are those in print. Every number in ``right`` and ``because`` is computed from an input by
the course's own functions, so a correction cannot go stale. Each chapter has its own module.
"""

from __future__ import annotations

import importlib

from rankzero.facts.chapters import CHAPTERS

from .correction import Correction


def corrections(prefix: str) -> tuple[Correction, ...]:
    """The corrections of one chapter, ``"03"`` or ``"cap"``, in the order its page prints them."""
    found = [chapter.package for chapter in CHAPTERS if chapter.prefix == prefix]
    modules = [importlib.import_module(f"experiments.{package}.corrections") for package in found]
    return tuple(correction for module in modules for correction in module.CORRECTIONS)


def every() -> tuple[Correction, ...]:
    """The corrections of all chapters, in the order of the book."""
    return tuple(correction for chapter in CHAPTERS for correction in corrections(chapter.prefix))
