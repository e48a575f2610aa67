"""Chapter 01: all items, in the order of the page."""

from __future__ import annotations

from autograder.items import Item

ITEMS: tuple[Item, ...] = ()
