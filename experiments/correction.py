"""What a correction is: a claim that is often printed wrong, and what holds instead. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Correction:
    """One claim, and what holds instead.

    Attributes:
        chapter: the beginning of its items' ids: ``"03"``, ``"cap"``.
        claim: what is printed.
        right: what holds.
        because: why, or with which numbers.
        source: where to look it up.
    """

    chapter: str
    claim: str
    right: str
    because: str
    source: str
