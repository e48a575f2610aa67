"""A class: every submission gets its row and its result, whatever the others do and however often it is interrupted."""

from __future__ import annotations

import concurrent.futures
import csv
import errno
import json
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import bank, files
from autograder.__main__ import main
from autograder.classroom import classes, collecting, differences, progress_line, storage, worker
from autograder.classroom.graded import Graded
from autograder.classroom.worker import Spec
from autograder.marking import judge, report
from autograder.running import judging, process
from autograder.sandbox import Sandbox, SandboxRefused
from tests.autograder import a_class

ROOT = Path(__file__).parents[3]
ONE = a_class.ITEMS[1]
RIGHT = a_class.reference()
ENDLESS = "def ring_all_reduce_time(*args, **kwargs):\n    while True:\n        pass\n"


def spec(**changes) -> Spec:
    """One function, without isolation: for tests of everything else."""
    return a_class.spec(**{"items": (ONE,), "level": "none"} | changes)


def handed_in(folder: Path, **sources: str) -> list[collecting.Handed]:
    folder.mkdir(exist_ok=True)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return collecting.collect(folder)


def graded(handed, out: Path, resume: bool = False, asked: Spec | None = None, **options) -> list[Graded]:
    return classes.grade_class(handed, asked or spec(), storage.Folder(out, resume), **options)


def lines(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "finished.jsonl").read_text().splitlines()]


def result(out: Path, name: str) -> dict:
    return json.loads((out / "results" / f"{name}.json").read_text())


@pytest.fixture
def few(tmp_path):
    """Four submissions: right, another right one, wrong, and one that is no text."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "dora.py").write_bytes(b"# caf\xe9\n")
    wrong = "def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):\n    return 1.0\n"
    return handed_in(tmp_path / "in", anna=RIGHT, ben=RIGHT + "# mine\n", carl=wrong)


# A class.


@pytest.mark.xdist_group("class")
def test_a_class_gives_a_row_and_a_result_for_each(the_class):
    out = the_class.out
    assert [row["id"] for row in lines(out)] == the_class.names
    assert {file.stem for file in (out / "results").iterdir()} == set(the_class.names)
    assert {file.stem for file in (out / "pages").iterdir()} == {*the_class.names, "index"}
    assert [row["id"] for row in csv.DictReader((out / "class.csv").open(encoding="utf-8"))] == the_class.names
    items = list(csv.DictReader((out / "items.csv").open(encoding="utf-8")))
    assert [row["item"] for row in items] == list(storage.opened(out).stamps["items"])
    results = {name: result(out, name) for name in the_class.names}
    assert not any(report.UNFINISHED in one["output"] for one in results.values())
    assert not any(row.fault for row in the_class.rows)
    assert all(results[row["id"]]["score"] == row["score"] for row in lines(out))


@pytest.mark.xdist_group("class")
def test_each_kind_earns_what_it_deserves(the_class):
    """Kills a class that mixes submissions up: each kind has scores of its own."""
    scores: dict[str, list[float]] = {}
    for row in the_class.rows:
        scores.setdefault(row.handed.id[4:], []).append(row.grading.score)
    good = [row.handed.id for row in the_class.rows if row.handed.id[4:] == "good"]
    assert {
        name: result(the_class.out, name)["output"] for name in good if result(the_class.out, name)["score"] < 8
    } == {}
    assert set(scores["good"]) == {8.0}
    assert set(scores["stub"]) == {0.0}
    assert max(scores["slip"]) < 8.0
    assert len(set(scores["mutant"])) > (1 if the_class.size > 20 else 0)
    hostile = {title: scores[title] for title in a_class.STEADY if title in scores}
    assert len(hostile) == the_class.size // 5
    assert set(map(tuple, hostile.values())) == {(0.0,)}
    unreadable = sum(bool(row.grading.reason) for row in the_class.rows)
    assert unreadable == {20: 2, 200: 12}[the_class.size]


@pytest.mark.xdist_group("class")
@pytest.mark.proof(part="bank")
def test_the_same_key_gives_the_same_files(the_class, tmp_path):
    graded(the_class.handed, tmp_path / "again", asked=a_class.spec(), workers=7)
    assert a_class.content(tmp_path / "again") == a_class.content(the_class.out)


KILLED = """
import os, signal, sys
from autograder.classroom import classes, collecting, storage
from tests.autograder import a_class

