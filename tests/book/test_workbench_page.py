"""Functions written and checked in the built page: the engine in the worker, and the card as a reader uses it.

One page and one worker serve all tests of this module: Python starts once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder import bank
from autograder.items import Build, Debug
from autograder.learner import checking, function_cards, own_run, workbench
from autograder.submission import loading
from rankzero.facts.chapters import CHAPTERS
from tests.autograder.learner.test_in_page import OLD
from tests.autograder.learner.test_predict import FULL
from tests.book.conftest import proof
from tools import own_runs, stubs
from tools.build_book import notebooks
from tools.common import ROOT, VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("workbench"),
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

PAGE = "book/03-collectives.html"
TIME = "03-ring-all-reduce-time"
#: Python starts, on a machine that other tests keep busy.
START = 120_000

#: Takes back what tests write, without a new start of Python.
AS_OPENED = """() => {
  window.rankzeroBenches.benches.forEach((bench) => bench.reset());
  localStorage.clear();
  document.querySelectorAll("details.rz-reference").forEach((fold) => { fold.open = false; });
}"""

CHECK_ALL = """async (requests) => {
  const quiet = { began() {}, say() {}, again() {} };
  const replies = [];
  for (const request of requests) replies.push(await window.rankzeroCheck.check({ others: {}, ...request }, quiet));
  return replies;
}"""

#: The chapters whose own cells all need torch, which the page does not have.
ALL_TORCH = ("07-pipeline-expert", "13-rlhf")

RUN_ALL = """async (cells) => {
  const runs = [];
  for (const cell of cells) {
    const lines = [];
    const told = { began() {}, say: (line) => lines.push(line) };
    const { why } = await window.rankzeroCheck.run({ cell, own: {}, others: {} }, told);
    runs.push([why, lines]);
  }
  return runs;
}"""


@pytest.fixture(scope="module")
def page(browser, site, html):
    """Chapter 3 over HTTP, with nothing but this machine to be reached; where another chapter was built alone, that."""
    built = [PAGE, *(path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks())]
    name = next(name for name in built if (html / name).exists())
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(START)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.goto(f"{site}/{name}", wait_until="load")
    yield opened
    context.close()


@pytest.fixture(autouse=True)
def nothing_written(page):
    """Each test begins with stubs, and ends without an error of a script."""
    page.evaluate(AS_OPENED)
    yield
    assert page.problems == []


def plain_items(chapter: str) -> list[Build]:
    return [item for item in bank.of_chapter(chapter) if isinstance(item, Build) and workbench.plain(item)]


def absolute(item: Build, source: str) -> str:
    """A module of ``solutions`` as a program that stands alone."""
    package = f"solutions.{item.home.partition('.')[0]}"
    return source.replace("from ..", "from solutions.").replace("from .", f"from {package}.")


def reference(item: Build) -> str:
    return absolute(item, (ROOT / "solutions" / item.file).read_text(encoding="utf-8"))


def stub(item: Build) -> str:
    return workbench.starter(stubs.cell((ROOT / "solutions" / item.file).read_text(encoding="utf-8"), item))


def slip(item: Build) -> str:
    """A wrong program of the bank that is an edit of the reference; the given program where there is none."""
    edited = [one for one in item.slips if one.changes and not one.program]
    return absolute(item, item.source_of(edited[0])) if edited else stub(item)


def in_a_notebook(item: Build, source: str) -> str:
    """The card of the notebook's ``check`` for a program."""
    namespace: dict = {"__name__": "__main__"}
    exec(compile(source, "<your code>", "exec", dont_inherit=True), namespace)
    return function_cards.results(checking.judged(item, checking._outcomes(item, namespace[item.function])))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.page)
def test_every_function_of_plain_python(page, chapter):
    """Kills an engine in the browser that judges otherwise than the notebook: for each function the reference is right,
    the stub is called unwritten (a program to fix: wrong), and a slip gets the notebook's card, word for word.
    """
    items = plain_items(chapter.package)
    programs = [(item, program(item)) for item in items for program in (reference, stub, slip)]
    replies = page.evaluate(CHECK_ALL, [{"id": item.id, "source": source} for item, source in programs])
    for place, item in enumerate(items):
        right, blank, wrong = replies[3 * place : 3 * place + 3]
        assert (right["state"], right["passed"]) == ("right", len(item.cases)), item.id
        assert blank["state"] == ("wrong" if isinstance(item, Debug) else "unwritten"), item.id
        if isinstance(item, Debug):
            assert blank["html"] == in_a_notebook(item, stub(item)), item.id
        assert wrong["html"] == in_a_notebook(item, slip(item)), item.id


