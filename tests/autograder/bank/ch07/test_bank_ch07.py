"""Chapter 07's bank: answers as the page prints them, what options say, and probes that allow every right program."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import nbformat
import pytest

from autograder.bank.ch07 import items as bank
from autograder.bank.ch07 import layout_questions, times
from autograder.conclusions import ch07
from autograder.items import Build, Case, Choice, Order, Question
from autograder.marking import compare, trusted
from rankzero.facts.layouts import Job
from rankzero.facts.models import LLAMA3_8B
from solutions.ch07.layout import candidates, choose_layout, layout_memory, step_time
from solutions.ch07.pipeline import peak_in_flight, pipeline_schedule, simulate_schedule
from tests.autograder import handed_in

ROOT = Path(__file__).parents[4]
EXERCISES = {item.function: item for item in bank.ITEMS if isinstance(item, Build)}
QUESTIONS = {item.id: item for item in bank.ITEMS if isinstance(item, Question)}
CHOICES = {item.id: item for item in bank.ITEMS if isinstance(item, Choice)}

ANSWERS = {  # the table of the page, computed by hand
    "07-naive-split": (380, 31.579),
    "07-two-bubbles": (20, 25),
    "07-gpipe-43": (42.857,),
    "07-4p-rule": (15.789, 20),
    "07-in-flight": (8, 6, 4, 2),
    "07-first-backward": (17, 10),
    "07-fixed-batch": (64, 32),
    "07-interleaved": (5.8824, 4.75),
    "07-min-microbatches": (134, 72, 40),
    "07-zero-bubble": (17.949, 9.2628, 4.1916),
    "07-p2p-total": (180,),
    "07-p2p-time": (106.667,),
    "07-slow-stage": (38.52,),
    "07-mixtral": (46.703, 12.880),
    "07-capacity": (160,),
    "07-experts-vs-ranks": (14.68, 58.72, 117.44),
    "07-distinct-ranks": (5.2947,),
    "07-group-counts": (128, 256, 32),
    "07-advisor-table": (1120, 140, 70, 35),
    "07-floor": (140, 14),
    "07-five-cases": (1.984, 1.984, 1, 49, 140, 3, 43.75),
    "07-hybrid-512": (8.59375,),
}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


# The list.


def test_every_question_is_answered_here_too():
    assert set(QUESTIONS) == set(ANSWERS)


def test_the_order_of_the_axes():
    assert ("TP", "CP", "PP", "DP") in [item.steps for item in bank.ITEMS if isinstance(item, Order)]


@pytest.mark.parametrize("identifier", ANSWERS)
def test_the_answers_of_the_table(identifier):
    parts = QUESTIONS[identifier].parts
    assert [part.answer() for part in parts] == pytest.approx(ANSWERS[identifier], rel=1e-3)


# What the options say.


def test_what_1f1b_changes():
    ends = [
        max(end for _, end in simulate_schedule(pipeline_schedule(name, 4, 16), {"F": 1, "B": 2}).values())
        for name in ("gpipe", "1f1b")
    ]
    assert ends[0] == ends[1] == 19 * 3
    assert [peak_in_flight(pipeline_schedule(name, 4, 16)[0]) for name in ("gpipe", "1f1b")] == [16, 4]
    assert answer("07-1f1b-gain").startswith("the idle share stays")


def test_which_of_the_plans_fits_and_is_near_the_best():
    job, plans = layout_questions.JOB, layout_questions.PLANS
    best = step_time(choose_layout(job), job)
    room = job.gpu_memory * (1 - job.reserve)
    fits = [sum(layout_memory(plan, job)) <= room for plan in plans]
    slower = [step_time(plan, job) / best - 1 for plan in plans]
    assert fits == [True, True, True, False]
    assert [fit and late <= 0.05 for fit, late in zip(fits, slower, strict=True)] == [True, False, False, False]
    assert slower[1] == pytest.approx(0.098, rel=0.01)
    assert slower[2] > 0.6
    assert min(slower) == slower[3]
    for plan, option in zip(plans, CHOICES["07-strategy-64"].options, strict=True):
        sizes = {axis: int(size) for axis, size in re.findall(r"([TPD]P) (\d+)", option)}
        assert (sizes.get("TP", 1), sizes.get("PP", 1), sizes.get("DP", 1)) == (plan.tp, plan.pp, plan.dp)
        assert f"ZeRO-{plan.zero}" in option
        assert ("recomputation" in option) == plan.recompute


def test_a_renormalised_top_one_teaches_the_router_nothing():
    import torch

    logits = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
    kept = torch.softmax(logits, -1).topk(1).values
    (kept / kept.sum(-1, keepdim=True)).sum().backward()
    assert logits.grad.abs().max() < 1e-7
    assert answer("07-router-gradient").startswith("nothing")


# Probes: other right programs pass, and wrong ones do not.


def faults(item: Build, program, cases) -> list[str | None]:
    outcomes = handed_in.outcomes(item, program, cases)
    expected = trusted.run(item, item.solution(), cases)
    return [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]


def backwards_last_first(name, ranks, microbatches, virtual_stages=1):
    """GPipe that goes backward from the last micro-batch to the first."""
    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name == "gpipe":
        return [order[:microbatches] + order[: microbatches - 1 : -1] for order in orders]
    return orders


def test_another_order_that_is_as_fast_and_holds_as_little_is_right():
    item = EXERCISES["pipeline_schedule"]
    hidden = [case for _, cases in item.hidden(Random("key 0")) for case in cases]
    assert set(faults(item, backwards_last_first, (*item.cases, *hidden))) == {None}


@pytest.mark.parametrize(
    ("orders", "words"),
    [
        ([["0F0"]], "an operation is missing"),
        ([["0F0", "0B0", "0B0"]], "an operation appears twice"),
        ([["0F0", "0C0"]], "an operation is not written as 2F5"),
        ([["0F0"], ["0B0"]], "a stage is on two ranks"),
        ([["0B0", "0F0"]], "a backward comes before what it needs on its own rank"),
        ([["0F0", "0B0", "0I0"]], "a backward appears both whole and in halves"),
        (times.CROSSED, "the ranks wait for one another: a deadlock"),
    ],
)
def test_the_conclusion_names_what_is_wrong_with_orders(orders, words):
    assert ch07.timed(Case(), orders) == {"orders": words}


def test_the_conclusion_says_what_are_no_orders():
    for value in (3, [1], [["0F0", 1]], "0F0", (["0F0"],)):
        assert ch07.timed(Case(), value) == {"orders": "not a list with a list of operations for each rank"}
    assert ch07.timed(Case(), None) is None  # whoever printed instead of returning is told so


def test_the_conclusions_makespan_is_the_simulators():
    rng = Random(3)
    for name, shape in (("1f1b", (4, 7)), ("zb-h1", (5, 9)), ("interleaved", (3, 6, 2)), ("gpipe", (6, 3))):
        durations = {f"{stage}{kind}": rng.random() for stage in range(6) for kind in "FBIW"}
        orders = pipeline_schedule(name, *shape)
        end = max(end for _, end in simulate_schedule(orders, durations).values())
        assert ch07.makespan(orders, durations) == pytest.approx(end)


def test_the_advisors_surroundings_are_put_back():
    item = EXERCISES["choose_layout"]
    before = dict(choose_layout.__globals__)
    trusted.run(item, choose_layout, [Case((Job(LLAMA3_8B, 8, 64, 4096),))])
    assert choose_layout.__globals__ == before
    assert choose_layout.__globals__["candidates"] is candidates


# Words.


def plain_bubbles(text: str) -> list[str]:
    """Where "bubble" stands without fraction, overhead or time; names of schedules and ids are other words."""
    text = re.sub(r"(?i)zero[-_ ]bubbles?|07-[\w-]+|bubble_(sweep|fraction|overhead)|[\w/]+\.(py|png|ipynb)", " ", text)
    text = re.sub(r"(?i)ScheduleInterleavedZeroBubble|InterleavedZeroBubble|ZeroBubble", " ", text)
    words = r"(?i)bubble[\s-]+(?:fraction|overhead|time)s?"
    return re.findall(r"(?i).{0,40}bubble.{0,40}", re.sub(words, " ", text))


def pages() -> list[Path]:
    files = {ROOT / "solutions" / item.file for item in EXERCISES.values()}
    files |= set((ROOT / "experiments").glob("ch07/*.py")) | set((ROOT / "solutions").glob("ch07/layout*.py"))
    files |= {ROOT / "rankzero" / name for name in ("sim/schedules.py", "figures/schedules.py", "facts/layouts.py")}
    return sorted(files | set((ROOT / "autograder" / "bank").glob("ch07/*.py")))


@pytest.mark.parametrize("file", pages(), ids=lambda file: file.name)
def test_bubble_never_stands_alone_in_code(file):
    assert plain_bubbles(file.read_text(encoding="utf-8")) == []


def test_bubble_never_stands_alone_on_the_page():
    page = ROOT / "book" / "07-pipeline-expert.ipynb"
    if not page.exists():
        pytest.skip("the page is not written yet")
    for cell in nbformat.read(page, as_version=4).cells:
        assert plain_bubbles(cell.source) == []


def test_the_rule_about_the_word_finds_it():
    assert plain_bubbles("The bubble shrinks.")
    assert plain_bubbles("A bubble fraction, a bubble overhead, zero-bubble and bubble_fraction.") == []
