"""Cards in the built chapter, as a reader meets them: answered right, wrong and not at all, kept, and forgotten."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from playwright.sync_api import expect

from autograder import bank
from autograder.items import Question
from autograder.marking import designs, questions
from autograder.markup import inline
from tests.book.conftest import KINDS, go_with, proof
from tools.build_book import notebooks
from tools.common import ROOT

pytestmark = pytest.mark.browser

CHAPTERS = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]
WAYS = ["http", "file"]


def asks_for_numbers(path: Path) -> bool:
    """Whether a page has a question that is answered by numbers; on some, all are choices and estimates."""
    text = path.read_text(encoding="utf-8")
    return any(f'predict(\\"{item.id}\\")' in text for item in bank.items() if type(item) is Question)


NUMBERED = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks() if asks_for_numbers(path)]


LIVE = "section.rz-card[data-card]"


def cards(page, kind: str) -> list:
    """The live cards of one kind, with their data: read in one go."""
    shown = page.locator(LIVE)
    read = shown.evaluate_all("cards => cards.map((card) => JSON.parse(card.dataset.card))")
    return [(shown.nth(place), data) for place, data in enumerate(read) if data["kind"] == kind]


def answer(card, values) -> None:
    """Type the numbers and press the button, as a reader does; by key, since formulas that are set late move it."""
    for field, value in zip(card.locator(".rz-part input").all(), values, strict=True):
        field.fill("" if value is None else repr(value))
    card.locator("button[type=submit]").press("Enter")


#: Answers many cards in one go: ``[id, texts]`` of each try, and what the card shows after it.
TRY = """(tries) => {
  const all = [...document.querySelectorAll("section.rz-card[data-card]")];
  const cards = Object.fromEntries(all.map((card) => [JSON.parse(card.dataset.card).id, card]));
  return tries.map(([id, texts]) => {
    const card = cards[id];
    card.querySelectorAll(".rz-part input").forEach((field, place) => {
      field.value = texts[place];
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    card.querySelector("button[type=submit]").click();
    return {
      state: card.dataset.state,
      open: card.querySelector("details.rz-derivation").open,
      marks: [...card.querySelectorAll(".rz-mark")].map((mark) => mark.textContent.trim()),
    };
  });
}"""


#: Chooses each option of a card: its letter, and the state of the card after it.
CHOOSE = """(card) => Object.fromEntries([...card.querySelectorAll("input[type=radio]")].map((option) => {
  option.click();
  card.querySelector("button[type=submit]").click();
  return [option.value, card.dataset.state];
}))"""


def tried(page, tries) -> list[dict]:
    """What cards show after each of ``(data, numbers)``."""
    return page.evaluate(TRY, [[data["id"], list(map(repr, numbers))] for data, numbers in tries])


def far_from(part) -> float:
    """A number that is neither the answer nor a known slip nor the answer in another unit."""
    known = [part["answer"], *(slip["value"] for slip in part["slips"])]
    return next(
        v for v in (abs(part["answer"]) * 7 + k for k in range(3, 99)) if not any(map(math.isclose, known, [v] * 9))
    )


@pytest.mark.parametrize("chapter", NUMBERED)
@pytest.mark.parametrize("way", WAYS)
def test_right(shared, way, chapter):
    """Kills a card that refuses its own answer: every question of the page, answered with its answer, is right."""
    watch = shared(way, chapter)
    asked = [data for _, data in cards(watch.page, "question")]
    assert asked
    shown = tried(watch.page, [(data, [part["answer"] for part in data["parts"]]) for data in asked])
    assert [data["id"] for data, one in zip(asked, shown, strict=True) if one["state"] != "right"] == []
    assert all(one["open"] for one in shown)
    assert watch.problems == []


@pytest.mark.parametrize("chapter", NUMBERED)
def test_wrong(shared, chapter):
    """Kills a card that is content with anything, or that shows the answer to who got it wrong."""
    watch = shared("http", chapter)
    asked = [data for _, data in cards(watch.page, "question")]
    shown = tried(watch.page, [(data, map(far_from, data["parts"])) for data in asked])
    for data, one in zip(asked, shown, strict=True):
        assert (one["state"], one["open"]) == ("wrong", False), data["id"]
        for part, mark in zip(data["parts"], one["marks"], strict=True):
            assert mark
            assert part["shown"] not in mark or len(part["shown"]) < 2
    assert watch.problems == []


@pytest.mark.parametrize("chapter", NUMBERED)
def test_slips_are_named(shared, chapter):
    """Each wrong number that the bank knows is met with its own sentence."""
    watch = shared("http", chapter)
    tries, places = [], []
    for _, data in cards(watch.page, "question"):
        for index, part in enumerate(data["parts"]):
            for slip in part["slips"]:
                answers = [other["answer"] for other in data["parts"]]
                tries.append((data, [*answers[:index], slip["value"], *answers[index + 1 :]]))
                places.append((data["id"], index, slip))
    assert tries
    for (identifier, index, slip), one in zip(places, tried(watch.page, tries), strict=True):
        assert one["state"] == "wrong", (identifier, slip)
        assert len(one["marks"][index]) > len("✗ not yet"), (identifier, slip)
    assert watch.problems == []


@pytest.mark.parametrize("chapter", NUMBERED)
def test_typed_by_hand(shared, chapter):
    """An empty form is met with a request, counts as nothing, and the field is in focus; then a wrong number, then the
    right one, key by key.
    """
    watch = shared("http", chapter)
    card, data = cards(watch.page, "question")[0]
    card.locator("button[type=submit]").click()
    assert card.locator(".rz-feedback").inner_text().strip()
    assert card.get_attribute("data-state") is None
    assert card.locator(".rz-part input").first.evaluate("node => node === document.activeElement")
    answer(card, list(map(far_from, data["parts"])))
    assert card.get_attribute("data-state") == "wrong"
    answer(card, [part["answer"] for part in data["parts"]])
    assert card.get_attribute("data-state") == "right"
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_choice_and_order(shared, chapter):
    """One letter, every one of them, and the letters in order: by button; the first letter by keyboard."""
    watch = shared("http", chapter)
    choices = cards(watch.page, "choice")
    for card, data in choices:
        states = card.evaluate(CHOOSE)
        assert states == {letter: "right" if letter == data["correct"] else "wrong" for letter in states}, data["id"]
        assert data["correct"] in states
    for card, data in choices[:1]:
        option = card.locator("input[type=radio]").first
        option.press("Space")
        card.locator("button[type=submit]").press("Enter")
        right = option.get_attribute("value") == data["correct"]
        assert card.get_attribute("data-state") == ("right" if right else "wrong")
    for card, data in cards(watch.page, "order"):
        for place, letter in enumerate(data["correct"]):
            step = card.locator(f"[data-letter={letter}]")
            while step.evaluate("node => [...node.parentElement.children].indexOf(node)") > place:
                step.get_by_label("move up").click()
        card.locator("button[type=submit]").click()
        assert card.get_attribute("data-state") == "right", data["id"]
    assert watch.problems == []


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("chapter", [name for name in NUMBERED if "/deeper/" not in name])
@pytest.mark.parametrize("way", ["http", pytest.param("file", marks=proof)])
def test_progress_is_kept_and_forgotten(shared, way, chapter):
    """An answer survives a reload, is counted in the scorecard and in the sidebar, and goes when the reader says so."""
    watch = shared(way, chapter)
    page = watch.page
    card, data = cards(page, "question")[0]
    answer(card, [part["answer"] for part in data["parts"]])
    assert card.get_attribute("data-state") == "right"
    go_with(page, "rankzero:progress", page.url)
    kept = expect(cards(page, "question")[0][0])
    kept.to_have_attribute("data-state", "right", timeout=30_000)  # the browser may take its time
    tally = page.locator(".rz-scorecard .rz-tally")
    assert "1 right" in tally.inner_text()
    assert page.locator("nav.bd-links .rz-badge").first.inner_text().startswith("1/")
    assert cards(page, "question")[0][0].locator(".rz-part input").first.input_value() == repr(
        data["parts"][0]["answer"]
    )
    assert "✓ right" in cards(page, "question")[0][0].locator(".rz-mark").first.inner_text()
    page.locator(".rz-reset").click()
    page.get_by_role("button", name="Forget them").click()
    assert "0 right" in tally.inner_text()
    assert watch.problems == []


def test_there_is_a_live_chapter():
    """The tests above have something to test."""
    assert CHAPTERS


ESTIMATES = [name for name in CHAPTERS if "03-" in name]


@pytest.mark.parametrize("chapter", ESTIMATES)
def test_estimates_are_judged_as_in_a_notebook(shared, chapter):
    """One table of numbers through both: the page's sentences are those of ``judge_estimate``."""
    page = shared("http", chapter).page
    for _, data in cards(page, "estimate"):
        item = bank.find(data["id"])
        given = [data["answer"] * factor for factor in (1, 1.2, 0.7, 3, 8.1, 55, 126, 0.5, 0.01, 1e-9, 1e13, 1e-320)]
        for number in [*given, *(slip["value"] for slip in data["slips"])]:
            (mark,) = page.evaluate("([card, number]) => rankzero.judge(card, [number])", [data, number])
            right, sentence = questions.judge_estimate(item, number)
            assert mark["right"] == right
            assert mark["sentence"] == (f"{data['shown']}. {sentence}" if right else inline(sentence, True))


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("chapter", ESTIMATES)
def test_the_slider_and_the_field_of_an_estimate_move_each_other(shared, chapter):
    watch = shared("http", chapter)
    for card, data in cards(watch.page, "estimate"):
        slider, field = card.locator("input[type=range]"), card.locator(".rz-part input")
        low, high = data["scale"]
        slider.focus()
        slider.press("End")
        assert float(field.input_value()) == high
        slider.press("ArrowLeft")
        assert low < float(field.input_value()) < high
        assert slider.get_attribute("aria-valuetext") == f"{field.input_value()} {data['unit']}"
        field.fill("2^10")
        assert card.locator(".rz-read").inner_text().startswith("= 1024")
        slider.press("Home")
        assert "1024" not in card.locator(".rz-read").inner_text()
        field.fill(str(math.sqrt(low * high)))
        assert int(slider.input_value()) == 500
        field.fill("0")
        field.press("Enter")
        assert card.locator(".rz-feedback").inner_text() == data["hints"]["positive"]
        field.fill(repr(data["answer"] * 1.1))
        field.press("Enter")
        assert card.get_attribute("data-state") == "right"
        assert "off by a factor of 1.1" in card.locator(".rz-mark").inner_text()
        assert card.locator("details.rz-derivation").get_attribute("open") is not None
    assert watch.problems == []


@pytest.mark.proof(part="pages")
def test_a_design_is_tried_in_the_page(shared):
    """What is said is what Python says; a design that can be built is drawn, and several are right."""
    watch = shared("http", "book/05-data-parallel.html")
    ((card, data),) = cards(watch.page, "design")
    item = bank.find(data["id"])
    drawn = card.locator(".rz-yours")
    button = card.locator("button[type=submit]")
    button.press("Enter")
    assert card.locator(".rz-feedback").inner_text() == data["missing"]
    front, fits = designs.front(item), designs.buildable(item)
    broken = next(values for values in designs.table(item) if values not in fits)
    beaten = next(values for values in fits if values not in front)
    for points, values in ((0, broken), (1, beaten), (2, front[0]), (3, front[-1])):
        for field, value in zip(card.locator(".rz-knob select").all(), values, strict=True):
            field.select_option(str(value))
        button.press("Enter")
        right, sentence = designs.judged(item, values)
        assert card.get_attribute("data-state") == ("right" if right else "wrong")
        assert sentence in card.locator(".rz-feedback").inner_text()
        assert drawn.count() == points
    box = card.locator("svg.rz-front").bounding_box()
    assert box["width"] <= card.bounding_box()["width"]
    assert watch.problems == []


# Functions, from disk.


@pytest.mark.parametrize("chapter", KINDS[:1])
def test_what_a_browser_cannot_check(shared, chapter):
    """It says why, and leads to the very cell in Colab and to the file, with a command: from disk no ranks start."""
    card = shared("file", chapter).page.locator("#rz-03-debug-grad")
    assert "This one runs as several ranks" in card.inner_text()
    link = card.get_by_role("link", name="Open this cell in Colab").get_attribute("href")
    assert link.endswith("03-collectives.ipynb#scrollTo=b-debug-grad")
    assert "--only 03-debug-grad" in card.inner_text()


@pytest.mark.parametrize("chapter", KINDS[:1])
@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=proof)])
def test_from_disk_the_stub_stays(shared, chapter, scripts):
    """Without scripts, and from disk, the page is what it was: the stub with its docstring, and where to write it."""
    watch = shared("file", chapter, scripts)
    card = watch.page.locator("#rz-03-ring-all-reduce-time")
    assert "in the notebook of this page" in card.inner_text()
    assert not card.locator(".rz-bench").is_visible()
    assert watch.page.locator("pre", has_text="def ring_all_reduce_time").first.is_visible()
    assert watch.problems == []
