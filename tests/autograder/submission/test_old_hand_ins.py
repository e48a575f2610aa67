"""What learners handed in while ``labs/`` was one flat folder (version 0.1.0) earns what it earned, line for line.

Each file, folder, notebook or archive in ``old_hand_ins`` was graded by the grader of that time with the key below. The
text beside it is what that grader printed, but for the line about the host's sandbox, and without the cases about
ranges that were asked then: no points were lost or won with them. A hint that was not true of every program is in its
new words.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from autograder import bank, submission
from autograder.marking import report
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox

FOLDER = Path(__file__).parents[1] / "old_hand_ins"
ITEMS = (
    "02-message-time",
    "02-ring-shift",
    "03-ring-all-reduce-time",
    "07-bubble-fraction",
    "11-mask-logits",
    "cap-optimal-checkpoint-interval",
)
HAND_INS = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".txt")


@pytest.fixture(scope="module")
def exam():
    items = [dataclasses.replace(bank.find(item), bonus=False) for item in ITEMS]  # as they counted then
    with Exam(items, b"sesame", [bank.find("03-star")]) as exam:
        yield exam


def test_a_dozen_are_kept():
    assert len(HAND_INS) >= 12
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(HAND_INS)


#: Those that take the time of all others: ranks that wait, and a loop that never ends.
LONG = ("deadlock", "endless.py", "tensors.py", "world")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.proof(part="systems")] * (name in LONG)) for name in HAND_INS]
)
def test_an_old_hand_in_gets_what_it_got(exam, name):
    grading = judging.judge(submission.load(FOLDER / name), exam, Sandbox.measure("best"))
    assert report.table(grading).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
