"""``predict`` and ``scorecard``: the rules, the same rules in the page, the cards, and what is kept."""

from __future__ import annotations

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

from autograder import bank, cards, markup, predicting, progress, wording
from autograder.checking import CheckReport, Failure
from autograder.items import Build, Case, Choice, Iterator, Order, Part, Question, Slip, Tensor
from autograder.outcome import Outcome
from autograder.predicting import BadAnswer, judge, predict

STATIC = Path(__file__).parents[2] / "book" / "_static"

VOLUME = Question(
    "03-volume",
    "derive",
    "GB that each rank *sends* of `x`, $S < 2$",
    (
        Part(
            "bytes sent",
            "GB",
            lambda: 1.75,
            slips=(
                Slip("One phase $a < b$.", value=0.875),
                Slip("Sent plus received.", value=lambda: 3.5),
                Slip("The limit, close but not reached.", value=1.76),
            ),
        ),
    ),
    "Two phases of $(N-1)/N$ each.",
    "3.7",
)
PAIR = Question(
    "03-pair",
    "trace",
    "Two numbers",
    (Part("messages", "", lambda: 30.0, 0.0, (Slip("One phase.", value=15),)), Part("bytes", "B", lambda: 58_720_256)),
    "Count them.",
    "3.7",
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
    "03-double", "doubling", "double", "call", (Case((1.5,)), Case(("<",), raises=None)), (), (), "3.8", "doubling"
)
ITEMS = (VOLUME, PAIR, PICK, STEPS, BUILD)


def of_chapter(package: str) -> tuple:
    """The bank of a course that has one chapter."""
    return ITEMS if package == "ch03" else ()


@pytest.fixture(autouse=True)
def small_course(monkeypatch, tmp_path):
    """A course of five items, and a data folder of its own."""
    monkeypatch.setattr(bank, "of_chapter", of_chapter)
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
    assert predicting.judge_number(part, 30)[0]
    assert not predicting.judge_number(part, 30.0001)[0]


@given(answer=st.floats(1e-9, 1e15), relative=st.sampled_from([0.0, 1e-3, 0.01]), off=st.floats(-0.05, 0.05))
def test_the_band_is_relative_to_the_answer(answer, relative, off):
    """Kills an absolute tolerance and one that is relative to what was given."""
    given_ = answer * (1 + off)
    part = Part("x", "", lambda: answer, relative)
    band = max(relative, predicting.FLOOR)
    expected = abs(Fraction(given_) - Fraction(answer)) / Fraction(answer)
    if abs(expected - Fraction(band)) > Fraction(1, 10**14):
        assert predicting.judge_number(part, given_)[0] == (expected < band)


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
        (("03-volume", "70 ms"), "without quotes and without a unit"),
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
        assert (
            "<details open" in cards.verdict_card(judge(VOLUME, (answer,))).replace(' class="rz-derivation"', "")
        ) == unfolded
        predict("03-volume", answer)
        assert ("Two phases" in capsys.readouterr().out) == unfolded


def test_an_unanswered_card_in_a_notebook_does_not_hold_the_answer():
    for item, answer in [(VOLUME, "1.75"), (PAIR, "58,720,256"), (PAIR, "58720256")]:
        assert answer not in cards.question_card(item) + cards.question_text(item)


def test_the_book_shows_the_live_card_whatever_was_typed_and_keeps_nothing(book, capsys):
    predict("03-volume")
    blank = capsys.readouterr().out
    predict("03-volume", 1.75, confidence=50)
    assert capsys.readouterr().out == blank
    assert not progress.location().exists()


@pytest.mark.parametrize("item", ITEMS[:4], ids=lambda item: item.id)
def test_card_data_survives_html(book, item):
    """Kills unescaped quotes, angle brackets and ampersands in the data attribute."""
    found = re.search(r' data-card="([^"]*)"', cards.question_card(item))
    assert found
    assert json.loads(unescape(found[1])) == json.loads(json.dumps(cards.card_data(item)))


