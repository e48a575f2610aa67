"""A torch that is too old is refused in one sentence, by worlds and by the install cell of every page."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from rankzero import world
from rankzero.world import torch_version
from tools.common import ROOT
from tools.install_cells import install_cell

SENTENCE = (
    r"^Rank Zero needs torch 2\.10 or later, and this is torch 2\.7\.1\+cu126: "
    r"run pip install --upgrade torch, then restart$"
)


@pytest.fixture
def installed(monkeypatch):
    """Makes the installed torch say that it is of another version."""

    def fake(version: str) -> None:
        true = metadata.version
        monkeypatch.setattr(metadata, "version", lambda name: version if name == "torch" else true(name))

    return fake


def nothing() -> None:
    """What a rank would run."""


@pytest.mark.parametrize("start", [world.prepare, lambda: world.run(nothing, ranks=2)])
def test_worlds_refuse_an_old_torch(installed, start):
    """Kills: `ProcessGroupGloo does not support reduce_scatter` in the middle of chapter 3."""
    installed("2.7.1+cu126")
    with pytest.raises(RuntimeError, match=SENTENCE):
        start()


def test_the_install_cell_refuses_an_old_torch(installed):
    installed("2.7.1+cu126")
    cell = TransformerManager().transform_cell(install_cell("https://new/y"))
    with pytest.raises(RuntimeError, match=SENTENCE):
        exec(compile(cell, "cell", "exec"), {})


@pytest.mark.parametrize("version", ["2.10.0", "2.10.0a0+git1234567", "2.13.0+cpu", "3.0.1"])
def test_newer_ones_are_accepted(installed, version):
    """Kills: a comparison of texts, in which 2.9 is above 2.13."""
    installed(version)
    torch_version.require()


@pytest.mark.parametrize("version", ["2.9.1", "2.8.0+cpu", "1.13.1"])
def test_older_ones_are_not(installed, version):
    installed(version)
    with pytest.raises(RuntimeError, match=re.escape(f"this is torch {version}:")):
        torch_version.require()


def test_pip_and_the_readme_know_the_same_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"torch>={torch_version.OLDEST}" in project["dependencies"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"torch {torch_version.OLDEST} or later" in readme
