"""What a child may be started with, and the error when it cannot be: the words of the sandbox and of the runner."""

from __future__ import annotations

from typing import Literal

#: The heaviest package that a child imports before it runs any of a submission's code; ``""`` for none.
Package = Literal["", "numpy", "torch"]
#: All of them, heaviest first.
PACKAGES: tuple[Package, ...] = ("torch", "numpy")


class NotStarted(Exception):
    """A child cannot be started, or not with its walls: the grader is at fault, not the submission."""
