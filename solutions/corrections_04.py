"""Chapter 4: claims about links, algorithms and their cost that are often printed wrong. Standard library only."""

from __future__ import annotations

from .correction import Correction

CORRECTIONS: tuple[Correction, ...] = ()
