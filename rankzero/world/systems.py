"""Where worlds of real processes run, and what to do elsewhere. Standard library only."""

from __future__ import annotations

import os
import platform
import sys

#: What runs everything, for whoever is on a system that does not.
ELSEWHERE = "WSL 2, GitHub Codespaces or Colab"
WITHOUT_FORK = (
    "ranks are forked, which native Windows cannot do: run this notebook in "
    f"{ELSEWHERE}, or run the worlds of chapters 1 to 4 in the book, in your browser"
)


def can_fork() -> bool:
    """Whether this system can fork processes, as worlds do: Linux, macOS and WSL 2 can, native Windows cannot."""
    return hasattr(os, "fork")


def what_works() -> str:
    """What of the course works on this system, in a few words."""
    if not can_fork():
        return f"the notebooks without worlds and without the grader; everything in {ELSEWHERE}"
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        return "what an older torch can do, as there is no new one for Intel Macs; everything in Colab or Codespaces"
    return "everything"
