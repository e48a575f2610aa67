"""Seals: they tell whoever has the key whether the files of a grading were changed afterwards.

A seal is a keyed digest (HMAC). Its key is derived from the exam's, so nobody without that key can make a seal, and a
seal reveals nothing about the key. It does not prove that a line is the latest: an older line of the same class has a
valid seal too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

#: The name of the entry that holds the seal.
NAME = "seal"


class Seal:
    """Seals mappings of plain data, and verifies seals made with the same key."""

    def __init__(self, key: bytes) -> None:
        """``key`` is the exam's secret key."""
        self._key = hmac.new(key, b"rankzero seal", hashlib.sha256).digest()

    def sealed(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """``content`` with its seal. ``kind`` names its purpose; the seal is valid for no other."""
        return {**content, NAME: self._of(kind, content)}

    def holds(self, kind: str, content: Mapping[str, Any]) -> bool:
        """Whether ``content`` is unchanged since it was sealed."""
        seal = content.get(NAME)
        return type(seal) is str and hmac.compare_digest(ascii(seal), ascii(self._of(kind, content)))

    def _of(self, kind: str, content: Mapping[str, Any]) -> str:
        bare = {name: value for name, value in content.items() if name != NAME}
        text = json.dumps([kind, bare], sort_keys=True, separators=(",", ":"))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
