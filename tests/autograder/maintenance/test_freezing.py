"""Vectors as a file: they grade as the key does, without it; a file that was changed is refused."""

from __future__ import annotations

import io
import json
import math
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.maintenance import freezing
from autograder.maintenance.freezing import NotFrozen, freeze, thaw
from autograder.marking import judge, papers
from autograder.marking.answers import Answers
from autograder.marking.outcome import Outcome
from autograder.running import exam, judging
from autograder.running.exam import Exam

KEY = b"sesame"
#: One of each kind: a closed form, an object, records of a dataclass, a program to fix in a world, tensors.
KINDS = ("05-zero-memory", "05-loss-scaler", "07-choose-layout", "03-debug-dtype", "07-route")


@pytest.fixture(scope="module")
def drawn():
    items = [bank.find(identifier) for identifier in KINDS]
    with Exam(items, KEY, [bank.find("03-steps")]) as made:
        yield made


@pytest.fixture(scope="module")
def content(drawn):
    """What a file gives back."""
    return json.loads(json.dumps(freeze(drawn), allow_nan=False))


@pytest.fixture
def frozen(content):
    with thaw(content) as made:
        yield made


def changed(content, **parts):
    """A file whose hash was made right again."""
    new = {name: part for name, part in (content | parts).items() if name != "sha256"}
    return new | {"sha256": freezing._digest(new)}


# The same grading.


@pytest.mark.proof(part="bank")
def test_names_are_those_of_the_key(drawn, frozen):
    assert frozen.vectors_hash == drawn.vectors_hash
    assert frozen.key_hash == drawn.key_hash
    assert [item.id for item in frozen.items] == [item.id for item in drawn.items]


def test_cases_and_answers_are_the_same(drawn, frozen):
    for item, other in zip(drawn.items, frozen.items, strict=True):
        one, two = drawn.paper(item), frozen.paper(other)
        assert (one.hash, one.again) == (two.hash, two.again)
        assert [asked.group for asked in one.asked] == [asked.group for asked in two.asked]
        assert [repr(asked.expected.value) for asked in one.asked] == [
            repr(asked.expected.value) for asked in two.asked
        ]
        assert [asked.expected.kind for asked in one.asked] == [asked.expected.kind for asked in two.asked]
        assert other.cases == item.cases


def answers(drawn, program: int | None) -> Answers:
    """Those of the reference, or of the wrong program at place ``program`` of each item that needs no torch."""
    outcomes = {}
    for item in drawn.items:
        paper = drawn.paper(item)
        wrong = program is not None and item.grade in ("call", "calls")
        places = range(len(paper.asked))
        outcomes[item.id] = [
            paper.slip_outcome(paper.slips[program], n) if wrong else paper.asked[n].expected for n in places
        ]
    vectors = {item.id: drawn.sheet(item).hash for item in drawn.items}
    return Answers("handed in", "ab", outcomes, {"03-steps": (30,)}, vectors=vectors)


@pytest.mark.parametrize("program", [None, 0, 1])
def test_a_grading_is_the_one_of_the_key(drawn, frozen, program):
    """Kills: an order, a group, an answer or a public case that is lost on the way."""
    given = answers(drawn, program)
    one, two = judging.grade(given, drawn), judging.grade(given, frozen)
    assert [replace(mark, item=None) for mark in two.marks] == [replace(mark, item=None) for mark in one.marks]
    assert two.questions == one.questions
    assert (two.score, two.points, two.reason) == (one.score, one.points, "")
    wrong = [mark for mark in one.marks if mark.state != "right"]
    assert len(wrong) == (0 if program is None else 3)
    assert all(mark.hidden[0] == drawn.paper(mark.item).slips[program].sentence for mark in wrong)


