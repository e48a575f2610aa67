"""Every card as HTML (and as text for a terminal): questions, verdicts, checks, the scorecard.

In the built book (``RANKZERO_BOOK=1``) a question's card holds a form and its answers as data, and
``book/_static/rankzero.js`` makes it live. In a notebook a card only shows: answers are typed into the call.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from autograder import predicting, probing, wording
from autograder.items import Build, Choice, Debug, Order, Question
from autograder.markup import blocks, inline
from autograder.predicting import LETTERS, Mark, Verdict

if TYPE_CHECKING:
    from autograder.checking import CheckReport
    from autograder.progress import Row

Asked = Question | Choice | Order

#: How a card looks in a notebook; the book has ``rankzero.css``.
STYLE = (
    "<style>.rz-card{border-left:3px solid var(--jp-brand-color1,#4a7fb5);padding:.2em 0 .2em 1em;margin:.6em 0;"
    "max-width:46em;line-height:1.5}.rz-card p{margin:.35em 0}.rz-kind{font-size:.85em;opacity:.8}"
    ".rz-kind b{letter-spacing:.05em;text-transform:uppercase}.rz-card .rz-title{font-weight:600}"
    ".rz-card ol,.rz-card ul{margin:.35em 0;padding-left:1.6em}.rz-card ol.rz-letters{list-style:lower-alpha}"
    ".rz-card summary{cursor:pointer}.rz-card pre{overflow-x:auto}.rz-card td,.rz-card th{text-align:left!important}"
    "</style>"
)

#: So many public cases stand unfolded, when their table has at most so many characters: cases of tensors are long.
FEW, SHORT = 4, 1200
#: A word and a shape for each state; colour only repeats them.
STATES = {"right": "✓ right", "wrong": "✗ not yet", "open": "○ open"}
#: Instead of a result that differs from run to run.
MEASURED = "what the clock says"


def in_book() -> bool:
    """The page is being built: cards must be live, and say nothing about the machine that builds them."""
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
    """The frame that all cards share. ``data`` is what the page's script reads."""
    attribute = f' data-card="{escape(json.dumps(data, sort_keys=True))}"' if data else ""
    anchor = f' id="rz-{identifier}"' if in_book() and identifier else ""
    name = f" <code>{escape(identifier)}</code>" if identifier else ""
    head = f'<p class="rz-kind"><b>{kind}</b>{name}</p>'
    style = "" if in_book() else STYLE
    return f'{style}<section class="rz-card{classes}"{anchor}{attribute}>{head}{body}</section>'


def _folded(summary: str, body: str, unfolded: bool = False, name: str = "") -> str:
    return f'<details class="{name}"{" open" if unfolded else ""}><summary>{summary}</summary>{body}</details>'


def _derivation(item: Asked, unfolded: bool = False) -> str:
    return _folded("Derivation", blocks(item.derivation, in_book()), unfolded, "rz-derivation")


def _title(item: Asked) -> str:
    return inline(item.title, in_book())


# Questions


def how_to_answer(item: Asked) -> str:
    """The call that answers ``item``, with blanks."""
    if isinstance(item, Question):
        blank = ", ".join(["..."] * len(item.parts))
    else:
        blank = '"..."'
    return f'predict("{item.id}", {blank})'


def _advice(item: Asked) -> str:
    if isinstance(item, Question):
        return "a number for each blank" if len(item.parts) > 1 else "a number for the blank"
    return "one letter" if isinstance(item, Choice) else "the letters in order, with blanks between them"


def _asked(item: Asked) -> str:
    """What is asked, without inputs: parts with units, or lettered options."""
    if isinstance(item, Question):
        named = [f"{inline(part.label, in_book())} ({escape(part.unit or 'a number')})" for part in item.parts]
        return "<ul>" + "".join(f"<li>{text}</li>" for text in named) + "</ul>"
    options = "".join(f"<li>{inline(text, in_book())}</li>" for text in item.shown())
    return f'<ol class="rz-letters" type="a">{options}</ol>'


def _number_field(part: Any) -> str:
    unit = f' <span class="rz-unit">{escape(part.unit)}</span>' if part.unit else ""
    label = f"<span>{inline(part.label or 'Your answer', True)}</span>"
    entry = '<input type="text" inputmode="decimal" autocomplete="off" size="12">'
    field = f'<label>{label} <span class="rz-field">{entry}{unit}</span></label>'
    return f'<p class="rz-part">{field}<span class="rz-mark" role="status"></span></p>'


def _fields(item: Asked) -> str:
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


def _form(item: Asked) -> str:
    sure = '<input type="number" class="rz-confidence" min="0" max="100" step="any" autocomplete="off">'
    return (
        f'<form novalidate><fieldset disabled><legend class="rz-title">{_title(item)}</legend>{_fields(item)}'
        f'<p class="rz-actions"><button type="submit">Check</button> <label>How sure, in percent? {sure}</label></p>'
        '</fieldset></form><div class="rz-feedback" role="status" aria-live="polite"></div>'
        '<noscript><p class="rz-hint">Answers are checked here when scripts may run.</p></noscript>'
    )