# The card, as a reader uses it.


def bench(page, identifier: str = TIME):
    """The card of a function, scrolled to, with its editor."""
    card = page.locator(f"#rz-{identifier}")
    card.scroll_into_view_if_needed()
    expect(card.locator(".cm-content")).to_be_visible(timeout=START)
    return card


def type_in(page, card, source: str) -> None:
    card.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def typed(card) -> str:
    return card.locator(".cm-content").inner_text()


def check(card) -> str:
    """Press the button and wait for the result."""
    card.locator(".rz-check").click()
    expect(card.locator(".rz-result")).not_to_be_empty(timeout=START)
    return card.locator(".rz-result").inner_text()


OPEN_EDITOR = """(text) => {
  const place = Object.assign(document.createElement("div"), { id: "folds", className: "rz-editor" });
  document.querySelector("article").prepend(place);
  window.folds = window.rankzeroEditor(place, { text, label: "A stub", changed() {}, submit() {} });
}"""

#: A stub with a short helper and a long one.
FOLDED = """def rings(number, pairs):
    _check_number(number)
    _check_pairs(pairs)
    raise NotImplementedError


def _check_number(number):
    checks.count(number=number)


def _check_pairs(pairs):
    first = pairs
    second = pairs
    third = pairs
    fourth = pairs
    fifth = pairs
    sixth = pairs
    last = pairs"""


def program(body: str) -> str:
    return f"def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):\n    {body}\n"


SLIP = program("print('ranks:', ranks); return 2 * (ranks - 1) * (latency + message_bytes / bandwidth)")
FIXED = """import math
def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):
    finite = all(map(math.isfinite, (message_bytes, bandwidth, latency)))
    if type(ranks) is not int or ranks < 1 or not finite or min(message_bytes, latency) < 0 or bandwidth <= 0:
        raise ValueError("an argument is outside its range")
    return 2 * (ranks - 1) * (latency + message_bytes / ranks / bandwidth)
"""
#: A function of several ranks whose program says nothing about sums.
RING, UNSUMMED = "03-ring-reduce-scatter", "def ring_reduce_scatter(x):\n    return x\n"


def test_the_task_is_text_and_the_stub_is_an_editor(page):
    """The stub's cell and the call give way to a table of arguments, an example, and an editor without docstring."""
    card = bench(page)
    assert "bytes/s" in card.locator(".rz-arguments").inner_text()
    assert "For example" in card.inner_text()
    assert "def ring_all_reduce_time(" in typed(card)
    assert "Args:" not in typed(card)
    assert page.locator(".tag_exercise:visible").count() == page.locator(".rz-elsewhere:visible").count()
    assert not page.get_by_text("ring_all_reduce_time = check(ring_all_reduce_time)").first.is_visible()


def test_the_keyboard_passes_an_editor_and_leaves_one_that_was_written_in(page):
    """Kills an editor that holds whoever goes through the page with Tab, and one in which Tab does not indent."""
    card = bench(page)
    card.locator(".rz-cases > summary").focus()
    code, button = card.locator(".cm-content"), card.locator(".rz-check")
    page.keyboard.press("Tab")
    expect(code).to_be_focused()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("x")
    page.keyboard.press("Tab")
    expect(code).to_be_focused()
    assert any(line.startswith("    ") and "x" in line for line in typed(card).splitlines())
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(button).to_be_focused()


def test_long_checks_are_folded_and_nothing_is_lost(page):
    """Kills checks that push the reader's own function out of sight, and a fold that hides text from the check."""
    bench(page)
    page.evaluate(OPEN_EDITOR, FOLDED)
    editor = page.locator("#folds")
    mark, hidden = editor.locator(".rz-folded"), editor.get_by_text("last = pairs")
    expect(mark).to_have_text("… 7 lines")
    expect(hidden).to_have_count(0)
    expect(editor.get_by_text("checks.count(number=number)")).to_be_visible()
    assert page.evaluate("() => window.folds.get()") == FOLDED
    mark.click()
    expect(hidden).to_be_visible()
    page.evaluate("text => window.folds.set(text)", FOLDED + "\n")
    expect(mark).to_have_count(1)
    assert page.evaluate("() => window.folds.get()") == FOLDED + "\n"
    editor.get_by_text("_check_pairs", exact=True).last.click()
    page.keyboard.press("Control+Shift+BracketRight")
    expect(mark).to_have_count(0)
    page.keyboard.press("Control+Shift+BracketLeft")
    expect(mark).to_have_count(1)
    page.evaluate("() => document.getElementById('folds').remove()")


