"""``autograder.zip``: what is in it, and what it makes of submissions in Gradescope's container."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from gradescope_image import unpacked

from autograder import bank
from autograder.__main__ import main
from autograder.gradescope import bundle as gradescope
from autograder.gradescope import inside
from tests.autograder.a_class import written_key

ROOT = Path(__file__).parents[3]
KEY = b"a-secret-key-7f3a"
#: Two functions that are optional and a class that is not, of two chapters.
IDS = ("01-locate", "01-shard-indices", "11-constraint-state")
ITEMS = [bank.find(identifier) for identifier in IDS]
FILES = ("ch01/ranks", "ch01/sharding", "ch11/constrained")


def contents(data: bytes) -> dict[str, zipfile.ZipInfo]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {entry.filename: entry for entry in file.infolist()}


def text(data: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return file.read(name).decode()


@pytest.fixture(scope="module")
def packed() -> bytes:
    return gradescope.archive(ITEMS, KEY)


# The file


@pytest.mark.proof(part="guides")
def test_the_same_inputs_give_the_same_bytes(packed):
    """Kills times, hash order and permissions of the machine in the archive."""
    code = "import sys; from autograder import bank; from autograder.gradescope import bundle; "
    code += "sys.stdout.buffer.write(bundle.archive("
    code += f"[bank.find(name) for name in {IDS!r}], {KEY!r}))"
    env = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    again = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=ROOT, env=env, umask=0o077, check=True
    )
    assert again.stdout == packed
    other = gradescope.archive(ITEMS, b"another key")
    assert [name for name in contents(packed) if text(packed, name) != text(other, name)] == ["key"]


def test_the_scripts_stand_at_the_top_and_the_key_is_closed(packed):
    modes = {name: entry.external_attr >> 16 for name, entry in contents(packed).items()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
    assert modes["key"] == 0o100600
    assert text(packed, "run_autograder").startswith("#!/bin/sh\n")
    for name in ("setup.sh", "run_autograder", "python.sh"):
        subprocess.run(["bash", "-n"], input=text(packed, name), text=True, check=True)


def test_only_what_the_items_need_is_packed(packed):
    """Kills a copy of the checkout."""
    names = set(contents(packed))
    assert {name.split("/")[0] for name in names if "/" in name} == {"autograder", "rankzero", "solutions"}
    assert {f"solutions/{name}.py" for name in FILES} <= names
    others = ("solutions/ch07/pipeline", "autograder/bank/ch07", "autograder/commands", "autograder/classroom")
    assert not any(name.startswith(others) for name in names)
    assert all(name.endswith(".py") for name in names if "/" in name)
    assert len(packed) < 450_000


def test_no_file_names_this_machine_or_the_key(packed):
    strange = re.compile("|".join(map(re.escape, {str(ROOT), str(Path.home()) + "/", sys.prefix})))
    for name in contents(packed):
        assert not strange.search(text(packed, name)), name
        assert name == "key" or KEY.decode() not in text(packed, name)
        assert not re.search(r"https?://(?!doi|arxiv)\S*(index|simple|pypi)", text(packed, name)), name


def test_an_item_that_needs_torch_needs_a_pin(packed):
    world = next(item for item in bank.builds() if item.grade == "world")
    with pytest.raises(ValueError, match=f"requirements must name torch, since {world.id} needs it"):
        gradescope.archive([world], KEY)
    pins = gradescope.pins((ROOT / "constraints.txt").read_text())
    assert [pin.split("==")[0] for pin in pins] == ["torch", "numpy"]
    both = gradescope.archive([*ITEMS, world], KEY, requirements=pins)
    assert " ".join(pins) in text(both, "setup.sh")
    assert "pip" not in text(packed, "setup.sh")
    with pytest.raises(ValueError, match="constraints must pin numpy"):
        gradescope.pins("torch==2.13.0\n")


def test_the_time_limit_covers_every_limit_of_a_submission():
    assert gradescope.minutes(ITEMS) == 10
    assert gradescope.minutes(bank.builds()) > 10


# The command


@pytest.fixture
def key(tmp_path):
    return written_key(tmp_path / "key", KEY.decode() + "\n")


def test_the_command_packs_closed_forms_and_says_what_it_left_out(tmp_path, key, capsys):
    out = tmp_path / "autograder.zip"
    assert main(["gradescope-zip", "--out", str(out), "--key", key, "--only", "05"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"autograder\.zip: \d+ kB, \d+ items, \d+ points\n", said)
    assert re.search(r"left out: \d+ items that need torch \(--tensors packs them\)", said)
    assert KEY.decode() not in said
    assert out.stat().st_mode & 0o777 == 0o600
    settings = json.loads(text(out.read_bytes(), "exam.json"))
    assert settings["sandbox"] == "required"
    assert all(bank.find(name).grade in ("call", "calls") for name in settings["items"])
    assert len(settings["items"]) > 15


def test_tensors_and_questions_are_packed_when_asked_for(tmp_path, key, capsys):
    out = tmp_path / "autograder.zip"
    assert (
        main(["gradescope-zip", "--out", str(out), "--key", key, "--only", "05", "--tensors", "--with-questions"]) == 0
    )
    assert "left out" not in capsys.readouterr().out
    settings = json.loads(text(out.read_bytes(), "exam.json"))
    assert settings["items"] != [name for name in settings["items"] if name in settings["points"]]
    assert {bank.find(name).grade for name in settings["points"]} >= {"call", "world"}
    assert "autograder/marking/trusted_worlds.py" in contents(out.read_bytes())


def test_points_are_those_of_the_file(tmp_path, key):
    out, points = tmp_path / "autograder.zip", tmp_path / "points.json"
    points.write_text('{"01": 2, "01-locate": 8.5}')
    ids = ["01-locate", "01-shard-indices", "11-constraint-state"]
    assert main(["gradescope-zip", "--out", str(out), "--key", key, "--points", str(points), "--only", *ids]) == 0
    given = json.loads(text(out.read_bytes(), "exam.json"))["points"]
    assert given == {
        "01-locate": 8.5,
        "01-shard-indices": 2.0,
        "11-constraint-state": bank.find("11-constraint-state").points,
    }


def test_points_that_cannot_be_are_refused(tmp_path, key, capsys):
    points, out = tmp_path / "points.json", tmp_path / "autograder.zip"
    points.write_text('{"01": -1}')
    arguments = ["--points", str(points), "--only", "01-locate", "--key", key, "--out", str(out)]
    assert main(["gradescope-zip", *arguments]) == 2
    said = capsys.readouterr()
    assert re.search(r"the points of 01 .*must be a number >= 0, got -1\n", said.err)
    assert said.err.count("\n") == 1
    assert not out.exists()


def test_an_exam_of_world_items_alone_says_how_to_pack_them(tmp_path, key, capsys):
    world = next(item.id for item in bank.builds() if item.grade == "world")
    assert main(["gradescope-zip", "--out", str(tmp_path / "a.zip"), "--key", key, "--only", world]) == 2
    assert capsys.readouterr().err == "autograder: these items need torch: pack them with --tensors\n"


def test_nothing_is_half_written(tmp_path, key, capsys):
    out = tmp_path / "missing" / "autograder.zip"
    assert main(["gradescope-zip", "--out", str(out), "--key", key, "--only", "01-locate"]) == 2
    assert "the archive cannot be written to" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["key"]


def test_a_key_that_was_drawn_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    out = tmp_path / "autograder.zip"
    assert main(["gradescope-zip", "--out", str(out), "--only", "01-locate"]) == 0
    said = re.search(r"^key: (\w+) \(drawn at random", capsys.readouterr().out, re.MULTILINE)
    assert said
    assert text(out.read_bytes(), "key") == said[1] + "\n"


# Beside the container


@pytest.fixture
def root(tmp_path, packed, monkeypatch) -> Path:
    """The folders of a container, without one: what is tried here is what is read, not what is kept in."""
    monkeypatch.setattr(bank, "CHAPTERS", bank.CHAPTERS)  # of the bank, a grading there sees what was packed
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    unpacked(packed, tmp_path / "source")
    settings = json.loads((tmp_path / "source" / "exam.json").read_text())
    (tmp_path / "source" / "exam.json").write_text(json.dumps(settings | {"sandbox": "best"}))
    return tmp_path


def result(root: Path, handed: dict[str, bytes]) -> dict:
    """What stands in the results after ``handed`` was graded."""
    for name, data in handed.items():
        path = root / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert inside.main(root) == 0
    return json.loads((root / "results" / "results.json").read_text())


def test_a_folder_an_archive_and_a_notebook_are_read(root):
    """Kills a grader that looks for modules beside them."""
    solutions = {name: (ROOT / "solutions" / f"{name}.py").read_bytes() for name in FILES}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, data in solutions.items():
            file.writestr(f"labs/{name}.py", data)
    (root / "submission" / ".DS_Store").write_bytes(b"")
    assert result(root, {"my labs.zip": packed.getvalue()})["score"] == 12
    (root / "submission" / "my labs.zip").unlink()
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": solutions["ch01/sharding"].decode()}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert result(root, {"Assignment 1 (final).ipynb": json.dumps(notebook).encode()})["score"] == 4
    (root / "submission" / "Assignment 1 (final).ipynb").unlink()
    assert result(root, {f"labs/{name}.py": data for name, data in solutions.items()})["score"] == 12


@pytest.mark.parametrize(
    ("handed", "reason"),
    [
        ({}, "holds no .py file and no notebook"),
        ({"essay.pdf": b"%PDF-1.7"}, "essay.pdf is not a .py file"),
        ({"labs.zip": b"PK\3\4 no"}, "the archive is damaged"),
        ({"ranks.py": "# na\u00efve".encode("latin-1")}, "ranks.py is not UTF-8"),
        ({"a.ipynb": b"{}"}, "a.ipynb is not a notebook"),
    ],
)
def test_what_cannot_be_read_costs_no_attempt_and_says_why(root, handed, reason):
    results = result(root, handed)
    assert (results["score"], results["tests"], results["extra_data"]["gradable"]) == (0.0, [], False)
    assert reason in results["output"]


def test_a_missing_folder_is_a_reason_and_no_crash(root):
    (root / "submission").rmdir()
    assert "there is no file or folder 'submission'" in result(root, {})["output"]


def test_a_link_is_not_followed(root):
    """Kills a grader that reads, as root, what a handed-in link points at."""
    (root / "submission" / "ranks.py").symlink_to(root / "source" / "solutions" / "ch01" / "ranks.py")
    results = result(root, {})
    assert results["score"] == 0
    assert results["extra_data"]["gradable"] is False


def test_a_grader_that_fails_leaves_a_result_and_no_detail(root, capsys):
    (root / "source" / "exam.json").write_text("{")
    results = result(root, {"ranks.py": b""})
    assert results["output"] == "Not graded: the grader failed (JSONDecodeError): tell your instructor."
    assert results["extra_data"]["gradable"] is False
    assert "JSONDecodeError: Expecting" in capsys.readouterr().err


def test_the_points_are_those_that_were_packed(root):
    settings = json.loads((root / "source" / "exam.json").read_text())
    settings["points"]["01-locate"] = 8.0
    (root / "source" / "exam.json").write_text(json.dumps(settings))
    data = (ROOT / "solutions" / "ch01" / "ranks.py").read_bytes()
    results = result(root, {"ranks.py": data})
    assert results["score"] == 8  # on top: what lies deeper is not part of the total
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(ITEMS[-1].points)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["only.ipynb"], "only.ipynb"),
        (["labs.zip"], "labs.zip"),
        (["ranks.py", "scale.py"], "."),
        (["ranks.py", ".DS_Store"], "ranks.py"),
        (["labs/ch01/ranks.py"], "."),
        (["labs/ranks.py"], "."),
        ([], "."),
    ],
)
def test_one_file_is_taken_as_itself(tmp_path, names, chosen):
    """Kills a grader that looks for code beside a handed-in archive, and finds none."""
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert inside.handed_in(tmp_path) == tmp_path / chosen


def test_of_the_metadata_only_what_names_the_submission_is_kept(tmp_path):
    users = [{"email": "ada@example.org", "name": "Ada", "sid": "7"}]
    metadata = {"id": 12, "created_at": "2026-01-02", "users": users, "assignment": {"id": 3, "title": "Labs"}}
    (tmp_path / "submission_metadata.json").write_text(
        json.dumps(metadata | {"previous_submissions": [{"score": 4.0}]})
    )
    known = {"submission": 12, "created": "2026-01-02", "assignment": 3, "title": "Labs"}
    assert inside.known(tmp_path) == known
    for broken in ("", "[]", '{"assignment": 5}', '{"id": [1]}'):
        (tmp_path / "submission_metadata.json").write_text(broken)
        assert inside.known(tmp_path) == {}
