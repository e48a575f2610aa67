"""What a submission answered, as it is kept: a grading can be made of it again without running anybody's code.

Answers are plain data. They hold no expected value and no input, but what a program returned for hidden inputs: they
belong to the instructor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder import values
from autograder.exam import Paper
from autograder.outcome import Outcome


class OtherVectors(Exception):
    """Answers are held against other cases than those that were asked; the message is a sentence."""


@dataclass(frozen=True)
class Answers:
    """All that a grading needs of a submission.

    Attributes:
        name: of what was handed in.
        sha256: of what was handed in.
        outcomes: by item, one for each case of its sheet, in order.
        typed: what was typed into ``predict``, by question.
        problems: sentences about parts that could not be read or run.
        reason: why it cannot be graded at all; empty when it can.
        vectors: the hash of each item's sheet.
        sandbox: the line of the sandbox that it ran in.
        seconds: that asking took.
        public: by item, one for each public case in the order of the page, from before any hidden input was seen.
    """

    name: str
    sha256: str = ""
    outcomes: Mapping[str, Sequence[Outcome]] = field(default_factory=dict)
    typed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    reason: str = ""
    vectors: Mapping[str, str] = field(default_factory=dict)
    sandbox: str = ""
    seconds: float = 0.0
    public: Mapping[str, Sequence[Outcome]] = field(default_factory=dict)

    def to(self, paper: Paper) -> Sequence[Outcome]:
        """The outcomes for the cases of ``paper``.

        Raises:
            OtherVectors: it asks something else.
        """
        if self.vectors.get(paper.item.id) != paper.hash:
            raise OtherVectors(f"{self.name} was asked other cases of {paper.item.id}: grade it again")
        return self.outcomes[paper.item.id]

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``json``; :meth:`from_json` gives the same answers back."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "outcomes": _plain(self.outcomes),
            "public": _plain(self.public),
            "typed": {question: values.encode(typed) for question, typed in self.typed.items()},
            "problems": list(self.problems),
            "reason": self.reason,
            "vectors": dict(self.vectors),
            "sandbox": self.sandbox,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Answers:
        """The answers that :meth:`to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError, Malformed: it did not write this.
        """
        outcomes, public = _outcomes(content["outcomes"]), _outcomes(content.get("public", {}))
        typed = {question: values.decode(wire) for question, wire in content["typed"].items()}
        rest = {name: content[name] for name in ("name", "sha256", "reason", "vectors", "sandbox", "seconds")}
        return cls(outcomes=outcomes, public=public, typed=typed, problems=tuple(content["problems"]), **rest)


def _plain(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, list[dict[str, Any]]]:
    return {item: [outcome.plain for outcome in of_item] for item, of_item in outcomes.items()}


def _outcomes(kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, tuple[Outcome, ...]]:
    return {item: tuple(map(Outcome.from_plain, of_item)) for item, of_item in kept.items()}
