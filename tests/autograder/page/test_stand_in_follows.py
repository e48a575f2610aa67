"""The stand-in follows the torch that is pinned, and has what chapters 1 to 4 need of it and no more."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from autograder.page.stand_in.listing import ORDINARY, PLACES, followed, own_names
from tools.common import ROOT

PINNED = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]

OTHER = (
    f"The page's stand-in for torch is compared with torch {PINNED}, which constraints.txt pins, and torch "
    "{installed} is installed: install the pinned one."
)
TODO = (
    f"The page's stand-in follows torch {{followed}}, and constraints.txt pins torch {PINNED}: put the new version "
    "into __version__ of autograder/page/stand_in/torch/__init__.py, run `python -m pytest tests/autograder/page`, "
    "change the stand-in where a comparison now fails (or, for what is to differ, DIFFERS in registry.py and OTHERWISE "
    "and GENERAL in listing.py), and run `python -m autograder.page.stand_in.listing`, which lists torch's new names."
)


def fault(installed: str) -> str:
    """Why a comparison with this torch says nothing about the stand-in; empty with the pinned one."""
    return "" if installed.partition("+")[0] == PINNED else OTHER.format(installed=installed)


@pytest.fixture(autouse=True, scope="module")
def the_pinned_torch() -> None:
    """Every comparison with another torch fails, and says why."""
    if sentence := fault(torch.__version__):
        pytest.fail(sentence, pytrace=False)


def test_the_course_is_built_with_the_torch_that_it_follows():
    assert PINNED.startswith(f"{followed()}."), TODO.format(followed=followed())


def test_another_torch_is_named():
    """Kills: an upgrade after which all comparisons are skipped, and nobody notices."""
    assert fault(f"{PINNED}+cpu") == fault(PINNED) == ""
    for other in ("2.9.0", f"{PINNED}1", f"{followed()}.99+cu130"):
        assert fault(other).endswith(f"torch {other} is installed: install the pinned one.")


# What it has

#: Code of chapters 1 to 4, and what carries it in a page.
CODE = (
    "book/**/0[1-4]-*.ipynb",
    "solutions/ch0[1-4]/*.py",
    "labs/ch0[1-4]/*.py",
    "experiments/ch0[1-4]/*.py",
    "autograder/bank/ch0[1-4]/*.py",
    "autograder/probes/ch0[1-4].py",
    "autograder/child/*.py",
    "autograder/page/*.py",
    "autograder/page/stand_in/torch/distributed/*.py",
    "rankzero/world/*.py",
)


def source(file: Path) -> str:
    """The code in a file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")


def words(text: str) -> Iterator[str]:
    """Names behind a dot, names that are imported, and names that are strings of their own."""
    yield from re.findall(r"\.(\w+)", text)
    yield from re.findall(r"[\"'](\w+)[\"']", text)
    for line in re.findall(r"^\s*from torch\S* import (.*)$", text, re.MULTILINE):
        yield from re.findall(r"\w+", line)


@functools.cache
def used() -> frozenset[str]:
    files = [file for pattern in CODE for file in ROOT.glob(pattern)]
    return frozenset(word for file in files for word in words(source(file)))


@pytest.mark.parametrize("place", PLACES)
def test_each_name_is_needed_or_ordinary(place):
    """Kills a stand-in that grows by what somebody thought of, and keeps what its chapters have given up."""
    names = [name for name in own_names(place) if not name.startswith("__")]
    assert [name for name in names if name not in used() | ORDINARY[place]] == []


@pytest.mark.parametrize("place", PLACES)
def test_what_is_ordinary_is_there(place):
    assert ORDINARY[place] <= set(own_names(place))
