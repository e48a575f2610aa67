"""The page "Your course": done, sure, to review, and one file with everything; and what a reload of a page keeps."""

from __future__ import annotations

import copy
import json
import re

import pytest

from autograder import bank
from autograder.items import Build
from autograder.sections import DEEPER
from rankzero.facts.chapters import CHAPTERS
from tests.book.conftest import proof
from tools.common import BOOK
from tools.course import data as course_data

pytestmark = pytest.mark.browser

PAGE = "book/your-course.html"
#: Those of chapter 3's own page, as its sidebar counts them.
ITEMS = [item for item in bank.of_chapter("ch03") if item.section not in DEEPER]
QUESTIONS = [item.id for item in ITEMS if not isinstance(item, Build)]
FUNCTIONS = [item.id for item in ITEMS if isinstance(item, Build)]
#: A question of its deeper page.
FURTHER = next(item.id for item in bank.of_chapter("ch03") if item.section in DEEPER and not isinstance(item, Build))


def answered(right: bool, first: bool, confidence: float | None, **more) -> dict:
    return {"right": right, "first": first, "confidence": confidence, **more}


#: Four answers of chapter 3: one right, one missed and due, one missed and due later, and one of an older book.
STATE = {
    "rankzero:progress": {
        "version": 1,
        "items": {
            QUESTIONS[0]: answered(True, True, 90, given=["1.75"], review=None),
            QUESTIONS[1]: answered(
                False,
                False,
                85,
                given=["3"],
                review={"step": 0, "due": "2020-01-02"},
                date={"first": "2020-01-01T12:00:00.000Z", "last": "2020-01-01T12:00:00.000Z"},
            ),
            QUESTIONS[2]: answered(True, False, 30, review={"step": 2, "due": "2999-12-31"}),
            QUESTIONS[3]: answered(True, False, None),
        },
        "pages": {"03-collectives": QUESTIONS},
        "drafts": {QUESTIONS[4]: {"given": ["2^1"], "sure": "", "open": False}},
    },
    "rankzero:work": {
        "version": 1,
        "items": {
            FUNCTIONS[0]: {"source": "def f():\n    return 1\n", "state": "right", "passed": 3, "total": 3},
            FUNCTIONS[1]: {"source": "def g():\n    pass\n", "state": "wrong", "passed": 1, "total": 3},
        },
    },
    "rankzero:time": {"version": 1, "pages": {"03-collectives": 80, "your-course": 2}},
}
STORE = """state => {
  localStorage.clear();
  for (const [key, value] of Object.entries(state)) localStorage.setItem(key, JSON.stringify(value));
}"""
STORED = """() => Object.fromEntries(
  ["rankzero:progress", "rankzero:work", "rankzero:time"].map((key) => [key, JSON.parse(localStorage.getItem(key))]))"""


@pytest.fixture(params=["http", pytest.param("file", marks=proof)])
def opened(shared, request):
    """The page in one profile, over HTTP and from disk, with what the test before kept."""
    seen = shared(request.param, PAGE)
    yield seen
    assert [one for one in seen.problems if "favicon" not in one] == []  # a reload may come before it


def keep(page, address: str, state: dict) -> None:
    """Open the page with ``state`` alone kept."""
    for _ in range(10):  # a page hands its storage over a moment later, and a reload may come before that
        page.evaluate(STORE, state)
        page.goto(address)
        if bool(page.evaluate("() => localStorage.getItem('rankzero:work')")) == bool(state):
            break


@pytest.fixture
def watch(opened, addresses, request):
    """The page of a reader who comes for the first time."""
    keep(opened.page, f"{addresses[way(request)]}/{PAGE}", {})
    return opened


@pytest.fixture
def filled(opened, addresses, request):
    """The page of a reader who has answered."""
    keep(opened.page, f"{addresses[way(request)]}/{PAGE}", STATE)
    return opened.page


def way(request) -> str:
    """How a test opens the page."""
    return request.node.callspec.params["opened"]


