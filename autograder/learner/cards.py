"""All cards as HTML and as text for a terminal: questions, verdicts, checks, the scorecard.

In the built book (``RANKZERO_BOOK=1``) a question's card contains a form and, as data, the answers; the script
``book/_static/rankzero.js`` makes it live. In a notebook, cards are static: answers are typed into the call.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from html import escape
from typing import Any

from autograder.items import AnyQuestion, Build, Choice, Debug, Design, Estimate, Order, Part, Question
from autograder.learner import design_cards, estimate_cards, hints, reports, workbench
from autograder.learner.progress import Row, Standing
from autograder.learner.reports import CheckReport
from autograder.marking import probing, questions, wording
from autograder.marking.questions import LETTERS, Mark, Verdict
from autograder.markup import blocks, inline
from autograder.sections import SECTIONS

#: The style of cards in a notebook; the book has ``rankzero.css``.
STYLE = (
    "<style>.rz-card{border-left:3px solid var(--jp-brand-color1,#4a7fb5);padding:.2em 0 .2em 1em;margin:.6em 0;"
    "max-width:46em;line-height:1.5}.rz-card p{margin:.35em 0}.rz-kind{font-size:.85em;opacity:.8}"
    ".rz-kind b{letter-spacing:.05em;text-transform:uppercase}.rz-card .rz-title{font-weight:600}"
    ".rz-card ol,.rz-card ul{margin:.35em 0;padding-left:1.6em}.rz-card ol.rz-letters{list-style:lower-alpha}"
    ".rz-card summary{cursor:pointer}.rz-card pre{overflow-x:auto}.rz-card td,.rz-card th{text-align:left!important}"
    "</style>"
)

#: The table of public cases is unfolded if it has at most this many cases and this many characters of HTML.
FEW, SHORT = 4, 1200
#: A symbol and a word for each state, so that nothing depends on color.
STATES: dict[Standing, str] = {"right": "✓ right", "wrong": "✗ not yet", "open": "○ open"}
#: Shown in place of a result that differs from run to run.
MEASURED = "a measured time"


def in_book() -> bool:
    """Whether the book is being built: cards must be live, and say nothing about the machine that builds them."""
    return os.environ.get("RANKZERO_BOOK") == "1"


def show(html: str, text: str) -> None:
    """Display a card: HTML (and text) in a notebook, HTML alone in the book, printed text anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/html": html} if in_book() else {"text/html": html, "text/plain": text}, raw=True)


def _card(kind: str, identifier: str, body: str, data: dict[str, Any] | None = None, classes: str = "") -> str:
    """The frame of every card. ``data`` is for the page's script."""
    attribute = f' data-card="{escape(json.dumps(data, sort_keys=True))}"' if data else ""
    anchor = f' id="rz-{identifier}"' if in_book() and identifier else ""
    name = f" <code>{escape(identifier)}</code>" if identifier else ""
    head = f'<p class="rz-kind"><b>{kind}</b>{name}</p>'
    style = "" if in_book() else STYLE
    return f'{style}<section class="rz-card{classes}"{anchor}{attribute}>{head}{body}</section>'


def _folded(summary: str, body: str, unfolded: bool = False, name: str = "") -> str:
    return f'<details class="{name}"{" open" if unfolded else ""}><summary>{summary}</summary>{body}</details>'


def _derivation(item: AnyQuestion, unfolded: bool = False) -> str:
    return _folded("Derivation", blocks(item.derivation, in_book()), unfolded, "rz-derivation")


def _hints(item: AnyQuestion) -> str:
    """Hints in steps, for the book: which idea, then the first step of the derivation. The derivation comes after."""
    title = inline(SECTIONS[item.section], True)
    anchor = f"#section-{item.section.replace('.', '-')}"
    idea = f'<p>The idea is that of section {item.section}, <a href="{anchor}">{title}</a>.</p>'
    step = hints.first_step(item)
    further = _folded("Hint: first step", blocks(step, True)) if step else ""
    return _folded("Hint: which idea", idea + further, name="rz-hints")


def _title(item: AnyQuestion) -> str:
    return inline(item.title, in_book())


# Questions


