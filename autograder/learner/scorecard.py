"""``scorecard``: what is right, wrong and open, drawn from the progress file."""

from __future__ import annotations

from autograder.learner import cards
from autograder.learner.progress import calibration, load, rows, tally


def scorecard(chapter: int | str | None = None) -> None:
    """Show what is right, wrong and open in a chapter (``scorecard(3)``), or in the whole course (``scorecard()``)."""
    entries = load()
    lines = rows(chapter, entries)
    sentences = (tally(lines), calibration(lines, entries))
    cards.show(cards.score_card(lines, sentences), cards.score_text(lines, sentences))
