"""What ``verify`` proves: a bank with a fault of each kind is caught, and the real one holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.items import Case, Choice, Group, Iterator, Order, Question, Slip, Tensor
from autograder.maintenance import leaks, releasing, verifying
from autograder.marking import marks
from autograder.marking.papers import Paper
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox
from autograder.starting import NotStarted
from autograder.submission import Submission, Unit
from tests.autograder.toy_bank import KEY, LIMITS, RIGHT, SCALE, SPREAD, Toy, scale, slip_added

STUB = "def scale(value, factor):\n    raise NotImplementedError('91-scale: not written yet')\n"
QUESTIONS = [item for item in bank.items() if not hasattr(item, "function")]


def graded(source: str, *items):
    with Exam(items, KEY) as exam:
        submission = Submission("handed in", (Unit("a.py", source),))
        return judging.judge(submission, exam, Sandbox.measure("none"), LIMITS)


def slips(item) -> list[str]:
    with Exam([item], KEY) as exam:
        return verifying.slips(exam, item)


# The reference and the stub.


def test_a_reference_with_every_point_has_no_fault():
    assert verifying.shortfalls(graded(RIGHT, SCALE, SPREAD), 0) == []
    assert verifying.shortfalls(graded(RIGHT, SCALE, SPREAD), 1) == []


def test_a_reference_that_loses_points_is_a_fault():
    said = verifying.shortfalls(graded(RIGHT.replace("value * factor", "value + factor"), SCALE), 0)
    assert said == ["the reference earns 0 of 4 points (scale(2, 3): the value is 1.2x too small)"]


def test_what_is_not_graded_is_a_fault():
    grading = marks.refused("labs", "it is empty")
    assert verifying.shortfalls(grading, 0) == ["the reference is not graded: it is empty"]
    assert verifying.gains(grading, 0) == ["the stub is not graded: it is empty"]


def test_a_child_that_does_not_start_is_a_fault_and_loses_no_other(monkeypatch):
    """Kills: minutes of proof that end in one sentence about the sandbox, and say nothing of what was found."""
    judged = judging.judge

    def fail(submission, *rest):
        if submission.name == "solutions":
            raise NotStarted("a child did not start")
        return judged(submission, *rest)

    monkeypatch.setattr(judging, "judge", fail)
    item = next(item for item in bank.builds() if item.id == "01-training-time")
    (fault,) = verifying.exercises([item], KEY)
    assert fault.sentences == ("the reference is not graded: a child did not start",)


def test_a_wrong_program_that_does_not_start_is_a_fault_and_loses_no_other(monkeypatch):
    """Kills: a proof of the wrong programs that ends with the first child that did not start."""

    def fail(paper, slip, place):
        raise NotStarted("a child did not start")

    monkeypatch.setattr(Paper, "slip_outcome", fail)
    with Exam([SCALE], KEY) as exam:
        found = verifying.slips(exam, SCALE)
    names = [slip.name for slip in SCALE.slips]
    assert found == [f"{name} is not graded: a child did not start" for name in names] != []


def test_a_stub_earns_nothing():
    assert verifying.gains(graded(STUB, SCALE), 0) == []
    assert verifying.gains(graded(RIGHT, SCALE), 0) == ["the stub earns 4 of 4 points"]
    assert verifying.gains(graded("x = 1\n", SCALE), 0) == ["the stub is missing"]


# Wrong programs.


def test_slips_that_fail_and_are_named_have_no_fault():
    assert slips(SCALE) == []
    assert slips(SPREAD) == []


def test_a_slip_that_passes_is_a_fault():
    """Kills: a bank that calls the right program wrong, or whose cases are too few to see the mistake."""
    item = replace(SCALE, slips=(Slip("Nothing is wrong here.", scale),))
    assert slips(item) == ["scale loses no points"]


def test_a_slip_under_the_name_of_another_is_a_fault():
    item = replace(SCALE, slips=(Slip("The first.", slip_added), Slip("The second.", slip_added_too)))
    assert slips(item) == [
        "slip_added_too is not recognized (two wrong answers are needed that no other slip explains as well); "
        "the learner reads: The first."
    ]


def slip_added_too(value, factor):
    return factor + value


def test_no_slip_at_all_is_a_fault():
    assert slips(replace(SCALE, slips=())) == ["it has no wrong program"]


def test_a_reference_that_does_not_answer_its_cases_is_a_fault():
    item = replace(SCALE, cases=(Case((1.0, -1.0)),))
    (said,) = slips(item)
    assert said.startswith("91-scale cannot be judged: for one case the reference gave raised ValueError")


# Questions.


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item.id)
def test_the_questions_of_the_course_hold(item):
    assert verifying.question(item) == []


def asked(*slips: Slip, answer: float = 8.0) -> Question:
    asked = {"ask": "time", "unit": "s", "answer": lambda: answer, "slips": slips}
    return Question(id="91-q", kind="derive", title="q", section="91.1", derivation="why", **asked)


def test_a_slip_that_is_the_answer_is_a_fault():
    assert verifying.question(asked(Slip("The same.", value=8.0))) == ["time: the slip 8 is judged right"]


def test_a_slip_that_is_read_as_another_is_a_fault():
    wrong = asked(Slip("Twice.", value=16.0), Slip("Also twice.", value=16.0))
    assert verifying.question(wrong) == ["time: the slip 16 is not recognized; the learner reads: Twice."]


def test_an_answer_that_cannot_be_right_is_a_fault():
    assert verifying.question(asked(answer=float("nan")))[0].startswith("time is judged wrong")


def test_an_option_without_a_sentence_is_a_fault():
    choice = Choice("91-c", "trace", "c", ("right", "wrong", "worse"), 0, "why", "91.1", {1: "No."})
    letter = "abc"[choice.shown().index("worse")]
    assert verifying.question(choice) == [f"option {letter} has no sentence"]


def test_an_order_is_right_in_one_way_only():
    order = Order("91-o", "trace", "o", ("one", "two", "three"), "why", "91.1")
    assert verifying.question(order) == []
    same = Order("91-o", "trace", "o", ("one", "two", "two"), "why", "91.1")
    assert verifying.question(same) == ["two of its lines read the same"]


# Hidden inputs in released files.


def drawn(draw, public: Case = Case((1.0, 2.0))) -> Exam:  # noqa: B008
    item = Toy("91 toys.scale", "91.1", "t", (public,), (Group("all", draw, 3, "hint"),), ())
    return Exam([item], KEY)


def written(exam: Exam) -> str:
    """The hidden inputs as a page would show them."""
    (item,) = exam.items
    return "\n".join(repr(case.args) for group, case in exam.sheet(item).drawn if group)


FORMS = {
    "numbers": lambda rng: Case((rng.uniform(1, 9), 2)),
    "counts": lambda rng: Case((rng.randrange(10**9), 2)),
    "rows": lambda rng: Case(([rng.randint(0, 9) for _ in range(12)],)),
    "strings": lambda rng: Case(("".join(rng.choice("abcd") for _ in range(30)),)),
    "dictionaries": lambda rng: Case(({"a": {"b": rng.random()}},)),
    "keywords": lambda rng: Case((), {"factor": rng.random()}),
    "calls": lambda rng: Case((), calls=(("add", (rng.random(),)), ("total", None))),
}


@pytest.mark.parametrize("draw", FORMS.values(), ids=FORMS)
def test_a_hidden_input_in_a_file_is_found(draw):
    exam = drawn(draw)
    cases = [case for group, case in exam.sheet(exam.items[0]).drawn if group]
    page = f"Try this: {cases[1].args} {cases[1].kwargs} {cases[1].calls}\n"
    files = {"a.py": page.encode(), "b.py": b"nothing"}
    assert leaks.standing(exam, files) == {"91-scale": ["a.py"]}
    assert leaks.standing(exam, {"b.py": b"nothing 1 2 3"}) == {}


def test_a_number_is_found_in_any_spelling():
    exam = drawn(FORMS["numbers"])
    number = next(case.args[0] for group, case in exam.sheet(exam.items[0]).drawn if group)
    for text in (number.hex(), f"{number:.20g}", f"{number:.17e}", f"[0, {number!r}]"):
        assert leaks.standing(exam, {"a": text.encode()}), text


def test_tensors_and_iterators_are_looked_into():
    def draw(rng):
        return Case((Tensor.of([rng.random() for _ in range(4)], "float64"), Iterator((rng.random(),))))

    exam = drawn(draw)
    tensor, once = next(case.args for group, case in exam.sheet(exam.items[0]).drawn if group)
    for number in (tensor.tolist()[2], once.values[0]):
        assert leaks.standing(exam, {"a": repr(number).encode()}) == {"91-scale": ["a"]}


SAME = {
    "small numbers": lambda rng: Case((rng.randint(1, 8), 0.5)),
    "round numbers": lambda rng: Case((rng.randint(1, 8) * 10**9, 7e9)),
    "the same for every key": lambda rng: Case((1234.567891234, [3, 1, 4, 1, 5, 9, 2, 6])),
    "plain rows": lambda rng: Case((list(range(rng.randint(10, 12))), [0] * rng.randint(10, 12))),
}


@pytest.mark.parametrize("draw", SAME.values(), ids=SAME)
def test_what_is_no_secret_raises_no_alarm(draw):
    """Kills: an alarm at every small number of a page."""
    exam = drawn(draw)
    assert leaks.standing(exam, {"a.py": written(exam).encode()}) == {}


def test_what_is_public_raises_no_alarm():
    exam = drawn(lambda rng: Case((1.23456789012 + rng.choice((0, 1)), 3)), public=Case((1.23456789012, 2)))
    assert leaks.standing(exam, {"a.py": b"scale(1.23456789012, 2)"}) == {}


# The command.


@pytest.mark.proof(part="bank")
def test_the_command_proves_a_part_of_the_bank(key, capsys):
    assert main(["verify", "--only", "05-zero-memory", "03-steps", "--key", key]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 items: all hold; hidden inputs of none are in ")
    assert "sesame" not in said


def test_the_command_names_what_fails(key, capsys, monkeypatch):
    """Kills: a proof that always succeeds."""
    item = bank.find("05-zero-memory")
    bad = replace(item, slips=(Slip("Nothing is wrong.", item.solution()),))
    monkeypatch.setattr(bank, "candidates", lambda identifier: (bad,))
    monkeypatch.setattr(releasing, "files", lambda root: {})
    assert main(["verify", "--only", item.id, "--key", key]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "05-zero-memory: zero_memory loses no points"
    assert lines[1].startswith("1 item: 1 fault; ")


def test_a_hidden_input_in_the_release_fails_the_proof(key, capsys, monkeypatch):
    item = bank.find("01-training-time")
    exam = Exam([item], b"sesame")
    number = next(part for group, case in exam.sheet(item).drawn if group for part in case.args if leaks._telling(part))
    monkeypatch.setattr(releasing, "files", lambda root: {"labs/ch01/scale.py": f"x = {number!r}".encode()})
    assert main(["verify", "--only", item.id, "--key", key]) == 1
    assert "01-training-time: a hidden input is in labs/ch01/scale.py\n" in capsys.readouterr().out


@pytest.mark.proof(part="bank")
def test_workers_find_the_same(key, capsys):
    chosen = ["verify", "--only", "05-zero-memory", "01-training-time", "04-fit-alpha-beta", "--key", key]
    assert main([*chosen, "--workers", "2"]) == 0
    said = capsys.readouterr().out
    assert main(chosen) == 0
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("workers", ["0", "-2"])
def test_workers_are_counted(key, workers, capsys):
    assert main(["verify", "--workers", workers, "--key", key]) == 2
    assert f"--workers must be at least 1, got {workers}" in capsys.readouterr().err
