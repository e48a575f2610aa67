"""A submission's answers in the form in which they are stored: they can be graded again without running any code.

Answers are plain data. They contain no inputs and no expected values, but they do contain what a program returned for
hidden inputs, so only the instructor may have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.marking import values
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper


class OtherVectors(Exception):
    """The answers are not to the cases that they are to be graded by; the message is a sentence."""


@dataclass(frozen=True)
class Answers:
    """Everything needed to grade a submission.

    Attributes:
        name: name of what was handed in.
        sha256: hash of what was handed in.
        outcomes: by item, one outcome for each case of its sheet, in order.
        typed: by question, what was typed into ``predict`` or ``design``.
        problems: sentences about parts that could not be read or run.
        reason: why the submission cannot be graded at all; empty when it can.
        vectors: by item, the hash of its sheet.
        sandbox: the line that describes the sandbox it ran in.
        seconds: how long it took to collect the answers.
        public: by item, one outcome for each public case in the order of the page, recorded before the submission saw
            any hidden input.
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
            OtherVectors: the submission was asked other cases.
        """
        if self.vectors.get(paper.item.id) != paper.hash:
            raise OtherVectors(f"{self.name} was asked other cases of {paper.item.id}: grade it again")
        return self.outcomes[paper.item.id]

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``json``, from which :meth:`from_json` restores the answers."""
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
            KeyError, TypeError, ValueError, Malformed: the content was not written by :meth:`to_json`.
        """
        outcomes, public = _outcomes(content["outcomes"]), _outcomes(content.get("public", {}))
        typed = {question: values.decode(wire) for question, wire in content["typed"].items()}
        rest = {name: content[name] for name in ("name", "sha256", "reason", "vectors", "sandbox", "seconds")}
        return cls(outcomes=outcomes, public=public, typed=typed, problems=tuple(content["problems"]), **rest)


def _plain(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, list[dict[str, Any]]]:
    return {item: [outcome.plain for outcome in of_item] for item, of_item in outcomes.items()}


def _outcomes(kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, tuple[Outcome, ...]]:
    return {item: tuple(map(Outcome.from_plain, of_item)) for item, of_item in kept.items()}
