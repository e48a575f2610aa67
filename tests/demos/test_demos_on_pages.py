"""Every demo is named by the section of the book that it belongs to, in the same form everywhere."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
import pytest
from demo_runs import command_line

import demos
from tools.common import BOOK

LINE = "On the command line: "
COMMAND = re.compile(r"`python -m demos (\w+)([^`]*)`")

#: They stand in chapter 11, since their server takes its constraints from there; chapter 8 is about that server.
EARLIER = {"server": "08", "openai_client": "08", "load": "08"}


@dataclass(frozen=True)
class Named:
    """A demo that a page names: in which section, and with which options."""

    page: str
    section: str
    demo: str
    options: str


def sections() -> Iterator[tuple[str, str, str]]:
    """The text of each section, by page and heading."""
    for path in sorted(BOOK.glob("**/[01]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for section in re.split(r"^## ", text, flags=re.MULTILINE):
            yield path.stem, section.partition("\n")[0], section.strip()


def paragraph(text: str) -> str:
    """The last paragraph of a section where it names programs; empty where it does not."""
    last = text.rpartition("\n\n")[2]
    return last if last.startswith(LINE) else ""


NAMED = [Named(page, title, *found) for page, title, text in sections() for found in COMMAND.findall(paragraph(text))]


def test_every_demo_is_named_once():
    """Kills a demo that no page leads to, and a page that names one which is gone."""
    assert Counter(one.demo for one in NAMED) == Counter(list(demos.names()))


@pytest.mark.parametrize("one", NAMED, ids=lambda one: one.demo)
def test_it_is_named_by_its_own_chapter(one):
    home = demos.names()[one.demo].split(".")[1].removeprefix("ch")
    assert one.page.split("-")[0] == EARLIER.get(one.demo, home)


def test_the_form_is_the_same_everywhere():
    """The last paragraph of a section, nothing but commands; no page names a program in any other place."""
    for page, title, text in sections():
        line = paragraph(text)
        commands = [match[0] for match in COMMAND.finditer(line)]
        assert line == (LINE + ",\n".join(commands) if commands else ""), (page, title)
        assert len(COMMAND.findall(text)) == len(commands), (page, title)


@pytest.mark.parametrize("one", NAMED, ids=lambda one: one.demo)
def test_its_command_is_understood(one):
    """Kills a page whose command has an option that the demo does not take, or a value that it refuses."""
    assert command_line(one.demo, *shlex.split(one.options))
