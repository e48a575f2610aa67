"""Cells that run on ranks in the page: Run, Edit, Ranks and Stop as a reader uses them, and each cell beside its build.

The ranks of one page serve all tests of this module and of ``test_ranks_runtime``: they start once.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.learner import workbench
from tests.book.conftest import RANKS_START, proof
from tools import world_runs
from tools.build_book import notebooks
from tools.common import VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("ranks"),
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

FIRST = "book/01-first-program.html"
PAGES = [path for path in notebooks() if int(path.name[:2]) <= workbench.LAST_IN_RANKS]

RUN_ALL = """async (cells) => {
  const runs = [];
  for (const cell of cells) {
    const lines = [];
    const told = { began() {}, progress() {}, say: (line, rank) => Number.isInteger(rank) || lines.push(line) };
    const { why, world } = await window.rankzeroRanks.run({ cell, own: {}, others: {}, ranks: null }, told);
    runs.push([why, lines, world]);
  }
  return runs;
}"""

#: An engine without ranks, for what the page does before any start. `STATE` is what its `state()` says.
ENGINE = """window.rankzeroRanks = {
  state: () => (STATE),
  mend: async () => { sessionStorage.setItem("mended", "yes"); location.reload(); },
  run: async ({ cell, ranks }, told) => {
    told.say(`ran ${cell.id} with ${ranks}`, null);
    return { why: "", charts: [], world: null };
  },
  check: async () => ({ html: "<p>checked</p>", state: "wrong", passed: 0, total: 3 }),
  stop: async () => {},
};"""
UNABLE = "{ able: false, why: 'This page was opened from disk, where ranks cannot start.', mend: false }"
MENDED = "{ able: sessionStorage.getItem('mended') === 'yes', why: 'Not yet.', mend: true }"


@pytest.fixture
def page(ranks_page):
    return ranks_page


@pytest.fixture(autouse=True)
def as_opened(request):
    """Each test begins with the built output alone, and ends without an error of a script."""
    if "page" not in request.fixturenames:
        yield
        return
    page = request.getfixturevalue("page")
    page.evaluate("""() => {
      document.querySelectorAll(".rz-ranks .rz-own-head button").forEach((button) => button.click());
      document.querySelectorAll(".rz-ranks button[aria-expanded=true]").forEach((button) => button.click());
      document.querySelectorAll(".rz-ranks .rz-ask button:first-of-type").forEach((button) => button.click());
      window.rankzeroBenches.benches.forEach((bench) => bench.reset());
    }""")
    yield
    assert page.problems == []


def place(page, name: str):
    """What stands below a cell, scrolled to."""
    found = page.locator(f'.rz-ranks[data-ranks*=\'"id": "{name}"\']')
    found.scroll_into_view_if_needed()
    return found


def run(found) -> None:
    """Press Run, and wait until the run has ended."""
    button = found.get_by_role("button", name="Run", exact=True)
    button.click()
    expect(button).to_have_attribute("aria-disabled", "false", timeout=RANKS_START)


def edit(page, found, change) -> None:
    """Open the editor and put ``change`` of its text in the place of it."""
    found.get_by_role("button", name="Edit").click()
    content = found.locator(".cm-content")
    expect(content).to_be_visible(timeout=RANKS_START)
    code = json.loads(found.get_attribute("data-ranks"))["code"]
    assert [line for line in content.inner_text().splitlines() if line] == [line for line in code.splitlines() if line]
    content.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(change(code))


def printed(found) -> str:
    return found.get_by_label("What the cell printed").inner_text()


def why(found) -> str:
    return found.locator(".rz-ranks-why").inner_text()


# A cell, as a reader uses it.


def test_the_first_cell_of_the_course_runs(page):
    """It prints what the build printed, which stays; what was sent, and a picture in words, stand below it."""
    found = place(page, "first-run")
    built = found.locator("xpath=preceding-sibling::*[1]").locator(".cell_output").inner_text()
    run(found)
    assert printed(found).strip() == built.strip() == "\n".join(f"rank {rank} of 4 has {rank}" for rank in range(4))
    assert "This cell, on 4 ranks" in found.locator("strong").inner_text()
    assert "a measured time would mean nothing" in found.inner_text()
    ledger = found.locator(".rz-ledger")
    assert ledger.locator("summary").inner_text() == "What was sent: 3 messages, 24 bytes"
    ledger.locator("summary").click()
    rows = ledger.locator("tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [[str(rank), str(rank + 1), "1", "8"] for rank in range(3)]
    found.get_by_text("The run in order, as a picture").click()
    picture = found.get_by_role("img", name="In order: rank 0 sends to rank 1; rank 1 sends to rank 2; rank 2 sends")
    assert picture.locator("rect").count() == 6
    assert picture.locator(".rz-message").count() == 3


@proof
def test_the_opening_page_runs_it_too(visit, site):
    """Four processes on the first page that anybody sees; and what it says of this browser is true."""
    watch = visit(f"{site}/book/intro.html")
    watch.page.set_default_timeout(RANKS_START)
    listed = watch.page.locator(".rz-machine li").all_inner_texts()
    assert listed[2].startswith("Ranks: yes, up to ")
    found = place(watch.page, "first-run")
    run(found)
    assert printed(found).strip().endswith("rank 3 of 4 has 3")
    assert watch.problems == []


@proof
def test_the_editor_stands_in_the_place_of_the_program_of_the_opening_page(visit, site):
    """Kills a program to edit below the same program, which on a laptop's screen takes *Run* out of sight."""
    watch = visit(f"{site}/book/intro.html", veiled=True)
    found = place(watch.page, "first-run")
    assert built(found).is_visible()
    edit(watch.page, found, lambda text: text.replace("rank > 0", "True"))
    assert not built(found).is_visible()
    found.get_by_role("button", name="Back to the built cell").click()
    found.get_by_role("button", name="Throw it away").click()
    assert built(found).is_visible()
    assert watch.problems == []


