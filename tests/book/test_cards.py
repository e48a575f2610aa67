"""Cards in the built chapter, as a reader meets them: answered right, wrong and not at all, kept, and forgotten."""

from __future__ import annotations

import json
import math

import pytest
from playwright.sync_api import expect

from tools.build_book import notebooks
from tools.common import ROOT

pytestmark = pytest.mark.browser

CHAPTERS = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]
WAYS = ["http", "file"]


def cards(page, kind: str) -> list:
    """The live cards of one kind, with their data."""
    found = []
    for card in page.locator("section.rz-card[data-card]").all():
        data = json.loads(card.get_attribute("data-card"))
        if data["kind"] == kind:
            found.append((card, data))
    return found


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


def tried(page, tries) -> list[dict]:
    """What cards show after each of ``(data, numbers)``."""
    return page.evaluate(TRY, [[data["id"], list(map(repr, numbers))] for data, numbers in tries])


def far_from(part) -> float:
    """A number that is neither the answer nor a known slip nor the answer in another unit."""
    known = [part["answer"], *(slip["value"] for slip in part["slips"])]
    return next(
        v for v in (abs(part["answer"]) * 7 + k for k in range(3, 99)) if not any(map(math.isclose, known, [v] * 9))
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("way", WAYS)
def test_right(addresses, visit, way, chapter):
    """Kills a card that refuses its own answer: every question of the page, answered with its answer, is right."""
    watch = visit(f"{addresses[way]}/{chapter}")
    asked = [data for _, data in cards(watch.page, "question")]
    assert asked
    shown = tried(watch.page, [(data, [part["answer"] for part in data["parts"]]) for data in asked])
    assert [data["id"] for data, one in zip(asked, shown, strict=True) if one["state"] != "right"] == []
    assert all(one["open"] for one in shown)
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_wrong(site, visit, chapter):
    """Kills a card that is content with anything, or that shows the answer to who got it wrong."""
    watch = visit(f"{site}/{chapter}")
    asked = [data for _, data in cards(watch.page, "question")]
    shown = tried(watch.page, [(data, map(far_from, data["parts"])) for data in asked])
    for data, one in zip(asked, shown, strict=True):
        assert (one["state"], one["open"]) == ("wrong", False), data["id"]
        for part, mark in zip(data["parts"], one["marks"], strict=True):
            assert mark
            assert part["shown"] not in mark or len(part["shown"]) < 2
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_slips_are_named(site, visit, chapter):
    """Each wrong number that the bank knows is met with its own sentence."""
    watch = visit(f"{site}/{chapter}")
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


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_typed_by_hand(site, visit, chapter):
    """An empty form is met with a request, counts as nothing, and the field is in focus; then a wrong number, then the
    right one, key by key.
    """
    watch = visit(f"{site}/{chapter}")
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
def test_choice_and_order(site, visit, chapter):
    """One letter, and the letters in order: wrong first, then right, by keyboard and by button."""
    watch = visit(f"{site}/{chapter}")
    for card, data in cards(watch.page, "choice"):
        options = card.locator("input[type=radio]")
        for option in options.all():
            option.check()
            card.locator("button[type=submit]").press("Enter")
            right = option.get_attribute("value") == data["correct"]
            assert card.get_attribute("data-state") == ("right" if right else "wrong"), data["id"]
    for card, data in cards(watch.page, "order"):
        for place, letter in enumerate(data["correct"]):
            step = card.locator(f"[data-letter={letter}]")
            while step.evaluate("node => [...node.parentElement.children].indexOf(node)") > place:
                step.get_by_label("move up").click()
        card.locator("button[type=submit]").click()
        assert card.get_attribute("data-state") == "right", data["id"]
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("way", WAYS)
def test_progress_is_kept_and_forgotten(addresses, visit, way, chapter):
    """An answer survives a reload, is counted in the scorecard and in the sidebar, and goes when the reader says so."""
    watch = visit(f"{addresses[way]}/{chapter}")
    page = watch.page
    card, data = cards(page, "question")[0]
    answer(card, [part["answer"] for part in data["parts"]])
    assert card.get_attribute("data-state") == "right"
    page.reload()
    expect(cards(page, "question")[0][0]).to_have_attribute("data-state", "right")  # the browser may take its time
    tally = page.locator(".rz-scorecard .rz-tally")
    assert "1 right" in tally.inner_text()
    assert page.locator("nav.bd-links .rz-badge").first.inner_text().startswith("1/")
    page.locator(".rz-reset").click()
    assert "0 right" in tally.inner_text()
    assert watch.problems == []


def test_there_is_a_live_chapter():
    """The tests above have something to test."""
    assert CHAPTERS
