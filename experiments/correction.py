"""A correction: a claim that is printed or believed, and what is true instead. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.chapters import CHAPTERS


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
        places: published texts known to print the claim, each with the place inside it. Empty where none is named: then
            nothing is said about how often the claim is printed.
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
        """How the claim may be introduced: "often printed" takes at least two places."""
        if not self.places:
            return "Claim"
        return "Often printed" if len(self.places) > 1 else f"Printed in {self.places[0]}"
