"""Results, explanations and explorers that wait for an answer, on every built page: veiled, opened by an answer, by
asking and by the switch, and not told by the search."""

from __future__ import annotations

import json

import pytest

from autograder import bank
from tests.book.conftest import KINDS, TAUGHT, proof
from tools.browser import AXE
from tools.build_book import notebooks
from tools.common import ROOT

pytestmark = pytest.mark.browser

CHAPTERS = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]
CHAPTER = KINDS[0]

#: Every output that is no card, and every text that waits, with the questions before it in its section, and its veil.
RESULTS = """() => {
  const sectionOf = (node) => node.closest("section:has(> h2)");
  const cards = [...document.querySelectorAll("section.rz-card[data-card]")];
  const before = (card, node) => card.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
  return [...document.querySelectorAll("article :is(div.cell_output, div.rz-after)")]
    .filter((output) => !output.querySelector(".rz-card"))
    .map((output) => {
      const own = cards.filter((card) => before(card, output) && sectionOf(card) === sectionOf(output));
      return {
        asked: own.map((card) => card.id.slice(3)),
        explorer: Boolean(output.querySelector(".rz-explorer")),
        veil: (output.dataset.veil || "").split(" ").filter(Boolean),
        seen: output.getClientRects().length > 0,
        line: output.dataset.veil ? output.previousElementSibling.getClientRects().length > 0 : false,
        behind: output.dataset.veil ? output.previousElementSibling.classList.contains("rz-behind") : false,
      };
    });
}"""

#: Answers the cards one after the other, right or wrong; after each, the results whose state is not what it should be.
ANSWER = """() => {
  const cards = [...document.querySelectorAll("section.rz-card[data-card]")];
  const done = new Set();
  const wrong = [];
  const check = (when) => document.querySelectorAll("[data-veil]").forEach((output) => {
    const open = output.dataset.veil.split(" ").every((id) => done.has(id));
    if (output.getClientRects().length > 0 !== open) wrong.push([when, output.dataset.veil]);
    const line = output.previousElementSibling;
    const stands = line.getClientRects().length > 0;
    if (stands !== (!open && !line.classList.contains("rz-behind"))) wrong.push([when, "line"]);
  });
  check("before");
  cards.forEach((card, place) => {
    card.querySelectorAll(".rz-part input").forEach((field) => { field.value = "1234.5"; });
    const option = card.querySelector("input[type=radio]");
    if (option) option.checked = true;
    card.querySelectorAll(".rz-knob select").forEach((field) => { field.value = [...field.options].pop().value; });
    card.querySelector("button[type=submit]").click();
    if (!card.dataset.state) wrong.push([card.id, "no state"]);
    done.add(card.id.slice(3));
    if (place % 5 === 0 || place + 1 === cards.length) check(card.id);
  });
  return wrong;
}"""

ENTRIES = "() => JSON.parse(localStorage.getItem('rankzero:progress')).items"
#: Where the first result of one question stands, and the question.
FIRST = """() => document.querySelector("[data-veil]:not([data-veil*=' '])").dataset.veil"""


def wrong_sight(page, seen: bool) -> list[dict]:
    """The veiled results of the page that are in sight and should not be, or the other way round. A line stands in the
    place of one that is not, unless it would stand behind another line."""
    veiled = [one for one in page.evaluate(RESULTS) if one["veil"]]
    return [one for one in veiled if (one["seen"], one["line"]) != (seen, not (seen or one["behind"]))]


def answer_wrongly(card, name: str) -> None:
    """Choose an option of the question ``name`` that is not the right one."""
    item = bank.find(name)
    wrong = next(place for place, option in enumerate(item.shown()) if option != item.options[item.correct])
    card.locator("input[type=radio]").nth(wrong).check()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_result_waits_for_its_answer(shared, chapter):
    """Kills a result that is open below its question, that no answer opens, or that paper does not show, and an
    explorer that opens before all questions of its section so far are answered."""
    watch = shared("http", chapter, veiled=True)
    page = watch.page
    found = page.evaluate(RESULTS)
    assert any(one["veil"] for one in found)
    assert any(one["veil"] and not one["behind"] for one in found)
    assert [one for one in found if one["veil"][-1:] != one["asked"][-1:]] == []
    assert [one for one in found if one["explorer"] and one["veil"] != one["asked"]] == []
    assert wrong_sight(page, seen=False) == []
    assert [one for one in found if not one["veil"] and not one["seen"]] == []
    page.emulate_media(media="print")
    assert wrong_sight(page, seen=True) == []
    page.emulate_media(media="screen")
    switch = page.get_by_role("switch", name="Show everything")
    switch.check()
    assert wrong_sight(page, seen=True) == []
    switch.uncheck()
    assert page.evaluate(ANSWER) == []
    assert not any(entry.get("looked") for entry in page.evaluate(ENTRIES).values())
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_without_scripts_everything_is_shown(shared, chapter):
    """Kills a veil that only a script can lift where no script runs."""
    page = shared("file", chapter, scripts=False).page
    results = page.locator("[data-veil]")
    assert results.count() > 0
    assert [one for one in results.all() if not one.is_visible()] == []
    assert page.locator(".rz-veil:visible, .rz-everything:visible").count() == 0


