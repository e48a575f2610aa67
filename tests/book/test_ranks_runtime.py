"""Real ranks in the page: what they say to each other, how each kind of failure ends, and that the next run works.

One page and its workers serve most of these tests, one after another, as they serve a reader.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import re
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Error

from autograder.items import Build
from autograder.learner import checking
from autograder.marking.papers import wrong_programs
from tests.book.conftest import RANKS_START, _watched, proof
from tests.book.test_python_start import house_of
from tools import bundle
from tools import site as tool
from tools.common import ROOT, VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("ranks"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

PAGE = "book/01-first-program.html"
BEFORE = "import torch\nimport torch.distributed as dist\nfrom rankzero import world\n"

RUN = """async ([code, before, ranks, limit]) => {
  const said = [], stages = [];
  const told = { progress: (progress) => stages.push(progress), say: (line, rank) => said.push([line, rank]) };
  const cell = { functions: {}, before, code };
  const reply = await rankzeroRanks.run({ cell, own: {}, others: {}, ranks }, told, limit);
  return { ...reply, said, stages };
}"""

#: Presses Stop as soon as the cell has begun, and hands back how the run ended.
STOP = """([code, before]) => {
  const told = { began: (place) => place === 0 && setTimeout(() => rankzeroRanks.stop(), 200) };
  const cell = { functions: {}, before, code };
  return rankzeroRanks.run({ cell, own: {}, others: {}, ranks: null }, told).then(
    () => "ended", (error) => (error.stopped ? "stopped" : error.message));
}"""

#: Presses Stop while a cell waits behind another, and hands back how both ended.
STOP_IN_LINE = """async ([code, before]) => {
  const run = (program, told) => rankzeroRanks.run(
    { cell: { functions: {}, before, code: program }, own: {}, others: {}, ranks: null }, told,
  ).then(({ why }) => why || "ended", (error) => (error.stopped ? "stopped" : error.message));
  let begun;
  const first = run(code, { began: (place) => place === 0 && begun() });
  await new Promise((answer) => { begun = answer; });
  const second = run(code, {});
  rankzeroRanks.stop();
  return Promise.all([first, second]);
}"""

CHECK = """async (requests) => {
  const replies = [];
  for (const request of requests) replies.push(await rankzeroRanks.check(request, {}));
  return replies;
}"""

SUMS = textwrap.dedent("""\
    def sums():
        total = torch.tensor(dist.get_rank())
        dist.all_reduce(total)
        return total.item()

    print(world.run(sums, ranks=4).values)
    """)

MESSAGES = """\
def ping(messages):
    x, other = torch.zeros(1), 1 - dist.get_rank()
    for _ in range(messages // 2):
        if dist.get_rank() == 0:
            dist.send(x, other)
            dist.recv(x, other)
        else:
            dist.recv(x, other)
            dist.send(x + 1, other)
    return x.item()

run = world.run(ping, 10_000, ranks=2)
print(run.values, run.ledger().calls(0), run.ledger().sent(1))
"""

TALK = """\
def ping():
    x, other = torch.zeros(1), 1 - dist.get_rank()
    while True:
        calls = [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, x.clone(), other)]
        for handle in dist.batch_isend_irecv(calls * 50):
            handle.wait()

world.run(ping, ranks=2)
"""

FLOOD = """\
def floods():
    for number in range(300_000):
        print("line", number)

run = world.run(floods, ranks=2)
print(run.lines[1][0], run.lines[1][-1])
for number in range(1000):
    print(number)
