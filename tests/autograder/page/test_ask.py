"""Checks of items of several ranks, as a page asks for them: the cards of a notebook, by the grader on its ranks."""

from __future__ import annotations

import re
from html import unescape

import pytest

from autograder.items import Build
from autograder.learner import in_page
from autograder.marking.papers import wrong_programs
from tests.autograder.page.headless import Page
from tests.autograder.page.test_page_world import CELLS, IMPORTS
from tools import bundle
from tools.common import ROOT

ITEMS = {item.id: item for item in bundle.worlds_of_pages()}


@pytest.fixture(scope="module")
def page():
    with Page() as page:
        yield page


def alone(item: Build, source: str) -> str:
    """The source of a module of ``solutions`` as a program that stands alone, with imports by their full names."""
    package = f"solutions.{item.home.partition('.')[0]}"
    return source.replace("from ..", "from solutions.").replace("from .", f"from {package}.")


def reference(item: Build) -> str:
    return alone(item, (ROOT / "solutions" / item.file).read_text(encoding="utf-8"))


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).replace("`", "").split())


PROOF = pytest.mark.proof(part="pages")
#: In ``make test`` four items and the first mistake of each that is seen; in ``make proof`` all of both.
TRIED = [
    pytest.param(item, every, id=f"{name}-{'all' if every else 'one'}", marks=[PROOF] if every or place % 6 else [])
    for place, (name, item) in enumerate(ITEMS.items())
    for every in (False, True)
]


@pytest.mark.parametrize(("item", "every"), TRIED)
def test_a_reference_passes_and_each_mistake_is_named(page, item, every):
    """A wrong program gets its own sentence wherever a public case sees the mistake: the first such, or each."""
    reply = page.ask(id=item.id, source=reference(item), others={})
    assert (reply["state"], reply["passed"], reply["total"]) == ("right", len(item.cases), len(item.cases))
    named = []
    for slip in wrong_programs(item):
        name = slip.program.__name__ if slip.program else item.function
        source = f"{alone(item, item.source_of(slip))}\n{item.function} = {name}\n"
        reply = page.ask(id=item.id, source=source, others={})
        if reply["state"] == "wrong":
            assert words(slip.sentence) in words(reply["html"])
            named.append(slip)
            if not every:
                break
    assert named


def test_a_cell_runs_after_a_check_and_a_check_after_a_cell(page):
    """Kills workers that keep the grader's walls against the course's modules, or lose them."""
    source = "def relay(*args):\n    import rankzero.world"
    for _ in range(2):
        assert page.run(CELLS["hello"].strip("\n"), before=IMPORTS)["why"] == ""
        html = page.ask(id="02-relay", source=source, others={})["html"]
        assert "only rankzero.checks and rankzero.facts.units can be imported in grading" in words(html)


def test_a_check_has_gradients_after_a_cell_that_turned_them_off(page):
    code = "def off():\n    torch.set_grad_enabled(False)\n\nworld.run(off, ranks=4)"
    assert page.run(code, before=IMPORTS)["why"] == ""
    item = ITEMS["02-relay"]
    asks = "\nimport torch\nassert torch.ones(1, requires_grad=True).sum().requires_grad\n"
    assert page.ask(id=item.id, source=reference(item) + asks, others={})["state"] == "right"


def test_a_program_that_computes_forever_is_ended(page):
    item = ITEMS["02-relay"]
    reply = page.ask(id=item.id, source="import time\ndef relay(*args):\n    time.sleep(60)", others={})
    assert reply["state"] == "wrong"
    assert "did not end within 10 s" in words(reply["html"])
    assert page.ask(id=item.id, source=reference(item), others={})["state"] == "right"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def relay(value", f"Line 1: this is not {in_page.PYTHON} ('(' was never closed)."),
        ("def other(): pass", "There is no function relay here: its name and its arguments stay."),
        ("x = 1 / 0\ndef relay(*args): pass", "ZeroDivisionError at line 1: division by zero."),
        (
            "def relay(*args):\n    raise NotImplementedError('02-relay: not written yet')",
            "relay is not implemented yet.",
        ),
    ],
)
def test_what_cannot_be_judged_says_why(page, source, sentence):
    reply = page.ask(id="02-relay", source=source, others={})
    assert words(reply["html"]) == sentence
    assert reply["state"] == ("unwritten" if "implemented" in sentence else "broken")


def test_others_are_used_and_prints_are_shown(page):
    source = (
        "import torch.distributed as dist\n\ndef ring_all_reduce(x):\n    print('here')\n"
        "    flat = x.reshape(-1)\n"
        "    sizes = [len(chunk) for chunk in flat.tensor_split(dist.get_world_size())]\n"
        "    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)\n"
    )
    others = {ITEMS[name].function: reference(ITEMS[name]) for name in ("03-ring-reduce-scatter", "03-ring-all-gather")}
    assert page.ask(id="03-ring-all-reduce", source=source, others=others)["state"] == "right"
    assert page.printed[:3] == ["printed in case 1 of 4:", "  rank 0: here", "  rank 1: here"]


def test_too_many_ranks_for_a_small_device():
    with Page(2) as page:
        html = page.ask(id="02-relay", source="def relay(*args): pass", others={})["html"]
    sentence = "This device starts 2 ranks, and a case of this exercise needs 4: write it in Colab or on your machine."
    assert words(html) == sentence
