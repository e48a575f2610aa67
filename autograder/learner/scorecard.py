"""``scorecard``: what is right, wrong and open, drawn from the progress file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from autograder.items import Build
from autograder.learner.card_frame import STATES, card, folded, in_book, show, table
from autograder.learner.progress import Row, calibration, recorded, rows, tally
from autograder.markup import inline


def scorecard(chapter: int | str | None = None) -> None:
    """Show what is right, wrong and open in a chapter (``scorecard(3)``), or in the whole course (``scorecard()``)."""
    entries = recorded()
    lines = rows(chapter, entries)
    sentences = (tally(lines), calibration(lines, entries))
    show(score_card(lines, sentences), score_text(lines, sentences))


def score_card(lines: Sequence[Row], sentences: Sequence[str]) -> str:
    """The scorecard: ``sentences`` above a folded table of items. In the book, a script fills it from the browser."""
    items = folded("Every item", table(("section", "item", "state"), [_line(line) for line in lines]))
    if in_book():
        body = f'<div class="rz-tally" aria-live="polite"><p>{escape(sentences[0])}</p></div>{items}'
        body += '<p class="rz-actions"><button type="button" class="rz-reset" disabled>Forget my answers</button></p>'
    else:
        body = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence) + items
    return card("Scorecard", "", body, classes=" rz-scorecard")


def score_text(lines: Sequence[Row], sentences: Sequence[str]) -> str:
    """The same for a terminal."""
    width = max(len(line.item.id) for line in lines)
    items = [f"  {line.item.section:<5} {line.item.id.ljust(width)}  {_state(line)}" for line in lines]
    return "\n".join([*(sentence for sentence in sentences if sentence), *items])


def _state(line: Row) -> str:
    if not isinstance(line.item, Build):
        return STATES[line.state]
    if line.state == "open":
        return "in the notebook" if in_book() else STATES["open"]
    return f"{STATES[line.state]}, {line.passed} of {line.total} public cases"


def _line(line: Row) -> tuple[str, str, str]:
    """Section, title and state of an item, as cells of the table."""
    item = line.item
    title = f"<code>{escape(item.function)}</code>" if isinstance(item, Build) else inline(item.title, in_book())
    if in_book():
        title = f'<a href="#rz-{item.id}">{title}</a>'
    identifier = f' data-{"work-" if isinstance(item, Build) else ""}state="{item.id}"'
    return item.section, title, f"<span{identifier}>{_state(line)}</span>"