def test_no_key_no_drawing_no_reference(content, monkeypatch):
    """Kills: a replay that only seems to need nothing."""

    def forbidden(*_, **__):
        raise AssertionError("a frozen set needs this")

    monkeypatch.setattr(exam, "answered", forbidden)
    monkeypatch.setattr(Exam, "random", forbidden)
    monkeypatch.setattr(random.Random, "uniform", forbidden)
    with thaw(content) as frozen:
        assert frozen.key == b""
        assert all(frozen.paper(item).asked for item in frozen.items)
        with pytest.raises(NotFrozen, match="the same for every submission"):
            frozen.for_submission("ab")


def test_the_page_may_change_and_the_set_grades_on(content, monkeypatch):
    """Kills: frozen vectors that look for a public case in a bank that has moved on."""
    find = bank.find
    monkeypatch.setattr(bank, "find", lambda name: moved(find(name)))
    with thaw(content) as frozen:
        item = frozen.items[0]
        assert item.cases == find(item.id).cases != bank.find(item.id).cases
        outcomes = [Outcome("value", -1.0)] * len(frozen.paper(item).asked)
        assert judge.mark(frozen.paper(item), outcomes).public[0].startswith(f"{item.function}(")


def moved(item):
    return replace(item, cases=item.cases[1:]) if hasattr(item, "cases") else item


# What is refused.


def test_a_changed_file_is_refused(content):
    text = json.dumps(content)
    other = json.loads(text.replace('"value"', '"raised"', 1))
    with pytest.raises(NotFrozen, match="changed after they were written"):
        thaw(other)
    with pytest.raises(NotFrozen, match="changed after they were written"):
        thaw(content | {"key_hash": "0"})
    with pytest.raises(NotFrozen, match="not a file of frozen vectors"):
        thaw({"score": 4})
    with pytest.raises(NotFrozen, match="not a file of frozen vectors"):
        thaw([])


def test_cases_that_are_not_those_of_their_hash_are_refused(content):
    """Kills: trusting the outer hash alone."""
    items = json.loads(json.dumps(content["items"]))
    items["05-zero-memory"]["again"].reverse()
    with pytest.raises(NotFrozen, match="the frozen cases of 05-zero-memory do not match their hash"):
        thaw(changed(content, items=items))
    with pytest.raises(NotFrozen, match="of this set do not match"):
        thaw(changed(content, vectors="0123456789abcdef"))


def _spoiled(content, *path):
    """The file with something else at a place, and its hash made right again."""
    new = json.loads(json.dumps(content))
    *outer, (name, value) = path
    inner = new
    for step in outer:
        inner = inner[step]
    if value is None:
        del inner[name]
    else:
        inner[name] = value
    return changed(new)


def _places(content):
    """Ways in which a file of vectors can be something else."""
    item = next(iter(content["items"]))
    case = ["items", item, "drawn", 0]
    yield from ([(name, value)] for name in ("items", "questions", "key_hash", "vectors") for value in (None, 3, [3]))
    yield from (["items", (item, value)] for value in (3, [], {}))
    yield from (
        ["items", item, (name, value)] for name in ("hash", "drawn", "again") for value in (None, 3, [[9]], "x")
    )
    yield from (
        [*case, (name, value)] for name in ("group", "case", "expected", "moved") for value in (None, 3, [3], {})
    )
    yield [*case, ("expected", {"kind": "value", "value": ["T", "float32", [-1], "x"]})]


def test_what_is_no_file_of_vectors_is_a_sentence(content):
    """Kills: a ``KeyError`` for a file without items, and one in the middle of a grading for a case without answer."""
    for path in _places(content):
        with pytest.raises(NotFrozen, match=r"^[^\n]+$"):
            thaw(_spoiled(content, *path))
    for other in (None, 3, [], {}, {"format": freezing.FORMAT}, {"format": freezing.FORMAT, "sha256": math.nan}):
        with pytest.raises(NotFrozen):
            thaw(other)


