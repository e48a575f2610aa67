"""Proves the bank on this host: what an instructor wants to know before grades are staked on it.

For each exercise the reference earns every point, the untouched stub none, and each wrong program loses points and is
called by its name. For each question the answer is right and every slip is wrong and named. Every check gives sentences
about what does not hold, and none when all is well.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from autograder import bank, closure, judge, predicting
from autograder.edits import DoesNotApply
from autograder.exam import CannotJudge, Exam, Paper
from autograder.items import Build, Choice, Order, Question, Slip
from autograder.judge import Grading, Mark
from autograder.sandbox import Sandbox, SandboxFailed
from autograder.submission import Submission, load, load_files

Item = Build | Question | Choice | Order


@dataclass(frozen=True)
class Fault:
    """What does not hold for one item: sentences, in the order of the checks."""

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


def proven(items: Sequence[Item], key: bytes, level: str = "best", workers: int = 1) -> Iterator[Fault]:
    """The faults of ``items``, as they are found.

    Args:
        items: build items, whose hidden cases are drawn with ``key``, and questions.
        key: the secret key.
        level: of the sandbox in which reference and stubs run.
        workers: processes that share the build items, at least 1. A wrong program may never end, and only a process
            of its own can be stopped: threads do not do.
    """
    builds = [item for item in items if isinstance(item, Build)]
    for item in items:
        if not isinstance(item, Build) and (sentences := question(item)):
            yield Fault(item.id, tuple(sentences))
    if workers == 1:
        yield from exercises(builds, key, level)
        return
    costly_first = sorted(builds, key=lambda item: item.grade not in ("world", "tensor"))
    shares = [[item.id for item in costly_first[place::workers]] for place in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_share, share, key, level) for share in shares if share]
        for done in as_completed(running):
            yield from done.result()


def _share(identifiers: Sequence[str], key: bytes, level: str) -> list[Fault]:
    items = [item for item in bank.builds() if item.id in identifiers]
    return list(exercises(items, key, level))


def exercises(items: Sequence[Build], key: bytes, level: str = "best") -> Iterator[Fault]:
    """The faults of build items: reference and stubs once for all of them, then the wrong programs of each."""
    if not items:
        return
    sandbox = Sandbox.measure(level)
    with Exam(items, key) as exam:
        graded = {name: _graded(name, items, exam, sandbox) for name in ("solutions", "labs")}
        for place, item in enumerate(items):
            sentences = shortfalls(graded["solutions"], place)
            sentences += gains(graded["labs"], place)
            sentences += slips(exam, item, bank.builds())
            if sentences:
                yield Fault(item.id, tuple(sentences))


def _graded(name: str, items: Sequence[Build], exam: Exam, sandbox: Sandbox) -> Grading:
    """What the reference or the stubs come to; where they could not be asked, that and why."""
    try:
        return judge.judge(submission(name, items), exam, sandbox)
    except SandboxFailed as error:
        return judge.refused(name, str(error))


def submission(name: str, items: Iterable[Build] = ()) -> Submission:
    """``solutions`` or ``labs``, handed in as a learner would; all exercises of the course where ``items`` is empty.

    Of ``solutions`` only what answers the exercises is handed in, and what that uses: the rest runs the pages.
    """
    topics = {item.module for item in items} or {item.module for item in bank.builds()}
    folder = room(name)
    if name == "labs":
        return load(folder, topics)
    used = closure.modules(f"solutions.{item.home}" for item in items or bank.builds())
    files = {path.name: path.read_bytes for path in used.values() if folder in path.parents and path.stem != "__init__"}
    return load_files(name, files, topics)


def shortfalls(grading: Grading, place: int) -> list[str]:
    """Why the item at ``place`` of a grading of the reference has not every point."""
    mark = _mark(grading, place)
    if mark is None:
        return [f"the reference is not graded: {grading.reason}"]
    if mark.state == "right" and mark.score == mark.points:
        return []
    said = next(iter(mark.public + mark.hidden), mark.state)
    return [f"the reference earns {mark.score:g} of {mark.points:g} points ({said})"]


def gains(grading: Grading, place: int) -> list[str]:
    """Why the item at ``place`` of a grading of the untouched labs is not worth nothing."""
    mark = _mark(grading, place)
    if mark is None:
        return [f"the stub is not graded: {grading.reason}"]
    if mark.score:
        return [f"the stub earns {mark.score:g} of {mark.points:g} points"]
    return [] if mark.state in ("unwritten", "wrong") else [f"the stub is {mark.state}"]


def _mark(grading: Grading, place: int) -> Mark | None:
    return grading.marks[place] if place < len(grading.marks) else None


def slips(exam: Exam, item: Build, course: Sequence[Build] = ()) -> list[str]:
    """What does not hold for the wrong programs of an item."""
    try:
        paper = exam.paper(item)
    except CannotJudge as error:
        return [str(error)]
    if not paper.slips:
        return ["it has no wrong program"]
    return [sentence for slip in paper.slips for sentence in _slip(paper, slip, course)]


def _slip(paper: Paper, slip: Slip, course: Sequence[Build]) -> list[str]:
    name = slip.name
    try:
        outcomes = [paper.slip_outcome(slip, place) for place in range(len(paper.asked))]
    except DoesNotApply as error:
        return [str(error)]
    except SandboxFailed as error:
        return [f"{name} is not graded: {error}"]
    mark = judge.mark(paper, outcomes, course)
    if mark.state == "right" or mark.score >= paper.item.points:
        return [f"{name} loses no points"]
    first = next(iter(mark.hidden + mark.public), "")
    return [] if mark.hidden[:1] == (slip.sentence,) else [f"{name} is not named, but reads: {first}"]


def question(item: Question | Choice | Order) -> list[str]:
    """What does not hold for the answer and the slips of a question."""
    if isinstance(item, Question):
        return [sentence for place in range(len(item.parts)) for sentence in _part(item, place)]
    shown = item.shown()
    if len(set(shown)) < len(shown):
        return ["two of its lines read the same"]
    if isinstance(item, Choice):
        return [sentence for index in range(len(item.options)) for sentence in _option(item, index)]
    return _order(item)


def _part(item: Question, place: int) -> list[str]:
    part = item.parts[place]
    label = part.label or "the answer"
    right, sentence = predicting.judge_number(part, float(part.answer()))
    wrong = [] if right else [f"{label} is judged wrong ({sentence})"]
    for slip in part.slips:
        value = predicting.slip_value(slip)
        right, sentence = predicting.judge_number(part, value)
        if right or sentence != slip.sentence:
            wrong.append(f"{label}: the slip {value:g} is {'right' if right else f'not named, but reads: {sentence}'}")
    return wrong


def _option(item: Choice, index: int) -> list[str]:
    letter = predicting.letter(item, index)
    verdict = predicting.judge(item, (letter,))
    if verdict.right != (index == item.correct):
        return [f"option {letter} is judged {'right' if verdict.right else 'wrong'}"]
    return [] if verdict.right or index in item.slips else [f"option {letter} has no sentence"]


def _order(item: Order) -> list[str]:
    shown = item.shown()
    letters = "".join(predicting.LETTERS[shown.index(step)] for step in item.steps)
    wrong = [] if predicting.judge(item, (letters,)).right else ["the right order is judged wrong"]
    as_shown = predicting.LETTERS[: len(shown)]
    return wrong + (["the order as it is shown is judged right"] if predicting.judge(item, (as_shown,)).right else [])
