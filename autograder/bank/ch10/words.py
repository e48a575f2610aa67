"""Chapter 10: sentences that several items share."""

from __future__ import annotations

UNCHECKED = "Bad input must raise ValueError, here {}; yours goes on and returns something."
