"""The guide for instructors: every command on the page runs, in its order, and writes what the page promises."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from autograder import bank
from autograder.__main__ import _parser
from autograder.sandbox import Sandbox, SandboxRefused
from tools.common import BOOK, ROOT

GUIDE = (BOOK / "instructors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
ITEMS = [bank.find(name) for name in ("05-zero-memory", "02-message-time")]
#: How Canvas and Moodle call the files of three learners.
CANVAS = {
    "ada": "lovelaceada_101_9001_lab.py",
    "ben": "bitdiddleben_LATE_102_9002_lab.py",
    "zoe": "unalzoe_103_9003_lab.py",
}
MOODLE = {"ada": "Ada Lovelace_101", "ben": "Ben Bitdiddle_102", "zoe": "Zoë Ünal_103"}
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 4 (76),Lab 5 (77),Final Score
    Points Possible,,,,,10.00,10.00,(read only)
"Lovelace, Ada",101,,ada,A,3.00,,
"Bitdiddle, Ben",102,,ben,A,,,
"Ünal, Zoë",103,,zoe,A,,,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (submission),Last modified (grade)
Participant 101,Ada Lovelace,ada@x.edu,Submitted for grading,,100.00,-,-
Participant 102,Ben Bitdiddle,ben@x.edu,Submitted for grading,,100.00,-,-
Participant 103,Zoë Ünal,zoe@x.edu,Submitted for grading,,100.00,-,-
"""

#: Seconds for one block: only that a test does not hang.
LIMIT = 240

pytestmark = [pytest.mark.xdist_group("instructors' guide"), pytest.mark.timeout(900)]  # its commands run once
GUIDES = pytest.mark.proof(part="guides")


def programs() -> dict[str, str]:
    """Right in all, one known mistake, and no Python."""
    modules = [(ROOT / "solutions" / item.file).read_text(encoding="utf-8") for item in ITEMS]
    right = "\n".join(modules).replace("from __future__ import annotations\n", "")
    slip = ITEMS[1].slips[0]
    name = slip.name if slip.program else ITEMS[1].function
    wrong = f"{right}\n\n{ITEMS[1].source_of(slip)}\n\n{ITEMS[1].function} = {name}\n"
    wrong = wrong.replace("from __future__ import annotations\n", "")
    return {"ada": right, "ben": wrong, "zoe": "def zero_memory(:\n"}