def test_from_disk_the_opening_page_says_what_it_cannot_do(visit, html):
    watch = visit((html / "book" / "intro.html").as_uri())
    assert watch.page.locator(".rz-machine li").all_inner_texts()[1:3] == [
        "Functions and moving charts: not from disk. Serve the book (make serve), and they work.",
        "Ranks: no. A page that is opened from disk cannot start ranks. Serve the book (make serve), and it can.",
    ]


def test_two_ranks_instead_of_four(page):
    found = place(page, "first-run")
    found.get_by_label("2", exact=True).check()
    run(found)
    assert printed(found).strip() == "rank 0 of 2 has 0\nrank 1 of 2 has 1"
    found.get_by_label("4", exact=True).check()


def test_a_deadlock_of_the_readers_own_says_who_waits_for_whom(page):
    """The change that the page proposes; then the cell as it is built runs again."""
    found = place(page, "first-run")
    edit(page, found, lambda text: text.replace("rank > 0", "True"))
    run(found)
    assert "Your version of this cell" in found.locator("strong").inner_text()
    waits = ";\n".join(f"rank {rank} waits in recv(src={(rank - 1) % 4}) at line 11" for rank in range(4))
    assert re.match(rf"WorldError: deadlock[^:]*: {re.escape(waits)}", why(found))
    assert found.locator(".rz-ledger summary").inner_text() == "What was sent: nothing"
    assert found.locator(".rz-waiting").count() == 4
    found.get_by_role("button", name="Back to the built cell").click()
    found.get_by_role("button", name="Throw it away").click()
    run(found)
    assert found.locator(".rz-ranks-why").count() == 0
    assert "rank 3 of 4 has 3" in printed(found)


@proof
def test_the_number_of_ranks_that_the_code_says_counts_while_it_is_edited(page):
    """Kills a choice that overrules what the reader has written, and a heading that names another number."""
    found = place(page, "first-run")
    edit(page, found, lambda text: text.replace("ranks=4", "ranks=3"))
    expect(found.locator(".rz-choice")).to_be_hidden()
    run(found)
    assert printed(found).strip().splitlines()[-1] == "rank 2 of 3 has 2"
    assert found.locator("strong").inner_text() == "Your version of this cell, on 3 ranks"


@proof
def test_what_was_changed_is_not_thrown_away_unasked(page):
    found = place(page, "first-run")
    edit(page, found, lambda text: text.replace("rank > 0", "True"))
    run(found)
    for answer, kept in (("Keep it", True), ("Throw it away", False)):
        found.get_by_role("button", name="Back to the built cell").click()
        found.get_by_role("button", name=answer).click()
        expect(found.locator(".cm-content")).to_be_visible(visible=kept)
        expect(found.locator(".rz-ranks-why")).to_have_count(int(kept))
    found.get_by_role("button", name="Edit").click()
    assert "rank > 0" in found.locator(".cm-content").inner_text()


