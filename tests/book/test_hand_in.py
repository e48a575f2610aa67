"""What to hand in: each command on the page runs, in its order, on the files that it names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import bank
from rankzero.facts.chapters import CHAPTERS
from tools.common import BOOK, ROOT

PAGE = (BOOK / "hand-in.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.M | re.S) for line in block.splitlines()]
ARCHIVES = [command for command in COMMANDS if " zipfile " in command]
#: What the page's commands grade, and a program that earns all of it.
ITEM = bank.find("02-message-time")
RIGHT = (ROOT / "solutions" / ITEM.file).read_text(encoding="utf-8")

pytestmark = [pytest.mark.xdist_group("hand in"), pytest.mark.timeout(600)]


def said(command: str, folder: Path) -> str:
    """What a command of the page prints; it must succeed."""
    words = [sys.executable, *command.split()[1:]]
    done = subprocess.run(words, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the work of a learner who wrote one function, in each way to work."""
    place = tmp_path_factory.mktemp("hand-in")
    kept = {"version": 1, "items": {ITEM.id: {"source": RIGHT}}}
    progress = {"version": 1, "items": {}, "pages": {}}
    course = {"rankzero": 1, "saved": "", "progress": progress, "work": kept, "time": {"version": 1, "pages": {}}}
    (place / "rank-zero-course.json").write_text(json.dumps(course))
    for chapter in CHAPTERS[1:3]:
        page = json.loads((BOOK / f"{chapter.page}.ipynb").read_text(encoding="utf-8"))
        for cell in page["cells"]:
            if cell["id"] == "b-message-time":
                cell["source"] = RIGHT.splitlines(True)
        (place / f"{chapter.page}.ipynb").write_text(json.dumps(page))
    shutil.copytree(ROOT / "labs", place / "labs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "solutions" / ITEM.file, place / "labs" / ITEM.file)
    for command in ARCHIVES:
        said(command, place)
    return place


GRADING = [command for command in COMMANDS if " grade " in command]
GUIDES = pytest.mark.proof(part="guides")


@pytest.mark.parametrize("command", [GRADING[0], *(pytest.param(one, marks=GUIDES) for one in GRADING[1:])])
def test_a_command_does_what_the_page_says(folder, command):
    """Kills a command that nobody has tried. The function of the folder is right, so each file earns full marks."""
    printed = said(command, folder)
    assert re.search(rf"^{ITEM.id} +4 / 4 ", printed, re.MULTILINE), printed


def test_the_archives_are_made(folder):
    assert len(ARCHIVES) == 3
    assert all((folder / command.split()[4]).stat().st_size > 0 for command in ARCHIVES)


def test_every_file_of_the_table_is_tried():
    """Kills a way to work whose file no command takes."""
    named = set(re.findall(r"`([\w-]+\.(?:json|ipynb|zip))`", PAGE.partition("## Try it")[0]))
    assert named == {"rank-zero-course.json", "02-point-to-point.ipynb", "labs.zip"}
    assert all(any(name in command for command in COMMANDS) for name in named)


def test_the_milestone_is_one(folder):
    """The level and the id exist; running it takes a minute."""
    from autograder.__main__ import _parser

    (command,) = (command for command in COMMANDS if "milestone" in command)
    options = _parser().parse_args(command.split()[3:])
    assert (options.submission, options.only, options.level) == ("labs", "07-trainer", 1)


@pytest.mark.parametrize("page", ["intro.md", "your-course.md"])
def test_pages_lead_there(page):
    assert "(hand-in.md)" in (BOOK / page).read_text(encoding="utf-8")
