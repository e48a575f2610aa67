"""Where worlds of real processes run, and what to do elsewhere. Standard library only."""

from __future__ import annotations

import os

#: What runs everything, for whoever is on a system that does not.
ELSEWHERE = "WSL 2, GitHub Codespaces or Colab"
WITHOUT_FORK = (
    "ranks are forked, which native Windows cannot do: run this notebook in "
    f"{ELSEWHERE}, or run the worlds of chapters 1 to 4 in the book, in your browser"
)


def can_fork() -> bool:
    """Whether this system can fork processes, as worlds do: Linux, macOS and WSL 2 can, native Windows cannot."""
    return hasattr(os, "fork")
