"""A grading by concept: what is right, what is not right yet, and where the book explains it.

The concept of a function is its ``topic``; the questions of a section together form one concept. Nothing here depends
on what a submission printed, raised or returned for hidden inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from autograder.marking.marks import Answered, Mark
from autograder.sections import BOOK, DEEPER, SECTIONS
from rankzero.facts.chapters import CHAPTERS

#: States of a concept, in the order of a learner's page.
ConceptState = Literal["right", "partly", "not yet", "not written", "not judged"]
STATES: tuple[ConceptState, ...] = get_args(ConceptState)
#: States of a mark for which nothing was handed in.
ABSENT = ("missing", "unwritten")
#: The topic of all questions.
QUESTIONS = "questions"


@dataclass(frozen=True)
class Reading:
    """A section of the book; ``title`` and ``address`` are empty if unknown."""

    number: str
    title: str
    address: str

    def __str__(self) -> str:
        return f"section {self.number}, {self.title}" if self.title else f"section {self.number}"


def page_of(section: str) -> str:
    """The page of a section, below ``book`` and without its suffix; empty where there is no such chapter."""
    for chapter in CHAPTERS:
        if str(chapter.number) == section.partition(".")[0]:
            return chapter.deeper if section in DEEPER else chapter.page
    return ""


def reading(section: str, book: str = "") -> Reading:
    """Where to read ``section``, such as ``"3.6"``; ``book`` is the address of the built book's chapters.

    Without ``book`` it is the hosted book's (``_config.yml``).
    """
    title = SECTIONS.get(section, "")
    page, built = page_of(section), (book or BOOK).rstrip("/")
    return Reading(section, title, f"{built}/{page}.html#{anchor(title)}" if page and built else "")


def hand_in(book: str = "") -> str:
    """The address of the page "What to hand in", with ``book`` as for :func:`reading`; empty if unknown."""
    built = (book or BOOK).rstrip("/")
    return f"{built}/hand-in.html" if built else ""


def anchor(title: str) -> str:
    """The anchor of a heading in the built book: ``"ring-reduce-scatter"`` for ``"Ring reduce-scatter"``."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).lstrip("0123456789-").rstrip("-")


def book_of(stamps: Mapping[str, Any]) -> str:
    """The address of the built book's chapters in the stamps of a grading; empty if it is not a web address."""
    book = str(stamps.get("book") or "")
    return book if re.match(r"https?://\S+$", book) else ""


@dataclass(frozen=True)
class Concept:
    """The marks of one topic in one section."""

    section: str
    topic: str
    marks: tuple[Mark | Answered, ...]

    @property
    def state(self) -> ConceptState:
        """What its marks come to together."""
        states = [mark.state for mark in self.marks]
        if all(state == "right" for state in states):
            return "right"
        if "unjudged" in states:
            return "not judged"
        if all(state in ABSENT for state in states):
            return "not written"
        return "partly" if "right" in states or "partly" in states else "not yet"


def topic(mark: Mark | Answered) -> str:
    """The concept to which a mark belongs."""
    return mark.item.topic if isinstance(mark, Mark) else QUESTIONS


def concepts(marks: Iterable[Mark | Answered]) -> list[Concept]:
    """The concepts of some marks, in the order of the course."""
    found: dict[tuple[str, str], list[Mark | Answered]] = {}
    for mark in marks:
        found.setdefault((mark.item.section, topic(mark)), []).append(mark)
    listed = [Concept(section, name, tuple(held)) for (section, name), held in found.items()]
    return sorted(listed, key=lambda concept: [int(part) for part in re.findall(r"\d+", concept.section)])


def following(listed: Sequence[Concept]) -> Concept | None:
    """The concept to work on next: the first that was tried and is not right, else the first that is not written.

    If its function needs another one that is missing, the concept of that one comes first.
    """
    for states in (("partly", "not yet"), ("not written",)):
        for concept in listed:
            if concept.state in states:
                return _waited_for(concept, listed) or concept
    return None


def _waited_for(concept: Concept, listed: Sequence[Concept]) -> Concept | None:
    """The concept of a missing function that the functions of ``concept`` need."""
    said = " ".join(mark.public[0] for mark in concept.marks if isinstance(mark, Mark) and mark.public)
    needed = re.findall(r" needs \w+ \(([\w-]+)\), which is not ", said)
    return next((one for one in listed if any(mark.item.id in needed for mark in one.marks)), None)


def ideas(mark: Mark | Answered) -> tuple[str, ...]:
    """What to think about: the slip or the hints, or what is missing. All sentences are the bank's or the grader's."""
    if isinstance(mark, Answered):
        return mark.sentences
    cases = failing(mark)
    return (*(sentence for sentence in mark.public if sentence not in cases), *mark.hidden)


def failing(mark: Mark) -> tuple[str, ...]:
    """The sentences of a mark that show a failing public case: the call and what is wrong."""
    calls = (f"{mark.item.function}(", "rank 0: ")
    return tuple(sentence for sentence in mark.public if sentence.startswith(calls))


def hints(mark: Mark) -> list[str]:
    """The hints among the sentences of a mark, without the remark on how a case failed."""
    said = mark.hidden[1:] if mark.slip else mark.hidden
    known = dict.fromkeys(group.hint for group in mark.item.groups)
    return [hint for hint in known if any(one == hint or one.startswith(f"{hint} (") for one in said)]