@proof
@pytest.mark.parametrize("chapter", [CHAPTER])
@pytest.mark.parametrize("way", ["http", "file"])
def test_who_looks_first_is_known_to_have_looked(visit, addresses, way, chapter):
    """The result opens, has the focus and stays open; the answer that follows counts, the confidence does not."""
    watch = visit(f"{addresses[way]}/{chapter}", veiled=True)
    page = watch.page
    name = page.evaluate(FIRST)
    result = page.locator(f'[data-veil="{name}"]').first
    button = page.locator(f'.rz-veil:has(+ [data-veil="{name}"]) button')
    button.focus()
    page.keyboard.press("Enter")
    assert result.is_visible()
    assert result.evaluate("(node) => node === document.activeElement")
    assert page.evaluate(ENTRIES) == {name: {"looked": True}}
    card = page.locator(f"#rz-{name}")
    assert card.get_attribute("data-state") is None
    page.reload()
    assert result.is_visible()
    answer_wrongly(card, name)
    card.locator(".rz-confidence").fill("90")
    card.locator("button[type=submit]").press("Enter")
    assert card.get_attribute("data-state") == "wrong"
    assert page.evaluate(ENTRIES)[name]["looked"] is True
    assert "Confidence" not in page.locator(".rz-tally").inner_text()
    page.locator(".rz-reset").click()
    page.get_by_role("button", name="Forget them").click()
    assert wrong_sight(page, seen=False) == []
    assert watch.problems == []


@pytest.mark.parametrize("chapter", ["book/03-collectives.html"])
def test_the_line_of_an_explorer_tells_which_question_is_left(shared, chapter):
    """Who has done all questions but one sees which one that is, and that one opens the explorer."""
    watch = shared("http", chapter, veiled=True)
    page = watch.page
    explorer = page.locator("[data-veil]:has([data-function=all_reduce_time])")
    line = page.locator(".rz-veil:has(+ [data-veil] [data-function=all_reduce_time])")
    *names, last = explorer.get_attribute("data-veil").split()
    assert len(names) > 1
    page.evaluate("(names) => rankzero.look(names)", names)
    left = line.locator("a:not(.rz-done)")
    assert left.evaluate_all("links => links.map((link) => link.getAttribute('href'))") == [f"#rz-{last}"]
    assert not explorer.is_visible()
    page.evaluate("(name) => rankzero.look([name])", last)
    assert explorer.is_visible()
    assert not line.is_visible()
    assert watch.problems == []


@proof
@pytest.mark.parametrize("chapter", [CHAPTER])
def test_the_switch_is_kept_and_goes_both_ways(visit, addresses, chapter):
    """Who has everything shown has looked when she answers; without it the first answer is a prediction."""
    watch = visit(f"{addresses['http']}/{chapter}", veiled=True)
    page = watch.page
    name = page.evaluate(FIRST)
    page.get_by_role("switch", name="Show everything").press("Space")
    page.reload()
    assert page.get_by_role("switch", name="Show everything").is_checked()
    assert wrong_sight(page, seen=True) == []
    card = page.locator(f"#rz-{name}")
    answer_wrongly(card, name)
    card.locator("button[type=submit]").press("Enter")
    assert page.evaluate(ENTRIES)[name]["looked"] is True
    page.locator(".rz-reset").click()
    page.get_by_role("button", name="Forget them").click()
    page.get_by_role("switch", name="Show everything").press("Space")
    page.reload()
    assert wrong_sight(page, seen=False) == []
    answer_wrongly(card, name)
    card.locator("button[type=submit]").press("Enter")
    assert "looked" not in page.evaluate(ENTRIES)[name]
    assert watch.problems == []