def test_text_of_the_bank_is_escaped(book, monkeypatch):
    def pages():
        return cards.question_card(PICK) + cards.verdict_card(judge(PICK, ("a",))) + cards.question_card(VOLUME)

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
    html = cards.check_card(report("reference"))
    assert "1 of 2 public cases." in html
    assert "the reference, so that the page goes on" in html
    assert "your function" in cards.check_card(report("yours"))
    for escaped in ("double(&#x27;&lt;&#x27;)", "&#x27;&lt;&gt;&#x27;", "<code>&lt;</code> too often", "x &lt; 2"):
        assert escaped in html
    assert '<details class=""><summary>Reference' in html


def test_the_card_of_a_check_in_the_book_is_the_task_with_its_public_cases(book):
    html = unescape(cards.check_card(report("reference")))
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
    world = Build("03-w", "m", "f", "world", (), (), (), "3", "t")
    assert wording.call(world, Case(((1.0,), (Tensor.of([2]), 3)))) == "rank 0: f(1)\nrank 1: f(tensor([2]), 3)"
    assert wording.result(world, Outcome("value", (3.0, 3.0))) == "every rank: 3"
    assert wording.result(world, Outcome("value", (3.0, None))) == "rank 0: 3\nrank 1: None"
    trace = Build("03-c", "m", "C", "calls", (), (), (), "3", "t")
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
    progress.scorecard(3)
    text = capsys.readouterr().out
    assert "4 questions: 2 right, 0 wrong, 2 open. 1 function: 0 with all public cases right." in text
    assert "90 % on average, and 0 % of those first answers were right. Brier score 0.81" in text
    assert "1 of 2 public cases" in text


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


def test_nothing_half_written_is_left(monkeypatch, capsys):
    """Kills writing in place: the old file survives a write that fails, and no temporary file stays."""
    predict("03-volume", 1.75)
    before = progress.location().read_text()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(progress.os, "replace", fail)
    predict("03-pick", "a")
    assert "Your progress is not kept: No space left on device" in capsys.readouterr().out
    assert progress.location().read_text() == before
    assert [p.name for p in progress.location().parent.iterdir()] == ["progress.json"]


def test_export_is_what_is_kept(tmp_path):
    progress.record_check("03-double", 2, 2)
    target = progress.export_progress(tmp_path / "mine.json")
    assert json.loads(target.read_text())["items"] == {"03-double": {"passed": 2, "total": 2}}


def test_an_unknown_chapter_is_named():
    with pytest.raises(ValueError, match="got 99"):
        progress.scorecard(99)


# In a kernel

CELLS = {
    "card": 'from autograder.predicting import predict\npredict("03-volume")',
    "bad": 'predict("03-volume", "70 ms")',
}


