"""What several questions of chapter 14 compute with."""

from __future__ import annotations

from rankzero.facts.units import GB

#: A model of 70 billion parameters in bf16, a network card, a disk, the links inside a node: bytes, bytes/s.
MODEL = 140 * GB
