"""``predict`` and ``scorecard``: the rules, the same rules in the page, the cards, and what is kept."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import bank, markup
from autograder.items import (
    Axis,
    Build,
    Case,
    Choice,
    Design,
    Estimate,
    Iterator,
    Knob,
    Landmark,
    Order,
    Part,
    Question,
    Simulated,
    Slip,
    Tensor,
)
from autograder.learner import design_cards, function_cards, progress, question_cards, scorecard
from autograder.learner.designing import design
from autograder.learner.predicting import predict
from autograder.learner.reports import CheckReport, Failure
from autograder.marking import arithmetic, designs, questions, wording
from autograder.marking.outcome import Outcome
from autograder.marking.questions import BadAnswer, judge
from rankzero.facts.models import LLAMA3_70B

STATIC = Path(__file__).parents[3] / "book" / "_static"

VOLUME = Question(
    id="03-volume",
    kind="derive",
    title="GB that each rank *sends* of `x`, $S < 2$",
    section="3.7",
    ask="bytes sent",
    unit="GB",
    answer=lambda: 1.75,
    slips=(
        Slip("One phase $a < b$.", value=0.875),
        Slip("Sent plus received.", value=lambda: 3.5),
        Slip("The limit, close but not reached.", value=1.76),
    ),
    derivation="Two phases of $(N-1)/N$ each.",
)
PAIR = Question(
    id="03-pair",
    kind="trace",
    title="Two numbers",
    section="3.7",
    parts=(
        Part("messages", "", lambda: 30.0, 0.0, (Slip("One phase.", value=15),)),
        Part("bytes", "B", lambda: 58_720_256),
    ),
    derivation="Count them.",
)
PICK = Choice(
    "03-pick", "trace", "May it?", ("yes", 'no, "never" <b>', "3"), 1, "Undefined.", "3.3", {0: "Only the root's."}
)
STEPS = Order("03-steps", "trace", "In which order?", ("cut", "send", "add", "gather"), "As the ring goes.", "3.6")


def double(x: float) -> float:
    """Twice x."""
    return 2 * x


class Doubling(Build):
    """A build item whose reference stands here."""

    def solution(self):
        return double


BUILD = Doubling(
    "03 doubling.double", "3.8", "doubling", (Case((1.5,)), Case(("<",), raises=None)), groups=(), slips=()
)
ITEMS = (VOLUME, PAIR, PICK, STEPS, BUILD)


def of_chapter(package: str) -> tuple:
    """The bank of a course that has one chapter."""
    return ITEMS if package == "ch03" else ()


@pytest.fixture(autouse=True)
def small_course(monkeypatch, tmp_path):
    """A course of five items, and a data folder of its own."""
    monkeypatch.setattr(bank, "of_chapter", of_chapter)
    monkeypatch.setattr(bank, "candidates", lambda identifier: ITEMS)
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)


@pytest.fixture
def book(monkeypatch):
    """While the page is built."""
    monkeypatch.setenv("RANKZERO_BOOK", "1")


# The rules


@pytest.mark.parametrize(
    ("answer", "right", "sentence"),
    [
        (1.75, True, ""),
        (Fraction(7, 4), True, ""),
        (1.74, True, ""),
        (1.733, True, ""),
        (1.732, False, "Too small."),
        (1.76, False, "The limit, close but not reached."),
        (0.88, False, "One phase $a < b$."),
        (3.5, False, "Sent plus received."),
        (2, False, "Too large."),
        (-1.75, False, "Too small."),
        (1750, False, "The digits are right; check the unit: GB."),
        (1.75e-9, False, "The digits are right; check the unit: GB."),
        (17.5, False, "Too large."),
    ],
)
def test_a_number_is_right_or_a_slip_or_has_a_direction(answer, right, sentence):
    """Kills a judge that checks the tolerance before the slips: 1.76 is within 1 % of 1.75, and is the slip itself."""
    (mark,) = judge(VOLUME, (answer,)).marks
    assert (mark.right, mark.sentence) == (right, sentence)


def test_a_count_is_exact_up_to_rounding_in_the_bank():
    part = Part("n", "", lambda: 0.1 * 3 * 100, 0.0)
    assert questions.judge_number(part, 30)[0]
    assert not questions.judge_number(part, 30.0001)[0]


@given(answer=st.floats(1e-9, 1e15), relative=st.sampled_from([0.0, 1e-3, 0.01]), off=st.floats(-0.05, 0.05))
def test_the_band_is_relative_to_the_answer(answer, relative, off):
    """Kills an absolute tolerance and one that is relative to what was given."""
    given_ = answer * (1 + off)
    part = Part("x", "", lambda: answer, relative)
    band = max(relative, questions.FLOOR)
    expected = abs(Fraction(given_) - Fraction(answer)) / Fraction(answer)
    if abs(expected - Fraction(band)) > Fraction(1, 10**14):
        assert questions.judge_number(part, given_)[0] == (expected < band)


def test_each_part_is_judged_alone():
    verdict = judge(PAIR, (15, 58_720_256))
    assert [mark.right for mark in verdict.marks] == [False, True]
    assert verdict.marks[0].sentence == "One phase."
    assert not verdict.right


def test_a_right_part_shows_the_answer_with_its_unit_and_a_wrong_one_what_was_given():
    assert judge(VOLUME, (1.74,)).marks[0].given == "1.75 GB"
    assert judge(VOLUME, (2.123456789,)).marks[0].given == "2.12346 GB"
    assert judge(PAIR, (30, 58_800_000)).marks[1].given == "58,720,256 B"


@pytest.mark.parametrize(("answer", "right"), [("a", True), (" A) ", True), ('NO, "never" <b>', True), ("b", False)])
def test_a_choice_is_named_by_letter_or_text(answer, right):
    assert judge(PICK, (answer,)).right == right


def test_an_option_that_is_a_number_may_be_given_as_one():
    assert judge(PICK, (3,)).marks[0].sentence == "Not this one."
    assert judge(PICK, ("yes",)).marks[0].sentence == "Only the root's."


def letters(steps: tuple[str, ...]) -> list[str]:
    return ["abcd"[STEPS.shown().index(step)] for step in steps]


@pytest.mark.parametrize("form", [" ".join, ", ".join, "".join, " -> ".join])
def test_an_order_is_letters_in_any_spelling(form):
    assert judge(STEPS, (form(letters(STEPS.steps)),)).right
    assert judge(STEPS, tuple(letters(STEPS.steps))).right


def test_a_wrong_order_says_how_far_it_is_right():
    swapped = (*STEPS.steps[:2], STEPS.steps[3], STEPS.steps[2])
    assert judge(STEPS, (" ".join(letters(swapped)),)).marks[0].sentence == "Right up to step 2."
    assert judge(STEPS, (" ".join(letters(STEPS.steps[::-1])),)).marks[0].sentence == "Another step comes first."


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("03-volum", 1), "no item '03-volum'; did you mean 03-volume?"),
        ((5,), "the question's id comes first, in quotes, got 5"),
        (("03-double", 1), "03-double is a function to write: then call check(double)"),
        (("03-volume", "70 ms"), "“ms” does not fit here: the answer is read in GB."),
        (("03-volume", "30-40"), "This looks like a range: type one number, or put a difference in parentheses."),
        (("03-volume", True), "a number is needed, got bool"),
        (("03-volume", None), "a number is needed, got NoneType"),
        (("03-volume", math.nan), "that is finite, got nan"),
        (("03-volume", 10**400), "that is finite"),
        (("03-volume", 58, 720, 256), "asks for 1 number (bytes sent), got 3 (write 1_000 or 1000 for a thousand"),
        (("03-pair", 1), "asks for 2 numbers (messages, bytes), got 1"),
        (("03-pair", 1, ...), "bytes: a number is needed, got ellipsis"),
        (("03-pick", "d"), 'asks for one letter from "a" to "c", got \'d\''),
        (("03-pick", "a", "b"), "asks for one letter, got 2 answers"),
        (("03-steps", "a b c"), 'asks for the letters "a b c d" in order, each once'),
        (("03-steps", "a b c c"), 'asks for the letters "a b c d" in order, each once'),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        predict(*call)
    assert "\n" not in str(caught.value)
    assert caught.value._render_traceback_() == [f"predict: {caught.value}"]
    assert progress.load() == {}


@pytest.mark.parametrize("confidence", [-1, 101, "80", True, math.nan])
def test_confidence_is_a_percentage(confidence):
    with pytest.raises(BadAnswer, match="confidence must be a number from 0 to 100"):
        predict("03-volume", 1.75, confidence=confidence)


# Cards


def test_without_answers_the_card_says_how_to_answer(capsys):
    for call, advice in [
        (("03-pair",), 'a number for each blank: predict("03-pair", ..., ...)'),
        (("03-pair", ..., ...), 'a number for each blank: predict("03-pair", ..., ...)'),
        (("03-pick",), 'one letter: predict("03-pick", "...")'),
        (("03-steps",), 'the letters in order, with blanks between them: predict("03-steps", "...")'),
    ]:
        predict(*call)
        assert advice in capsys.readouterr().out
    assert progress.load() == {}


def test_the_derivation_unfolds_for_a_right_answer_only(capsys):
    for answer, unfolded in [(1.75, True), (2, False)]:
        card = question_cards.verdict_card(judge(VOLUME, (answer,)))
        assert ('<details class="rz-derivation" open' in card) == unfolded
        predict("03-volume", answer)
        assert ("Two phases" in capsys.readouterr().out) == unfolded


def test_an_unanswered_card_in_a_notebook_does_not_hold_the_answer():
    for item, answer in [(VOLUME, "1.75"), (PAIR, "58,720,256"), (PAIR, "58720256")]:
        assert answer not in question_cards.question_card(item) + question_cards.question_text(item)


def test_the_book_shows_the_live_card_whatever_was_typed_and_keeps_nothing(book, capsys):
    predict("03-volume")
    blank = capsys.readouterr().out
    predict("03-volume", 1.75, confidence=50)
    assert capsys.readouterr().out == blank
    assert not progress.location().exists()


@pytest.mark.parametrize("item", ITEMS[:4], ids=lambda item: item.id)
def test_card_data_survives_html(book, item):
    """Kills unescaped quotes, angle brackets and ampersands in the data attribute."""
    found = re.search(r' data-card="([^"]*)"', question_cards.question_card(item))
    assert found
    assert json.loads(unescape(found[1])) == json.loads(json.dumps(question_cards.card_data(item)))


def test_text_of_the_bank_is_escaped(book, monkeypatch):
    def pages():
        return (
            question_cards.question_card(PICK)
            + question_cards.verdict_card(judge(PICK, ("a",)))
            + question_cards.question_card(VOLUME)
        )

    live = pages()
    monkeypatch.delenv("RANKZERO_BOOK")
    for html in (live, pages()):
        assert "<b>no" not in html
        assert 'never" <b>' not in html
        assert "&lt;b&gt;" in html
        assert " onclick" not in html


def report(using: str) -> CheckReport:
    failure = Failure("double('<')", "'<>'", "Once `<` too often.")
    return CheckReport(BUILD, 1, 2, (failure,), using, "def double(x):\n    return x < 2\n")


def test_the_card_of_a_check_in_a_notebook():
    html = function_cards.check_card(report("reference"))
    assert "1 of 2 public cases." in html
    assert "the reference, so that the page still runs" in html
    assert "your function" in function_cards.check_card(report("yours"))
    for escaped in ("double(&#x27;&lt;&#x27;)", "&#x27;&lt;&gt;&#x27;", "<code>&lt;</code> too often", "x &lt; 2"):
        assert escaped in html
    assert '<details class="rz-reference"><summary>Reference' in html


def test_the_card_of_a_check_in_the_book_is_the_task_with_its_public_cases(book):
    html = unescape(function_cards.check_card(report("reference")))
    assert "labs/ch03/doubling.py" in html
    assert "<td><code>double(1.5)</code></td><td><code>3</code></td>" in html
    assert "<td><code>double('<')</code></td><td><code>'<<'</code></td>" in html
    assert "1 of 2" not in html


def test_little_markdown():
    text = "A *b* of **c** and `d*e*<` at $x < y$, \\$5 and 2*3*4.\n\n- one\n  more\n- two $$z$$"
    assert markup.blocks(text, book=True) == (
        "<p>A <em>b</em> of <strong>c</strong> and <code>d*e*&lt;</code> at "
        '<span class="math notranslate nohighlight">\\(x &lt; y\\)</span>, $5 and 2<em>3</em>4.</p>'
        '<ul><li>one more</li><li>two <span class="math notranslate nohighlight">\\[z\\]</span></li></ul>'
    )
    assert "$x &lt; y$" in markup.blocks(text, book=False)


def test_values_and_calls_in_words():
    assert wording.value(Tensor.of([1, 2, 3, 4], shape=(2, 2))) == "tensor([[1, 2], [3, 4]])"
    empty = Tensor("float32", (1 << 40, 1 << 40, 0), b"")  # its rows would take forever to write
    assert wording.value(empty) == "tensor([], shape (1099511627776, 1099511627776, 0), float32)"
    assert wording.value(Tensor.of([7], "int64", ())) == "tensor(7, int64)"
    assert wording.value(Tensor.of(range(4099), "float64")) == "tensor([0, 1, 2, … 4099 in all], float64)"
    assert wording.value((1 / 3, "a", Iterator((1, 2)))) == "(0.333333, 'a', iter((1, 2)))"
    assert wording.value([0] * 2000 + [1] + [0.5] * 11) == "[0] * 2000 + [1] + [0.5] * 11"
    assert [wording.value(x) for x in (1e9, 1.5e-7, 0.1 + 0.2, math.inf, -0.0)] == ["1e9", "1.5e-7", "0.3", "inf", "-0"]
    assert wording.arguments((0.1 + 0.2, 2e9), {"b": [1 / 3]}) == "0.3, 2e9, b=[0.333333333333333]"
    assert wording.arguments((LLAMA3_70B, 8)) == "LLAMA3_70B, 8"
    world = Build("03 m.f", "3", "t", (), (), (), grade="world")
    assert wording.call(world, Case(((1.0,), (Tensor.of([2]), 3)))) == "rank 0: f(1)\nrank 1: f(tensor([2]), 3)"
    assert wording.result(world, Outcome("value", (3.0, 3.0))) == "every rank: 3"
    assert wording.result(world, Outcome("value", (3.0, None))) == "rank 0: 3\nrank 1: None"
    trace = Build("03 m.C", "3", "t", (), (), (), grade="calls")
    case = Case((2,), {"k": 0.5}, calls=(("step", (1,)), ("scale", None)))
    assert wording.call(trace, case) == "C(2, k=0.5)\n.step(1)\n.scale"
    outcome = Outcome("value", [("raises", "ValueError"), 2.0])
    assert wording.result(trace, outcome) == "\nraises ValueError\n2"


# What is kept


def test_answers_are_kept_and_the_first_stays_the_first(capsys):
    predict("03-volume", 2, confidence=90)
    predict("03-volume", 1.75, confidence=10)
    predict("03-pick", "a")
    assert progress.load() == {
        "03-volume": {"right": True, "first": False, "confidence": 90.0},
        "03-pick": {"right": True, "first": True, "confidence": None},
    }
    progress.record_check("03-double", 1, 2)
    scorecard.scorecard(3)
    text = capsys.readouterr().out
    assert "4 questions: 2 right, 0 wrong, 2 open. 1 function: 0 with all public cases right." in text
    assert "90 % on average, and 0 % of those first answers were right. Brier score 0.81" in text
    assert "1 of 2 public cases" in text


def test_who_looked_first_is_left_out_of_calibration():
    """Kills a confidence in what was read off: only predictions count, and a later answer does not make it one."""
    looked = {"right": True, "first": True, "confidence": 100.0, "looked": True}
    entries = {"03-volume": looked, "03-pick": {"right": False, "first": False, "confidence": 60.0}}
    lines = progress.rows(3, entries)
    assert progress.calibration(lines, entries).startswith("Confidence was given 1 time: 60 % on average, and 0 %")
    assert progress.calibration(lines, {"03-volume": looked}) == ""
    progress._record("03-volume", lambda old: looked)
    progress.record_answer("03-volume", False, 50.0)
    assert progress.load()["03-volume"] == {**looked, "right": False}


def test_brier_score_of_the_definition():
    entries = {
        i.id: {"right": r, "first": r, "confidence": c}
        for i, r, c in zip(ITEMS, (1, 0, 1), (80, 60, 100), strict=False)
    }
    expected = ((0.8 - 1) ** 2 + 0.6**2 + 0) / 3
    assert f"Brier score {expected:.2f}:" in progress.calibration(progress.rows(3, entries), entries)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2, "items": {}}', '{"version": 1, "items": [3]}', "\x00"])
def test_a_broken_file_is_moved_aside_with_a_sentence(text, capsys):
    file = progress.location()
    file.parent.mkdir(parents=True)
    file.write_text(text)
    predict("03-volume", 1.75)
    assert "could not be read; it was moved to" in capsys.readouterr().out
    assert (file.parent / "progress.broken-1.json").read_text() == text
    assert set(progress.load()) == {"03-volume"}


def test_a_file_that_is_not_text_is_moved_aside():
    file = progress.location()
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff\xfe\x00")
    assert progress.load() == {}
    assert (file.parent / "progress.broken-1.json").exists()


def test_parentheses_without_end_are_refused_in_a_sentence():
    """Kills: a RecursionError in a hand-in, and a row on which "the grader failed"."""
    with pytest.raises(arithmetic.Refused):
        arithmetic.read("(" * 199 + "1")


def test_nothing_half_written_is_left(monkeypatch, capsys):
    """Kills writing in place: the old file survives a write that fails, and no temporary file stays."""
    predict("03-volume", 1.75)
    before = progress.location().read_text()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(progress.os, "replace", fail)
    predict("03-pick", "a")
    assert "Your progress was not saved: No space left on device" in capsys.readouterr().out
    assert progress.location().read_text() == before
    assert [p.name for p in progress.location().parent.iterdir()] == ["progress.json"]


def test_a_file_that_cannot_be_opened_costs_no_verdict(capsys):
    """Kills: a traceback in the place of the card."""
    progress.location().mkdir(parents=True)
    predict("03-volume", 1.75)
    said = capsys.readouterr().out
    assert said.count("Your progress was not saved: Is a directory") == 1
    assert len(said.splitlines()) > 1
    scorecard.scorecard("03")
    assert "Your progress cannot be read: Is a directory" in capsys.readouterr().out
    assert progress.location().is_dir()


def test_export_is_what_is_kept(tmp_path):
    progress.record_check("03-double", 2, 2)
    target = progress.export_progress(tmp_path / "mine.json")
    assert json.loads(target.read_text())["items"] == {"03-double": {"passed": 2, "total": 2}}


def test_an_unknown_chapter_is_named():
    with pytest.raises(ValueError, match="got 99"):
        scorecard.scorecard(99)


# In a kernel

CELLS = {
    "card": 'from autograder.learner.predicting import predict\npredict("03-volume")',
    "bad": 'predict("03-volume", "70 ms")',
}


def test_a_notebook_shows_cards_and_one_red_line(monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    head = "import tests.autograder.learner.test_predict as t\nfrom autograder import bank\n"
    head += "bank.of_chapter, bank.candidates = t.of_chapter, lambda identifier: t.ITEMS\n"
    cells = [nbformat.v4.new_code_cell(head + CELLS["card"]), nbformat.v4.new_code_cell(CELLS["bad"])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    root = str(Path(__file__).parents[3])
    nbclient.NotebookClient(
        notebook, allow_errors=True, resources={"metadata": {"path": root}}, timeout=250, startup_timeout=250
    ).execute()
    (card,) = notebook.cells[0].outputs
    assert set(card.data) == {"text/html", "text/plain"}
    (error,) = notebook.cells[1].outputs
    assert error.output_type == "error"
    assert error.traceback == ["predict: " + error.evalue]


# In the page


@pytest.fixture
def page(browser, book, tmp_path):
    """A chapter of the book, as a file: its cards, its scorecard, and a sidebar with two chapters."""
    body = "".join(question_cards.question_card(item) for item in ITEMS[:4])
    lines = progress.rows(3, {})
    body += scorecard.score_card(lines, (progress.tally(lines), ""))
    links = '<a class="reference internal" href="#">3</a><a class="reference internal" href="04-topology.html">4</a>'
    scripts = ("ask.js", "numbers.js", "rankzero.js")
    for name in (*scripts, "rankzero.css"):
        shutil.copy(STATIC / name, tmp_path)
    loaded = "".join(f'<script src="{name}"></script>' for name in scripts)
    (tmp_path / "03-collectives.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>3</title><meta name="viewport" '
        f'content="width=device-width"><link rel="stylesheet" href="rankzero.css">{loaded}'
        f'<body><nav class="bd-links">{links}</nav><main>{body}</main></body></html>',
        encoding="utf-8",
    )
    context = browser.new_context()
    page = context.new_page()
    page.faults = []
    page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto((tmp_path / "03-collectives.html").as_uri())
    yield page
    assert page.faults == []
    context.close()


#: What is typed into the page, and the number that it means; None where it is refused.
TYPED = {
    "1.75": 1.75,
    " 1,75 ": 1.75,
    "+1.74": 1.74,
    "1.7325": 1.7325,
    "1.732": 1.732,
    "1.7675": 1.7675,
    "1.76": 1.76,
    "0,875": 0.875,
    ".88": 0.88,
    "3.5": 3.5,
    "2.": 2.0,
    "−1.75": -1.75,
    "1.75e3": 1750.0,
    "1,75E-9": 1.75e-9,
    "17.5": 17.5,
    "6e-3": 0.006,
    "0": 0.0,
    "58,720,256": 58_720_256,
    "58 720 256": 58_720_256,
    "58'720'256.0": 58_720_256,
    "58_720_256": 58_720_256,
    "58720256": 58_720_256,
    "0.125": 0.125,
    "1.285": 1.285,
    "1234,567": 1234.567,
    "1,2,3": None,
    "58,720": 58_720.0,
    "1,000": 1000.0,
    "300,000": 300_000.0,
    "-1,000.5": -1000.5,
    "1,000e3": 1e6,
    "1,000 * 8": 8000.0,
    "12’345": 12_345.0,
    "3 million": 3e6,
    "1.5 Thousand": 1500.0,
    "3·10²³": 3e23,
    "10⁻³": 1e-3,
    "~30": 30.0,
    "≈ 1,200": 1200.0,
    "30-40": None,
    "30 - 40": None,
    "30–40": None,
    "0-5": None,
    "30 to 40": None,
    "40 to 30": None,
    "1e-3-2e-3": None,
    "1,000-2,000": None,
    "10^3-10^4": None,
    "10%-20%": None,
    "40-30": 10.0,
    "40–30": 10.0,
    "(30-40)": -10.0,
    "-30-40": -70.0,
    "1/2-3/4": -0.25,
    "2*3-10": -4.0,
    "10-20-30": -40.0,
    "1.000.000": None,
    "70 ms": None,
    "": None,
    "1e999": None,
    "0x10": None,
    "1 75": None,
    "Infinity": None,
    "7/4": 1.75,
    "<b>": None,
    "12 345 * 2": 24690.0,
    "3*7": 21.0,
    "2^10": 1024.0,
    "2**10": 1024.0,
    "2^3^2": 512.0,
    "-2^2": -4.0,
    "2^-2": 0.25,
    "30e9": 30e9,
    "2 * (3 + 4) - 1": 13.0,
    "((((5))))": 5.0,
    "-(3 - 5)": 2.0,
    "2×3÷4": 1.5,
    "6 − 2·2": 2.0,
    "1,5 * 2": 3.0,
    "10 - 2 - 3": 5.0,
    "64/8/2": 4.0,
    "30 %": 0.3,
    "100% - 5 percent": 0.95,
    "58,720 * 2": 117_440.0,
    "3 *": None,
    "* 3": None,
    "(3": None,
    "3)": None,
    "()": None,
    "2 (3)": None,
    "1/0": None,
    "1/(3-3)": None,
    "(-8)^(1/3)": None,
    "10^400": None,
    "1/10^400": None,
    "2 GB": None,
    "alert(1)": None,
    "1+" * 200 + "1": None,
}

#: What is typed, the unit that the part asks for, and the number in that unit.
MEASURED = {
    ("1.2 GB", "MB"): 1200.0,
    ("1.2GB", "bytes"): 1.2e9,
    ("2^10 KiB", "B"): 2.0**20,
    ("3/4 GB", "MB"): 750.0,
    ("1 GB + 200 MB", "GB"): 1.2,
    ("2 * 3 GB", "GB"): 6.0,
    ("(1 GB + 1 GB) / 4", "MB"): 500.0,
    ("32 GiB", "GiB"): 32.0,
    ("80 GB", "GB per GPU"): 80.0,
    ("80 GB per GPU", "GB per GPU"): 80.0,
    ("50 GB/s", "GB/s"): 50.0,
    ("0.05 TB/s", "GB/s"): 50.0,
    ("3 µs", "ms"): 0.003,
    ("0.25 s", "ms"): 250.0,
    ("2 h", "min"): 120.0,
    ("70 TFLOP", "FLOP"): 70e12,
    ("30 %", "%"): 30.0,
    ("30", "%"): 30.0,
    ("30 %", "probability"): 0.3,
    ("8 gpus", "GPUs"): 8.0,
    ("1 GPU", "GPUs"): 1.0,
    ("3x", "x"): 3.0,
    ("3 times", "x"): 3.0,
    ("3×", "x"): 3.0,
    ("3 ×", "times"): 3.0,
    ("2*3 ×", "x"): 6.0,
    ("3×4", "x"): 12.0,
    ("3×-4", "x"): -12.0,
    ("3× - 1×", "x"): None,
    ("3 ×", ""): None,
    ("3 ×", "GB"): None,
    ("30-40×", "x"): None,
    ("30×-40×", "x"): None,
    ("50 %", "of the reward"): 0.5,
    ("0.5 of the reward", "of the reward"): 0.5,
    ("10 y", "years"): 10.0,
    ("10 Years", "years"): 10.0,
    ("1 yr", "days"): 365.25,
    ("31,557,600 s", "years"): 1.0,
    ("31557600 seconds", "years"): 1.0,
    ("24 months", "years"): 2.0,
    ("2 weeks", "days"): 14.0,
    ("2 d", "hours"): 48.0,
    ("90 minutes", "hours"): 1.5,
    ("3 milliseconds", "ms"): 3.0,
    ("3 m", "min"): None,
    ("30-40 GB", "GB"): None,
    ("30 GB - 40 GB", "GB"): None,
    ("500 MB-1 GB", "GB"): None,
    ("30-40 GB/s", "GB/s"): None,
    ("30 to 40 years", "years"): None,
    ("40 GB-30 GB", "GB"): 10.0,
    ("30-40 apples", "GB"): None,
    ("1,000 GB", "GB"): 1000.0,
    ("$300,000", "USD"): 300_000.0,
    ("$4.6 million", "USD"): 4.6e6,
    ("4.6e6 dollars", "million $"): 4.6,
    ("4.6 million $", "million $"): 4.6,
    ("5 million", "million $"): 5.0,
    ("5 million", "$"): 5e6,
    ("5 million", "USD"): 5e6,
    ("5", "million $"): 5.0,
    ("5 billion", "million"): 5000.0,
    ("5 $", "million"): None,
    ("$5", "GB"): None,
    ("2 million tokens", "tokens"): 2e6,
    ("0.7 trillion parameters", "billion parameters"): 700.0,
    ("5 BYTES", "bytes"): 5.0,
    ("$", "$"): None,
    ("12 $", "$"): 12.0,
    ("5 GB", "s"): None,
    ("5 gb", "GB"): None,
    ("5 GB GB", "GB"): None,
    ("5 GB * 2 GB", "GB"): None,
    ("1 / (2 GB)", "GB"): None,
    ("1 GB + 3", "GB"): None,
    ("2^(3 GB)", "GB"): None,
    ("30 %", "GB"): None,
    ("3 GBs", "GB"): None,
    ("0x10", "x"): None,
}


def understood(text: str, unit: str) -> float | None:
    """The number in ``text``, or None."""
    return None if refusal(text, unit) else arithmetic.read(text, unit)


def refusal(text: str, unit: str) -> str:
    """The sentence with which ``text`` is refused, or nothing."""
    try:
        arithmetic.read(text, unit)
    except arithmetic.Refused as refused:
        return str(refused)
    return ""


def test_texts_are_read_as_documented():
    assert {text: understood(text, "") for text in TYPED} == TYPED
    for pair, value in MEASURED.items():
        assert understood(*pair) == (value if value is None else pytest.approx(value, rel=1e-12)), pair
    refusals = [refusal(*pair) for pair in [*MEASURED, *((text, "") for text in TYPED)]]
    assert all(re.fullmatch(r"[^\n]{9,110}\.", sentence) for sentence in refusals if sentence)


def test_every_unit_of_the_bank_is_read(monkeypatch):
    """Kills a part whose own unit, as its card prints it, is refused; those that begin with a digit are left out."""
    monkeypatch.undo()
    units = {part.unit for item in bank.items() if isinstance(item, Question) for part in item.parts} - {"", "1/s"}
    assert {unit: understood(f"3 {unit}", unit) for unit in units} == dict.fromkeys(units, 3.0)


@pytest.mark.browser
def test_the_page_reads_numbers_as_python_does(page):
    """The two copies agree on every text of the tables: in the number, and in the sentence where there is none."""
    pairs = [*((text, "") for text in TYPED), *MEASURED]
    read = page.evaluate("pairs => pairs.map(([text, unit]) => rankzeroNumbers.read(text, unit))", pairs)
    assert {pair: got.get("value") for pair, got in zip(pairs, read, strict=True)} == {
        pair: understood(*pair) for pair in pairs
    }
    assert [got.get("error", "") for got in read] == [refusal(*pair) for pair in pairs]


@pytest.mark.browser
def test_what_is_understood_stands_beside_the_field(page):
    card = page.locator("#rz-03-volume")
    field = card.get_by_label("bytes sent")
    for text, shown in {
        "2^10": "= 1024 GB",
        "1200 MB": "= 1.2 GB",
        "12": "",
        "3 *": "",
        "1e6": "= 1\u202f000\u202f000 GB",
    }.items():
        field.fill(text)
        assert (card.locator(".rz-read").text_content() or "") == shown, text
    field.fill("7/4 apples")
    field.press("Enter")
    assert card.locator(".rz-feedback").inner_text() == "“apples” does not fit here: the answer is read in GB."
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("7/4")
    field.press("Enter")
    assert card.locator(".rz-mark").inner_text() == "✓ right 1.75 GB"


@pytest.mark.proof(part="pages")
@pytest.mark.browser
def test_a_verdict_goes_with_the_answer_that_it_judged(page):
    """Kills a verdict that stays beside an answer that cannot be read, at once and after a reload."""
    volume, pair = (page.locator(f"#rz-03-{name}") for name in ("volume", "pair"))
    field = volume.get_by_label("bytes sent")
    for text, says in {"lots": "Type one number", "": "Type a number.", "30-40": "This looks like a range"}.items():
        field.fill("1.75")
        field.press("Enter")
        assert volume.locator(".rz-mark").inner_text() == "✓ right 1.75 GB"
        field.fill(text)
        field.press("Enter")
        assert volume.locator(".rz-mark").inner_text() == ""
        assert says in volume.locator(".rz-feedback").inner_text()
    pair.get_by_label("messages").fill("30")
    pair.get_by_label("bytes").fill("5")
    pair.get_by_role("button", name="Check").click()
    assert pair.locator(".rz-feedback").inner_text() == "1 of 2 right."
    pair.get_by_label("bytes").fill("5 apples")
    pair.get_by_role("button", name="Check").click()
    assert pair.locator(".rz-mark").all_inner_texts() == ["", ""]
    page.reload()
    assert field.input_value() == "30-40"
    assert volume.locator(".rz-mark").inner_text() == ""
    assert pair.locator(".rz-mark").all_inner_texts() == ["", ""]
    field.fill("1.75")
    volume.locator(".rz-confidence").fill("200")
    field.press("Enter")
    assert volume.locator(".rz-feedback").inner_text() == "How sure: a number from 0 to 100."
    assert volume.locator(".rz-mark").inner_text() == ""


@pytest.mark.browser
def test_how_sure_is_asked_before_the_answer_is_checked(page):
    """In the order of the keyboard, and to the eye, in every kind of card."""
    field = page.locator("#rz-03-volume").get_by_label("bytes sent")
    field.focus()
    seen = []
    for _ in range(2):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.className || document.activeElement.textContent"))
    assert seen == ["rz-confidence", "Check"]
    for actions in page.locator(".rz-card form .rz-actions").all():
        sure, check = (actions.locator(one).bounding_box() for one in (".rz-confidence", "button"))
        assert sure["x"] + sure["width"] < check["x"]


@pytest.mark.browser
def test_an_opened_derivation_does_not_hide_an_answer(page):
    """Kills an answer that is out of sight after a sitting, where the same card begins empty."""
    card = page.locator("#rz-03-volume")
    card.get_by_label("bytes sent").fill("0.875")
    card.locator(".rz-confidence").fill("60")
    card.get_by_role("button", name="Check").click()
    page.reload()
    page.evaluate("""() => {
        const progress = rankzero.load();
        progress.drafts["03-volume"] = { given: [""], sure: "", open: true };
        rankzero.save(progress);
    }""")
    page.reload()
    assert card.get_by_label("bytes sent").input_value() == "0.875"
    assert card.locator(".rz-confidence").input_value() == "60"
    assert "One phase" in card.locator(".rz-mark").inner_text()
    assert card.locator("details.rz-derivation").evaluate("d => d.open")


#: The question of the volume is due.
DUE = """() => {
  const progress = rankzero.load();
  progress.items["03-volume"].review.due = rankzero.day(-1);
  rankzero.save(progress);
}"""


@pytest.mark.browser
def test_a_new_answer_to_a_question_that_is_due_survives_a_reload(page):
    """Kills a half-typed answer that is lost, and one that is shown as the last answer."""
    card = page.locator("#rz-03-volume")
    field = card.get_by_label("bytes sent")
    field.fill("0.875")
    field.press("Enter")
    page.evaluate(DUE)
    page.reload()
    assert field.input_value() == ""
    field.fill("7/4")
    page.reload()
    assert field.input_value() == "7/4"
    assert card.locator(".rz-mark").inner_text() == ""
    card.get_by_role("button", name="Show my last answer").click()
    assert field.input_value() == "0.875"
    assert "One phase" in card.locator(".rz-mark").inner_text()


#: Does as Firefox does after a reload: before any script of the page, controls are as they were left.
AS_LEFT = """document.addEventListener("readystatechange", () => {
  document.querySelectorAll("input[type=radio]").forEach((option) => { option.checked = true; });
}, { once: true })"""


@pytest.mark.browser
def test_a_card_begins_empty_whatever_the_browser_puts_back(page):
    """Kills a card whose empty state is the option that was chosen before a reload."""
    page.add_init_script(AS_LEFT)
    page.reload()
    pick = page.locator("#rz-03-pick")
    assert pick.locator("input:checked").count() == 0
    assert json.loads(pick.get_attribute("data-blank"))["given"] == []


#: Has the page go and come back as a browser does that holds it; another page stored something under a key meanwhile.
AWAY = """([key, text]) => {
  window.dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
  if (key) localStorage.setItem(key, text);
  window.stays = true;
  window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
}"""


@pytest.mark.browser
def test_a_page_that_comes_back_is_read_anew_when_another_one_kept_something(page):
    """Kills an old page whose next answer overwrites what was kept since."""
    page.evaluate(AWAY, ["", ""])
    assert page.evaluate("window.stays")
    for key in ("rankzero:progress", "rankzero:work"):
        with page.expect_navigation():
            page.evaluate(AWAY, [key, '{"version": 1, "items": {}, "pages": {}}'])
        assert page.evaluate("window.stays") is None, key


#: The browser has no room, or has room again.
FULL = """full => {
  const { prototype } = Storage;
  prototype.set = prototype.set || prototype.setItem;
  prototype.setItem = full ? () => { throw new DOMException("full", "QuotaExceededError"); } : prototype.set;
}"""


@pytest.mark.browser
def test_what_the_browser_does_not_keep_holds_until_the_page_is_left_and_is_said(page):
    """Kills an older answer that comes back because it is the last one with room, and an answer that is lost unsaid."""
    field = page.locator("#rz-03-volume").get_by_label("bytes sent")
    tally = page.locator(".rz-scorecard .rz-tally")
    right = "rankzero.load().items['03-volume'].right"
    field.fill("0.875")
    field.press("Enter")
    page.evaluate(FULL, True)
    field.fill("1.75")
    field.press("Enter")
    assert page.evaluate(right) is True
    assert "your answers are gone when the page is left" in tally.inner_text()
    page.evaluate(FULL, False)
    field.press("Enter")
    assert "kept in this browser" in tally.inner_text()
    page.evaluate("localStorage.clear()")
    assert page.evaluate("rankzero.load().items") == {}


#: Asks twice in one place; what the first question was answered, if it was.
ASK_TWICE = """async () => {
  const button = document.querySelector(".rz-reset");
  button.focus();
  const first = rankzeroAsk.ask(button.parentElement, "One?", "Yes", "No");
  button.focus();
  rankzeroAsk.ask(button.parentElement, "Two?", "Yes", "No");
  return Promise.race([first, new Promise((answer) => setTimeout(() => answer("nothing"), 100))]);
}"""


@pytest.mark.browser
def test_one_question_takes_the_place_of_another(page):
    """Kills a question that waits forever, and a no that leaves the keyboard nowhere."""
    assert page.evaluate(ASK_TWICE) is False
    assert page.locator(".rz-ask").inner_text().startswith("Two?")
    assert page.evaluate("document.activeElement.textContent") == "Yes"
    page.keyboard.press("Escape")
    assert page.locator(".rz-ask").count() == 0
    assert page.locator(".rz-reset").evaluate("node => node === document.activeElement")


@pytest.mark.browser
def test_a_reload_restores_a_card(page):
    """What was typed, chosen and ordered, the confidence, the verdict and the open derivation; a draft too."""
    volume, pair, pick, steps = (page.locator(f"#rz-03-{name}") for name in ("volume", "pair", "pick", "steps"))
    volume.get_by_label("bytes sent").fill("0.875 GB")
    volume.locator(".rz-confidence").fill("60")
    volume.get_by_role("button", name="Check").click()
    marked = volume.locator(".rz-mark").inner_text()
    pair.get_by_label("messages").fill("5*6")
    pair.locator(".rz-derivation summary").click()
    pick.get_by_label("a)").check()
    pick.get_by_role("button", name="Check").click()
    steps.get_by_label("move up").nth(1).click()
    order = steps.locator("li span").all_inner_texts()
    steps.get_by_role("button", name="Check").click()
    said = steps.locator(".rz-feedback").inner_text()
    page.reload()
    assert volume.get_by_label("bytes sent").input_value() == "0.875 GB"
    assert volume.locator(".rz-read").inner_text() == "= 0.875 GB"
    assert volume.locator(".rz-confidence").input_value() == "60"
    assert volume.locator(".rz-mark").inner_text() == marked
    assert not volume.locator("details.rz-derivation").evaluate("d => d.open")
    assert pair.get_by_label("messages").input_value() == "5*6"
    assert pair.get_attribute("data-state") is None
    assert pair.locator("details.rz-derivation").evaluate("d => d.open")
    assert pick.get_by_label("a)").is_checked()
    assert pick.locator("details.rz-derivation").evaluate("d => d.open")
    assert "✓ right" in pick.locator(".rz-feedback").inner_text()
    assert steps.locator("li span").all_inner_texts() == order
    assert steps.locator(".rz-feedback").inner_text() == said


@pytest.mark.browser
def test_old_progress_stays(page):
    """Kills a page that drops, or stumbles over, what was kept before there were drafts and dates."""
    old = {"version": 1, "items": {"03-volume": {"right": True, "first": False, "confidence": 70}}, "pages": {}}
    page.evaluate("old => localStorage.setItem('rankzero:progress', JSON.stringify(old))", old)
    page.reload()
    card = page.locator("#rz-03-volume")
    assert card.get_attribute("data-state") == "right"
    card.get_by_label("bytes sent").fill("1.75")
    card.get_by_role("button", name="Check").click()
    entry = page.evaluate("rankzero.load().items['03-volume']")
    assert (entry["right"], entry["first"], entry["confidence"], entry["review"]["step"]) == (True, False, 70, 1)


@pytest.mark.proof(part="pages")
@pytest.mark.browser
def test_a_missed_question_comes_back_spaced(page):
    """After 1, 3, 7 and 21 days, each time with an empty card; then no more. Early answers change nothing."""
    card = page.locator("#rz-03-volume")

    def answered(text: str) -> dict | None:
        card.get_by_label("bytes sent").fill(text)
        card.get_by_role("button", name="Check").click()
        return page.evaluate("rankzero.load().items['03-volume'].review")

    def day(days: int) -> str:
        return page.evaluate("days => rankzero.day(days)", days)

    assert answered("0.875") == {"step": 0, "due": day(1)}
    assert answered("1.75") == {"step": 0, "due": day(1)}
    for step, days in enumerate((3, 7, 21), 1):
        page.evaluate(DUE)
        page.reload()
        assert card.get_by_label("bytes sent").input_value() == ""
        assert "You missed this question before." in card.locator(".rz-feedback").inner_text()
        card.get_by_role("button", name="Show my last answer").click()
        assert card.get_by_label("bytes sent").input_value() == "1.75"
        assert answered("1.75") == {"step": step, "due": day(days)}
    page.evaluate("""() => {
        const progress = rankzero.load();
        progress.items["03-volume"].review.due = rankzero.day();
        rankzero.save(progress);
    }""")
    assert answered("1.75") is None
    assert page.evaluate("Object.keys(rankzero.load().items['03-volume'].date)") == ["first", "last"]


@pytest.mark.browser
def test_the_page_judges_as_python_does(page):
    """The two copies of the rules agree: on every typed number, and on a sweep across each edge."""
    edges = [v * (1 + k * 1e-3) for v in (1.75, 0.875, 3.5, 1750, 1.76, 30, 58_720_256) for k in range(-12, 13)]
    for item, label in ((VOLUME, 0), (PAIR, 1)):
        numbers = [value for value in TYPED.values() if value is not None] + edges
        answers = [[30.0, value][-len(item.parts) :] for value in numbers]
        marks = page.evaluate(
            "([card, many]) => many.map(a => rankzero.judge(card, a))", [question_cards.card_data(item), answers]
        )
        for given_, got in zip(answers, marks, strict=True):
            mark = judge(item, tuple(given_)).marks[label]
            assert got[label]["right"] == mark.right, given_
            shown = markup.inline(mark.sentence, True) or mark.given
            assert got[label]["sentence"] == shown, given_
    guesses = [0.5 * 1.5**sign * (1 + k * 1e-4) for sign in (-1, 1) for k in (-300, -3, 0, 3, 40, 300, 2000)]
    script = "([card, many]) => many.map(a => rankzero.judge(card, [a])[0])"
    for guess, got in zip(guesses, page.evaluate(script, [question_cards.card_data(GUESS), guesses]), strict=True):
        (mark,) = judge(GUESS, (guess,)).marks
        said = f"{mark.given}. {mark.sentence}" if mark.right else markup.inline(mark.sentence, True)
        assert (got["right"], got["sentence"]) == (mark.right, said), guess


@pytest.mark.browser
def test_the_page_judges_choices_and_orders_as_python_does(page):
    script = "([card, many]) => many.map(a => rankzero.judge(card, a)[0])"
    for item, many in (
        (PICK, ["a", "b", "c"]),
        (STEPS, ["abcd", "".join(letters(STEPS.steps)), "".join(letters(STEPS.steps[::-1]))]),
    ):
        got = page.evaluate(script, [question_cards.card_data(item), [list(one) for one in many]])
        marks = [judge(item, (one,)).marks[0] for one in many]
        assert [(g["right"], unescape(g["sentence"])) for g in got] == [(m.right, m.sentence) for m in marks]


@pytest.mark.browser
def test_calibration_reads_the_same(page):
    entries = {
        i.id: {"right": r, "first": r, "confidence": c} for i, r, c in zip(ITEMS, (True, False), (75, 50), strict=False)
    }
    looked = {i.id: {"right": True, "first": True, "confidence": 90, "looked": True} for i in ITEMS[:1]}
    for kept in (entries, {**entries, **looked}, looked, {ITEMS[0].id: {"looked": True}}):
        got = page.evaluate("([ids, items]) => rankzero.calibration(ids, items)", [list(kept), kept])
        assert got == progress.calibration(progress.rows(3, kept), kept)


@pytest.mark.browser
def test_a_card_answered_wrong_blank_and_right(page):
    card = page.locator("#rz-03-volume")
    field = card.get_by_label("bytes sent")
    assert not card.locator("details.rz-derivation").evaluate("d => d.open")
    card.get_by_role("button", name="Check").click()
    assert card.locator(".rz-feedback").inner_text() == "Type a number."
    field.fill("0.875")
    field.press("Enter")
    assert "✗ not yet" in card.locator(".rz-mark").inner_text()
    assert "One phase" in card.locator(".rz-mark").inner_text()
    assert not card.locator("details.rz-derivation").evaluate("d => d.open")
    field.fill("1,75")
    field.press("Enter")
    assert card.locator(".rz-mark").inner_text() == "✓ right 1.75 GB"
    assert card.locator("details.rz-derivation").evaluate("d => d.open")


@pytest.mark.browser
def test_progress_is_kept_shown_and_forgotten(page):
    page.locator("#rz-03-pick").get_by_label("a)").check()
    page.locator("#rz-03-pick .rz-confidence").fill("80")
    page.locator("#rz-03-pick").get_by_role("button", name="Check").click()
    page.reload()
    here, there = page.locator("nav a").nth(0), page.locator("nav a").nth(1)
    assert here.inner_text().endswith("1/4")
    assert there.inner_text() == "4"
    score = page.locator(".rz-scorecard")
    assert "4 questions: 1 right, 0 wrong, 3 open." in score.inner_text()
    assert "80 % on average, and 100 %" in score.inner_text()
    assert list(page.evaluate("Object.keys(localStorage)")) == ["rankzero:progress"]
    score.get_by_role("button", name="Forget my answers").click()
    score.get_by_role("button", name="Keep them").click()
    assert "4 questions: 1 right" in score.inner_text()
    score.get_by_role("button", name="Forget my answers").click()
    score.get_by_role("button", name="Forget them").click()
    assert not page.locator("#rz-03-pick").get_by_label("a)").is_checked()
    assert page.locator("#rz-03-pick .rz-feedback").inner_text() == ""
    assert "4 questions: 0 right, 0 wrong, 4 open." in score.inner_text()
    assert here.inner_text().endswith("0/4")


@pytest.mark.browser
def test_a_broken_entry_in_the_browser_does_not_stop_the_page(page):
    for broken in ("{", "null", "[]", '{"version": 9}'):
        page.evaluate("text => localStorage.setItem('rankzero:progress', text)", broken)
        page.reload()
        assert page.locator("nav a").nth(0).inner_text().endswith("0/4")


@pytest.mark.browser
def test_an_order_is_answered_by_keyboard(page):
    card = page.locator("#rz-03-steps")
    for place, step in enumerate(STEPS.steps):
        row = card.locator("li", has_text=step)
        while card.locator("li").nth(place).locator("span").inner_text() != step:
            row.get_by_role("button", name=f"move up: {step}").focus()
            page.keyboard.press("Enter")
    card.get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")
    assert "✓ right" in card.locator(".rz-feedback").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.locator(".rz-scorecard summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_share_given_in_percent_and_percent_given_as_a_share_are_told():
    share = Part("share", "", lambda: 0.25)
    percent = Part("share", "%", lambda: 25.0)
    assert questions.judge_number(share, 25) == (False, questions.HINTS["fraction"])
    assert questions.judge_number(percent, 0.25) == (False, questions.HINTS["percent"])


def test_a_confidence_below_one_percent_is_taken_for_a_share():
    with pytest.raises(BadAnswer, match="in percent"):
        predict("03-volume", 1.75, confidence=0.9)


# Designs.


def _plan(gpus: int, copies: int) -> Simulated:
    hours = 8 / gpus
    return Simulated(f"{hours:g} h.", (hours, hours * gpus * copies), "Too many." if gpus * copies > 8 else "")


PLAN = Design(
    id="91-plan",
    title="Plan",
    section="5.7",
    knobs=(Knob("gpus", "GPUs", (1, 2, 4, 8)), Knob("copies", "copies", (1, 2))),
    axes=(Axis("time", "h"), Axis("cost", "GPU-hours")),
    simulate=_plan,
    derivation="why",
)
LITTLE = "differences below 0.1% do not count."


@pytest.mark.parametrize(
    ("choices", "right", "sentence"),
    [
        ({"gpus": 8, "copies": 1}, True, f"1 h. {designs.BEST} Compared: time 1 h, cost 8 GPU-hours; {LITTLE}"),
        ({"copies": 1, "gpus": 4}, False, f"2 h. {designs.BEATEN} Compared: time 2 h, cost 8 GPU-hours; {LITTLE}"),
        ({"gpus": 8, "copies": 2}, False, "1 h. Too many."),
    ],
)
def test_a_design_is_judged_by_the_front(choices, right, sentence):
    (mark,) = questions.judge(PLAN, (choices,)).marks
    assert (mark.right, mark.sentence) == (right, sentence)
    assert mark.given == f"gpus {choices['gpus']}, copies {choices['copies']}"
    assert designs.front(PLAN) == ((8, 1),)


def _almost(gpus: int, copies: int) -> Simulated:
    """Fewer GPUs are slower and cost a few millionths less; two copies take a few millionths longer."""
    return Simulated("", (8 / gpus * (1 + 1e-7 * copies), 63.0 + 1e-6 * gpus))


def test_a_design_that_another_beats_but_for_a_few_bytes_is_not_unbeaten():
    """Kills: comparing costs to the last byte."""
    almost = dataclasses.replace(PLAN, id="91-almost", simulate=_almost)
    assert set(designs.front(almost)) == {(8, 1), (8, 2)}
    assert not questions.judge(almost, ({"gpus": 4, "copies": 1},)).right


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ((), "91-plan asks for a choice for each of gpus, copies, by name"),
        ((8, 1), "91-plan asks for a choice for each of gpus, copies, by name"),
        (({"gpus": 8},), "copies must be one of 1, 2; it is missing"),
        (({"gpus": 3, "copies": 1},), "gpus must be one of 1, 2, 4, 8; got 3"),
        (({"gpus": 1, "copies": True},), "copies must be one of 1, 2; got True"),
        (({"gpus": [1], "copies": 1},), "gpus must be one of 1, 2, 4, 8; got [1]"),
        (({"gpu": 8, "copies": 1},), "91-plan has no choice 'gpu': choose gpus, copies"),
    ],
)
def test_a_design_gives_each_choice_one_of_its_options(answers, sentence):
    with pytest.raises(questions.BadAnswer) as caught:
        questions.judge(PLAN, answers)
    assert str(caught.value) == sentence


def test_design_in_a_notebook(capsys, tmp_path, monkeypatch):
    """The card, a design that is right, one that breaks a constraint, and the calls that are refused."""
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path))
    monkeypatch.setattr(bank, "find", {PLAN.id: PLAN, GUESS.id: GUESS}.__getitem__)
    design("91-plan")
    assert 'design("91-plan", gpus=..., copies=...)' in capsys.readouterr().out
    design("91-plan", gpus=8, copies=1, confidence=70)
    assert designs.BEST in capsys.readouterr().out
    design("91-plan", gpus=8, copies=2)
    assert "Too many." in capsys.readouterr().out
    assert progress.load()["91-plan"]["first"] is True
    for call in (
        lambda: design("91-guess", stage=1),
        lambda: design("91-plan", gpus=9, copies=1),
        lambda: predict("91-plan", 8, 1),
    ):
        with pytest.raises(questions.BadAnswer):
            call()


def test_the_picture_of_a_design_marks_the_own_point():
    assert design_cards.picture(PLAN).count("<circle") == 1
    assert "rz-yours" not in design_cards.picture(PLAN)
    assert "rz-yours" in design_cards.picture(PLAN, (4, 1))
    assert "rz-yours" not in design_cards.picture(PLAN, (8, 2)), "what cannot be built has no place"


# Estimates.

GUESS = Estimate(
    id="91-guess",
    title="How long?",
    section="3.8",
    label="time of a pass",
    unit="s",
    answer=lambda: 0.5,
    factor=1.5,
    scale=(1e-3, 1e3),
    landmarks=(Landmark(1.0, "1 s", "a breath"),),
    derivation="half",
    slips=(Slip("Bits are not bytes.", value=4.0), Slip("Both ways.", value=lambda: 1.0)),
)


@pytest.mark.parametrize(
    ("given", "right", "sentence"),
    [
        (0.5, True, "Your estimate is right within 5 percent."),
        (0.524, True, "Your estimate is right within 5 percent."),
        (0.526, True, "Your estimate is off by a factor of 1.1."),
        (0.75, True, "Your estimate is off by a factor of 1.5."),
        (0.34, True, "Your estimate is off by a factor of 1.5."),
        (0.333, False, "Too small by a factor of 1.502."),
        (0.76, False, "Too large by a factor of 1.52. Both ways."),
        (0.7500001, False, "Too large by a factor of 1.5000002. Both ways."),
        (1.4, False, "Too large by a factor of 2.8. Both ways."),
        (3.1, False, "Too large by a factor of 6.2. Bits are not bytes."),
        (600.0, False, "Too large by a factor of 1,200."),
        (0.04, False, "Too small by a factor of 13."),
        (1e-9, False, "Too small by a factor of 500,000,000."),
        (1e300, False, "Too large by a factor of more than 1,000,000,000,000."),
        (5e-324, False, "Too small by a factor of more than 1,000,000,000,000."),
    ],
)
def test_an_estimate_is_judged_by_its_factor(given, right, sentence):
    (mark,) = questions.judge(GUESS, (given,)).marks
    assert (mark.right, mark.sentence) == (right, sentence)
    assert mark.given == ("0.5 s" if right else questions.shown(given, "s"))


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ((0,), "time of a pass: a positive number is needed, got 0"),
        ((-2.0,), "time of a pass: a positive number is needed, got -2.0"),
        ((math.inf,), "time of a pass: a number is needed that is finite, got inf"),
        (
            (1, 0),
            "91-guess asks for one number (time of a pass, in s), got 2 "
            '(write 1_000 or 1000 for a thousand, or "1,000" in quotes)',
        ),
        ((), "91-guess asks for one number (time of a pass, in s), got 0"),
    ],
)
def test_an_estimate_is_one_positive_number(answers, sentence):
    with pytest.raises(questions.BadAnswer) as caught:
        questions.judge(GUESS, answers)
    assert str(caught.value) == sentence


def test_the_card_of_an_estimate_names_its_landmarks_and_its_factor(monkeypatch):
    assert "1 s: a breath" in question_cards.question_text(GUESS)
    assert "right within a factor of 1.5" in question_cards.question_text(GUESS)
    assert "right within a factor of 1.5" in question_cards.question_card(GUESS)
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    live = question_cards.question_card(GUESS)
    assert "<b>Estimate</b>" in live
    assert '<span style="left:50.00%">1 s</span>' in live
    assert 'type="range"' in live