class Killer(classes.Watch):
    def now(self, done, total, running):
        if done >= total // 2:
            os.kill(os.getpid(), signal.SIGKILL)

handed = collecting.collect(sys.argv[1])
classes.grade_class(handed, a_class.spec(), storage.Folder(sys.argv[2]), workers=4, watch=Killer())
"""


@pytest.mark.xdist_group("class")
def test_killed_half_way_and_resumed_it_is_the_same(the_class, tmp_path):
    """Kills: a line before its files, a torn line that ends the reading, grading the finished half again."""
    out = tmp_path / "killed"
    command = [sys.executable, "-c", KILLED, str(the_class.path), str(out)]
    assert subprocess.run(command, cwd=ROOT).returncode == -signal.SIGKILL
    first = lines(out)
    half = the_class.size // 2
    assert half <= len(first) < the_class.size
    assert len(list((out / "results").iterdir())) == the_class.size
    assert sum("did not finish" in result(out, name)["output"] for name in the_class.names) == the_class.size - len(
        first
    )
    with open(out / "finished.jsonl", "a") as file:
        file.write('{"id": "000-good", "name": "000-go')
    asked = []
    rows = graded(the_class.handed, out, resume=True, asked=a_class.spec(), executor=Counting(asked), workers=4)
    assert len(asked) == the_class.size - len(first)
    assert not {row["id"] for row in first} & set(asked)
    assert len(rows) == the_class.size
    assert a_class.content(out) == a_class.content(the_class.out)


class Counting(concurrent.futures.ThreadPoolExecutor):
    """Threads that note whom they ask."""

    def __init__(self, asked: list[str]) -> None:
        super().__init__(4)
        self.asked = asked

    def submit(self, fn, /, *args):
        if fn is worker.ask_one:
            self.asked.append(args[1].id)
        return super().submit(fn, *args)


# Whatever one submission does.


@pytest.mark.proof(part="classes")
def test_an_endless_loop_costs_the_others_nothing(tmp_path):
    """Kills a class that waits for the slow one: all others are kept while it still runs."""
    sources = {f"learner{number}": f"{RIGHT}# {number}\n" for number in range(8)}
    handed = handed_in(tmp_path / "in", aaron=ENDLESS, **sources)

    class Watch(classes.Watch):
        def now(self, done, total, running):
            if done == 8 and list(running) == ["aaron"]:
                raise KeyboardInterrupt

    asked = spec(limits=a_class.replace_limits(call=100.0, submission=200.0))
    with pytest.raises(KeyboardInterrupt):
        graded(handed, tmp_path / "out", asked=asked, workers=2, watch=Watch())
    assert {row["id"]: row["score"] for row in lines(tmp_path / "out")} == dict.fromkeys(sources, 4.0)
    rows = graded(handed, tmp_path / "out", resume=True)  # with a budget it ends, and earns nothing
    assert [row.grading.score for row in rows] == [0.0] + [4.0] * 8


def test_rows_are_in_order_whoever_finishes_first(tmp_path):
    slow = "import time\ntime.sleep(0.5)\n" + RIGHT
    rows = graded(handed_in(tmp_path / "in", anna=slow, ben=RIGHT, carl=RIGHT), tmp_path / "out", workers=3)
    assert [row.handed.id for row in rows] == [row["id"] for row in lines(tmp_path / "out")] == ["anna", "ben", "carl"]


def test_what_cannot_be_read_has_a_row_and_a_result_and_costs_no_attempt(few, tmp_path):
    graded(few, tmp_path / "out")
    row = lines(tmp_path / "out")[3]
    assert (row["id"], row["score"], row["sha256"], row["fault"]) == ("dora", 0, "", False)
    assert "is not UTF-8" in row["reason"]
    extra = result(tmp_path / "out", "dora")["extra_data"]
    assert (extra["gradable"], extra["reason"]) == (False, row["reason"])


def test_results_never_become_somebodys_submission(few, tmp_path, key, capsys):
    """Kills: a class that grows by a learner called "graded" each time, and results that are graded as a class."""
    inside = few[0].path.parent / "graded"
    command = ["grade-class", str(few[0].path.parent), "--key", key, "--only", ONE, "--sandbox", "none", "--out"]
    assert main([*command, str(inside)]) == 2
    assert "is within the class, and would count as a submission" in capsys.readouterr().err
    assert not inside.exists()
    out = tmp_path / "results"
    out.mkdir()
    for name in ("class.json", "finished.jsonl"):
        (out / name).write_text("")
    assert main(["collect", str(out)]) == 2
    assert "results is a graded class: name the folder with what was handed in" in capsys.readouterr().err


def test_a_class_one_folder_too_deep_is_asked_about(few, tmp_path, capsys):
    """Kills: nine learners who are graded as one called "class"."""
    (tmp_path / "week").mkdir()
    shutil.copytree(few[0].path.parent, tmp_path / "week" / "class")
    assert main(["collect", str(tmp_path / "week")]) == 0
    assert "If 'class' is a class and not a learner, name that folder itself." in capsys.readouterr().out
    shutil.make_archive(str(tmp_path / "hand-ins"), "zip", tmp_path / "week")
    assert main(["collect", str(tmp_path / "hand-ins.zip")]) == 0
    assert "not a learner, unpack it and name that folder itself." in capsys.readouterr().out
    assert main(["collect", str(few[0].path.parent)]) == 0
    assert "not a learner" not in capsys.readouterr().out


@pytest.mark.parametrize("where", ["running.judging.ask", "running.judging.grade", "classroom.pages.learner"])
def test_a_failure_of_the_grader_costs_one_row_and_is_named(where, few, tmp_path, key, capsys, monkeypatch):
    """Kills: a class that ends at its first surprise, and one that calls it the submission's fault."""
    original = getattr(judging if ".judging." in where else storage.pages, where.split(".")[-1])

    def failing(first, *rest):
        name = getattr(first, "name", "") or first.grading.name
        if name == "ben.py":
            raise KeyError("a surprise")
        return original(first, *rest)

    monkeypatch.setattr(f"autograder.{where}", failing)
    out = tmp_path / "out"
    command = ["grade-class", str(few[0].path.parent), "--out", str(out), "--key", key, "--only", ONE]
    assert main([*command, "--sandbox", "none"]) == 1
    said = capsys.readouterr()
    assert "autograder: ben: the grader failed, this is not the submission's fault (KeyError): 'a surprise'" in said.err
    assert "a surprise" not in (out / "results" / "ben.json").read_text() + (out / "pages" / "ben.html").read_text()
    assert [(row["score"], row["fault"]) for row in lines(out)] == [(4.0, False), (0, True), (0.0, False), (0, False)]
    assert result(out, "ben")["extra_data"]["gradable"] is False
    monkeypatch.undo()
    assert main([*command, "--sandbox", "none", "--resume"]) == 0  # it is graded again
    assert [row["score"] for row in lines(out)] == [4.0, 4.0, 0.0, 0]