def how_to_answer(item: AnyQuestion) -> str:
    """The call that answers ``item``, with blanks."""
    if isinstance(item, Design):
        return f'design("{item.id}", {", ".join(f"{knob.name}=..." for knob in item.knobs)})'
    if isinstance(item, Estimate):
        blank = "..."
    elif isinstance(item, Question):
        blank = ", ".join(["..."] * len(item.parts))
    else:
        blank = '"..."'
    return f'predict("{item.id}", {blank})'


def _advice(item: AnyQuestion) -> str:
    if isinstance(item, Design):
        return "one option for each choice"
    if isinstance(item, Estimate):
        return f"a number in {item.unit}, right within a factor of {item.factor:g}"
    if isinstance(item, Question):
        return "a number for each blank" if len(item.parts) > 1 else "a number for the blank"
    return "one letter" if isinstance(item, Choice) else "the letters in order, with blanks between them"


def _asked(item: AnyQuestion) -> str:
    """What a question asks for, without input fields: parts with units, landmarks, or lettered options."""
    if isinstance(item, Design):
        return design_cards.asked(item, in_book())
    if isinstance(item, Estimate):
        return (
            f"<p>{inline(item.label, in_book())} ({escape(item.unit)})</p>{estimate_cards.landmarks(item, in_book())}"
        )
    if isinstance(item, Question):
        named = [f"{inline(part.label, in_book())} ({escape(part.unit or 'a number')})" for part in item.parts]
        return "<ul>" + "".join(f"<li>{text}</li>" for text in named) + "</ul>"
    options = "".join(f"<li>{inline(text, in_book())}</li>" for text in item.shown())
    return f'<ol class="rz-letters" type="a">{options}</ol>'


def _number_field(part: Part | Estimate) -> str:
    unit = f' <span class="rz-unit">{escape(part.unit)}</span>' if part.unit else ""
    label = f"<span>{inline(part.label or 'Your answer', True)}</span>"
    entry = '<input type="text" autocomplete="off" size="12">'
    field = f'<label>{label} <span class="rz-field">{entry}{unit}</span></label>'
    return f'<p class="rz-part">{field}<span class="rz-mark" role="status"></span></p>'


def _fields(item: AnyQuestion) -> str:
    if isinstance(item, Estimate):
        return _number_field(item) + estimate_cards.scale(item)
    if isinstance(item, Design):
        return design_cards.fields(item)
    if isinstance(item, Question):
        return "".join(_number_field(part) for part in item.parts)
    if isinstance(item, Order):
        steps = "".join(
            f'<li data-letter="{letter}"><span>{inline(text, True)}</span></li>'
            for letter, text in zip(LETTERS, item.shown(), strict=False)
        )
        return f'<ol class="rz-order">{steps}</ol>'
    return "".join(
        f'<p class="rz-option"><label><input type="radio" name="rz-{item.id}" value="{letter}"> '
        f"<span>{letter}) {inline(text, True)}</span></label></p>"
        for letter, text in zip(LETTERS, item.shown(), strict=False)
    )


def _form(item: AnyQuestion) -> str:
    sure = '<input type="number" class="rz-confidence" min="0" max="100" step="any" autocomplete="off">'
    return (
        f'<form novalidate><fieldset disabled><legend class="rz-title">{_title(item)}</legend>{_fields(item)}'
        f'<p class="rz-actions"><button type="submit">Check</button> <label>How sure, in percent? {sure}</label></p>'
        '</fieldset></form><div class="rz-feedback" role="status" aria-live="polite"></div>'
        '<noscript><p class="rz-hint">Answers are checked here when scripts may run.</p></noscript>'
    )


def card_data(item: AnyQuestion) -> dict[str, Any]:
    """What the page needs to judge ``item`` by the rules of :mod:`autograder.marking.questions`."""
    if isinstance(item, Choice):
        slips = {questions.letter(item, index): inline(text, True) for index, text in item.slips.items()}
        return {"id": item.id, "kind": "choice", "correct": questions.letter(item, item.correct), "slips": slips}
    if isinstance(item, Order):
        shown = item.shown()
        hints = [questions.order_hint(first) for first in range(len(shown))]
        letters = [LETTERS[shown.index(step)] for step in item.steps]
        return {"id": item.id, "kind": "order", "correct": letters, "hints": hints}
    if isinstance(item, Estimate):
        return estimate_cards.data(item)
    if isinstance(item, Design):
        return design_cards.data(item)
    parts = [
        {
            "label": inline(part.label, True),
            "unit": escape(part.unit),
            "answer": (answer := float(part.answer())),
            "shown": questions.shown(answer, part.unit),
            "tolerance": questions.tolerance(part),
            "slips": [{"value": questions.slip_value(s), "sentence": inline(s.sentence, True)} for s in part.slips],
        }
        for part in item.parts
    ]
    return {"id": item.id, "kind": "question", "parts": parts, "hints": questions.HINTS}