def test_an_item_that_has_left_the_bank_is_named(content):
    kept = content["items"]["05-zero-memory"]
    with pytest.raises(NotFrozen, match="05-zero-memry is no longer in the bank"):
        thaw(changed(content, items={"05-zero-memry": kept}))
    with pytest.raises(NotFrozen, match="03-steps is no longer an item with cases"):
        thaw(changed(content, items={"03-steps": kept}))
    with pytest.raises(NotFrozen, match="03-paces is no longer in the bank"):
        thaw(changed(content, questions=["03-paces"]))
    with pytest.raises(NotFrozen, match="05-zero-memory is no longer a question"):
        thaw(changed(content, questions=["05-zero-memory"]))


def test_a_group_that_has_left_the_bank_is_named(content):
    items = json.loads(json.dumps(content["items"]).replace('"group": "one rank"', '"group": "no rank"'))
    with pytest.raises(NotFrozen, match="no longer has the group 'no rank'"):
        thaw(changed(content, items=items))


# The commands.

FEW = ["--only", "05-zero-memory", "03-steps", "--with-questions"]


def test_freeze_hash_and_replay(tmp_path, key, capsys):
    """The results of a replay differ from those of the key in their times alone."""
    vectors, out = tmp_path / "vectors.json", tmp_path / "results.json"
    (tmp_path / "a.py").write_text("def zero_memory(*args, **kwargs):\n    return 1.0\n\npredict('03-steps', 30)\n")
    assert main(["vectors", "freeze", "--key", key, *FEW, "--out", str(vectors)]) == 0
    assert vectors.stat().st_mode & 0o777 == 0o600
    assert "sesame" not in vectors.read_text()
    assert main(["vectors", "hash", "--key", key, *FEW]) == 0
    named = capsys.readouterr().out.splitlines()
    assert named[0].endswith(f"of 1 item, {named[1]}")
    assert main(["vectors", "replay", str(vectors), str(tmp_path / "a.py"), "--out", str(out)]) == 0
    replayed = json.loads(out.read_text())
    assert main(["grade", str(tmp_path / "a.py"), "--key", key, *FEW, "--out", str(out)]) == 0
    graded = json.loads(out.read_text())
    assert graded["extra_data"]["vectors"] == named[1]
    assert {**replayed, "execution_time": 0} == {**graded, "execution_time": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "key", "results.json", "vectors.json"]


def test_a_key_is_needed_to_freeze(tmp_path, capsys, monkeypatch):
    """Kills: vectors of a key that nobody knows."""
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    assert main(["vectors", "hash", *FEW]) == 2
    assert main(["vectors", "freeze", *FEW, "--out", str(tmp_path / "v.json")]) == 2
    assert "vectors need a key" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("sesame\n"))
    assert main(["vectors", "hash", *FEW, "--key", "-"]) == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "not a file of"),
    ],
    ids=["missing", "no JSON", "deep", "other"],
)
def test_a_file_that_cannot_be_used_is_one_line_and_status_2(tmp_path, text, sentence, capsys):
    path = tmp_path / "v.json"
    if text is not None:
        path.write_text(text)
    assert main(["vectors", "replay", str(path), str(Path(__file__))]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1


def test_a_reference_that_fails_freezes_nothing(tmp_path, key, monkeypatch, capsys):
    def failing(*_):
        raise papers.CannotJudge("05-zero-memory cannot be judged")

    monkeypatch.setattr(exam, "answered", failing)
    assert main(["vectors", "freeze", "--key", key, *FEW, "--out", str(tmp_path / "v.json")]) == 1
    assert not (tmp_path / "v.json").exists()
    assert "cannot be judged" in capsys.readouterr().err


def test_a_submission_that_cannot_be_read_has_its_result(tmp_path, key, capsys):
    vectors, out = tmp_path / "vectors.json", tmp_path / "results.json"
    assert main(["vectors", "freeze", "--key", key, *FEW, "--out", str(vectors)]) == 0
    (tmp_path / "a.txt").write_text("hello")
    assert main(["vectors", "replay", str(vectors), str(tmp_path / "a.txt"), "--out", str(out)]) == 1
    assert json.loads(out.read_text())["extra_data"]["gradable"] is False