def card_data(item: Asked) -> dict[str, Any]:
    """What the page needs to judge ``item`` by the rules of :mod:`autograder.predicting`."""
    if isinstance(item, Choice):
        slips = {predicting.letter(item, index): inline(text, True) for index, text in item.slips.items()}
        return {"id": item.id, "kind": "choice", "correct": predicting.letter(item, item.correct), "slips": slips}
    if isinstance(item, Order):
        shown = item.shown()
        hints = [predicting.order_hint(first) for first in range(len(shown))]
        letters = [LETTERS[shown.index(step)] for step in item.steps]
        return {"id": item.id, "kind": "order", "correct": letters, "hints": hints}
    parts = [
        {
            "label": inline(part.label, True),
            "unit": escape(part.unit),
            "answer": (answer := float(part.answer())),
            "shown": predicting.shown(answer, part.unit),
            "tolerance": predicting.tolerance(part),
            "slips": [{"value": predicting.slip_value(s), "sentence": inline(s.sentence, True)} for s in part.slips],
        }
        for part in item.parts
    ]
    return {"id": item.id, "kind": "question", "parts": parts, "hints": predicting.HINTS}


def question_card(item: Asked) -> str:
    """The card of a question that is not answered yet: live in the book, with instructions in a notebook."""
    if in_book():
        return _card("Predict", item.id, _form(item) + _derivation(item), card_data(item))
    body = f'<p class="rz-title">{_title(item)}</p>{_asked(item)}'
    body += f"<p>Type your answer into the call, {_advice(item)}: <code>{escape(how_to_answer(item))}</code></p>"
    return _card("Predict", item.id, body + _derivation(item))


def question_text(item: Asked) -> str:
    """The same for a terminal."""
    if isinstance(item, Question):
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
    """What came of an answer; the derivation is unfolded when every part is right."""
    body = f'<p class="rz-title">{_title(verdict.item)}</p>' + "".join(_mark(mark) for mark in verdict.marks)
    return _card("Predict", verdict.item.id, body + _derivation(verdict.item, verdict.right))


def verdict_text(verdict: Verdict) -> str:
    """The same for a terminal; the derivation is printed when every part is right."""
    lines = [verdict.item.title]
    for mark in verdict.marks:
        label = f"{mark.label}: " if mark.label else ""
        lines.append(f"  {label}{mark.given}  {STATES['right' if mark.right else 'wrong']}  {mark.sentence}".rstrip())
    return "\n".join([*lines, "", verdict.item.derivation.strip()] if verdict.right else lines)


# Checks


def _source(source: str) -> str:
    """Python source as HTML; coloured in the book, whose style sheet knows Pygments' classes."""
    if in_book():
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer

        return f'<div class="highlight-python notranslate">{highlight(source, PythonLexer(), HtmlFormatter())}</div>'
    return f"<pre><code>{escape(source)}</code></pre>"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of ready HTML cells."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return f'<div class="rz-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _code(text: str) -> str:
    return "<br>".join(f"<code>{escape(line)}</code>" if line else "" for line in text.split("\n"))


def _task(item: Build) -> str:
    """What the page says of a function that is written elsewhere: how, and its public cases with their results."""
    from autograder import checking

    verb = "Mend" if isinstance(item, Debug) else "Write"
    asked = checking.public_paper(item).asked
    told = [wording.result(item, one.expected) if math.isfinite(item.tolerance) else MEASURED for one in asked]
    lines = [(_code(wording.call(item, one.case)), _code(right)) for one, right in zip(asked, told, strict=True)]
    how = (
        f"<p>{verb} <code>{item.function}</code> in the notebook of this page, in the cell above, or in "
        f"<code>labs/{item.file}</code>; then run <code>check({item.function})</code>.</p>"
    )
    how += _probed(item)
    table = _table(("call", "result"), lines)
    return how + _folded(f"{len(lines)} public cases", table, len(lines) <= FEW and len(table) <= SHORT)


def _probed(item: Build) -> str:
    """What is done with the function in each case, where it is not simply called."""
    said = probing.sentence(item)
    return f"<p>In each case: {inline(said, False)}</p>" if said else ""


def _results(report: CheckReport) -> str:
    """What came of the learner's function."""
    done = report.passed == report.total
    using = "your function" if report.using == "yours" else "the reference, so that the page goes on"
    body = f"<p><b>{STATES['right' if done else 'wrong']}</b>: {report.passed} of {report.total} public cases."
    body += f" Later cells use {using}.</p>"
    if report.failures:
        body += _probed(report.item)
        lines = [(_code(f.call), _code(f.yours), inline(f.sentence, False)) for f in report.failures]
        body += _table(("call", "yours", ""), lines)
    return body + "<p>Hidden cases are checked when you submit.</p>"


def check_card(report: CheckReport) -> str:
    """The card of a function: in the book the task, in a notebook what came of the check; the reference is folded."""
    item = report.item
    title = f'<p class="rz-title"><code>{item.function}</code></p>'
    body = _task(item) if in_book() else _results(report)
    reference = _folded("Reference (look when yours works, or when you are stuck)", _source(report.source))
    return _card("Debug" if isinstance(item, Debug) else "Build", item.id, title + body + reference)


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
    identifier = "" if isinstance(item, Build) else f' data-state="{item.id}"'
    return item.section, title, f"<span{identifier}>{_score_state(line)}</span>"


def score_card(lines: Sequence[Row], sentences: Sequence[str]) -> str:
    """The scorecard: ``sentences`` above a folded table of items. In the book the script fills it from the browser."""
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