@proof
@pytest.mark.parametrize("chapter", [CHAPTER])
def test_nothing_flashes_and_nothing_moves(visit, addresses, chapter):
    """Veiled results are never drawn, and results that are open are drawn open, from the first frame on."""
    watch = visit(f"{addresses['http']}/{chapter}", veiled=True)
    page = watch.page
    name = page.evaluate(FIRST)
    kept = {"version": 1, "pages": {}, "items": {name: {"right": True, "first": True, "confidence": None}}}
    page.context.add_init_script(
        f"localStorage.setItem('rankzero:progress', {json.dumps(json.dumps(kept))});"
        """
        window.wrong = [];
        const look = () => {
          for (const output of document.querySelectorAll("[data-veil]")) {
            const open = output.dataset.veil === NAME;
            if (output.getClientRects().length > 0 !== open) window.wrong.push(output.dataset.veil);
          }
          setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(look)));
        };
        addEventListener("DOMContentLoaded", () => setTimeout(look));
        """.replace("NAME", json.dumps(name))
    )
    page.reload()
    page.wait_for_function("() => document.readyState === 'complete'")
    assert page.evaluate("() => window.wrong") == []
    assert page.locator(f'[data-veil="{name}"]').first.is_visible()
    assert watch.problems == []


#: Lines and switches that stick out of a narrow window, and what axe finds serious in them or in the cards.
FAULTS = """async (named) => {
  const wide = [...document.querySelectorAll(".rz-veil, .rz-everything")]
    .filter((line) => line.getBoundingClientRect().right > innerWidth || line.scrollWidth > line.clientWidth + 1)
    .map((line) => line.textContent);
  if (!named) return wide;
  const found = await axe.run("article", { resultTypes: ["violations"] });
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return [...wide, ...serious.map((one) => one.id)];
}"""


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("chapter", [CHAPTER])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("named", [False, pytest.param(True, marks=proof)])
def test_a_veiled_page_reads_on_a_phone(shared, chapter, scheme, named):
    """Lines in place of results fit; they stand out from their ground and have names; hints unfolded too."""
    page = shared("http", chapter, veiled=True).page
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.evaluate("() => document.querySelectorAll('.rz-hints, .rz-hints details').forEach((f) => { f.open = true; })")
    if named:
        if not AXE.is_file():
            pytest.skip("axe is not here (make vendor)")
        page.add_script_tag(path=str(AXE))
    assert page.evaluate(FAULTS, named) == []


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_hints_lead_to_their_sections(shared, chapter):
    """Every question has hints, each with a link to a section of its page."""
    page = shared("http", chapter).page
    targets = page.locator("section.rz-card[data-card]").evaluate_all(
        "(cards) => cards.map((card) => card.querySelector('.rz-hints a')?.hash)"
    )
    assert targets
    assert [one for one in targets if not one or page.locator(one).count() != 1] == []


#: Lines that stand right below another, by their texts.
ROWS = """() => {
  const boxes = [...document.querySelectorAll(".rz-veil")].filter((line) => line.getClientRects().length)
    .map((line) => [line.getBoundingClientRect(), line.textContent]);
  return boxes.filter(([box], place) => place && box.top - boxes[place - 1][0].bottom < 30).map(([, text]) => text);
}"""


@pytest.mark.parametrize(
    "chapter",
    [name if "01-" in name else pytest.param(name, marks=proof) for name in TAUGHT if "/deeper/" not in name],
)
def test_sentences_to_remember_wait_and_no_two_lines_follow_each_other(visit, addresses, chapter):
    """Kills a sentence that answers the question above it, and two or three lines that stand for one place."""
    watch = visit(f"{addresses['http']}/{chapter}", veiled=True)
    page = watch.page
    kept = page.locator(".rz-takeaway[data-veil]")
    assert kept.count() > 0
    assert [one for one in kept.all() if one.is_visible()] == []
    assert page.evaluate(ROWS) == []
    page.evaluate("(ids) => rankzero.look(ids)", kept.first.get_attribute("data-veil").split())
    assert kept.first.is_visible()
    assert watch.problems == []


WRITE = """([id, state]) => rankzeroWork.change(id, { source: "def f(): ...", state, passed: 1, total: 1 })"""


@pytest.mark.proof(part="pages")
def test_what_the_readers_function_gives_opens_when_it_passes(visit, addresses):
    """Kills a result of the reader's own function that waits for an unrelated question, and one that opens too soon."""
    watch = visit(f"{addresses['http']}/book/01-first-program.html", veiled=True)
    page = watch.page
    result = page.locator("[data-veil-own='01-roll-call']")
    line = page.locator(".rz-veil:has(+ [data-veil-own='01-roll-call'])")
    assert not result.first.is_visible()
    assert line.first.locator("a").last.get_attribute("href") == "#rz-01-roll-call"
    page.evaluate(WRITE, ["01-roll-call", "wrong"])
    assert not result.first.is_visible()
    page.evaluate(WRITE, ["01-roll-call", "right"])
    assert result.first.is_visible()
    assert not line.first.is_visible()
    assert page.locator("[data-veil='01-order-of-arrival']:not([data-veil-own])").first.is_visible() is False
    page.reload()
    assert result.first.is_visible()
    assert page.evaluate(ENTRIES) == {}
    assert watch.problems == []