def load(page, content: str | bytes) -> None:
    """Choose a file."""
    data = content.encode() if isinstance(content, str) else content
    file = {"name": "course.json", "mimeType": "application/json", "buffer": data}
    page.locator("#rz-course-data input[type=file]").set_input_files(file)


def said(page) -> str:
    page.wait_for_function("() => document.querySelector('#rz-course-data [role=status]').textContent")
    return page.locator("#rz-course-data [role=status]").inner_text()


def button(page, name: str) -> None:
    page.locator("#rz-course-data").get_by_role("button", name=name, exact=True).click()


def test_before_the_first_answer(watch):
    """Every chapter with nothing done, and a sentence in place of each list."""
    rows = watch.page.locator("#rz-course-done tbody tr")
    assert rows.count() == len(CHAPTERS)
    assert all(re.search(r"\b0 of \d+", text) for text in rows.all_inner_texts())
    assert "You have not said yet" in watch.page.locator("#rz-course-sure").inner_text()
    assert "no question was missed" in watch.page.locator("#rz-course-review").inner_text()


def test_what_is_done_is_counted(filled):
    third = filled.locator("#rz-course-done tbody tr").nth(2)
    cells = [text.strip() for text in third.locator("td").all_inner_texts()]
    assert cells == [f"3 of {len(QUESTIONS)}", f"1 of {len(FUNCTIONS)}", "1 h 20 min"]
    assert third.get_by_role("link").get_attribute("href") == "03-collectives.html"
    assert filled.locator("#rz-course-done tfoot tr").inner_text().startswith("The whole course")
    filled.evaluate(
        """(id) => {
            const progress = rankzero.load();
            progress.items[id] = { right: true, first: true, confidence: null };
            rankzero.save(progress);
        }""",
        FURTHER,
    )
    filled.reload()
    assert third.locator("td").first.inner_text().strip() == f"3 of {len(QUESTIONS)}"
    filled.locator("#rz-course-done summary").click()
    below = filled.locator("#rz-course-done li").nth(2)
    assert re.search(r": 1 of \d+ questions and 0 of \d+ functions right$", below.inner_text())
    assert below.get_by_role("link").get_attribute("href") == "deeper/03-collectives-deeper.html"
    total = [text.strip() for text in filled.locator("#rz-course-done tfoot td").all_inner_texts()]
    questions = sum(not isinstance(item, Build) for item in bank.items())
    assert total == [f"4 of {questions}", f"1 of {len(bank.builds())}", "1 h 22 min"]


@pytest.mark.parametrize("chapter", [CHAPTERS[0].page, CHAPTERS[0].deeper])
def test_a_page_has_the_questions_that_are_counted_for_it(html, chapter):
    """Kills a second count: the sidebar counts the cards of a page, "Your course" the items that belong to it."""
    text = (html / "book" / f"{chapter}.html").read_text(encoding="utf-8")
    found = re.findall(r'<section class="rz-card" id="rz-([^"]+)"[^>]* data-card=', text)
    items = course_data.collect()["items"]
    assert found == [one["id"] for one in items if one["page"] == chapter and one["kind"] == "question"]


def test_calibration_is_a_sentence_and_a_chart(filled):
    """Kills a chart whose dots are not the answers: two around 88 %, half of them right, and one at 30 %, wrong."""
    sure = filled.locator("#rz-course-sure")
    assert "Confidence was given 3 times: 68 % on average, and 33 %" in sure.inner_text()
    assert sure.locator("svg").get_attribute("aria-label") == (
        "Confidence and outcome of first answers: 30 % sure, 0 % right (1 answer); 88 % sure, 50 % right (2 answers)."
    )
    dots = sure.locator("circle").evaluate_all(
        "all => all.map(({ cx, cy }) => [cx, cy].map((one) => one.baseVal.value))"
    )
    assert dots == [[48 + 60, 14 + 200], [48 + 176, 14 + 100]]