def test_a_slip_is_named_and_what_is_printed_is_shown(page):
    """Ctrl-Enter checks; the slip's sentence and the printed lines come, and the state is on the card."""
    card = bench(page)
    type_in(page, card, SLIP)
    page.keyboard.press("Control+Enter")
    expect(card.locator(".rz-result")).to_contain_text("the ring sends one chunk", timeout=START)
    assert card.locator(".rz-printed").inner_text().startswith("ranks: 8")
    assert card.get_attribute("data-state") == "wrong"


@pytest.mark.parametrize(
    "source",
    [
        program("while True: pass"),
        pytest.param(f"import itertools\n{program('return sum(itertools.repeat(1))')}", marks=proof),
    ],
)
def test_a_program_that_does_not_end(page, source):
    """Python ends a loop by itself, and the page ends a call that Python cannot; then the next check works."""
    card = bench(page)
    type_in(page, card, source)
    assert "no answer within 3 s" in check(card)
    type_in(page, card, SLIP)
    expect(card.locator(".rz-check")).not_to_have_attribute("aria-disabled", "true")
    assert "one chunk" in check(card)


#: The check of a page answers when the test says so, and needs no Python.
WAITING = """() => {
  const { check } = window.rankzeroCheck;
  window.rankzeroCheck.check = () => new Promise((answer) => {
    window.reply = () => answer({ html: "<p>judged</p>", state: "wrong", passed: 0, total: 3 });
  });
  window.again = () => { window.rankzeroCheck.check = check; };
}"""


def test_what_is_written_during_a_check_stays(page):
    """Kills a check that puts back what stood there when it began, and a result that seems to be of what stands there
    now."""
    card = bench(page)
    status = card.locator(".rz-bench .rz-status").first
    page.evaluate(WAITING)
    type_in(page, card, SLIP)
    for later, said in ((SLIP, ""), (FIXED, "The result is of what stood here when you pressed Check.")):
        type_in(page, card, SLIP)
        card.locator(".rz-check").click()
        type_in(page, card, later)
        page.evaluate("() => window.reply()")
        expect(card.locator(".rz-result")).to_have_text("judged")
        expect(status).to_have_text(said)
        assert page.evaluate("id => rankzeroWork.load().items[id].source", TIME).strip() == later.strip()
        state = page.evaluate("id => rankzeroWork.load().items[id].state", TIME)
        assert state == ("wrong" if later == SLIP else None)
        page.evaluate("id => window.rankzeroBenches.benches.get(id).reset()", TIME)
    page.evaluate("() => window.again()")
    assert status.inner_text() == ""


def test_a_browser_that_keeps_nothing_says_so_beside_the_function(page):
    """Kills work that is lost unsaid, and a version that comes back because it is the last one with room."""
    card = bench(page)
    type_in(page, card, SLIP)
    page.evaluate(FULL, True)
    type_in(page, card, FIXED)
    status = card.locator(".rz-bench .rz-status").first
    expect(status).to_contain_text("gone when the page is left")
    assert page.evaluate("id => rankzeroWork.load().items[id].source", TIME).strip() == FIXED.strip()
    page.evaluate(FULL, False)
    type_in(page, card, SLIP)
    page.evaluate("localStorage.clear()")
    assert page.evaluate("rankzeroWork.load().items") == {}
    status.evaluate("node => node.replaceChildren()")


@pytest.mark.proof(part="pages")
def test_starting_over_asks_first(page):
    """No loses nothing; yes brings the stub back, and the card is as it was before the first check."""
    card = bench(page)
    type_in(page, card, SLIP)
    check(card)
    again = card.locator(".rz-startover")
    again.click()
    card.get_by_role("button", name="Keep it").click()
    assert "message_bytes / bandwidth" in typed(card)
    again.click()
    card.locator(".rz-ask").get_by_role("button", name="Start over").click()
    assert "NotImplementedError" in typed(card)
    assert card.get_attribute("data-state") is None