def test_a_result_stands_for_everyone_before_anybody_is_asked(few, tmp_path):
    out, found = tmp_path / "out", []

    class Looking(concurrent.futures.ThreadPoolExecutor):
        def submit(self, fn, /, *args):
            if fn is worker.ask_one and not found:
                found.extend(json.loads(file.read_text())["output"] for file in (out / "results").iterdir())
            return super().submit(fn, *args)

    with Looking(1) as executor:
        graded(few, out, executor=executor)
    assert found == [report.UNFINISHED] * 4


def test_only_few_submissions_are_in_work(tmp_path):
    """Kills: handing the whole class to the workers, whose answers would all be held at once."""
    handed = handed_in(tmp_path / "in", **{f"learner{number}": "" for number in range(20)})
    most: list[int] = []

    class Watch(classes.Watch):
        def now(self, done, total, running):
            most.append(len(running))

    graded(handed, tmp_path / "out", workers=2, watch=Watch())
    assert max(most) <= 2 * classes.AHEAD


# Stopping and going on.


class Stopping(classes.Watch):
    """Ctrl-C after the first submission is done."""

    def now(self, done, total, running):
        if done:
            raise KeyboardInterrupt


@pytest.mark.parametrize("level", ["none", "best"])
def test_ctrl_c_ends_children_and_keeps_what_is_finished(level, tmp_path):
    """Kills: waiting for the budgets of what is in work, and children that are left."""
    handed = handed_in(tmp_path / "in", anna=RIGHT, **{f"loop{number}": ENDLESS for number in range(3)})
    asked = spec(level=level, limits=a_class.replace_limits(call=60.0, submission=600.0))
    began, others = time.monotonic(), set(process.ALIVE)  # those of exams that other tests hold
    with pytest.raises(KeyboardInterrupt):
        graded(handed, tmp_path / "out", asked=asked, workers=2, watch=Stopping())
    assert time.monotonic() - began < 30
    assert not set(process.ALIVE) - others
    assert [row["id"] for row in lines(tmp_path / "out")] == ["anna"]
    for one in handed[1:]:
        one.path.write_text(RIGHT)
    rows = graded(collecting.collect(tmp_path / "in"), tmp_path / "out", True, asked)
    assert [row.grading.score for row in rows] == [4.0] * 4