"""


#: What ends Python itself in the midst of a program, with the reason that the page gives.
NESTED = "its calls or its data are nested too deeply"
ENDS = [
    ("os._exit(3)", "it left with exit status 3"),
    pytest.param("os.abort()", "it aborted", marks=proof),
    pytest.param("print(functools.reduce(lambda x, _: [x], range(200_000), 0))", NESTED, marks=proof),
    pytest.param("type('Echo', (), {'__getattr__': lambda self, name: getattr(self, name)})().a", NESTED, marks=proof),
]


@dataclass
class Ranks:
    """A page whose ranks run cells."""

    page: Any

    def run(self, code: str, ranks: int | None = None, limit: int = 10_000) -> dict[str, Any]:
        """What a cell comes to."""
        reply = self.page.evaluate(RUN, [textwrap.dedent(code), BEFORE, ranks, limit])
        return {**reply, "printed": [line for line, rank in reply["said"] if rank is None]}

    def works(self) -> bool:
        """Whether four ranks still find their sum."""
        reply = self.run(SUMS)
        return (reply["why"], reply["printed"]) == ("", ["(6, 6, 6, 6)"])


@pytest.fixture
def ranks(ranks_page) -> Ranks:
    return Ranks(ranks_page)


@proof
def test_the_first_start_is_told(visit, site):
    """The wait has stages and sizes, and a page that is only read has loaded nothing for it."""
    ranks = Ranks(visit(f"{site}/{PAGE}").page)
    assert ranks.page.evaluate("rankzeroRanks.state()") == {"able": True, "mend": False, "ranks": 4, "why": ""}
    loaded = ranks.page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert not any("pyodide" in name or "ranks-worker" in name for name in loaded)
    first = ranks.run(SUMS)
    assert (first["why"], first["printed"]) == ("", ["(6, 6, 6, 6)"])
    stages = [progress["stage"] for progress in first["stages"]]
    assert stages[0] == "Starting Python"
    assert stages[-1] == "Starting ranks: 4 of 4"
    assert 0 < first["stages"][-1]["megabytes"] < 600
    assert ranks.run(SUMS)["stages"] == []


@pytest.mark.proof(part="pages")
def test_a_deadlock_of_four_is_told(ranks):
    code = """\
    def ring():
        rank, ranks = dist.get_rank(), dist.get_world_size()
        x = torch.ones(1)
        dist.send(x, (rank + 1) % ranks)
        dist.recv(x, (rank - 1) % ranks)

    world.run(ring, ranks=4)
    """
    waits = [f"rank {rank} waits in send(dst={(rank + 1) % 4}) at line 4" for rank in range(4)]
    reply = ranks.run(code)
    assert reply["why"] == f"WorldError: deadlock: {'; '.join(waits)}"
    assert [event[6] for event in reply["world"]["events"]] == [None] * 4
    assert ranks.works()


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize(("death", "cause"), ENDS)
def test_a_rank_that_dies_is_replaced(ranks, death, cause):
    """By its own hand, or because what it did is too much for the runtime: kills the same words for both."""
    code = f"""\
    import functools, os

    def dies():
        if dist.get_rank() == 1:
            {death}
        dist.barrier()

    world.run(dies, ranks=3)
    """
    cause += " before its function returned" if "status" in cause else ""
    assert ranks.run(code)["why"] == (
        f"WorldError: rank 1 died: {cause}; rank 0 waits in barrier() at line 6; rank 2 waits in barrier() at line 6"
    )
    assert ranks.works()


@pytest.mark.parametrize(("death", "cause"), ENDS)
def test_a_cell_that_ends_python_is_told_so(ranks, death, cause):
    """Kills a page that goes on with a Python that is dead: all its workers go, and the next run has new ones."""
    with pytest.raises(Error, match=re.escape(f"your program ended Python ({cause})")):
        ranks.run(f"import functools, os\n{death}")
    assert ranks.works()


@proof
@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("repr(functools.reduce(lambda x, _: [x], range(200_000), 0))", NESTED),
        ("return functools.reduce(lambda x, _: (x,), range(200_000), 0)", NESTED),
        ("os._exit(9)", "the process exited with status 9"),
    ],
)
def test_a_function_that_ends_a_rank_is_told_so(ranks, body, cause):
    """Kills "a rank did not answer": the card says what the rank did, and the next check judges."""
    source = f"import functools, os\ndef relay(value, add):\n    {body}\n"
    (item,) = [item for item in ITEMS if item.id == "02-relay"]
    wrong, right = ranks.page.evaluate(CHECK, [request(item, source), request(item, program(item))])
    assert re.search(rf"rank \d: {cause}", text_of(wrong["html"]))
    assert right["state"] == "right"


def test_nobody_is_asked_in_a_rank(ranks):
    """In the words of a real rank; the cell around it has no terminal either."""
    code = "def asks():\n    input('How many? ')\n\nworld.run(asks, ranks=2)"
    assert "rank 0 raised RuntimeError: input() needs a terminal, and a rank has none" in ranks.run(code)["why"]
    assert "EOFError: nobody can answer input() here" in ranks.run("input()")["why"]
    assert "RuntimeError: breakpoint() has no terminal here" in ranks.run("breakpoint()")["why"]


def test_an_endless_loop_in_a_rank_is_ended_at_its_line(ranks):
    code = """\
    def loops():
        while dist.get_rank() == 0:
            pass
        dist.barrier()

    world.run(loops, ranks=2, timeout=1)
    """
    why = ranks.run(code)["why"]
    assert re.fullmatch(
        r"WorldError: timed out after 1\.0 s: rank 0 is computing at line [23]; rank 1 waits in barrier\(\) at line 4",
        why,
    )
    assert ranks.works()


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n    pass",
        pytest.param("while True:\n    try:\n        while True: pass\n    except BaseException: pass", marks=proof),
    ],
)
def test_an_endless_loop_in_the_cell_itself_is_ended(ranks, loop):
    """Even if it catches the interrupt: then its worker goes."""
    reply = ranks.run(f"print('before')\n{loop}", limit=500)
    assert reply["why"] == "It did not come to its end in time and was stopped."
    assert reply["printed"] == ["before"]
    assert ranks.works()


@proof
def test_stop_ends_what_runs(ranks):
    code = "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=4)"
    assert ranks.page.evaluate(STOP, [code, BEFORE]) == "stopped"
    assert ranks.works()


@proof
def test_stop_takes_a_cell_out_of_the_line(ranks):
    """Kills a Stop of a cell that has not begun which ends what runs."""
    assert ranks.page.evaluate(STOP_IN_LINE, [SUMS, BEFORE]) == ["ended", "stopped"]
    assert ranks.works()


@proof
def test_ten_thousand_messages(ranks):
    reply = ranks.run(MESSAGES)
    assert (reply["why"], reply["printed"]) == ("", ["(5000.0, 4999.0) 10000 20000"])


@proof
def test_an_endless_talk_is_ended(ranks):
    assert re.fullmatch(r"WorldError: rank [01] calls more than 10,000 operations", ranks.run(TALK)["why"])
    assert ranks.works()


@proof
def test_a_flood_of_prints_is_cut(ranks):
    reply = ranks.run(FLOOD)
    assert reply["why"] == ""
    assert reply["printed"][0].startswith("line 0 ... cut after 1,048,576 bytes; ")
    assert reply["printed"][-1] == "... and more"
    assert len(reply["said"]) < 1000
    assert ranks.works()


@proof
def test_large_messages_do_not_fit_the_memory_between_ranks_at_once(ranks):
    """Kills rings whose two sides wait for each other: each rank hands in 2 MB, and all of it arrives."""
    code = """\
    def exchange():
        x = torch.full((500_000,), float(dist.get_rank()))
        dist.all_reduce(x)
        return x[0].item(), x[-1].item()

    print(world.run(exchange, ranks=2).values)
    """
    assert ranks.run(code)["printed"] == ["((1.0, 1.0), (1.0, 1.0))"]


# Exercises.


def text_of(html: str) -> str:
    """The words of a card."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).replace("`", "").split())


ITEMS = bundle.worlds_of_pages()


def alone(item: Build, source: str) -> str:
    """The source of a module of ``solutions`` as a program that stands alone, with imports by their full names."""
    package = f"solutions.{item.home.partition('.')[0]}"
    return source.replace("from ..", "from solutions.").replace("from .", f"from {package}.")


def program(item: Build) -> str:
    """The reference as a reader would have it in the editor."""
    return alone(item, (ROOT / "solutions" / item.file).read_text(encoding="utf-8"))


def stub(item: Build) -> str:
    """The function as nobody has written it yet."""
    return f"def {item.function}(*args):\n    raise NotImplementedError({item.id!r})"


def request(item: Build, source: str) -> dict[str, Any]:
    return {"id": item.id, "source": source, "others": {}}


@proof
def test_references_pass_and_stubs_do_not(ranks):
    replies = ranks.page.evaluate(CHECK, [request(item, program(item)) for item in ITEMS])
    found = {item.id: (reply["state"], reply["passed"]) for item, reply in zip(ITEMS, replies, strict=True)}
    assert found == {item.id: ("right", len(item.cases)) for item in ITEMS}
    replies = ranks.page.evaluate(CHECK, [request(item, stub(item)) for item in ITEMS])
    assert {reply["state"] for reply in replies} == {"unwritten"}


def wrong(item: Build) -> list[tuple[str, str]]:
    """The wrong programs of an item as a reader would have them in her editor, each with its sentence."""
    found = []
    for slip in wrong_programs(item):
        source = alone(item, item.source_of(slip))
        name = slip.program.__name__ if slip.program else item.function
        found.append((f"{source}\n{item.function} = {name}\n", text_of(slip.sentence)))
    return found


def check_mistakes(asked: list[tuple[Build, str, str]], replies: list[dict[str, Any]]) -> None:
    """Each wrong program got the sentence of the bank, wherever the public cases see the mistake at all."""
    missed = [
        (item.id, sentence, text_of(reply["html"])[:300])
        for (item, _, sentence), reply in zip(asked, replies, strict=True)
        if reply["state"] == "wrong" and sentence not in text_of(reply["html"])
    ]
    assert missed == []
    unseen = sum(reply["state"] == "right" for reply in replies)
    assert unseen < len(asked) / 10
    assert {reply["state"] for reply in replies} <= {"right", "wrong"}


@proof
def test_each_mistake_gets_its_sentence(ranks):
    asked = [(item, *pair) for item in ITEMS for pair in wrong(item)]
    check_mistakes(asked, ranks.page.evaluate(CHECK, [request(item, source) for item, source, _ in asked]))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def relay(value", "Line 1: this is not Python 3.13 ('(' was never closed)."),
        ("def other():\n    pass", "There is no function relay here: its name and its arguments stay."),
        ("raise ValueError('early')\ndef relay(value, add): pass", "ValueError at line 1: early."),
    ],
)
def test_a_program_without_the_function(ranks, source, words):
    (reply,) = ranks.page.evaluate(CHECK, [{"id": "02-relay", "source": source, "others": {}}])
    assert (reply["state"], text_of(reply["html"])) == ("broken", words)


@pytest.mark.parametrize("end", ["exit()", pytest.param("assert relay(1, 2)", marks=proof)])
def test_what_stands_behind_a_function_of_several_ranks_does_not_hinder_its_check(ranks, end):
    """As in grading, the function counts, and one sentence says what stopped behind it."""
    (item,) = [item for item in ITEMS if item.id == "02-relay"]
    (reply,) = ranks.page.evaluate(CHECK, [request(item, f"{program(item)}\n{end}\n")])
    assert reply["state"] == "right"
    assert re.search(r"at line \d+.*\. That is after the function, which was checked\.$", text_of(reply["html"]))


def test_other_functions_of_the_page_are_used_and_prints_are_shown(ranks):
    (item,) = [item for item in ITEMS if item.id == "03-ring-all-reduce"]
    source = (
        "def ring_all_reduce(x):\n    import torch.distributed as dist\n    print('here')\n"
        "    flat = x.reshape(-1)\n"
        "    sizes = [len(chunk) for chunk in flat.tensor_split(dist.get_world_size())]\n"
        "    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)\n"
    )
    others = {
        other.function: program(other)
        for other in ITEMS
        if other.id in ("03-ring-reduce-scatter", "03-ring-all-gather")
    }
    said = ranks.page.evaluate(
        """async (request) => {
          const said = [];
          const { state } = await rankzeroRanks.check(request, { say: (line) => said.push(line) });
          return [state, ...said];
        }""",
        {"id": item.id, "source": source, "others": others},
    )
    assert said[:3] == ["right", "printed in case 1 of 4:", "  rank 0: here"]
    assert len(said) <= checking.LINES + 2


# The page and where it stands.


def workers() -> int:
    """How many worker threads the browsers of this process have."""
    found = 0
    for process in psutil.Process().children(recursive=True):
        for thread in Path(f"/proc/{process.pid}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                found += thread.read_text().startswith("DedicatedWorker")
    return found


def come_to(count: int) -> bool:
    """Whether there are so many worker threads, in the end: one that is ended takes a while to go."""
    for _ in range(1200):
        if workers() == count:
            return True
        time.sleep(0.1)
    return False


@proof
def test_closing_the_page_leaves_nothing(ranks, site):
    """Also when ranks run: no thread of theirs is left, and no other page is disturbed."""
    assert ranks.works()
    before = workers()
    assert before >= 5
    page = ranks.page.context.new_page()
    page.goto(f"{site}/{PAGE}", wait_until="load")
    assert Ranks(page).works()
    assert come_to(before + 5)
    page.evaluate(
        """([code, before]) => {
          rankzeroRanks.run({ cell: { functions: {}, before, code }, own: {}, others: {} }, {});
        }""",
        ["def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=4)", BEFORE],
    )
    page.wait_for_timeout(500)
    page.close()
    assert come_to(before)
    assert ranks.works()


class Plain(http.server.SimpleHTTPRequestHandler):
    """A static host that knows nothing of ranks."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def host(html, tmp_path_factory) -> Iterator[str]:
    """The published site under a path of a static host."""
    root = tmp_path_factory.mktemp("plain")
    tool.make(html, root / "courses" / "rank-zero")
    (root / "school.html").write_text(f'<iframe src="courses/rank-zero/{PAGE}" width="900" height="600">')
    handler = functools.partial(Plain, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def mended(browser, host) -> Iterator[Any]:
    """A page of the published site that has loaded itself once more, as a first press has it do."""
    context = browser.new_context()
    context.set_default_timeout(RANKS_START)
    watch = _watched(context, scripts=True)
    page = watch.page
    page.goto(f"{host}/courses/rank-zero/{PAGE}", wait_until="load")
    state = page.evaluate("rankzeroRanks.state()")
    assert (state["able"], state["mend"]) == (False, True)
    assert state["why"] == "The page has to be loaded once more before ranks can start."
    page.locator("html[data-offline=ready]").wait_for()
    with page.expect_navigation(wait_until="load"):
        page.evaluate("() => { rankzeroRanks.mend(); }")
    yield page
    assert watch.problems == []
    context.close()


@proof
def test_a_static_host_is_mended_by_one_more_load(mended):
    """The site's own service worker adds the headers without which no ranks can start."""
    assert mended.evaluate("rankzeroRanks.state()")["able"]


@proof
def test_ranks_run_on_a_static_host(mended):
    """Also without a network."""
    assert Ranks(mended).works()
    mended.locator("html[data-offline=ready]").wait_for()
    mended.context.set_offline(True)
    mended.reload(wait_until="load")
    assert Ranks(mended).works()


@proof
def test_where_no_ranks_can_be_the_page_says_so(browser, host, html):
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    page.goto((html / PAGE).as_uri())
    state = page.evaluate("rankzeroRanks.state()")
    assert (state["able"], state["mend"], state["why"][:34]) == (False, False, "A page that is opened from disk ca")
    page.goto(f"{host}/school.html")
    (frame,) = [frame for frame in page.frames if frame != page.main_frame]
    frame.wait_for_function("() => window.rankzeroRanks")
    state = frame.evaluate("rankzeroRanks.state()")
    assert (state["able"], state["mend"], state["why"][:28]) == (False, False, "Inside a frame of another pa")
    context.close()


@proof
def test_a_device_with_little_memory_starts_two_ranks(browser, site):
    context = browser.new_context(service_workers="block")
    context.set_default_timeout(RANKS_START)
    context.add_init_script("Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 2 })")
    page = context.new_page()
    page.goto(f"{site}/{PAGE}", wait_until="load")
    assert page.evaluate("rankzeroRanks.state()")["why"] == (
        "This device has little memory, so at most 2 ranks start here."
    )
    small = Ranks(page)
    assert small.run(SUMS, ranks=2)["printed"] == ["(1, 1)"]
    why = small.run(SUMS)["why"].split("\n")[-1]
    assert why == "ValueError: this page starts at most 2 ranks, got ranks=4: run it in Colab or on your machine"
    (reply,) = page.evaluate(CHECK, [{"id": "02-relay", "source": "def relay(): pass", "others": {}}])
    assert text_of(reply["html"]) == (
        "This device starts 2 ranks, and a case of this exercise needs 4: write it in Colab or on your machine."
    )
    context.close()


@proof
def test_a_checks_python_has_no_torch(site, visit):
    """The picture from which checks start holds the stand-in, and a plain function does not see it."""
    watch = visit(f"{site}/{PAGE}")
    for _ in range(2):
        reply = watch.page.evaluate(
            "(source) => rankzeroCheck.check({ id: '02-message-time', source, others: {} }, { began() {}, say() {} })",
            "import torch\ndef message_time(): pass",
        )
        assert "No module named 'torch'" in text_of(reply["html"])
        house_of(watch.page)
        watch.page.reload(wait_until="load")