def _kind(item: AnyQuestion) -> str:
    if isinstance(item, Design):
        return "Design"
    return "Estimate" if isinstance(item, Estimate) else "Predict"


def question_card(item: AnyQuestion) -> str:
    """The card of a question before it is answered: live in the book, with instructions in a notebook."""
    if in_book():
        drawn = design_cards.picture(item) if isinstance(item, Design) else ""
        body = _form(item) + drawn + _hints(item) + _derivation(item)
        return _card(_kind(item), item.id, body, card_data(item))
    body = f'<p class="rz-title">{_title(item)}</p>{_asked(item)}'
    body += f"<p>Type your answer into the call, {_advice(item)}: <code>{escape(how_to_answer(item))}</code></p>"
    return _card(_kind(item), item.id, body + _derivation(item))


def question_text(item: AnyQuestion) -> str:
    """The same for a terminal."""
    if isinstance(item, Design):
        asked = [f"  {knob.label}: {', '.join(map(str, knob.options))}" for knob in item.knobs]
    elif isinstance(item, Estimate):
        asked = [f"  {item.label} ({item.unit})", *(f"  {one.name}: {one.meaning}" for one in item.landmarks)]
    elif isinstance(item, Question):
        asked = [f"  {part.label} ({part.unit or 'a number'})" for part in item.parts]
    else:
        asked = [f"  {letter}) {text}" for letter, text in zip(LETTERS, item.shown(), strict=False)]
    return "\n".join([item.title, *asked, f"Answer with {_advice(item)}: {how_to_answer(item)}"])


# Verdicts


def _mark(mark: Mark) -> str:
    book = in_book()
    label = f"{inline(mark.label, book)}: " if mark.label else ""
    state = STATES["right" if mark.right else "wrong"]
    sentence = f" {inline(mark.sentence, book)}" if mark.sentence else ""
    return f"<p>{label}{escape(mark.given)} <b>{state}</b>{'.' if sentence else ''}{sentence}</p>"


def verdict_card(verdict: Verdict) -> str:
    """The card of an answered question; the derivation is unfolded if every part is right."""
    body = f'<p class="rz-title">{_title(verdict.item)}</p>' + "".join(_mark(mark) for mark in verdict.marks)
    if isinstance(verdict.item, Design):
        body += design_cards.picture(verdict.item, verdict.answered)
    return _card(_kind(verdict.item), verdict.item.id, body + _derivation(verdict.item, verdict.right))


def verdict_text(verdict: Verdict) -> str:
    """The same for a terminal; the derivation is printed if every part is right."""
    lines = [verdict.item.title]
    for mark in verdict.marks:
        label = f"{mark.label}: " if mark.label else ""
        lines.append(f"  {label}{mark.given}  {STATES['right' if mark.right else 'wrong']}  {mark.sentence}".rstrip())
    return "\n".join([*lines, "", verdict.item.derivation.strip()] if verdict.right else lines)


# Checks


def _source(source: str) -> str:
    """Python source as HTML, highlighted in the book, whose style sheet has the classes of Pygments."""
    if in_book():
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer

        return f'<div class="highlight-python notranslate">{highlight(source, PythonLexer(), HtmlFormatter())}</div>'
    return f"<pre><code>{escape(source)}</code></pre>"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose cells are already HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return f'<div class="rz-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _code(text: str) -> str:
    return "<br>".join(f"<code>{escape(line)}</code>" if line else "" for line in text.split("\n"))


