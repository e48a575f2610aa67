"""Seals: whoever has the key can tell whether what a grading wrote was changed since.

A seal is a keyed digest. Its key is derived from the exam's, so nobody without that key can make one, and no seal tells
anything about it. A seal does not show that a file is the newest: an older line of the same class bears one too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

#: Under which name a seal stands in what it seals.
NAME = "seal"


class Seal:
    """Seals mappings of plain data, and knows its own seals."""

    def __init__(self, key: bytes) -> None:
        """``key``: the exam's."""
        self._key = hmac.new(key, b"rankzero seal", hashlib.sha256).digest()

    def sealed(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """``content`` with its seal. ``kind`` keeps what is sealed for one purpose from being taken for another."""
        return {**content, NAME: self._of(kind, content)}

    def holds(self, kind: str, content: Mapping[str, Any]) -> bool:
        """Whether ``content`` is as it was sealed."""
        seal = content.get(NAME)
        return type(seal) is str and hmac.compare_digest(ascii(seal), ascii(self._of(kind, content)))

    def _of(self, kind: str, content: Mapping[str, Any]) -> str:
        bare = {name: value for name, value in content.items() if name != NAME}
        text = json.dumps([kind, bare], sort_keys=True, separators=(",", ":"))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
