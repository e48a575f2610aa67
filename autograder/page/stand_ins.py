"""What the broker's worker has in place of something else, put there before anything of the grader is imported."""

from __future__ import annotations

import sys

from autograder.page import install


def grader() -> None:
    """The grader's own runner, broker and judge work on the workers of the page."""
    install.missing()
    from autograder.page import sandbox

    sys.modules["autograder.sandbox"] = sys.modules["autograder.sandbox.launch"] = sandbox
    from autograder.page import process

    sys.modules["autograder.running.process"] = process


def world() -> None:
    """``from rankzero import world`` gives the page's worlds."""
    package = install.world_package()
    from autograder.page import world

    for name in world.__all__:
        setattr(package, name, getattr(world, name))


def put() -> None:
    """All of them."""
    install.torch()
    install.world_package()
    grader()
    world()
