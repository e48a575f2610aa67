"""Verifies the bank on this machine: what an instructor wants to know before grading with it.

For each exercise, the reference must earn every point, the untouched stub none, and each wrong program must lose points
and be recognized. For each question, the answer must be judged right, and every slip wrong and recognized. Each check
returns a sentence for each thing that is wrong, and nothing if all is well.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from autograder import bank, closure
from autograder.items import AnyQuestion, Build, Choice, Design, Estimate, Order, Question, Slip
from autograder.items.edits import DoesNotApply
from autograder.marking import designs, judge, marks, questions
from autograder.marking.marks import Grading, Mark
from autograder.marking.papers import CannotJudge, Paper
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Level, Sandbox
from autograder.starting import NotStarted
from autograder.submission import Submission, load, load_files

Item = Build | AnyQuestion


@dataclass(frozen=True)
class Fault:
    """What is wrong with one item: sentences, in the order of the checks."""

    item: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.item}: {'; '.join(self.sentences)}"


def room(name: str) -> Path:
    """The folder of a package of the course, ``solutions`` or ``labs``, found without importing it.

    Raises:
        FileNotFoundError: it is not installed here.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"there is no package {name} here")
    return Path(next(iter(spec.submodule_search_locations)))


def proven(items: Sequence[Item], key: bytes, level: Level = "best", workers: int = 1) -> Iterator[Fault]:
    """The faults of ``items``, as they are found.

    Args:
        items: build items, whose hidden cases are drawn with ``key``, and questions.
        key: the secret key.
        level: level of the sandbox in which the reference and the stubs run.
        workers: processes among which the build items are divided; at least 1. Threads would not do: a wrong program
            may run forever, and only a process can be stopped.
    """
    builds = [item for item in items if isinstance(item, Build)]
    for item in items:
        if not isinstance(item, Build) and (sentences := question(item)):
            yield Fault(item.id, tuple(sentences))
    if workers == 1:
        yield from exercises(builds, key, level)
        return
    costly_first = sorted(builds, key=lambda item: item.grade not in ("world", "tensor"))
    shares = [[item.id for item in costly_first[index::workers]] for index in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_share, share, key, level) for share in shares if share]
        for done in as_completed(running):
            yield from done.result()


def _share(identifiers: Sequence[str], key: bytes, level: Level) -> list[Fault]:
    items = [item for item in bank.builds() if item.id in identifiers]
    return list(exercises(items, key, level))


def exercises(items: Sequence[Build], key: bytes, level: Level = "best") -> Iterator[Fault]:
    """The faults of build items; the reference and the stubs are graded once for all, wrong programs item by item."""
    if not items:
        return
    sandbox = Sandbox.measure(level)
    with Exam(items, key) as exam:
        graded = {name: _graded(name, items, exam, sandbox) for name in ("solutions", "labs")}
        for index, item in enumerate(items):
            sentences = shortfalls(graded["solutions"], index)
            sentences += gains(graded["labs"], index)
            sentences += slips(exam, item, bank.builds())
            if sentences:
                yield Fault(item.id, tuple(sentences))


def _graded(name: str, items: Sequence[Build], exam: Exam, sandbox: Sandbox) -> Grading:
    """The grading of the reference (``solutions``) or the stubs (``labs``); if they cannot run, it says why."""
    try:
        return judging.judge(submission(name, items), exam, sandbox)
    except NotStarted as error:
        return marks.refused(name, str(error))


def submission(name: str, items: Iterable[Build] = ()) -> Submission:
    """``solutions`` or ``labs``, handed in as a learner would; for all exercises of the course if ``items`` is empty.

    Of ``solutions``, only the modules that answer the exercises are handed in, and what they import.
    """
    topics = {item.module for item in items} or {item.module for item in bank.builds()}
    folder = room(name)
    if name == "labs":
        return load(folder, topics)
    used = closure.modules(f"solutions.{item.home}" for item in items or bank.builds())
    files = {path.name: path.read_bytes for path in used.values() if folder in path.parents and path.stem != "__init__"}
    return load_files(name, files, topics)


def shortfalls(grading: Grading, index: int) -> list[str]:
    """Why the reference does not earn every point of the item at ``index``; empty if it does."""
    mark = _mark(grading, index)
    if mark is None:
        return [f"the reference is not graded: {grading.reason}"]
    if mark.state == "right" and mark.score == mark.points:
        return []
    said = next(iter(mark.public + mark.hidden), mark.state)
    return [f"the reference earns {mark.score:g} of {mark.points:g} points ({said})"]


