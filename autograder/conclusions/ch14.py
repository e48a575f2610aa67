"""Chapter 14: whether a rank helped to create a group; how many groups a program makes is its own affair."""

from __future__ import annotations

from typing import Any

from autograder.items import Case


def shared(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """What the rank returned, its own tensor, and whether it took part in creating a group."""
    return {
        "returned": answer["returned"],
        "own tensor afterwards": answer["own tensor afterwards"],
        "took part in creating a group": answer["groups created"] > 0,
    }
