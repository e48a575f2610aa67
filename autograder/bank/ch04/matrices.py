"""Chapter 04: link matrices, drawn at random and printed as the command prints them."""

from __future__ import annotations

#: Codes besides NVLink.
CODES = ("PIX", "PXB", "PHB", "NODE", "SYS")