def gains(grading: Grading, index: int) -> list[str]:
    """Why the untouched stub earns points on the item at ``index``, or cannot be graded; empty if all is well."""
    mark = _mark(grading, index)
    if mark is None:
        return [f"the stub is not graded: {grading.reason}"]
    if mark.score:
        return [f"the stub earns {mark.score:g} of {mark.points:g} points"]
    return [] if mark.state in ("unwritten", "wrong") else [f"the stub is {mark.state}"]


def _mark(grading: Grading, index: int) -> Mark | None:
    return grading.marks[index] if index < len(grading.marks) else None


def slips(exam: Exam, item: Build, course: Sequence[Build] = ()) -> list[str]:
    """What is wrong with the wrong programs of an item: they must lose points and be recognized."""
    try:
        paper = exam.paper(item)
    except CannotJudge as error:
        return [str(error)]
    if not paper.slips:
        return ["it has no wrong program"]
    return [sentence for slip in paper.slips for sentence in wrong_program(paper, slip, course)]


def wrong_program(paper: Paper, slip: Slip, course: Sequence[Build] = ()) -> list[str]:
    """What is wrong with one wrong program: it must lose points and be recognized."""
    name = slip.name
    try:
        outcomes = [paper.slip_outcome(slip, index) for index in range(len(paper.asked))]
    except DoesNotApply as error:
        return [str(error)]
    except NotStarted as error:
        return [f"{name} is not graded: {error}"]
    mark = judge.mark(paper, outcomes, course)
    if mark.state == "right" or mark.score >= paper.item.points:
        return [f"{name} loses no points"]
    first = next(iter(mark.hidden + mark.public), "")
    if mark.hidden[:1] == (slip.sentence,):
        return []
    why = "two wrong answers are needed that no other slip explains as well"
    return [f"{name} is not recognized ({why}); the learner reads: {first}"]


def question(item: AnyQuestion) -> list[str]:
    """What is wrong with the answer and the slips of a question."""
    if isinstance(item, Question):
        return [sentence for index in range(len(item.parts)) for sentence in _part(item, index)]
    if isinstance(item, Estimate):
        return _estimate(item)
    if isinstance(item, Design):
        return _design(item)
    shown = item.shown()
    if len(set(shown)) < len(shown):
        return ["two of its lines read the same"]
    if isinstance(item, Choice):
        return [sentence for index in range(len(item.options)) for sentence in _option(item, index)]
    return _order(item)


def _design(item: Design) -> list[str]:
    made, best = designs.table(item), designs.front(item)
    wrong = [] if len(best) > 1 else ["only one design is right: a question would do"]
    wrong += [] if any(one.broken for one in made.values()) else ["no constraint ever binds"]
    wrong += [] if len(best) * 2 < len(made) else ["more than half of all designs are right"]
    return wrong


def _estimate(item: Estimate) -> list[str]:
    low, high = item.scale
    answer = float(item.answer())
    wrong = [] if low * item.factor <= answer <= high / item.factor else [f"{answer:g} is not inside its scale"]
    wrong += [
        f"the landmark {landmark.name} is off the scale"
        for landmark in item.landmarks
        if not low <= landmark.value <= high
    ]
    return wrong + [f"the {said}" for said in _misjudged(item.slips, partial(questions.judge_estimate, item))]


def _misjudged(slips: Sequence[Slip], judged: Callable[[float], tuple[bool, str]]) -> Iterator[str]:
    """What is said of the slips whose numbers are judged right, or as another mistake."""
    for slip in slips:
        value = questions.slip_value(slip)
        right, sentence = judged(value)
        if right or not sentence.endswith(slip.sentence):
            said = "judged right" if right else f"not recognized; the learner reads: {sentence}"
            yield f"slip {value:g} is {said}"


def _part(item: Question, index: int) -> list[str]:
    part = item.parts[index]
    label = part.label or "the answer"
    right, sentence = questions.judge_number(part, float(part.answer()))
    wrong = [] if right else [f"{label} is judged wrong ({sentence})"]
    return wrong + [f"{label}: the {said}" for said in _misjudged(part.slips, partial(questions.judge_number, part))]


def _option(item: Choice, index: int) -> list[str]:
    letter = questions.letter(item, index)
    verdict = questions.judge(item, (letter,))
    if verdict.right != (index == item.correct):
        return [f"option {letter} is judged {'right' if verdict.right else 'wrong'}"]
    return [] if verdict.right or index in item.slips else [f"option {letter} has no sentence"]


def _order(item: Order) -> list[str]:
    shown = item.shown()
    letters = "".join(questions.LETTERS[shown.index(step)] for step in item.steps)
    wrong = [] if questions.judge(item, (letters,)).right else ["the right order is judged wrong"]
    as_shown = questions.LETTERS[: len(shown)]
    return wrong + (["the order as it is shown is judged right"] if questions.judge(item, (as_shown,)).right else [])