def test_ctrl_c_says_how_to_go_on(few, tmp_path, key, capsys, monkeypatch):
    monkeypatch.setattr(progress_line.Progress, "now", Stopping.now)
    command = ["grade-class", str(few[0].path.parent), "--out", str(tmp_path / "out"), "--key", key, "--only", ONE]
    assert main([*command, "--sandbox", "none", "--workers", "1"]) == 1
    assert "--resume to continue" in capsys.readouterr().err
    monkeypatch.undo()
    assert main([*command, "--sandbox", "none", "--resume"]) == 0
    assert len(lines(tmp_path / "out")) == 4


@pytest.mark.parametrize("step", ["put", "finish"])
def test_a_full_disk_stops_the_class_and_says_how_to_go_on(step, few, tmp_path, key, capsys, monkeypatch):
    """Kills: a class that ends as if its folder could never be written, and one that goes on without what is lost."""
    save, full = files.save, {"put": "ben.html", "finish": "items.csv"}[step]

    def failing(path, content, durable=False):
        if Path(path).name == full:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(path, content, durable)

    monkeypatch.setattr(files, "save", failing)
    out = tmp_path / "out"
    command = ["grade-class", str(few[0].path.parent), "--out", str(out), "--key", key, "--only", ONE]
    assert main([*command, "--sandbox", "none", "--workers", "1"]) == 1
    said = capsys.readouterr()
    assert (
        f"{out} cannot be written (No space left on device); what is finished is kept in {out}: make room" in said.err
    )
    assert "--resume to continue" in said.err
    assert not said.out
    monkeypatch.undo()
    assert main([*command, "--sandbox", "none", "--resume"]) == 0
    assert a_class.content(out) == a_class.content(fresh(tmp_path, few))


def test_resume_asks_only_what_changed(few, tmp_path):
    out = tmp_path / "out"
    graded(few, out)
    few[1].path.write_text("")
    few[3].path.write_text(RIGHT)
    asked: list[str] = []
    with Counting(asked) as executor:
        rows = graded(collecting.collect(tmp_path / "in"), out, True, executor=executor)
    assert asked == ["ben", "dora"]
    assert [row.grading.score for row in rows] == [4.0, 0.0, 0.0, 4.0]
    assert a_class.content(out) == a_class.content(fresh(tmp_path, few))


