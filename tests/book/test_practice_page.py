"""A sitting on "Your course": chosen, asked, answered, counted; flash cards of what was missed; days in a row."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from autograder import bank
from autograder.bank.lists import CLASSIC, ON_ITS_PAGE
from tests.book.conftest import proof
from tools.course import questions

pytestmark = pytest.mark.browser

PAGE = "book/your-course.html"
#: An answer that is wrong on every card of a number or a choice.
WRONG = """card => {
  card.querySelectorAll(".rz-part input").forEach((field) => { field.value = "-12345"; });
  const { correct } = JSON.parse(card.dataset.card);
  const option = [...card.querySelectorAll("[type=radio]")].find(({ value }) => value !== correct);
  if (option) option.checked = true;
  card.querySelector("form").requestSubmit();
}"""
#: Keeps nothing but the days on which something was done, as many days ago as the numbers say.
KEPT = """ago => rankzero.save({
  version: 1, items: {}, pages: {}, days: ago.map((days) => rankzero.day(-days)).sort(),
})"""
#: A right answer for each kind of card, typed or picked as a reader would.
ANSWER = """card => {
  const data = JSON.parse(card.dataset.card), form = card.querySelector("form");
  const fields = [...form.querySelectorAll(".rz-part input")];
  if (data.kind === "question") data.parts.forEach((part, place) => { fields[place].value = String(part.answer); });
  if (data.kind === "estimate") fields[0].value = String(data.answer);
  if (data.kind === "choice") form.querySelector(`[value="${data.correct}"]`).checked = true;
  if (data.kind === "order") {
    const step = (letter) => form.querySelector(`[data-letter="${letter}"]`);
    data.correct.forEach((letter) => step(letter).parentElement.append(step(letter)));
  }
  form.requestSubmit();
}"""


@pytest.fixture
def page(shared):
    """The page without answers, and without a sitting."""
    watch = shared("file", PAGE)
    watch.page.evaluate("() => { localStorage.clear(); }")
    watch.page.reload()
    yield watch.page
    assert watch.problems == []


def place(page):
    return page.locator("#rz-course-practice")


def choose(page, **wish: str) -> None:
    for name, value in wish.items():
        place(page).locator(f"select[name={name}]").select_option(value)


def at(page, number: int) -> None:
    """Wait until this question of the sitting is shown."""
    page.wait_for_function(
        "at => (document.querySelector('#rz-course-practice b') || {}).textContent?.startsWith(`${at} of`)", arg=number
    )


def test_a_sitting(page):
    """Three random questions of a chapter and a kind: one right, one wrong, one left alone; each counts as on its page,
    and what was missed goes on flash cards."""
    choose(page, topic="chapter:3", sort="derive", many="5", minutes="2")
    place(page).get_by_role("button", name="Begin").click()
    at(page, 1)
    assert re.match(r"9:5\d left|10:00 left", place(page).get_by_role("timer").inner_text())
    first = place(page).locator(".rz-card").get_attribute("id").removeprefix("rz-")
    item = bank.find(first)
    assert (first[:3], item.kind) == ("03-", "derive")
    assert first not in ON_ITS_PAGE
    place(page).locator(".rz-card").evaluate(ANSWER)
    place(page).get_by_role("button", name="Next").click()
    at(page, 2)
    second = place(page).locator(".rz-card").get_attribute("id").removeprefix("rz-")
    assert second != first
    place(page).locator(".rz-card").evaluate(WRONG)
    place(page).get_by_role("button", name="End here").click()
    assert "1 of 2 right at the first answer (50 %)" in place(page).inner_text()
    assert "3 items of 5 were not reached" in place(page).inner_text()
    progress = page.evaluate("() => rankzero.load()")
    assert {name: entry["right"] for name, entry in progress["items"].items()} == {first: True, second: False}
    assert len(progress["days"]) == 1
    assert "Days in a row: 1." in page.locator("#rz-course-days").inner_text()
    assert "1 question on" in page.locator("#rz-course-review").inner_text()
    with page.expect_download() as waiting:
        page.locator("#rz-course-cards").get_by_role("button").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("#")][:2] == ["#separator:tab", "#html:true"]
    (card,) = csv.reader(io.StringIO("\n".join(line for line in lines if not line.startswith("#"))), delimiter="\t")
    front, back, tags, name = card
    assert front.startswith("<p>")
    assert "<b>" in back
    assert (name, tags.split()[1]) == (f"rank-zero-{second}", f"section-{bank.find(second).section}")


def reloaded(page):
    page.reload()
    return page


@proof
def test_the_classic_calculations_in_one_sitting(page):
    """All 58 in their order: each question has its card, each function its link, and right answers are counted."""
    choose(page, **{"from": "classic", "many": "all"})
    assert "58 items" in place(page).locator("output").inner_text()
    place(page).get_by_role("button", name="Begin").click()
    asked = 0
    for number, name in enumerate(CLASSIC.ids, 1):
        at(page, number)
        if questions.practised(bank.find(name)):
            asked += 1
            assert place(page).locator(".rz-card").get_attribute("id") == f"rz-{name}"
            place(page).locator(".rz-card").evaluate(ANSWER)
        else:
            assert place(page).locator(f'a[href$="#rz-{name}"]').count() == 1
        place(page).get_by_role("button", name=re.compile("Next|Finish")).click()
    assert f"{asked} of 58 right at the first answer" in place(page).inner_text()


@proof
def test_when_time_is_up_the_sitting_ends(shared):
    watch = shared("file", PAGE)
    watch.page.clock.install()
    watch.page.reload()
    choose(watch.page, minutes="1", many="5")
    place(watch.page).get_by_role("button", name="Begin").click()
    at(watch.page, 1)
    watch.page.clock.run_for(301_000)
    assert "Time is up. 0 of 1 right" in place(watch.page).inner_text()


@proof
def test_every_question_has_a_flash_card(page):
    """Kills a card without an answer, and a formula that Anki cannot read: it knows TeX, not what the page draws."""
    text = page.evaluate("() => rankzeroFlashCards.file(rankzeroCourse.items)")
    rows = [*csv.reader(io.StringIO("\n".join(line for line in text.splitlines() if line[:1] != "#")), delimiter="\t")]
    wanted = [item.id for item in bank.items() if questions.practised(item)]
    assert [row[3].removeprefix("rank-zero-") for row in rows] == wanted
    assert all(re.search(r"<b>.+</b>", row[1]) and len(row) == 4 for row in rows)
    assert not re.search("katex|undefined", text)


def test_a_program_on_a_flash_card_has_its_lines(page):
    """Kills a program on one line, and a line break in the file, which would be another card."""
    name = "04-nvlink-pcie"
    text = page.evaluate("id => rankzeroFlashCards.file(rankzeroCourse.items.filter((item) => item.id === id))", name)
    (card,) = (line for line in text.splitlines() if not line.startswith("#"))
    assert "--backend nccl \\<br>  --ranks 2" in card
    assert "256MiB</code></pre>" in card


@proof
@pytest.mark.parametrize(
    ("ago", "said"),
    [
        ((0, 1, 2, 5, 6), "Days in a row: 3. The longest row is 3 days, and 5 days count in all."),
        ((1, 2), "Days in a row: 2, and today is still to come."),
        ((-1, 0, 1), "Days in a row: 3. The longest row is 3 days"),
        ((3, 4, 5, 6), "Days in a row: 0. The longest row is 4 days"),
    ],
)
def test_days_in_a_row(page, ago, said):
    page.evaluate(KEPT, [*ago])
    assert said in reloaded(page).locator("#rz-course-days").inner_text()


@proof
def test_an_answer_counts_on_the_day_that_was_kept(page):
    """Kills a day that is counted twice in another time zone; answers of a time without days count on their own."""
    page.evaluate("""() => {
        const entry = (first) => ({ right: true, first: true, confidence: null, date: { first, last: first } });
        rankzero.save({
          version: 1, pages: {}, days: ["2026-03-10"],
          items: { a: entry("2026-03-11T12:00:00.000Z"), b: entry("2026-03-01T12:00:00.000Z") },
        });
    }""")
    assert "and 2 days count in all" in reloaded(page).locator("#rz-course-days").inner_text()


@proof
def test_what_fits_is_listed(page):
    choose(page, topic="part:II. Parallelism", sort="debug")
    place(page).get_by_role("button", name="List them").click()
    links = place(page).locator("li a")
    assert links.count() == int(re.search(r"\d+", place(page).locator("output").inner_text())[0])
    names = [
        href.partition("#rz-")[2] for href in links.evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    ]
    assert {name[:2] for name in names} <= {"05", "06", "07"}
    data = json.loads(page.evaluate("() => JSON.stringify(rankzeroCourse.items)"))
    assert {one["sort"] for one in data if one["id"] in names} == {"debug"}
