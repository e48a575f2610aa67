"""Feedback that returns: a class of ten on Moodle and on Canvas, graded, adjusted by hand, and packed for both."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom import adjustments, feedback, tables
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded
from autograder.marking.marks import Grading, Mark, Share
from tests.autograder import a_class

ITEM = "02-message-time"
RIGHT = "def message_time(message_bytes, bandwidth, latency=0.0):\n    return latency + message_bytes / bandwidth\n"
WRONG = "def message_time(message_bytes, bandwidth, latency=0.0):\n    return message_bytes / bandwidth\n"
NAMES = (
    "Ada Adams",
    "Bo Berg",
    "Çelik Öz",
    "Dee O'Hara",
    "Eve_Lin",
    "Fa Fu",
    "Gus Gil",
    "Hal Ha",
    "Ida Ito",
    "Jo Jung",
)
MOODLE_HEADER = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Feedback comments"


def program(place: int) -> str:
    return RIGHT if place % 2 else WRONG


def on_moodle(folder: Path) -> Path:
    for place, name in enumerate(NAMES):
        own = folder / f"{name.replace('_', ' ')}_{7000 + place}_assignsubmission_file_"
        own.mkdir(parents=True)
        (own / "lab.py").write_text(program(place))
    return folder


def on_canvas(folder: Path) -> Path:
    folder.mkdir()
    for place, name in enumerate(NAMES):
        slug = "".join(letter for letter in name.lower() if letter.isalpha())
        late = "_LATE" if place == 3 else ""
        if place == 4:
            cell = {
                "cell_type": "code",
                "metadata": {},
                "source": program(place),
                "outputs": [],
                "execution_count": None,
            }
            text, ending = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "ipynb"
        else:
            text, ending = program(place), "py"
        (folder / f"{slug}{late}_{300 + place}_{9000 + place}_lab.{ending}").write_text(text)
    return folder


def graded(folder: Path, out: Path, key: str) -> Path:
    command = ["grade-class", str(folder), "--out", str(out), "--key", key, "--sandbox", "none", "--workers", "2"]
    assert main([*command, "--only", ITEM]) == 0
    return out


def entries(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def table(path: Path) -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in csv.DictReader(io.StringIO(path.read_text()))}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("feedback")


@pytest.fixture(scope="module")
def key(place):
    return a_class.written_key(place / "key.txt")


@pytest.fixture(scope="module")
def moodle_class(place, key):
    return graded(on_moodle(place / "moodle"), place / "graded-moodle", key)


@pytest.fixture(scope="module")
def canvas_class(place, key):
    return graded(on_canvas(place / "canvas"), place / "graded-canvas", key)


def test_moodle_takes_the_pages_back_by_folder(moodle_class, place, key):
    adjust, worksheet = place / "adjust.csv", place / "worksheet.csv"
    rows = csv.DictReader(io.StringIO((moodle_class / "class.csv").read_text()))
    ids = {row["name"]: row["id"] for row in rows}
    adjust.write_text(f'id,points,sentence\n{ids["Ada Adams"]},1.5,"Explained well, in the talk."\n')
    lines = [f"Participant {7000 + n},{name.replace('_', ' ')},x{n}@u.org,,,4,\n" for n, name in enumerate(NAMES)]
    worksheet.write_text(MOODLE_HEADER + "\n" + "".join(lines) + "Participant 7999,Zoe Missing,z@u.org,,,4,\n")
    to = place / "to-moodle"
    options = ["--key", key, "--adjust", str(adjust), "--gradebook", str(worksheet)]
    assert main(["feedback", str(moodle_class), "--for", "moodle", "--to", str(to), *options]) == 0

    packed = entries(to / "moodle.zip")
    assert list(packed) == [
        f"{name.replace('_', ' ')}_{7000 + n}_assignsubmission_file_/feedback.html" for n, name in enumerate(NAMES)
    ]
    first = packed["Ada Adams_7000_assignsubmission_file_/feedback.html"]
    assert "Explained well, in the talk." in first
    assert "Adjusted by hand" in first
    told = table(to / "comments.csv")
    assert told["Zoe Missing"]["comment"] == feedback.NOTHING
    assert told["Zoe Missing"]["score"] == ""
    assert float(told["Ada Adams"]["score"]) == 1.5 + float(told["Çelik Öz"]["score"])
    assert float(told["Bo Berg"]["score"]) > float(told["Çelik Öz"]["score"])
    assert "message_time (" in told["Ada Adams"]["comment"]
    assert sorted(one.name for one in to.iterdir()) == ["comments.csv", "moodle.zip", "pages"]

    imported = place / "import.csv"
    given = ["--key", key, "--adjust", str(adjust), "--comments", "--to", str(imported)]
    assert main(["moodle", str(worksheet), str(moodle_class), *given]) == 0
    sheet = {row["Full name"]: row for row in csv.DictReader(io.StringIO(imported.read_text()))}
    assert sheet["Ada Adams"]["Grade"] == told["Ada Adams"]["score"]
    assert sheet["Ada Adams"]["Feedback comments"] == told["Ada Adams"]["comment"]
    assert sheet["Zoe Missing"]["Grade"] == ""
    assert sheet["Zoe Missing"]["Feedback comments"] == ""


def test_canvas_takes_files_back_by_its_own_names(canvas_class, place, key):
    export = place / "gradebook.csv"
    lines = [f'"{name.split()[-1]}, {name.split()[0]}",{300 + n},,\n' for n, name in enumerate(NAMES)]
    head = "Student,ID,SIS Login ID,Lab (1)\n    Points Possible,,,4\n"
    export.write_text(head + "".join(lines) + '"Missing, Zoe",399,,\n')
    to, download = place / "to-canvas", place / "canvas"
    options = ["--key", key, "--gradebook", str(export), "--download", str(download)]
    assert main(["feedback", str(canvas_class), "--for", "canvas", "--to", str(to), *options]) == 0

    packed = entries(to / "canvas.zip")
    assert sorted(packed) == sorted(one.name for one in download.iterdir())
    (notebook,) = (text for name, text in packed.items() if name.endswith(".ipynb"))
    assert json.loads(notebook)["cells"][0]["source"].startswith("# Feedback for Eve_Lin")
    assert packed["adaadams_300_9000_lab.py"].startswith("Feedback for Adams, Ada\n")
    told = table(to / "comments.csv")
    assert "adaadams" not in told
    assert told["Adams, Ada"]["id"] == "adaadams-300"
    assert told["Missing, Zoe"]["comment"] == feedback.NOTHING


def test_canvas_needs_its_download(canvas_class, place, key, capsys):
    assert main(["feedback", str(canvas_class), "--for", "canvas", "--to", str(place / "no"), "--key", key]) == 2
    assert "--download" in capsys.readouterr().err


def test_a_class_of_no_platform_has_pages_and_comments(moodle_class, place, key, capsys):
    """Kills: whoever collected files by mail, and has to name a platform that nobody uses."""
    to = place / "to-nobody"
    assert main(["feedback", str(moodle_class), "--to", str(to), "--key", key]) == 0
    assert sorted(one.name for one in to.iterdir()) == ["comments.csv", "pages"]
    assert len(list((to / "pages").iterdir())) == len(NAMES)
    assert main(["feedback", str(moodle_class), "--to", str(to), "--key", key, "--gradebook", "x.csv"]) == 2
    assert "--gradebook needs --for" in capsys.readouterr().err


def test_a_comment_counts_as_the_page_does():
    """Kills: "8 of 4 points", and a loss that is read into an optional item."""
    from autograder import bank

    core, bonus, other = (bank.find(name) for name in ("02-message-time", "02-relay-time", "02-naive-step"))
    nothing = Mark(other, "missing", (Share("all", 0, 1, 0.0, 4.0),), ("naive_step is not in the submission",))
    right = [Mark(item, "right", (Share("all", 1, 1, 4.0, 4.0),)) for item in (core, bonus)]
    graded = Graded(Handed("a", Path("a.py"), "a"), Grading("a.py", "", (*right, nothing), problems=("one", "two?")))
    assert feedback.Returned("a", graded).comment == (
        "4 of 4 points, and 4 for optional items. Note: one. Note: two? Optional, not handed in: naive_step."
    )
    wrong = Mark(core, "missing", (Share("all", 0, 1, 0.0, 4.0),), ("message_time is not in the submission",))
    graded = Graded(Handed("a", Path("a.py"), "a"), Grading("a.py", "", (wrong,)))
    assert feedback.Returned("a", graded).lines[1] == "message_time (0 of 4): message_time is not in the submission."


def test_feedback_never_lies_beside_the_answers(canvas_class, key, capsys):
    command = ["feedback", str(canvas_class), "--for", "moodle", "--to", str(canvas_class), "--key", key]
    assert main(command) == 2
    assert "not for learners" in capsys.readouterr().err


def test_one_learner_is_run_again(moodle_class, place, key):
    def seconds() -> dict[str, float]:
        lines = map(json.loads, (moodle_class / "finished.jsonl").read_text().splitlines())
        return {line["name"]: (line["id"], line["seconds"], line["seal"]) for line in lines}

    before = seconds()
    command = ["grade-class", str(place / "moodle"), "--out", str(moodle_class), "--key", key, "--sandbox", "none"]
    assert main([*command, "--only", ITEM, "--resume", "--again", before["Bo Berg"][0]]) == 0
    after = seconds()
    assert [name for name in before if before[name] != after[name]] in (["Bo Berg"], [])


def test_points_of_one_learner_are_marked_again(moodle_class, place, key):
    points = place / "points.json"
    points.write_text(json.dumps({ITEM: 4}))
    ids = [json.loads(line)["id"] for line in (moodle_class / "finished.jsonl").read_text().splitlines()]
    command = ["regrade", str(moodle_class), "--to", str(place / "marked-again"), "--key", key, "--points", str(points)]
    assert main([*command, "--only", ITEM, "--learners", ids[0]]) == 0
    assert (
        main(["regrade", str(moodle_class), "--to", str(place / "nobody"), "--key", key, "--learners", "nobody"]) == 2
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,points\nada,1\n", "the first line must be id,points,sentence"),
        ("id,points,sentence\nbob,1,well done\n", "line 2: nobody in the class has the id 'bob'"),
        ("id,points,sentence\nAda,1,well done\n", "has the id 'Ada'; did you mean ada?"),
        ("id,points,sentence\nada,one,well done\n", "points must be a number"),
        ("id,points,sentence\nada,nan,well done\n", "points must be a number"),
        ("id,points,sentence\nada,1,\n", "a sentence for ada is needed"),
        ("id,points,sentence\nada,1,well done, in part\n", "in quotes if it has a comma"),
        ("id;points;sentence\nada;1;well done; in part\n", "in quotes if it has a semicolon"),
    ],
)
def test_adjustments_that_cannot_be_read(text, said):
    with pytest.raises(adjustments.NoAdjustments, match=said.replace("(", r"\(").replace("?", r"\?")):
        adjustments.read(text, {"ada"})


def test_adjustments_as_excel_writes_them_where_commas_are_decimal():
    """Kills: a refusal of what Excel saves as CSV in half of Europe."""
    made = adjustments.read('id;points;sentence\nada;-0,5;late\nada;1;"talk, and more"\n', {"ada"})
    assert [str(one) for one in made["ada"]] == ["-0.5 points: late", "+1 points: talk, and more"]


def test_a_sentence_of_several_lines_keeps_its_words_apart():
    """Kills: "lateby two days"."""
    made = adjustments.read('id,points,sentence\r\nada,1,"late\r\nby\u2028two\x0cdays"\r\n', {"ada"})
    assert [str(one) for one in made["ada"]] == ["+1 points: late by two days"]


def test_adjustments_add_up_and_do_not_go_below_zero():
    made = adjustments.read("\ufeffid,points,sentence\nada,-3,late\nada,1,talk\n", {"ada"})
    assert [str(one) for one in made["ada"]] == ["-3 points: late", "+1 points: talk"]
    assert adjustments.adjusted(4, made["ada"]) == 2
    assert adjustments.adjusted(1, made["ada"]) == 0


def answered(number: int, scores: tuple[float, ...]) -> Graded:
    """A learner with these shares of three items."""
    from autograder import bank

    items = [item for item in bank.builds() if item.grade == "call"][:3]
    marks = tuple(
        Mark(item, "right" if score == 1 else "partly", (Share("all", 0, 1, score * item.points, item.points),))
        for item, score in zip(items, scores, strict=True)
    )
    return Graded(Handed(f"n{number}", Path("x.py"), f"n{number}"), Grading("x.py", "", marks))


def test_items_that_tell_learners_apart():
    rng = random.Random(5)
    rows = []
    for number in range(40):
        skill = rng.random()
        rows.append(answered(number, (float(skill > 0.5), skill, float(rng.random() > 0.5))))
    good, _, chance = tables.counts(rows)
    assert good.discrimination
    assert good.discrimination > 0.3
    assert chance.discrimination is not None
    assert abs(chance.discrimination) < good.discrimination
    assert all(count.discrimination is None for count in tables.counts(rows[:29]))
    assert tables.counts([answered(n, (1.0, 1.0, 0.0)) for n in range(40)])[0].discrimination is None
    assert "discrimination" in tables.items_csv(rows).splitlines()[0]