@pytest.mark.proof(part="pages")
def test_the_reference_waits_for_a_try(page):
    """It opens at once after a check, and on request before."""
    card = bench(page)
    fold = card.locator("details.rz-reference")
    fold.locator("summary").click()
    assert fold.get_attribute("open") is None
    card.get_by_role("button", name="Show the reference").click()
    assert fold.get_attribute("open") is not None
    fold.locator("summary").click()
    page.evaluate(AS_OPENED)
    check(card)
    type_in(page, card, program("return 0.0"))
    check(card)
    fold.locator("summary").click()
    assert fold.get_attribute("open") is not None


def test_a_function_uses_another_of_the_page(page):
    """As in a notebook: what was written in one editor is there for the next."""
    reply = page.evaluate(
        CHECK_ALL,
        [
            {
                "id": TIME,
                "source": "def ring_all_reduce_time(m, n, b, a=0.0):\n    return debug_double(m, n, b)\n",
                "others": {"debug_double": "def debug_double(m, n, b):\n    return 2 * (n - 1) * m / n / b\n"},
            }
        ],
    )[0]
    assert 0 < reply["passed"] < len(bank.find(TIME).cases)


def graded(handed_in, items) -> dict[str, float]:
    """The score of each item, by the command line."""
    report = handed_in.parent / "results.json"
    command = [sys.executable, "-m", "autograder", "grade", str(handed_in), "--out", str(report), "--only"]
    subprocess.run([*command, *[item.id for item in items]], cwd=ROOT, capture_output=True, check=True)
    tests = json.loads(report.read_text())["tests"]
    return {item.id: sum(test["score"] for test in tests if item.id in json.dumps(test)) for item in items}


def downloads(page, folder) -> list[Path]:
    """The two files of a page's work."""
    for name, button in (("work.ipynb", "Download my work"), ("labs.zip", "Download my labs")):
        with page.expect_download(timeout=START) as download:
            page.locator(".rz-scorecard").get_by_role("button", name=button).click()
        download.value.save_as(folder / name)
    return [folder / "work.ipynb", folder / "labs.zip"]


def test_work_survives_a_reload_and_is_downloaded_and_loaded(page, tmp_path):
    """Text, state and scorecard come back; the grader finds both functions in the notebook and in the labs; the
    notebook restores a page from which everything was taken.
    """
    right, wrong = bank.find(TIME), bank.find(RING)
    card = bench(page)
    type_in(page, card, SLIP)
    check(card)
    state = page.locator(f"[data-work-state='{TIME}']")
    assert state.text_content() == f"✗ not yet, 0 of {len(right.cases)} public cases"
    type_in(page, card, FIXED)
    assert "✓ right" in check(card)
    type_in(page, bench(page, wrong.id), UNSUMMED)
    page.reload(wait_until="load")
    assert "message_bytes / ranks" in typed(bench(page))
    assert bench(page).get_attribute("data-state") == "right"
    assert "return x" in typed(bench(page, wrong.id))
    for handed_in in map(loading.load, downloads(page, tmp_path)):
        sources = "\n".join(unit.source for unit in handed_in.units)
        assert handed_in.problems == ()
        assert "return 2 * (ranks - 1) * (latency + message_bytes / ranks / bandwidth)" in sources
        assert UNSUMMED.strip() in sources
    page.evaluate(AS_OPENED)
    page.locator(".rz-work input").set_input_files(tmp_path / "work.ipynb")
    expect(page.locator(".rz-work .rz-said")).to_contain_text("Loaded 2 functions", timeout=START)
    assert "return x" in typed(bench(page, wrong.id))
    assert "message_bytes / ranks" in typed(bench(page))
    page.locator(".rz-work input").set_input_files({"name": "x.ipynb", "mimeType": "", "buffer": b"no"})
    expect(page.locator(".rz-work .rz-said")).to_contain_text("not a notebook", timeout=START)


@proof
def test_what_was_downloaded_gets_its_points(page, tmp_path):
    """The notebook and the labs alike: those of a right function, and few for a wrong one."""
    right, wrong = bank.find(TIME), bank.find(RING)
    type_in(page, bench(page), FIXED)
    type_in(page, bench(page, wrong.id), UNSUMMED)
    notebook, labs = (graded(handed_in, [right, wrong]) for handed_in in downloads(page, tmp_path))
    assert notebook == labs
    assert notebook[right.id] == right.points
    assert notebook[wrong.id] < wrong.points / 4


# Programs that end Python itself.

