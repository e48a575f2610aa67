"""The cards of functions to write: the task in the book, the result of ``check`` in a notebook and in the book."""

from __future__ import annotations

import math
from html import escape

from autograder.items import Build, Debug
from autograder.learner import reports, workbench
from autograder.learner.card_frame import STATES, card, folded, in_book, table
from autograder.learner.reports import CheckReport
from autograder.marking import probing, wording
from autograder.markup import inline

#: The table of public cases is unfolded if it has at most this many cases and this many characters of HTML.
FEW, SHORT = 4, 1200
#: Shown in place of a result that differs from run to run.
MEASURED = "a measured time"


def check_card(report: CheckReport, stub: str = "") -> str:
    """The card of a function: the task in the book, the result of the check in a notebook, and the folded reference.

    ``stub`` is what the cell of the function holds; the book's editor begins with it.
    """
    item = report.item
    title = f'<p class="rz-title"><code>{item.function}</code></p>'
    body = _task(item, stub) if in_book() else results(report, _using(report))
    reference = "Reference (look when yours works, or when you are stuck)"
    source = folded(reference, _source(report.source), name="rz-reference")
    return card("Debug" if isinstance(item, Debug) else "Build", item.id, title + body + source)


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
    public = table(("call", "result"), lines)
    cases = folded(f"{len(lines)} public cases", public, len(lines) <= FEW and len(public) <= SHORT, "rz-cases")
    return how + workbench.task(item, *example) + _probed(item) + cases + workbench.bench(item, stub)


def _probed(item: Build) -> str:
    """What each case does with the function, if it is not simply called."""
    said = probing.sentence(item)
    return f"<p>In each case: {inline(said, False)}</p>" if said else ""


def results(report: CheckReport, using: str = "") -> str:
    """The result of checking the learner's function; ``using`` says which function later cells use, if any do."""
    state = STATES["right" if report.passed == report.total else "wrong"]
    body = f"<p><b>{state}</b>: {report.passed} of {report.total} public cases.{using}</p>"
    if report.failures:
        body += _probed(report.item)
        lines = [(_code(f.call), _code(f.yours), inline(f.sentence, False)) for f in report.failures]
        body += table(("call", "yours", ""), lines)
    return body + "<p>Hidden cases are checked when you submit.</p>"


def message(sentence: str) -> str:
    """A sentence in place of the result of a check."""
    return f"<p>{escape(sentence)}</p>"


def _using(report: CheckReport) -> str:
    using = "your function" if report.using == "yours" else "the reference, so that the page still runs"
    return f" Later cells use {using}."


def _code(text: str) -> str:
    return "<br>".join(f"<code>{escape(line)}</code>" if line else "" for line in text.split("\n"))


def _source(source: str) -> str:
    """Python source as HTML, highlighted in the book, whose style sheet has the classes of Pygments."""
    if in_book():
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer

        return f'<div class="highlight-python notranslate">{highlight(source, PythonLexer(), HtmlFormatter())}</div>'
    return f"<pre><code>{escape(source)}</code></pre>"
