"""Claims that are often printed wrong, with the right number computed. Standard library only.

A claim's numbers are what people print; every number in ``right`` and ``because`` follows from an input through the
course's own functions, so that a correction cannot grow stale. Each chapter has a module of its own.
"""

from __future__ import annotations

from . import (
    corrections_01,
    corrections_02,
    corrections_03,
    corrections_04,
    corrections_05,
    corrections_06,
    corrections_07,
    corrections_08,
    corrections_09,
    corrections_10,
    corrections_11,
    corrections_12,
    corrections_13,
    corrections_14,
    corrections_cap,
)
from .correction import Correction

CORRECTIONS: tuple[Correction, ...] = (
    *corrections_01.CORRECTIONS,
    *corrections_02.CORRECTIONS,
    *corrections_03.CORRECTIONS,
    *corrections_04.CORRECTIONS,
    *corrections_05.CORRECTIONS,
    *corrections_06.CORRECTIONS,
    *corrections_07.CORRECTIONS,
    *corrections_08.CORRECTIONS,
    *corrections_09.CORRECTIONS,
    *corrections_10.CORRECTIONS,
    *corrections_11.CORRECTIONS,
    *corrections_12.CORRECTIONS,
    *corrections_13.CORRECTIONS,
    *corrections_14.CORRECTIONS,
    *corrections_cap.CORRECTIONS,
)


def corrections(chapter: str) -> tuple[Correction, ...]:
    """The corrections of one chapter, in the order in which its page prints them."""
    return tuple(correction for correction in CORRECTIONS if correction.chapter == chapter)