def fresh(tmp_path: Path, handed) -> Path:
    graded(handed, tmp_path / "fresh")
    return tmp_path / "fresh"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"key": b"other"}, "key, inputs"),
        ({"items": a_class.ITEMS}, "items"),
        ({"points": ((ONE, 7.0),)}, "points"),
        ({"per_submission": True}, "--per-submission"),
    ],
)
def test_resume_refuses_another_grading(changes, word, few, tmp_path):
    """Kills: a class of which one half was asked something else."""
    graded(few, tmp_path / "out")
    before = a_class.content(tmp_path / "out")
    with pytest.raises(storage.NotAClass, match=f"was graded with different .*{word}"):
        graded(few, tmp_path / "out", True, spec(**changes))
    assert a_class.content(tmp_path / "out") == before


def test_a_graded_class_is_not_overwritten(few, tmp_path, key, capsys):
    graded(few, tmp_path / "out")
    command = ["grade-class", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--key", key, "--sandbox", "none"]
    assert main([*command, "--only", ONE]) == 2
    assert "holds a graded class: give --resume" in capsys.readouterr().err


# Isolation and keys.


def test_isolation_is_required_and_its_lack_refused(few, tmp_path, key, capsys, monkeypatch):
    """Kills: grading a class in silence where files and network are open."""

    def refuse(level="best", without=()):
        assert level == "required"
        raise SandboxRefused("this host cannot isolate files and network")

    monkeypatch.setattr(Sandbox, "measure", refuse)
    worker._made.cache_clear()
    command = ["grade-class", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--key", key, "--only", ONE]
    assert main(command) == 3
    assert capsys.readouterr().err == "autograder: this host cannot isolate files and network\n"


def test_the_key_stands_nowhere(few, tmp_path, key, capsys):
    command = ["grade-class", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--key", key, "--only", ONE]
    assert main([*command, "--sandbox", "none"]) == 0
    said = capsys.readouterr()
    kept = "".join(file.read_text() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert "sesame" not in kept + said.out + said.err + repr(spec())
    assert set(storage.CORE) <= set(json.loads((tmp_path / "out" / "class.json").read_text()))


def test_a_key_that_was_drawn_is_said_at_once_and_grades_the_same(few, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    command = ["grade-class", str(tmp_path / "in"), "--sandbox", "none", "--only", ONE]
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    drawn = capsys.readouterr().err.split("key: ")[1].split()[0]
    key = a_class.written_key(tmp_path / "key", drawn)
    assert main([*command, "--out", str(tmp_path / "two"), "--key", key]) == 0
    assert a_class.content(tmp_path / "one") == a_class.content(tmp_path / "two")


def test_what_a_worker_needs_can_be_sent_to_it(few):
    asked, handed = pickle.loads(pickle.dumps((spec(), few[0])))
    assert (asked, handed) == (spec(), few[0])
    answers = worker.ask_one(asked, handed)
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers


# Shards.


def test_every_submission_is_in_one_shard(the_class):
    shards = [{one.id for one in the_class.handed if classes.in_shard(one, k, 16)} for k in range(1, 17)]
    assert sum(map(len, shards)) == len(set().union(*shards)) == the_class.size
    assert the_class.size < 200 or min(map(len, shards)) > 3


@pytest.fixture
def shards(few, tmp_path, key):
    """Two shards of the class of four."""
    outs = []
    for number in (1, 2):
        outs.append(str(tmp_path / f"shard{number}"))
        command = ["grade-class", str(tmp_path / "in"), "--out", outs[-1], "--key", key, "--only", ONE]
        assert main([*command, "--sandbox", "none", "--shard", f"{number}/2"]) == 0
    return outs


def test_merged_shards_are_the_class(few, shards, tmp_path, key):
    assert 0 < len(lines(Path(shards[0]))) < 4
    for part in ("results", "pages"):  # they are written anew
        for file in Path(shards[0], part).iterdir():
            file.write_text("forged")
    assert main(["merge", *shards, "--out", str(tmp_path / "whole"), "--key", key]) == 0
    assert a_class.content(tmp_path / "whole") == a_class.content(fresh(tmp_path, few))


def test_merge_refuses_what_does_not_belong_together(few, shards, tmp_path, key, capsys):
    whole = ["--out", str(tmp_path / "whole"), "--key", key]
    graded(few, tmp_path / "other", asked=spec(key=b"other"))
    assert main(["merge", shards[0], str(tmp_path / "other"), *whole]) == 2
    assert "was graded with different key, inputs" in capsys.readouterr().err
    few[0].path.write_text("")
    graded(few, tmp_path / "changed")
    assert main(["merge", *shards, str(tmp_path / "changed"), *whole]) == 2
    assert "anna differs between" in capsys.readouterr().err
    assert not (tmp_path / "whole").exists()


def test_merge_refuses_two_people_under_one_id(few, tmp_path, key, capsys):
    """Kills: one row for two who are called alike in two groups, and who both handed in nothing."""
    for group, learner in (("one", "1"), ("two", "2")):
        (tmp_path / group).mkdir()
        handed = [replace(few[1], known={"canvas": learner})]
        graded(handed, tmp_path / group / "out")
    command = ["merge", str(tmp_path / "one" / "out"), str(tmp_path / "two" / "out"), "--key", key]
    assert main([*command, "--out", str(tmp_path / "whole")]) == 2
    assert "ben differs between" in capsys.readouterr().err


def test_merge_misses_a_part(shards, tmp_path, key, capsys):
    """Kills: a class without those whose machine was forgotten."""
    for there, missing in ((shards[0], "2/2"), (shards[1], "1/2")):
        assert main(["merge", there, "--out", str(tmp_path / "whole"), "--key", key]) == 2
        assert f"part {missing} of the class is missing" in capsys.readouterr().err
    assert not (tmp_path / "whole").exists()


def test_one_part_does_not_go_on_in_the_folder_of_another(shards, tmp_path, key, capsys):
    """Kills: the second part in place of the first."""
    before = a_class.content(Path(shards[0]))
    command = ["grade-class", str(tmp_path / "in"), "--out", shards[0], "--key", key, "--only", ONE, "--sandbox"]
    assert main([*command, "none", "--shard", "2/2", "--resume"]) == 2
    assert "was graded with different --shard" in capsys.readouterr().err
    assert a_class.content(Path(shards[0])) == before


@pytest.mark.skipif(not Sandbox.measure("best").isolated, reason=Sandbox.measure("best").line)
def test_a_class_says_every_sandbox_that_its_submissions_ran_in(few, tmp_path):
    """Kills: half a class without isolation that calls itself isolated once it was gone on with."""
    graded(few[:2], tmp_path / "out")
    graded(few, tmp_path / "out", resume=True, asked=spec(level="best"))
    line = storage.opened(tmp_path / "out").stamps["sandbox"]
    assert line.startswith("sandbox: none (process limits only, as asked) | sandbox: process limits, ")
    assert "did not run in full isolation" in (tmp_path / "out" / "pages" / "index.html").read_text()


def test_a_kill_between_new_answers_and_their_line_is_no_change_by_hand(few, tmp_path):
    """Kills: a class that calls itself changed because it was stopped while somebody was graded again."""
    out = tmp_path / "out"
    graded(few, out)
    few[1].path.write_text("# again")
    handed = collecting.collect(tmp_path / "in")

    class Killed(storage.Folder):
        def put(self, identifier, texts):
            super().put(identifier, texts | {"line": ""})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        classes.grade_class(handed, spec(), Killed(out, resume=True))
    assert [row.grading.score for row in graded(handed, out, resume=True)] == [4.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_is_one_of_so_many(text, few, tmp_path, key, capsys):
    assert main(["grade-class", str(tmp_path / "in"), "--out", "x", "--key", key, f"--shard={text}"]) == 2
    assert "--shard must be like 3/16" in capsys.readouterr().err


# Regrading and differences.


def points(tmp_path: Path, content) -> str:
    (tmp_path / "points.json").write_text(json.dumps(content))
    return str(tmp_path / "points.json")


def test_regrading_runs_nobodys_code_and_is_a_full_grading(few, tmp_path, key, monkeypatch):
    file = points(tmp_path, {"03": 2, ONE: 8})
    command = ["--key", key, "--points", file]
    grade = ["grade-class", str(tmp_path / "in"), "--sandbox", "none", "--only", ONE]
    assert main([*grade, "--out", str(tmp_path / "full"), *command]) == 0
    graded(few, tmp_path / "old")
    shutil.rmtree(tmp_path / "in")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a child was started"))
    assert main(["regrade", str(tmp_path / "old"), "--to", str(tmp_path / "new"), *command]) == 0
    assert a_class.content(tmp_path / "new") == a_class.content(tmp_path / "full")
    assert [row["score"] for row in lines(tmp_path / "new")] == [8.0, 8.0, 0.0, 0]
    assert [row["score"] for row in lines(tmp_path / "old")] == [4.0, 4.0, 0.0, 0]


@pytest.mark.xdist_group("class")
def test_a_class_is_regraded_as_it_was(the_class, tmp_path, key, monkeypatch):
    monkeypatch.setattr(process, "Process", lambda *_: pytest.fail("a child was started"))
    assert main(["regrade", str(the_class.out), "--to", str(tmp_path / "new"), "--key", key]) == 0
    assert a_class.content(tmp_path / "new") == a_class.content(the_class.out)


def test_regrading_needs_the_right_key(few, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    graded(few, tmp_path / "old")
    command = ["regrade", str(tmp_path / "old"), "--to", str(tmp_path / "new")]
    assert main(command) == 2
    assert "regrade needs --key" in capsys.readouterr().err
    assert main([*command, "--key", a_class.written_key(tmp_path / "key", "another")]) == 2
    assert "was graded with another key" in capsys.readouterr().err


def test_answers_to_other_inputs_are_refused_by_name(few, tmp_path, key, capsys):
    """Kills: holding answers against cases that were never asked."""
    graded(few, tmp_path / "old")
    old = storage.opened(tmp_path / "old").verify(b"sesame")
    rows = old.rows()
    old.put("ben", old.texts(rows["ben"], old.answers("ben") | {"vectors": {ONE: "0" * 16}}))
    old.finish(list(rows.values()))
    assert main(["regrade", str(tmp_path / "old"), "--to", str(tmp_path / "new"), "--key", key]) == 2
    assert capsys.readouterr().err.endswith("grade them again: ben\n")
    assert not (tmp_path / "new").exists()


def test_diff_says_whose_score_moved_and_why(few, tmp_path, key, capsys):
    graded(few, tmp_path / "old")
    few[1].path.write_text("")
    few[2].path.write_text(a_class.as_submission(bank.find(ONE).slips[0], ONE))
    graded(collecting.collect(tmp_path / "in"), tmp_path / "new", asked=spec(points=((ONE, 8.0),)))
    assert main(["diff", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "anna: 4 of 4 -> 8 of 8"
    assert said[1] == f"  {ONE}: 4 -> 8 (worth 8 points, was 4)"
    assert said[2] == "ben: 4 of 4 -> 0 of 8"
    assert said[3] == "  a different submission was graded"
    assert "missing, was right" in said[4]
    assert any("recognized now: " in line for line in said)
    assert not any("dora" in line for line in said)
    assert differences.table(differences.moved({}, {})) == "Nothing differs."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"99": 1}, "name 99, which is neither a chapter nor a function"),
        ({"03-steps": 1}, "name 03-steps, which is neither a chapter nor a function"),
        ({"03": "many"}, 'the points of 03 in .* must be a number >= 0, got "many"'),
        ({"03": -1}, "must be a number >= 0, got -1"),
        ({"03": True}, "must be a number >= 0, got true"),
        ({"03": float("inf")}, "must be a number >= 0, got Infinity"),
        ([3], "must be a JSON object"),
    ],
)
def test_points_that_are_none_are_one_line(content, sentence, few, tmp_path, key, capsys):
    command = ["grade-class", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--key", key]
    assert main([*command, "--points", points(tmp_path, content)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(sentence, said)
    assert not (tmp_path / "out").exists()


# Inputs of one's own.


def test_per_submission_everyone_is_asked_something_else(tmp_path, key):
    """Kills: one vector set for all, and inputs that are others when the same is handed in again."""
    handed = handed_in(tmp_path / "in", anna=RIGHT, ben=RIGHT + "#\n", carl=RIGHT)
    asked = spec(per_submission=True)
    rows = graded(handed, tmp_path / "out", asked=asked)
    assert [row.grading.score for row in rows] == [4.0] * 3
    vectors = [result(tmp_path / "out", one.id)["extra_data"]["vectors"] for one in handed]
    assert vectors[0] == vectors[2] != vectors[1]
    assert main(["regrade", str(tmp_path / "out"), "--to", str(tmp_path / "new"), "--key", key]) == 0
    assert a_class.content(tmp_path / "new") == a_class.content(tmp_path / "out")


def test_inputs_of_one_submission_need_the_key():
    """Kills: inputs that a learner could draw from the hash of the file alone."""
    with spec().exam() as one, spec(key=b"other").exam() as other:
        own = one.for_submission("ab" * 32)
        assert own.vectors_hash == one.for_submission("ab" * 32).vectors_hash
        assert len({own.vectors_hash, one.vectors_hash, other.for_submission("ab" * 32).vectors_hash}) == 3


# The screen.


class Screen:
    """A stream that is a terminal or not."""

    def __init__(self, terminal: bool) -> None:
        self.terminal, self.text = terminal, ""

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("terminal", "said"), [(True, 12), (False, 2)])
def test_progress_is_one_line_on_a_terminal_and_few_elsewhere(terminal, said):
    """Kills: a log of a thousand lines, and a screen that says nothing for minutes."""
    screen, moment = Screen(terminal), [0.0]
    progress = progress_line.Progress(screen, lambda: moment[0])
    for done in range(1, 201):
        moment[0] += 0.1
        progress.now(done, 200, {})
    parts = screen.text.split("\r")[1:] if terminal else screen.text.splitlines()
    assert said <= len(parts) <= 120
    assert screen.text.count("\n") == (1 if terminal else len(parts))
    assert parts[-1].startswith("200 of 200 graded, ")


def test_progress_says_count_rate_rest_and_who_is_slow():
    running = {"anna": 12.0, "ben": 1.0, "carl": 30.0}
    said = progress_line.line(120, 500, 80, 2.0, running)
    assert said == "120 of 500 graded, 40 a second, about 10 s left; slow: carl (30 s), anna (12 s)"
    assert progress_line.line(0, 5, 0, 0.0, {}) == "0 of 5 graded"
    assert [progress_line.duration(seconds) for seconds in (9, 200, 7200)] == ["9 s", "3 min", "2.0 h"]


def test_a_failure_of_the_grader_in_regrading_costs_one_row(few, tmp_path, key, capsys, monkeypatch):
    graded(few, tmp_path / "old")
    original = classes.Marker.graded

    def failing(self, handed, answers):
        return original(self, handed, answers) if handed.id != "ben" else {}["a surprise"]

    monkeypatch.setattr(classes.Marker, "graded", failing)
    assert main(["regrade", str(tmp_path / "old"), "--to", str(tmp_path / "new"), "--key", key]) == 1
    assert "autograder: ben: the grader failed" in capsys.readouterr().err
    assert [(row["score"], row["fault"]) for row in lines(tmp_path / "new")][:3] == [
        (4.0, False),
        (0, True),
        (0.0, False),
    ]


def test_equal_answers_are_marked_once(few, tmp_path, monkeypatch):
    """And never answers to other inputs: those of one's own are marked each."""
    marked: list[str] = []
    original = judge.mark
    monkeypatch.setattr(judge, "mark", lambda paper, *rest: marked.append(paper.hash) or original(paper, *rest))
    assert [row.grading.score for row in graded(few, tmp_path / "one")] == [4.0, 4.0, 0.0, 0.0]
    assert len(marked) == 2
    assert [row.grading.score for row in graded(few, tmp_path / "own", asked=spec(per_submission=True))][:2] == [
        4.0,
        4.0,
    ]
    assert len(set(marked)) == 4
