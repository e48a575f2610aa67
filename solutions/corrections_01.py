"""Chapter 1: claims about ranks, scale and efficiency that are often printed wrong. Standard library only."""

from __future__ import annotations

from .correction import Correction

CORRECTIONS: tuple[Correction, ...] = ()
