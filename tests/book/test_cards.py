"""Cards in the built chapter, as a reader meets them: answered right, wrong and not at all, kept, and forgotten."""

from __future__ import annotations

import json
import math

import pytest

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
    """Type the numbers and press the button."""
    for field, value in zip(card.locator(".rz-part input").all(), values, strict=True):
        field.fill("" if value is None else repr(value))
    card.locator("button[type=submit]").click()


def far_from(part) -> float:
    """A number that is neither the answer nor a known slip nor the answer in another unit."""
    known = [part["answer"], *(slip["value"] for slip in part["slips"])]
    return next(
        v for v in (abs(part["answer"]) * 7 + k for k in range(3, 99)) if not any(map(math.isclose, known, [v] * 9))
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("way", WAYS)
class TestEveryCard:
    def test_right(self, addresses, visit, way, chapter):
        """Kills a card that refuses its own answer: every question of the page, answered with its answer, is right."""
        watch = visit(f"{addresses[way]}/{chapter}")
        asked = cards(watch.page, "question")
        assert asked
        for card, data in asked:
            answer(card, [part["answer"] for part in data["parts"]])
            assert card.get_attribute("data-state") == "right", data["id"]
            assert card.locator("details.rz-derivation").get_attribute("open") is not None
        assert watch.problems == []

    def test_wrong(self, addresses, visit, way, chapter):
        """Kills a card that is content with anything, or that shows the answer to who got it wrong."""
        watch = visit(f"{addresses[way]}/{chapter}")
        for card, data in cards(watch.page, "question"):
            answer(card, [far_from(part) for part in data["parts"]])
            assert card.get_attribute("data-state") == "wrong", data["id"]
            assert card.locator("details.rz-derivation").get_attribute("open") is None
            for part, mark in zip(data["parts"], card.locator(".rz-mark").all(), strict=True):
                assert mark.inner_text().strip()
                assert part["shown"] not in mark.inner_text() or len(part["shown"]) < 2
        assert watch.problems == []

    def test_slips_are_named(self, addresses, visit, way, chapter):
        """Each wrong number that the bank knows is met with its own sentence."""
        watch = visit(f"{addresses[way]}/{chapter}")
        named = 0
        for card, data in cards(watch.page, "question"):
            for index, part in enumerate(data["parts"]):
                for slip in part["slips"]:
                    values = [other["answer"] for other in data["parts"]]
                    values[index] = slip["value"]
                    answer(card, values)
                    said = card.locator(".rz-mark").nth(index)
                    assert card.get_attribute("data-state") == "wrong", (data["id"], slip)
                    assert said.evaluate("node => node.textContent.trim().length") > len("✗ not yet"), slip
                    named += 1
        assert named
        assert watch.problems == []

    def test_blank(self, addresses, visit, way, chapter):
        """An empty form is met with a request, counts as nothing, and the field is in focus."""
        watch = visit(f"{addresses[way]}/{chapter}")
        card, _ = cards(watch.page, "question")[0]
        card.locator("button[type=submit]").click()
        assert card.locator(".rz-feedback").inner_text().strip()
        assert card.get_attribute("data-state") is None
        assert card.locator(".rz-part input").first.evaluate("node => node === document.activeElement")
        assert watch.problems == []

    def test_choice_and_order(self, addresses, visit, way, chapter):
        """One letter, and the letters in order: wrong first, then right, by keyboard and by button."""
        watch = visit(f"{addresses[way]}/{chapter}")
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
    page.reload()
    assert cards(page, "question")[0][0].get_attribute("data-state") == "right"
    tally = page.locator(".rz-scorecard .rz-tally")
    assert "1 right" in tally.inner_text()
    assert page.locator("nav.bd-links .rz-badge").first.inner_text().startswith("1/")
    page.locator(".rz-reset").click()
    assert "0 right" in tally.inner_text()
    assert watch.problems == []


def test_there_is_a_live_chapter():
    """The tests above have something to test."""
    assert CHAPTERS