NESTED = "its calls or its data are nested too deeply"
#: A value nested so deeply that C cannot follow it in a browser.
DEEP = "deep = functools.reduce(lambda inner, _: [inner], range(200_000), 0)"
ENDS = [
    (f"{DEEP}; return str(deep)", NESTED),
    (f"{DEEP}; return pickle.dumps(deep)", NESTED),
    (f"{DEEP}; return deep == copy.copy(deep)", NESTED),
    ("return sorted([Itself(), Itself()])", NESTED),
    ("return Itself().anything", NESTED),
    ("return turns(0)", NESTED),
    ("return eval('-' * 200_000 + '1')", NESTED),
    ("os._exit(7)", "it left with exit status 7"),
    ("os.abort()", "it aborted"),
]
HEAD = """import copy, functools, os, pickle
class Itself:
    def __getattr__(self, name):
        return getattr(self, name)
    def __lt__(self, other):
        return self < other
@functools.lru_cache(maxsize=None)
def turns(n):
    return turns(n + 1)
"""
ENDED = """async (requests) => {
  const quiet = { began() {}, say() {}, again() {} };
  const told = [];
  for (const request of requests) {
    const reply = rankzeroCheck.check({ others: {}, ...request }, quiet);
    told.push(await reply.then(({ state }) => state, (error) => error.message));
  }
  return told;
}"""


def ending(body: str) -> str:
    return HEAD + program(body)


@proof
def test_a_check_after_a_fatal_error_is_as_any_other(page):
    """Kills a page that keeps the dead worker: each program is told why it ended Python, twice, as a reader presses
    twice, and a right one is right between them.
    """
    sources = [source for body, _ in ENDS for source in (ending(body), ending(body), FIXED)]
    told = page.evaluate(ENDED, [{"id": TIME, "source": source} for source in sources])
    wanted = [f"your program ended Python ({cause})" for _, cause in ENDS]
    assert told == [one for sentence in wanted for one in (sentence, sentence, "right")]


@proof
def test_a_check_ends_however_deep_its_calls_may_go(page):
    """Kills a second press that never ends: with a limit of a million the calls end Python, or the case is too late."""
    deep = "import sys\nsys.setrecursionlimit(10**6)\ndef deeper(n):\n    return 1 + deeper(n + 1)\n"
    asked = [{"id": TIME, "source": source} for source in (deep + program("return deeper(0)"), FIXED)]
    told = page.evaluate(ENDED, [*asked[:1] * 2, *asked, asked[1]])
    assert {*told[:3]} <= {f"your program ended Python ({NESTED})", "wrong"}
    assert told[3:] == ["right", "right"]


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize(
    ("source", "cause"),
    [
        (ending("return turns(0)"), NESTED),
        pytest.param(f"import os\n{FIXED}os._exit(0)\n", "exit status 0", marks=proof),
    ],
)
def test_a_program_that_ends_python_is_told_so_in_its_card(page, source, cause):
    """One sentence beside the button, before the function is called, too; then the next press checks."""
    card = bench(page)
    type_in(page, card, source)
    card.locator(".rz-check").click()
    status = card.locator(".rz-bench .rz-status").first
    expect(status).to_contain_text("Not checked: your program ended Python", timeout=START)
    assert cause in status.inner_text()
    assert status.inner_text().endswith("Press Check to start a new one.")
    assert card.get_attribute("data-state") is None
    type_in(page, card, FIXED)
    assert "✓ right" in check(card)
    assert card.locator(".rz-status").first.inner_text() == ""


#: What Python 3.13 reads and Python 3.11 does not, with what is said of it; and what both read.
NEWER = [
    ('x = f"{"a"}"', "an f-string with its own quotes inside"),
    ("x = f'{f'{1}'}'", "an f-string with its own quotes inside"),
    ('x = f\'{"\\n".join("ab")}\'', "a backslash in an expression of an f-string"),
    ("x = f'{\n1\n}'", "an expression of an f-string on several lines"),
    ('x = f"""{\n1  # one\n}"""', "a comment in an f-string"),
    ("type Size = int", "type statement"),
    ("def first[T](xs: T) -> T: return xs", "type parameter lists"),
    ("class Box[T = int]: pass", "type parameter"),
]


