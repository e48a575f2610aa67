"""A correction: a claim that is printed or believed, and what is true instead. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.chapters import CHAPTERS

#: Published courses that print several of the claims, as they stood at the commit in parentheses.
MLSYS = "ovshake/mlsys-for-dummies on GitHub (e8559e7)"
TRAINING_BOOK = "ttsugriy/distributed-training-book on GitHub (10b3e76)"
SENIOR_ENGINEER = "ai-infra-curriculum/ai-infra-senior-engineer-learning on GitHub (e401ddc)"
FUNDAMENTALS = f"{SENIOR_ENGINEER}, lessons/mod-202-distributed-training/lecture-notes/01-distributed-fundamentals.md"
LLM_OPTIMIZATION = f"{SENIOR_ENGINEER}, lessons/mod-204-model-optimization/lecture-notes/06-llm-optimization.md"


@dataclass(frozen=True)
class Correction:
    """One claim, and what is true instead.

    Attributes:
        section: the section of the book that it is about: ``"3.7"``.
        claim: the claim as it is printed.
        right: what is true instead.
        because: the reason, or the numbers that show it.
        source: where to look it up.
        matters: what goes wrong for somebody who believes the claim.
        places: published texts known to print the claim, each once, with the place inside it and, in parentheses, the
            part of the claim that it prints if that is not the whole. Empty where none is known.
    """

    section: str
    claim: str
    right: str
    because: str
    source: str
    matters: str
    places: tuple[str, ...] = ()

    @property
    def chapter(self) -> str:
        """The prefix of the ids of its chapter's items: ``"03"``, ``"cap"``."""
        number = int(self.section.partition(".")[0])
        return next(chapter.prefix for chapter in CHAPTERS if chapter.number == number)

    @property
    def printed(self) -> str:
        """How the claim may be introduced: "printed" takes a place that is named, "often printed" two."""
        return ("Claim", "Printed", "Often printed")[min(len(self.places), 2)]