@pytest.mark.proof(part="pages")
def test_missed_questions_come_back(filled, html):
    """What is due leads to its card; what was missed before dates were kept is due; the rest has its day."""
    review = filled.locator("#rz-course-review")
    assert "Due now: 2 questions." in review.inner_text()
    assert "Later: 1 question on 31 December 2999." in review.inner_text()
    assert "last answered on 1 January 2020" in review.locator("li").first.inner_text()
    links = review.locator("li a")
    wanted = [f"03-collectives.html#rz-{QUESTIONS[place]}" for place in (1, 3)]
    assert [link.get_attribute("href") for link in links.all()] == wanted
    links.first.click()
    filled.wait_for_url("**/03-collectives.html#*")
    card = filled.locator(f"#rz-{QUESTIONS[1]}")
    assert "You missed this question before." in card.locator(".rz-feedback").inner_text()
    assert card.locator(".rz-part input, [type=radio]").first.is_visible()


def test_every_item_has_its_card(html):
    """Kills a link that leads to no card."""
    found = course_data.collect()["items"]
    names = {one["page"] for one in found}
    texts = {name: (html / "book" / f"{name}.html").read_text(encoding="utf-8") for name in names}
    assert [one["id"] for one in found if f'id="rz-{one["id"]}"' not in texts[one["page"]]] == []


def test_everything_goes_into_a_file_and_comes_back(filled):
    """Down, forgotten after a question, and loaded again: the same to the letter."""
    before = filled.evaluate(STORED)
    with filled.expect_download() as waiting:
        button(filled, "Download")
    content = waiting.value.path().read_text(encoding="utf-8")
    assert waiting.value.suggested_filename == "rank-zero-course.json"
    assert json.loads(content)["rankzero"] == 1
    button(filled, "Forget everything")
    filled.get_by_role("button", name="Keep it").click()
    assert said(filled) == "Nothing was changed."
    assert filled.evaluate(STORED) == before
    button(filled, "Forget everything")
    filled.locator(".rz-ask").get_by_role("button", name="Forget everything").click()
    assert said(filled) == "Everything is forgotten."
    assert not any(filled.evaluate(STORED).values())
    assert filled.locator("#rz-course-done tfoot td").first.inner_text().startswith("0 of")
    load(filled, content)
    filled.wait_for_function("() => document.querySelector('#rz-course-data [role=status]').textContent === 'Loaded.'")
    assert filled.evaluate(STORED) == before
    assert "Due now: 2 questions." in filled.locator("#rz-course-review").inner_text()


@proof
def test_a_file_replaces_only_after_a_question(filled):
    before = filled.evaluate(STORED)
    empty = {"version": 1, "items": {}}
    other = {"rankzero": 1, "progress": {**empty, "pages": {}}, "work": empty, "time": {"version": 1, "pages": {}}}
    load(filled, json.dumps(other))
    filled.get_by_role("button", name="Keep mine").click()
    assert said(filled) == "Nothing was changed."
    assert filled.evaluate(STORED) == before
    load(filled, json.dumps(other))
    filled.locator(".rz-ask").get_by_role("button", name="Load the file").click()
    filled.wait_for_function("() => document.querySelector('#rz-course-data [role=status]').textContent === 'Loaded.'")
    assert filled.evaluate(STORED)["rankzero:progress"]["items"] == {}