def furnish(folder: Path) -> None:
    """What an instructor has before the first command."""
    for name, source in programs().items():
        for path in (f"class/{CANVAS[name]}", f"download/{MOODLE[name]}_assignsubmission_file/lab.py"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(source, encoding="utf-8")
    (folder / "ada.py").write_text(programs()["ada"], encoding="utf-8")
    (folder / "gradebook.csv").write_text(GRADEBOOK, encoding="utf-8")
    (folder / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")


def missing(block: str) -> str:
    """Why a block cannot run on this host; empty when it can."""
    try:
        Sandbox.measure("required")
    except SandboxRefused as refusal:
        return str(refusal)
    return "" if "dask" not in block or shutil.which("dask", path=Path(sys.executable).parent) else "dask is missing"


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    furnish(folder)
    return folder


def ran(block: str, folder: Path, environment: dict[str, str]) -> str:
    """What the commands of a block print; nothing that they started goes on after it."""
    command = ["bash", "-e", "-o", "pipefail", "-c", block]
    with tempfile.TemporaryFile("w+") as output:  # not a pipe: what a block leaves in the background may keep it open
        both = {"stdout": output, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **both)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=LIMIT)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        printed = output.read()
    assert process.returncode == 0, f"{block}\n{printed}"
    return printed


@pytest.fixture(scope="module")
def said(desk) -> dict[str, str]:
    """What the blocks said, by their text, after all have run in their order."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    environment.pop("AUTOGRADER_KEY", None)
    found = {block: ran(block, desk, environment) for block in BLOCKS if not missing(block)}
    if not found:
        pytest.skip(missing(BLOCKS[0]))
    return found


def output(said: dict[str, str], words: str) -> str:
    """What the one block with ``words`` said."""
    (block,) = [block for block in said if words in block]
    return said[block]


def rows(desk: Path, folder: str) -> dict[str, dict]:
    lines = (desk / folder / "finished.jsonl").read_text(encoding="utf-8").splitlines()
    graded = map(json.loads, lines)
    return {next(row["known"][kind] for kind in ("canvas", "moodle") if kind in row["known"]): row for row in graded}


# The page and the commands agree.


def command_lines() -> list[list[str]]:
    """The arguments of every ``python -m autograder`` on the page."""
    whole = "".join(BLOCKS).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[3:] for line in whole if line.startswith("python -m autograder ")]


def test_every_command_of_the_grader_is_on_the_page():
    """Kills: a command that is added and never explained."""
    commands = set(re.findall(r"^    ([a-z-]+) ", _parser().format_help(), re.MULTILINE))
    assert {"grade", "verify", "release", "vectors"} <= commands
    assert commands - {line[0] for line in command_lines()} == set()


@pytest.mark.parametrize("line", command_lines(), ids=" ".join)
def test_every_command_on_the_page_is_one(line):
    """Kills: an option that was renamed, and an item that has left the bank; make proof runs the commands."""
    options = vars(_parser().parse_args(line))
    named = options.get("only") or []
    known = {one.id for one in (*bank.items(), *bank.milestones(), *bank.systems())}
    assert ({named} if isinstance(named, str) else set(named)) <= known


def test_every_command_on_the_page_is_run():
    """Kills: a command in a block that the test does not see."""
    assert len(BLOCKS) == GUIDE.count("```") / 2
    outside = re.sub(r"^```bash\n.*?^```$", "", GUIDE, flags=re.MULTILINE | re.DOTALL)
    assert "python -m" not in outside


@GUIDES
def test_every_block_runs(said):
    assert [block for block in BLOCKS if block not in said and not missing(block)] == []


# What they write.


@GUIDES
def test_the_key_is_kept_and_stands_nowhere_else(desk, said):
    key = (desk / "key.txt").read_text().strip()
    assert len(key) == 32
    assert (desk / "key.txt").stat().st_mode & 0o777 == 0o600
    holders = [path for path in desk.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert [path.name for path in holders] == ["key.txt"]
    with zipfile.ZipFile(desk / "autograder.zip") as archive:  # packed, as the page says
        assert any(key.encode() in archive.read(name) for name in archive.namelist())
    assert not any(key in text for text in said.values())


@GUIDES
def test_verify_and_release_say_what_they_did(desk, said):
    assert output(said, "verify").startswith("3 items: all hold; hidden inputs of none are in ")
    assert {path.name for path in (desk / "learners").iterdir()} >= {"README.md", "labs", "05-data-parallel.ipynb"}


@GUIDES
def test_one_submission_has_its_results(desk, said):
    results = json.loads((desk / "ada.json").read_text())
    assert results["score"] == 8
    assert "8 of 8 points" in output(said, "grade ada.py")


@GUIDES
def test_the_class_is_listed(said):
    lines = output(said, "collect class").splitlines()
    assert len(lines) == 4
    assert "3 submissions, 1 late" in lines[-1]


FOLDERS = ["graded", "whole", "own", "regraded", "moodle", "spread"]


@GUIDES
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_graded_class_holds_what_the_table_promises(desk, said, folder):
    if folder == "spread" and not (desk / folder).exists():
        pytest.skip("dask is missing")
    table = re.findall(r"^\| `([\w/]+\.\w+)` \| ", GUIDE, re.MULTILINE)
    assert "class.csv" in table
    graded = rows(desk, folder)
    assert sorted(graded) == ["101", "102", "103"]
    for name in table:
        for row in graded.values():
            assert (desk / folder / name.replace("ID", row["id"])).is_file(), name
    with open(desk / folder / "class.csv", encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) >= 4


@GUIDES
@pytest.mark.parametrize("folder", FOLDERS)
def test_scores_are_what_was_earned(desk, said, folder):
    """However the class was graded: in parts, again, on Dask, with inputs of its own for each."""
    if folder == "spread" and not (desk / folder).exists():
        pytest.skip("dask is missing")
    worth = 12 if folder == "regraded" else 8
    graded = rows(desk, folder)
    assert [graded["101"]["score"], graded["101"]["points"]] == [worth, worth]
    assert worth - 4 <= graded["102"]["score"] < worth
    assert graded["103"]["score"] == 0


@GUIDES
def test_diff_says_whose_score_moved(said):
    assert re.search(r"8 of 8.*12 of 12|8.*12", output(said, "diff graded regraded"))


@GUIDES
def test_scores_stand_in_the_platforms_files(desk, said):
    with open(desk / "import.csv", encoding="utf-8", newline="") as file:
        canvas = {row[1]: row for row in csv.reader(file)}
    assert (canvas["101"][5], float(canvas["101"][6])) == ("3.00", 10.0)
    with open(desk / "moodle" / "moodle.csv", encoding="utf-8", newline="") as file:
        moodle = {row[0]: row for row in csv.reader(file)}
    assert float(moodle["Participant 101"][4]) == 100.0
    assert (desk / "gradebook.csv").read_text(encoding="utf-8") == GRADEBOOK


@GUIDES
def test_duplicates_are_a_table(desk, said):
    with open(desk / "pairs.csv", encoding="utf-8", newline="") as file:
        assert next(csv.reader(file))[:2] == ["first", "second"]


@GUIDES
def test_frozen_vectors_grade_as_the_key_did(desk, said):
    name = output(said, "vectors freeze").splitlines()[1]
    results = [json.loads((desk / file).read_text()) for file in ("ada.json", "replayed.json")]
    assert [result["extra_data"]["vectors"] for result in results] == [name, name]
    assert results[0]["tests"] == results[1]["tests"]
