"""In place of :mod:`autograder.sandbox` in a page: a worker runs the reader's own code in the reader's own browser.

It has memory of its own, no files and no other processes, so no walls are put up around it.
"""

from __future__ import annotations

from typing import Literal

Package = Literal["", "numpy", "torch"]


class SandboxFailed(Exception):
    """A worker cannot be had."""


class Sandbox:
    """The sandbox of a page, which adds nothing to what a worker is."""

    @classmethod
    def measure(cls, level: str = "none") -> Sandbox:
        """The only one there is."""
        return cls()

    def launch(self, packages: tuple[str, ...] = (), package: str = "") -> None:
        """A worker needs no command line."""


def site_packages() -> tuple[str, ...]:
    """A page has no folders of packages."""
    return ()