@pytest.mark.proof(part="pages")
def test_an_endless_loop_is_stopped_by_the_reader(page):
    """Stop ends it at once, with the focus on Run, and the next run works; until then no other cell runs."""
    found = place(page, "first-run")
    edit(page, found, lambda text: text.replace("    number = torch", "    while True: pass\n    number = torch", 1))
    found.get_by_role("button", name="Run", exact=True).click()
    expect(found.locator(".rz-status")).to_contain_text("Running", timeout=RANKS_START)
    other = place(page, "hello-function")
    other.get_by_role("button", name="Run", exact=True).click()
    assert "Another cell of this page is running" in other.locator(".rz-status").inner_text()
    stop = found.get_by_role("button", name="Stop")
    stop.focus()
    page.keyboard.press("Enter")
    expect(found.locator(".rz-status")).to_have_text("Stopped.", timeout=RANKS_START)
    expect(stop).to_be_hidden()
    assert page.evaluate("document.activeElement.textContent") == "Run"
    found.get_by_role("button", name="Back to the built cell").click()
    found.get_by_role("button", name="Throw it away").click()
    run(found)
    assert "rank 3 of 4 has 3" in printed(found)


@proof
def test_what_ranks_printed_is_there_with_their_numbers(page):
    """Also where a rank raises: the line and the error, in a notebook's words."""
    found = place(page, "first-run")
    edit(
        page,
        found,
        lambda text: text.replace("    if rank > 0:", "    print('here', rank)\n    1 / rank\n    if rank > 0:", 1),
    )
    run(found)
    assert "rank 0 raised ZeroDivisionError: division by zero at line 11" in why(found)
    lines = found.locator(".rz-rank-lines")
    lines.locator("summary").click()
    assert "rank 0 | here 0" in lines.locator("pre").inner_text().splitlines()


def test_the_readers_function_is_used_and_named(page):
    """A wrong one too, once it was checked; the label goes with the result when she writes something else."""
    source = "def roll_call(value):\n    return [value]\n"
    found = place(page, "use-roll-call")
    keep = "([id, entry]) => rankzeroWork.change(id, entry)"
    page.evaluate(keep, ["01-roll-call", {"source": source, "state": "wrong"}])
    run(found)
    assert "With your roll_call (not right yet)" in found.locator("strong").inner_text()
    assert "rank 2 heard [22.5]" in printed(found)
    page.evaluate(keep, ["01-roll-call", {"source": source + "\n", "state": "wrong"}])
    assert found.locator("strong").count() == 0


def test_a_cell_about_time_says_that_it_runs_in_a_notebook(page):
    """With the way to the very cell."""
    line = page.locator(".rz-stays[data-cell='hello-sizes']")
    assert "The output above is that of the book's build." in line.inner_text()
    assert line.get_by_role("link").get_attribute("href").endswith("01-first-program.ipynb#scrollTo=hello-sizes")


@pytest.mark.proof(part="pages")
def test_a_function_of_several_ranks_is_checked_in_its_card(page):
    """The wrong program gets the bank's sentence, and the right one passes."""
    card = page.locator("#rz-01-debug-gather")
    card.scroll_into_view_if_needed()
    expect(card.locator(".cm-content")).to_be_visible(timeout=RANKS_START)
    assert not card.locator(".rz-elsewhere").is_visible()
    result = card.locator(".rz-result")
    for change, state in ((lambda text: text, "wrong"), (repaired, "right")):
        card.locator(".cm-content").click()
        text = change(card.locator(".cm-content").inner_text())
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)
        result.evaluate("node => node.replaceChildren()")
        card.locator(".rz-check").click()
        expect(result).not_to_be_empty(timeout=RANKS_START)
        assert card.get_attribute("data-state") == state, result.inner_text()


def repaired(text: str) -> str:
    return text.replace(
        "[torch.zeros(1)] * dist.get_world_size()", "[torch.zeros(1) for _ in range(dist.get_world_size())]"
    )


# The picture of a run.

DRAW = """(world) => {
  const fold = window.rankzeroRunPictures.picture(world);
  const left = (node) => Number(node.getAttribute("x"));
  const boxes = [...fold.querySelectorAll("rect")].map((node) => ({
    x: left(node), rank: Math.round((Number(node.getAttribute("y")) - 24) / 46), kind: node.getAttribute("class"),
    said: node.textContent,
  }));
  const count = (name) => fold.querySelectorAll(name).length;
  const name = fold.querySelector("[role=img]").getAttribute("aria-label");
  return { boxes, name, text: fold.textContent, arrows: count(".rz-message:not(.rz-waiting)"),
    waits: count(".rz-waiting"), meetings: count(".rz-meeting") };
}"""