def damaged() -> dict[str, str | bytes]:
    """Files that are not what the page wrote, by what is wrong with them."""
    whole = {
        "rankzero": 1,
        "progress": STATE["rankzero:progress"],
        "work": STATE["rankzero:work"],
        "time": STATE["rankzero:time"],
    }

    def changed(value, *path):
        file = copy.deepcopy(whole)
        place = file
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return json.dumps(file)

    entry = ("progress", "items", QUESTIONS[1])
    return {
        "nothing": "",
        "no JSON": "{",
        "bytes": b"\x89PNG\xff\xfe",
        "null": "null",
        "a list": "[]",
        "a notebook": '{"cells": []}',
        "another version": changed(2, "rankzero"),
        "no progress": changed(None, "progress"),
        "progress of another version": changed(9, "progress", "version"),
        "an entry that is text": changed("right", *entry),
        "right as text": changed("yes", *entry, "right"),
        "confidence over 100": changed(101, *entry, "confidence"),
        "given as text": changed("3", *entry, "given"),
        "a step too far": changed(4, *entry, "review", "step"),
        "a due day that is none": changed("soon", *entry, "review", "due"),
        "a date that is none": changed("soon", *entry, "date", "first"),
        "pages as text": changed("all", "progress", "pages", "03-collectives"),
        "a draft without fields": changed({}, "progress", "drafts", QUESTIONS[4]),
        "a program that is a number": changed(5, "work", "items", FUNCTIONS[0], "source"),
        "negative minutes": changed(-1, "time", "pages", "your-course"),
    }


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("opened", ["file"], indirect=True)
def test_a_bad_file_gets_one_sentence_and_changes_nothing(filled):
    before = filled.evaluate(STORED)
    shown = filled.locator("#rz-course-done, #rz-course-review").all_inner_texts()
    for name, content in damaged().items():
        filled.evaluate("() => { document.querySelector('#rz-course-data [role=status]').textContent = '' }")
        load(filled, content)
        sentence = said(filled)
        assert re.fullmatch(r"This file [^.\n]+\. Nothing was changed\.", sentence), (name, sentence)
        assert filled.evaluate(STORED) == before, name
        assert filled.locator(".rz-ask").count() == 0, name
    assert filled.locator("#rz-course-done, #rz-course-review").all_inner_texts() == shown


@proof
@pytest.mark.parametrize("opened", ["file"], indirect=True)
def test_a_full_browser_changes_nothing(filled):
    """Kills a load that stops half-way: the second of three parts finds no room."""
    with filled.expect_download() as waiting:
        button(filled, "Download")
    content = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    content["progress"]["items"] = {}
    before = filled.evaluate(STORED)
    filled.evaluate("""() => {
        const set = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {
          if (key === "rankzero:work" && !this.full) {
            this.full = true;
            throw new DOMException("full", "QuotaExceededError");
          }
          return set.call(this, key, value);
        };
    }""")
    load(filled, json.dumps(content))
    filled.locator(".rz-ask").get_by_role("button", name="Load the file").click()
    assert "no room" in said(filled)
    assert filled.evaluate(STORED) == before


@proof
def test_a_minute_counts_when_the_page_is_used(visit, site):
    """Kills a clock that runs while nobody is there."""
    watch = visit(f"{site}/{PAGE}")
    watch.page.clock.install(time=1e9)
    watch.page.reload()
    watch.page.clock.pause_at(1e9 + 3600)
    watch.page.clock.run_for(125_000)
    assert watch.page.evaluate("rankzeroHours.load().pages") == {}
    watch.page.keyboard.press("Tab")
    watch.page.clock.run_for(61_000)
    watch.page.keyboard.press("Tab")
    watch.page.clock.run_for(240_000)
    assert 2 <= watch.page.evaluate("rankzeroHours.load().pages")["your-course"] <= 4


@proof
@pytest.mark.parametrize("opened", ["http"], indirect=True)
def test_nothing_is_wider_than_a_phone(filled):
    filled.set_viewport_size({"width": 390, "height": 844})
    assert filled.evaluate("document.documentElement.scrollWidth") <= 390
    assert filled.locator("#rz-course-sure svg").bounding_box()["width"] <= 390


def test_without_scripts_the_page_says_what_it_would_show(shared):
    text = shared("file", PAGE, scripts=False).page.locator("article").inner_text()
    assert text.count("With scripts,") == 5
    assert (BOOK / "your-course.md").read_text(encoding="utf-8").count("With scripts,") == 5