def test_a_notebook_shows_cards_and_one_red_line(monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    head = "import tests.autograder.test_predict as t\nfrom autograder import bank\nbank.of_chapter = t.of_chapter\n"
    cells = [nbformat.v4.new_code_cell(head + CELLS["card"]), nbformat.v4.new_code_cell(CELLS["bad"])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    root = str(Path(__file__).parents[2])
    nbclient.NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": root}}, timeout=60).execute()
    (card,) = notebook.cells[0].outputs
    assert set(card.data) == {"text/html", "text/plain"}
    (error,) = notebook.cells[1].outputs
    assert error.output_type == "error"
    assert error.traceback == ["predict: " + error.evalue]


# In the page


@pytest.fixture
def page(browser, book, tmp_path):
    """A chapter of the book, as a file: its cards, its scorecard, and a sidebar with two chapters."""
    body = "".join(cards.question_card(item) for item in ITEMS[:4])
    lines = progress.rows(3, {})
    body += cards.score_card(lines, (progress.tally(lines), ""))
    links = '<a class="reference internal" href="#">3</a><a class="reference internal" href="04-topology.html">4</a>'
    for name in ("rankzero.js", "rankzero.css"):
        shutil.copy(STATIC / name, tmp_path)
    (tmp_path / "03-collectives.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>3</title><meta name="viewport" '
        'content="width=device-width"><link rel="stylesheet" href="rankzero.css"><script src="rankzero.js"></script>'
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
    "58,720": None,
    "1.000.000": None,
    "70 ms": None,
    "": None,
    "1e999": None,
    "0x10": None,
    "1 75": None,
    "Infinity": None,
    "7/4": None,
    "<b>": None,
}


@pytest.mark.browser
def test_the_page_reads_numbers_as_documented(page):
    read = page.evaluate("texts => texts.map(t => rankzero.readNumber(t))", list(TYPED))
    assert {text: got.get("value") for text, got in zip(TYPED, read, strict=True)} == TYPED
    assert all(got["error"] for got in read if "value" not in got)


@pytest.mark.browser
def test_the_page_judges_as_python_does(page):
    """The two copies of the rules agree: on every typed number, and on a sweep across each edge."""
    edges = [v * (1 + k * 1e-3) for v in (1.75, 0.875, 3.5, 1750, 1.76, 30, 58_720_256) for k in range(-12, 13)]
    for item, label in ((VOLUME, 0), (PAIR, 1)):
        numbers = [value for value in TYPED.values() if value is not None] + edges
        answers = [[30.0, value][-len(item.parts) :] for value in numbers]
        marks = page.evaluate(
            "([card, many]) => many.map(a => rankzero.judge(card, a))", [cards.card_data(item), answers]
        )
        for given_, got in zip(answers, marks, strict=True):
            mark = judge(item, tuple(given_)).marks[label]
            assert got[label]["right"] == mark.right, given_
            shown = markup.inline(mark.sentence, True) or mark.given
            assert got[label]["sentence"] == shown, given_


@pytest.mark.browser
def test_the_page_judges_choices_and_orders_as_python_does(page):
    script = "([card, many]) => many.map(a => rankzero.judge(card, a)[0])"
    for item, many in (
        (PICK, ["a", "b", "c"]),
        (STEPS, ["abcd", "".join(letters(STEPS.steps)), "".join(letters(STEPS.steps[::-1]))]),
    ):
        got = page.evaluate(script, [cards.card_data(item), [list(one) for one in many]])
        marks = [judge(item, (one,)).marks[0] for one in many]
        assert [(g["right"], unescape(g["sentence"])) for g in got] == [(m.right, m.sentence) for m in marks]


@pytest.mark.browser
def test_calibration_reads_the_same(page):
    entries = {
        i.id: {"right": r, "first": r, "confidence": c} for i, r, c in zip(ITEMS, (True, False), (75, 50), strict=False)
    }
    got = page.evaluate("([ids, items]) => rankzero.calibration(ids, items)", [list(entries), entries])
    assert got == progress.calibration(progress.rows(3, entries), entries)


@pytest.mark.browser
def test_a_card_answered_wrong_blank_and_right(page):
    card = page.locator("#rz-03-volume")
    field = card.get_by_label("bytes sent")
    assert not card.locator("details").evaluate("d => d.open")
    card.get_by_role("button", name="Check").click()
    assert card.locator(".rz-feedback").inner_text() == "Type a number."
    field.fill("0.875")
    field.press("Enter")
    assert "✗ not yet" in card.locator(".rz-mark").inner_text()
    assert "One phase" in card.locator(".rz-mark").inner_text()
    assert not card.locator("details").evaluate("d => d.open")
    field.fill("1,75")
    field.press("Enter")
    assert card.locator(".rz-mark").inner_text() == "✓ right 1.75 GB"
    assert card.locator("details").evaluate("d => d.open")


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
    score.get_by_role("button").click()
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
    assert predicting.judge_number(share, 25) == (False, predicting.HINTS["fraction"])
    assert predicting.judge_number(percent, 0.25) == (False, predicting.HINTS["percent"])


def test_a_confidence_below_one_percent_is_taken_for_a_share():
    with pytest.raises(BadAnswer, match="in percent"):
        predict("03-volume", 1.75, confidence=0.9)