def event(rank: int, operation: str, peers: list[int], step: int | None, size: int = 8) -> list:
    """The fields of an event as the page has them: in place of its end the step in which it was carried out."""
    sent = 0 if operation.startswith("recv") else size
    received = 0 if operation.startswith("send") else size
    return [rank, operation, peers, sent, received, None, step, None, "cell line 4"]


def drawn(page, ranks: int, events: list[list]) -> dict:
    return page.evaluate(DRAW, {"ranks": ranks, "events": events, "ledger": "", "printed": []})


def test_a_picture_shows_what_came_before_what(page):
    """Kills a picture by time: what does not depend on each other stands in one column, whenever it was carried out; a
    message is one arrow, a collective one line, and a call that met nobody has a dashed box at the end.
    """
    two_pairs = [event(0, "send", [1], 1), event(1, "recv", [0], 1), event(2, "send", [3], 9), event(3, "recv", [2], 9)]
    together = [event(rank, "all_reduce", [0, 1, 2, 3], 12) for rank in range(4)]
    alone = [event(3, "recv", [0], None)]
    events = sorted([*two_pairs, *together, *alone], key=lambda one: (one[0], one[6] or 99))
    picture = drawn(page, 4, events)
    places = {(box["rank"], box["said"].split()[2].strip(",")): box["x"] for box in picture["boxes"]}
    columns = {key: (x - 58) // 46 for key, x in places.items()}
    assert {columns[rank, "send"] for rank in (0, 2)} == {columns[1, "recv"]} == {0}
    assert {columns[rank, "all_reduce"] for rank in range(4)} == {1}
    assert columns[3, "recv"] == 2  # the last of the two
    assert (picture["arrows"], picture["meetings"], picture["waits"]) == (2, 1, 1)
    assert [box["kind"] for box in picture["boxes"]].count("rz-recv rz-waits") == 1
    assert picture["name"] == (
        "In order: rank 0 sends to rank 1; rank 2 sends to rank 3; ranks 0, 1, 2, 3 meet in all_reduce; "
        "rank 3 waits in recv from rank 0."
    )
    assert "rank 0: send to rank 1, 8 bytes, cell line 4" in [box["said"] for box in picture["boxes"]]


def test_messages_of_objects_and_from_any_rank_in_words(page):
    """Kills "from rank undefined", and a message of objects that only one rank meets in."""
    objects = [event(0, "send_object_list", [1], 1), event(1, "recv_object_list", [0], 1)]
    picture = drawn(page, 2, [*objects, event(1, "recv", [], None)])
    assert picture["name"] == "In order: rank 0 sends to rank 1; rank 1 waits in recv from any rank."
    assert (picture["arrows"], picture["waits"]) == (1, 0)
    assert [box["said"] for box in picture["boxes"]] == [
        "rank 0: send_object_list to rank 1, 8 bytes, cell line 4",
        "rank 1: recv_object_list from rank 0, 8 bytes, cell line 4",
        "rank 1: recv from any rank, 8 bytes, cell line 4",
    ]


def test_messages_between_two_ranks_keep_their_order(page):
    """The second send meets the second receive, though all are carried out in one step."""
    events = [event(0, "send", [1], 1, size) for size in (8, 16)] + [event(1, "recv", [0], 1, size) for size in (8, 16)]
    boxes = drawn(page, 2, events)["boxes"]
    columns = {box["said"]: (box["x"] - 58) // 46 for box in boxes}
    assert [columns[f"rank 0: send to rank 1, {size} bytes, cell line 4"] for size in (8, 16)] == [0, 1]
    assert [columns[f"rank 1: recv from rank 0, {size} bytes, cell line 4"] for size in (8, 16)] == [0, 1]


def test_a_long_run_is_cut_and_says_so(page):
    events = [event(0, "send", [1], step) for step in range(600)] + [event(1, "recv", [0], step) for step in range(600)]
    picture = drawn(page, 2, events)
    assert len(picture["boxes"]) == 400
    assert "Only the first 400 of 1200 operations are drawn." in picture["text"]


# Every cell.


def outputs(html: Path, path: Path) -> dict[str, str]:
    """What the build printed, by cell."""
    executed = html.with_name("executed") / "notebooks" / path.name
    cells = [cell for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"]
    streams = {cell["id"]: [one.text for one in cell.outputs if one.output_type == "stream"] for cell in cells}
    return {name: "".join(texts).rstrip("\n") for name, texts in streams.items()}


#: What the broker sees at once and a library does not check: there the ranks wait for each other until a deadline.
OTHERWISE = {
    "contract-operation": "rank 0 calls all_reduce() at line 4 (SUM, float32), rank 1 calls broadcast(src=0) at line 6 "
    "(float32)"
}
#: A number that rounding may change: with a point, as Python prints it.
FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def rounded(text: str) -> str:
    """A text whose numbers are rounded to six places: sums of float32 differ in their last bits."""
    return FLOAT.sub(lambda number: f"{float(number[0]):.6f}", text)


def timeless(text: str) -> str:
    """A report without the seconds after which a real world gave up."""
    return re.sub(r"(deadlock|timed out) after [\d.]+ s", r"\1", text)


def as_built(name: str, lines: list[str], built: str) -> bool:
    """Whether a cell prints what the build printed."""
    return rounded("\n".join(lines)) == OTHERWISE.get(name, rounded(timeless(built)))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_cell_that_is_offered_prints_what_the_build_printed(page, html: Path, path):
    """Kills a cell that needs what the ranks lack, a program that lacks an earlier statement, and other words."""
    built = outputs(html, path)
    programs = world_runs.sorted_out(nbformat.read(path, as_version=4).cells)[0]
    replies = page.evaluate(RUN_ALL, [program.data() for program in programs.values()])
    for name, (reason, lines, world) in zip(programs, replies, strict=True):
        assert (name, reason, as_built(name, lines, built[name])) == (name, "", True)
        assert world is not None, name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_cells_whose_ranks_vary_run_with_each_number(page, path):
    """Kills a choice that leads to an error, unless the cell is about one."""
    programs = world_runs.sorted_out(nbformat.read(path, as_version=4).cells)[0].values()
    for program in (program for program in programs if program.ranks):
        for ranks in (2, 3, 4):
            request = {"cell": program.data(), "own": {}, "others": {}, "ranks": ranks}
            script = "request => window.rankzeroRanks.run(request, { began() {}, progress() {}, say() {} })"
            reply = page.evaluate(script, request)
            assert reply["why"] == "", (program.name, ranks)
            assert reply["world"]["ranks"] == ranks, program.name


# Where there are no ranks, or not yet.


def with_engine(visit, site: str, state: str):
    """Chapter 1 with an engine that runs nothing."""
    watch = visit("about:blank")
    body = ENGINE.replace("STATE", state)
    watch.page.context.route(
        "**/ranks-engine.js*", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )
    watch.page.goto(f"{site}/{FIRST}", wait_until="load")
    return watch


READY = "{ able: true, why: '', mend: false, ranks: 4 }"


def built(found):
    """The built cell above a place."""
    return found.locator("xpath=preceding-sibling::*[1]")


@proof
def test_a_changed_cell_survives_a_reload(visit, site):
    """Kills work that a reload loses: the editor is open with it, it is what runs, a cell of the same name on another
    page is left alone, and a draft that was thrown away stays away. Kills an editor below a built cell that does not
    run, and a *Run* between the two: while a cell is edited, the editor stands in its place and *Run* right below it,
    and the built one comes back.
    """
    watch = with_engine(visit, site, READY)
    page, found = watch.page, place(watch.page, "first-run")
    assert built(found).is_visible()
    edit(page, found, lambda text: f"# mine\n{text}")
    assert not built(found).is_visible()
    page.evaluate("rankzeroWork.changeCell('02-point-to-point#first-run', '# of another page')")
    page.reload(wait_until="load")
    found = place(page, "first-run")
    expect(found.locator(".cm-content")).to_contain_text("# mine", timeout=RANKS_START)
    assert page.evaluate("document.activeElement === document.body")
    assert not built(found).is_visible()
    button = found.get_by_role("button", name="Run", exact=True)
    editor, run_at = (one.bounding_box() for one in (found.locator(".rz-editor"), button))
    assert editor["y"] + editor["height"] <= run_at["y"] < editor["y"] + editor["height"] + 40
    button.click()
    expect(found.locator("strong")).to_have_text("Your version of this cell")
    found.get_by_role("button", name="Back to the built cell").click()
    found.get_by_role("button", name="Throw it away").click()
    assert built(found).is_visible()
    assert not found.locator(".rz-editor").is_visible()
    page.reload(wait_until="load")
    assert built(place(page, "first-run")).is_visible()
    assert page.evaluate("rankzeroWork.load().cells") == {"02-point-to-point#first-run": "# of another page"}
    assert page.evaluate("rankzeroWork.sources()") == {}
    assert watch.problems == []


@proof
def test_a_cell_that_is_as_built_again_is_no_draft(visit, site):
    watch = with_engine(visit, site, READY)
    page, found = watch.page, place(watch.page, "first-run")
    edit(page, found, lambda text: text + "#")
    assert len(page.evaluate("rankzeroWork.load().cells")) == 1
    page.keyboard.press("Backspace")
    assert page.evaluate("rankzeroWork.load().cells") == {}
    found.get_by_role("button", name="Back to the built cell").click()
    assert built(found).is_visible()


@proof
def test_a_draft_does_not_hide_a_cell_whose_result_waits_for_an_answer(visit, site):
    """Kills a page on which neither the cell nor the editor is there."""
    watch = visit(f"{site}/{FIRST}", veiled=True)
    page = watch.page
    waiting = page.locator(".cell:has([data-veil]) + .rz-ranks").first
    identifier = json.loads(waiting.get_attribute("data-ranks"))["id"]
    page.evaluate("name => rankzeroWork.changeCell(name, '1')", f"01-first-program#{identifier}")
    page.reload(wait_until="load")
    assert not waiting.is_visible()
    assert built(waiting).is_visible()
    page.locator(".rz-everything input").check()
    assert waiting.is_visible()
    assert not built(waiting).is_visible()


@proof
def test_where_no_ranks_can_start_the_page_says_why(visit, site):
    """One sentence with the way to the very cell, and other places for a function; nothing else changes."""
    watch = with_engine(visit, site, UNABLE)
    found = place(watch.page, "first-run")
    found.get_by_role("button", name="Run", exact=True).click()
    status = found.get_by_role("status")
    expect(status).to_contain_text("This page was opened from disk, where ranks cannot start.")
    link = status.get_by_role("link", name="Open this cell in Colab")
    assert link.get_attribute("href").endswith("01-first-program.ipynb#scrollTo=first-run")
    card = watch.page.locator("#rz-01-roll-call")
    assert "opened from disk" in card.locator(".rz-elsewhere").inner_text()
    assert not card.locator(".rz-bench").is_visible()
    assert watch.problems == []


@proof
@pytest.mark.parametrize("name", ["first-run", "01-roll-call"])
def test_a_press_is_remembered_while_the_page_is_loaded_once_more(visit, site, name):
    """A cell runs, and a function is checked, without a second press; and once only."""
    watch = with_engine(visit, site, MENDED)
    page = watch.page
    if name == "first-run":
        place(page, name).get_by_role("button", name="Run", exact=True).click()
        expect(place(page, name).locator(".rz-own-result")).to_contain_text("ran first-run with null")
    else:
        page.locator(f"#rz-{name} .rz-check").click()
        expect(page.locator(f"#rz-{name} .rz-result")).to_contain_text("checked")
    page.reload()
    assert page.locator(".rz-own-result pre").count() == 0
    assert json.loads(page.evaluate("JSON.stringify(sessionStorage.getItem('rankzero:run'))")) is None
    assert watch.problems == []


@proof
def test_a_cell_is_not_offered_while_its_result_waits_for_an_answer(visit, site):
    """Kills a way around a veil; a cell before any question can run at once."""
    watch = visit(f"{site}/{FIRST}", veiled=True)
    waiting = watch.page.locator(".cell:has([data-veil]) + .rz-ranks")
    assert waiting.count() >= 1
    assert watch.page.locator(".cell:has([data-veil]) + .rz-ranks:visible").count() == 0
    assert watch.page.locator(".rz-ranks:visible").count() >= 1
    watch.page.locator(".rz-everything input").check()
    assert watch.page.locator(".cell:has([data-veil]) + .rz-ranks:visible").count() == waiting.count()


@proof
def test_a_narrow_page_stays_narrow(visit, site):
    """Buttons wrap, and wide results scroll in their boxes."""
    watch = visit(f"{site}/{FIRST}", width=390, scheme="dark")
    found = place(watch.page, "first-run")
    assert found.get_by_role("button", name="Run", exact=True).is_visible()
    assert found.get_by_role("group", name="Number of ranks").is_visible()
    assert watch.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert watch.problems == []
