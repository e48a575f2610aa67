"""Claims that are often printed wrong, with the right number computed. Standard library only.

A claim's numbers are what people print; every number in ``right`` and ``because`` follows from an input through the
course's own functions, so that a correction cannot grow stale. Each chapter has a module of its own.
"""

from __future__ import annotations

from .ch01 import corrections as corrections_01
from .ch02 import corrections as corrections_02
from .ch03 import corrections as corrections_03
from .ch04 import corrections as corrections_04
from .ch05 import corrections as corrections_05
from .ch06 import corrections as corrections_06
from .ch07 import corrections as corrections_07
from .ch08 import corrections as corrections_08
from .ch09 import corrections as corrections_09
from .ch10 import corrections as corrections_10
from .ch11 import corrections as corrections_11
from .ch12 import corrections as corrections_12
from .ch13 import corrections as corrections_13
from .ch14 import corrections as corrections_14
from .ch15 import corrections as corrections_cap
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