def test_a_program_for_a_newer_python_is_told_so(page):
    """The page's Python reads more than that of many graders: the verdict stays, and a sentence names line and version.
    Kills a note about what every Python reads.
    """
    sources = [source for source, _ in NEWER] + list(OLD)
    asked = [{"id": TIME, "source": f"{FIXED}{source}\n"} for source in sources]
    replies = page.evaluate(CHECK_ALL, asked)
    line = FIXED.count("\n") + 1
    assert {reply["state"] for reply in replies} == {"right"}
    for (source, what), reply in zip(NEWER, replies, strict=False):
        assert f"Line {line} is newer than Python 3.11, with which you may be graded: {what}" in reply["html"], source
    for source, reply in zip(OLD, replies[len(NEWER) :], strict=True):
        assert "newer than" not in reply["html"], source


# The cell after a function, with the reader's own.


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_every_cell_that_runs_in_the_page(page, path):
    """Kills a cell that is offered and needs what the page's Python lacks: each prints there what it prints here."""
    cells = [found.data() for found in own_runs.programs(nbformat.read(path, as_version=4).cells).values()]
    assert cells or path.parent.name == "deeper" or path.stem in ALL_TORCH
    for cell, (why, lines) in zip(cells, page.evaluate(RUN_ALL, cells), strict=True):
        here: list[str] = []
        assert why == own_run.run(cell, {}, {}, lambda place: None, here.append) == ""
        assert lines == here, cell["code"]


def own_place(page):
    """The place below the cell that prints the times of a ring."""
    return page.locator(".rz-own[data-own*='of it start-up']")


def keep(page, source: str, state: str = "wrong") -> None:
    """The state of a page on which ``source`` was checked."""
    page.evaluate("([id, entry]) => rankzeroWork.change(id, entry)", [TIME, {"source": source, "state": state}])


@pytest.fixture
def everything(page):
    """All results are shown."""
    page.locator(".rz-everything input").check()
    yield
    page.locator(".rz-everything input").uncheck()


@pytest.mark.proof(part="pages")
def test_a_cell_shows_the_readers_numbers_beside_the_built_ones(page, everything):
    """It is offered once her function was checked; her lines have a label that says whose they are, the built output
    stays, and hers go when she closes them or writes something else.
    """
    card, place = bench(page), own_place(page)
    assert not place.is_visible()
    type_in(page, card, SLIP)
    assert not place.is_visible()
    check(card)
    place.get_by_role("button", name="Run this cell with your ring_all_reduce_time").click()
    expect(place.locator("pre")).to_contain_text("  100 MB,    8 ranks,  12.5 GB/s: 112.0000 ms", timeout=START)
    assert place.locator("pre").inner_text().startswith("ranks: 8\n")
    assert place.locator("strong").inner_text() == "With your ring_all_reduce_time (not right yet)"
    assert page.get_by_text("12.5 GB/s:  14.0000 ms").is_visible()
    place.get_by_role("button", name="Only the built output").click()
    assert place.locator("pre").count() == 0
    place.get_by_role("button", name="Run this cell").click()
    expect(place.locator("pre")).to_contain_text("112.0000 ms", timeout=START)
    type_in(page, card, program("return 0.0"))
    assert place.locator("pre").count() == 0


def test_a_cell_is_not_offered_while_its_result_waits_for_an_answer(page):
    """Kills a way around a veil; a page on which nothing was checked offers nothing."""
    keep(page, SLIP)
    assert not own_place(page).is_visible()
    page.locator(".rz-everything input").check()
    assert own_place(page).is_visible()
    page.evaluate("id => rankzeroWork.forget(id)", TIME)
    assert not own_place(page).is_visible()
    page.locator(".rz-everything input").uncheck()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param(program("while True: pass"), "It did not come to its end within 15 s.", marks=proof),
        pytest.param(
            f"import itertools\n{program('return sum(itertools.repeat(1))')}",
            "did not come to its end and was stopped",
            marks=proof,
        ),
        pytest.param(
            "import os\n" + program("os._exit(4)"), "Not run: your program ended Python (it left", marks=proof
        ),
        (program("return 1 / 0"), "Your code, line 2 (ring_all_reduce_time): ZeroDivisionError: division by zero"),
    ],
)
def test_a_cell_that_does_not_come_to_its_end_says_why(page, everything, source, said):
    """A loop ends at its deadline, a call into C with its worker; then the cell runs with another function."""
    place = own_place(page)
    for written, text in ((source, said), (SLIP, "112.0000 ms")):
        keep(page, written)
        place.get_by_role("button", name="Run this cell").click()
        expect(place).to_contain_text(text, timeout=START)
