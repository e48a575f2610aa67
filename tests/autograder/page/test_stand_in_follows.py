"""The stand-in follows the torch that is installed; whoever upgrades torch is told what to do."""

from __future__ import annotations

import re

import torch

from autograder.page.stand_in.listing import followed
from tools.common import ROOT

TODO = (
    "The page's stand-in follows torch {followed}, and torch {installed} is installed: put the new version into "
    "__version__ of autograder/page/stand_in/torch/__init__.py, run `python -m pytest tests/autograder/page`, change "
    "the stand-in where a comparison now fails (or, for what is to differ, DIFFERS in registry.py and OTHERWISE "
    "and GENERAL in listing.py), and run `python -m autograder.page.stand_in.listing`, which lists torch's new names."
)


def test_it_follows_the_torch_that_is_installed():
    """Kills: an upgrade after which all comparisons are skipped, and nobody notices."""
    installed = ".".join(torch.__version__.split(".")[:2])
    assert installed == followed(), TODO.format(followed=followed(), installed=installed)


def test_the_course_is_built_with_the_torch_that_it_follows():
    pinned = re.search(r"^torch==(\d+\.\d+)\.", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned
    assert pinned[1] == followed(), TODO.format(followed=followed(), installed=pinned[1])
