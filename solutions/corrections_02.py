"""Chapter 2: claims about messages that are often printed wrong. Standard library only."""

from __future__ import annotations

from .correction import Correction

CORRECTIONS: tuple[Correction, ...] = ()
