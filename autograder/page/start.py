"""How a worker of a page becomes a rank or the broker, and what it may have imported before it is either."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from autograder.page import install

#: The stand-in for torch while nobody may see it: a check of plain Python has no torch.
_aside: dict[str, types.ModuleType] = {}


def house(files: Mapping[str, str]) -> None:
    """Hold ``files``, texts by path, and import what checks, the broker and ranks need of them.

    A picture of Python's memory is taken then, from which all of them start.
    """
    from autograder.page import modules_in_memory

    install.missing()
    modules_in_memory.hold(files)
    modules_in_memory.write("autograder/child/", "autograder/probes/")
    from autograder.learner import in_page, own_run  # noqa: F401

    _install()
    from autograder.page import rank, requests

    _install_worlds()
    requests.ready()
    rank.ready()
    _put_aside()
    gc.collect()
    gc.freeze()  # nothing of it is ever garbage, so nobody has to look through it again


def _install() -> None:
    """Before anything is imported that needs torch or worlds: what a page has in their place."""
    install.missing()
    install.torch()
    install.world_package()


def _install_worlds() -> None:
    """From now on, ``from rankzero import world`` gives the page's worlds."""
    from autograder.page import world

    vars(install.world_package()).update((name, getattr(world, name)) for name in world.__all__)


def _put_aside() -> None:
    names = [name for name in sys.modules if name.partition(".")[0] == "torch"]
    _aside.update({name: sys.modules.pop(name) for name in names})
    sys.path.remove(str(install.STAND_IN))


def _take_back() -> None:
    sys.modules.update(_aside)
    _aside.clear()
    _install()


def rank() -> Callable[[Any], None]:
    """The worker is a rank; what serves its port."""
    _take_back()
    from autograder.page.rank import serve

    return serve


def broker() -> Callable[..., str]:
    """The worker is the broker; what answers a request."""
    _take_back()
    from autograder.page import modules_in_memory
    from autograder.page.requests import Requests

    _install_worlds()
    modules_in_memory.write("solutions/", "rankzero/")
    return Requests().answer
