"""The container for grading: what it copies is what is installed, and the commands that it shows are commands."""

import re
import shlex
import tomllib

from autograder.__main__ import _parser
from tools.common import ROOT

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COPIED = {name for line in re.findall(r"^COPY (.+) \S+$", TEXT, re.MULTILINE) for name in line.split()}


def test_it_copies_every_package_and_what_its_installation_reads():
    """Kills a package that is added and that the container does not have."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {name.rstrip("*") for name in settings["tool"]["setuptools"]["packages"]["find"]["include"]}
    project = settings["project"]
    assert packages | {"pyproject.toml", project["readme"], *project["license-files"]} == COPIED
    extras = re.search(r'"\.\[([\w,]+)\]"', TEXT)[1].split(",")
    assert {*extras} <= project["optional-dependencies"].keys()


def test_what_it_copies_is_sent_and_nothing_else():
    """Kills an image that takes a virtual environment or a key with it."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == COPIED


def test_the_commands_that_it_shows_are_commands_of_the_grader():
    shown = re.findall(r"^#     docker run .* rank-zero (.+)$", TEXT, re.MULTILINE)
    assert [_parser().parse_args(shlex.split(line)) for line in shown]
    assert [line.split()[0] for line in shown] == ["probe", "grade-class"]