def _task(item: Build, stub: str) -> str:
    """What the page says about a function to write: what it does, its public cases with their results, and where to
    write it, which is in the page itself where its script runs.
    """
    verb = "Fix" if isinstance(item, Debug) else "Write"
    asked = reports.public_paper(item).asked
    told = [wording.result(item, one.expected) if math.isfinite(item.tolerance) else MEASURED for one in asked]
    lines = [(_code(wording.call(item, one.case)), _code(right)) for one, right in zip(asked, told, strict=True)]
    example = next((line for line, one in zip(lines, asked, strict=True) if one.expected.kind == "value"), lines[0])
    how = (
        f'<p class="rz-still">{verb} <code>{item.function}</code> in the notebook of this page, in the cell above, or '
        f"in <code>labs/{item.file}</code>; then run <code>check({item.function})</code>.</p>"
    )
    table = _table(("call", "result"), lines)
    cases = _folded(f"{len(lines)} public cases", table, len(lines) <= FEW and len(table) <= SHORT, "rz-cases")
    return how + workbench.task(item, *example) + _probed(item) + cases + workbench.bench(item, stub)


def _probed(item: Build) -> str:
    """What each case does with the function, if it is not simply called."""
    said = probing.sentence(item)
    return f"<p>In each case: {inline(said, False)}</p>" if said else ""


def _using(report: CheckReport) -> str:
    using = "your function" if report.using == "yours" else "the reference, so that the page still runs"
    return f" Later cells use {using}."


def message(sentence: str) -> str:
    """A sentence in place of the result of a check."""
    return f"<p>{escape(sentence)}</p>"


def results(report: CheckReport, using: str = "") -> str:
    """The result of checking the learner's function; ``using`` says which function later cells use, if any do."""
    done = report.passed == report.total
    body = (
        f"<p><b>{STATES['right' if done else 'wrong']}</b>: {report.passed} of {report.total} public cases.{using}</p>"
    )
    if report.failures:
        body += _probed(report.item)
        lines = [(_code(f.call), _code(f.yours), inline(f.sentence, False)) for f in report.failures]
        body += _table(("call", "yours", ""), lines)
    return body + "<p>Hidden cases are checked when you submit.</p>"


def check_card(report: CheckReport, stub: str = "") -> str:
    """The card of a function: the task in the book, the result of the check in a notebook, and the folded reference.

    ``stub`` is what the cell of the function holds; the book's editor begins with it.
    """
    item = report.item
    title = f'<p class="rz-title"><code>{item.function}</code></p>'
    body = _task(item, stub) if in_book() else results(report, _using(report))
    reference = "Reference (look when yours works, or when you are stuck)"
    folded = _folded(reference, _source(report.source), name="rz-reference")
    return _card("Debug" if isinstance(item, Debug) else "Build", item.id, title + body + folded)


# The scorecard


def _score_state(line: Row) -> str:
    if not isinstance(line.item, Build):
        return STATES[line.state]
    if line.state == "open":
        return "in the notebook" if in_book() else STATES["open"]
    return f"{STATES[line.state]}, {line.passed} of {line.total} public cases"


def _score_line(line: Row) -> tuple[str, str, str]:
    item = line.item
    title = f"<code>{escape(item.function)}</code>" if isinstance(item, Build) else inline(item.title, in_book())
    if in_book():
        title = f'<a href="#rz-{item.id}">{title}</a>'
    identifier = f' data-{"work-" if isinstance(item, Build) else ""}state="{item.id}"'
    return item.section, title, f"<span{identifier}>{_score_state(line)}</span>"


def score_card(lines: Sequence[Row], sentences: Sequence[str]) -> str:
    """The scorecard: ``sentences`` above a folded table of items. In the book, a script fills it from the browser."""
    table = _folded("Every item", _table(("section", "item", "state"), [_score_line(line) for line in lines]))
    if in_book():
        body = f'<div class="rz-tally" aria-live="polite"><p>{escape(sentences[0])}</p></div>{table}'
        body += '<p class="rz-actions"><button type="button" class="rz-reset" disabled>Forget my answers</button></p>'
        return _card("Scorecard", "", body, classes=" rz-scorecard")
    body = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)
    return _card("Scorecard", "", body + table, classes=" rz-scorecard")


def score_text(lines: Sequence[Row], sentences: Sequence[str]) -> str:
    """The same for a terminal."""
    width = max(len(line.item.id) for line in lines)
    table = [f"  {line.item.section:<5} {line.item.id.ljust(width)}  {_score_state(line)}" for line in lines]
    return "\n".join([*(sentence for sentence in sentences if sentence), *table])
