"""The hostile corpus as a class: with every layer, without each one, with none, and as an ordinary user.

Each configuration is a process of its own (``corpus.py``): what survives it comes to this one, and is seen.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import corpus
import corpus_items
import corpus_runs
import psutil
import pytest
from corpus_runs import HANGS, LAYERS, without

from autograder.marking import compare, judge, sentences
from autograder.running.process import PR_SET_CHILD_SUBREAPER, become_subreaper, subreaping
from autograder.running.replies import Reader
from autograder.sandbox import Sandbox

PROOF = pytest.mark.proof(part="corpus")
#: Some of the things that a judge must not believe, and of the ways in which a program does not end.
TRICKS = (
    *("answers_ahead", "calls_shared_state", "equal_to_everything", "forged_verdict", "imports_reference"),
    *("memory_bomb", "patched_equal", "right_and_left_a_process", "swapped_descriptors"),
)
#: Of those that need torch: what a child with torch may not reach, and what its ranks may not use for messages.
TORCH = ("tensor_patched", "world_by_file", "world_by_lock")
#: Those that reach for something outside their process: each has its wall.
WALLS = [file.stem for file in corpus.files(plain=True) if corpus.header(file, "needs") != ["nothing"]]
CONFIGURATIONS = {"every layer": ["--plain"], "no sandbox": ["--sandbox", "none", "--torch", "5/20"]}
CONFIGURATIONS |= {f"every layer, torch {part}": ["--heavy", "--torch", f"{part}/3"] for part in range(3)}
CONFIGURATIONS |= {f"without {name}": [*without(name), "--torch", f"{n}/20"] for n, name in enumerate(LAYERS)}


@pytest.fixture
def orphans() -> Iterator[None]:
    """Whatever outlives a run comes to this process, and there must be nothing."""
    before, was = {process.pid for process in psutil.Process().children(recursive=True)}, subreaping()
    become_subreaper()
    yield
    left = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    if sys.platform == "linux" and not was:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    assert [process.cmdline() for process in left if process.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.timeout(HANGS + 60)
def test_every_wall_holds_its_attack(orphans):
    """Kills: a false score, a leak, a survivor, a file left, a crash or a hang, by one file of each kind."""
    chosen = [*WALLS, *TRICKS, *TORCH]
    report = corpus_runs.here([part for name in chosen for part in ("--only", name)])
    assert report["faults"] == []
    assert len(report["verdicts"]) + len(report["left_out"]) == len(set(chosen))
    assert "not isolated" in report["sandbox"] or not report["left_out"]


@PROOF
@pytest.mark.timeout(HANGS + 60)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_file_earns_what_it_honestly_earns(name, orphans):
    """Kills: a false score, a leak, a survivor, a file left, a crash or a hang, whichever layer is missing."""
    report = corpus_runs.here(CONFIGURATIONS[name])
    assert report["faults"] == []
    left_out = {"no sandbox": 60}.get(name, 40 if "not isolated" in report["sandbox"] else 0)
    assert len(report["left_out"]) <= left_out
    assert len(report["verdicts"]) >= (12 if "torch" in name else 180)
    assert name.removeprefix("without ") not in report["sandbox"].split(";")[0].split(": ")[1].split(", ")


def test_without_a_layer_it_is_not_there():
    """Kills: a run that is called "without bubblewrap" and has it."""
    for name in LAYERS:
        assert name not in [layer.name for layer in Sandbox.measure("best", without=(name,)).layers]


@PROOF
@pytest.mark.timeout(HANGS + 60)
@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="this is an ordinary user already")
@pytest.mark.parametrize("options", [["--plain"], ["--plain", *without("seccomp")]], ids=["all", "without seccomp"])
def test_the_same_for_an_ordinary_user(options, orphans):
    """Kills: a grader that is safe only as root, and one that cannot run as anybody else."""
    if corpus_runs.readable_python() is None:
        pytest.skip("no Python >= 3.11 that another user can start")
    report = corpus_runs.as_nobody(options)
    assert report["faults"] == []
    assert len(report["verdicts"]) >= 150
    assert "uid" not in report["sandbox"].split(", ")


def test_all_configurations_can_be_run_by_name():
    """Kills: a list of configurations that leaves out a layer, a user or a kind of file."""
    names = corpus_runs.everything()
    for word in (*LAYERS, "none", "every layer", "plain", "torch"):
        assert any(word in name for name in names), word
    assert len(names) == len({json.dumps((run.__name__, options)) for run, options in names.values()})
    with pytest.raises(SystemExit):  # a word that no name holds: nothing would have been run, and nothing found
        corpus_runs.main(["--only", "no such word"])


# The corpus itself.


def test_there_are_at_least_220_files_and_each_says_what_it_tries():
    files = corpus.files()
    sentences = [file.read_text(encoding="utf-8").splitlines()[0].strip('"') for file in files]
    assert len(files) >= 220
    assert len(set(sentences)) == len(files)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_every_item_is_attacked_and_answered_rightly():
    """Kills: a corpus in which nothing can earn anything, which a grader that gives no points would pass."""
    earned = {}
    for file in corpus.files():
        earned.setdefault(corpus.header(file, "item")[0], []).append(float(corpus.header(file, "earns")[0]))
    assert set(earned) == set(corpus_items.ITEMS)
    for points in earned.values():
        assert points.count(0) >= 3
        assert max(points) == 4


def test_a_grader_that_takes_everything_for_right_is_seen(monkeypatch):
    monkeypatch.setattr(compare, "fault", lambda *_, **__: None)
    chosen = [
        corpus.FOLDER / f"{name}.py" for name in ("nan", "forged_kinds", "missing_function", "equal_to_everything")
    ]
    verdicts = corpus.run(chosen, corpus.papers(chosen), Sandbox.measure("none"))
    assert all(any(fault.startswith("earned") for fault in verdict.faults) for verdict in verdicts[:2])


def test_a_leak_is_seen():
    """Kills: a corpus that looks for leaks where there can be none."""
    exam = corpus.papers([corpus.FOLDER / "nan.py"])["call"]
    asked = next(asked for asked in exam.paper(exam.items[0]).asked if asked.group and asked.expected.kind == "value")
    (number, *_), value = asked.case.args[0], asked.expected.value
    for text in (f"got {number}", f"Got_{number:.4f}".replace(".", "_"), f"expected {value:.4f}", corpus.SECRET):
        assert corpus.leaks(text, exam)
    assert corpus.leaks("raised ValueError at line 12; 3 of 4 public cases", exam) == []


def test_what_is_left_behind_is_seen():
    """Kills: a corpus that would not see a survivor, a file or a changed limit."""
    with corpus.Surroundings() as around:
        assert around.faults() == []
        Path(around.folder, "left").touch()
        stays = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        around.bystander.kill()
        around.bystander.wait()
        seen = "\n".join(around.faults(seconds=0))
        stays.kill()
        stays.communicate()
    assert "left is left" in seen
    assert f"{stays.pid} survives" in seen
    assert "was reached" in seen


def test_a_grader_that_shows_what_a_child_says_is_seen(monkeypatch):
    """Kills: the texts of exceptions, statuses of exits and made-up refusals in a report."""
    monkeypatch.setattr(judge, "_without_text", lambda outcome: outcome)
    monkeypatch.setattr(sentences, "_remark", lambda expected, outcome, sentence, before: f" ({outcome.detail})")
    monkeypatch.setattr(Reader, "_refusal", lambda _, reply: reply["what"])
    chosen = [corpus.FOLDER / f"{name}.py" for name in ("forged_refusal", "status_tells", "text_tells")]
    verdicts = corpus.run(chosen, corpus.papers(chosen), Sandbox.measure("none"))
    assert all(any("the report shows" in fault for fault in verdict.faults) for verdict in verdicts)
