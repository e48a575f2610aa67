"""Chapter 07's bank: answers as the page prints them, what options say, and probes that allow every right program."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import nbformat
import pytest

from autograder import bank
from autograder.bank.ch07 import pipeline_schedule as bank_schedules
from autograder.bank.ch07 import simulate_schedule as bank_times
from autograder.items import Build, Case, Choice, Estimate, Order
from autograder.marking import trusted
from experiments.ch07.pipeline_runs import blocked_at
from experiments.ch07.routing_counts import dropped_share, expert_loads, random_choices
from rankzero.facts.layouts import Job
from rankzero.facts.models import LLAMA3_8B
from solutions.ch07.experts import all_to_all_bytes
from solutions.ch07.layout import candidates, choose_layout
from solutions.ch07.pipeline import peak_in_flight, pipeline_bytes_sent, pipeline_schedule, simulate_schedule
from solutions.ch07.pipeline_charts import pipeline_chart
from tests.autograder import handed_in

ROOT = Path(__file__).parents[4]
EXERCISES = {item.function: item for item in bank.of_chapter("ch07") if isinstance(item, Build)}
CHOICES = {item.id: item for item in bank.of_chapter("ch07") if isinstance(item, Choice)}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


# The list.


def test_the_order_of_the_axes():
    assert ("TP", "CP", "PP", "DP") in [item.steps for item in bank.of_chapter("ch07") if isinstance(item, Order)]


# What the options say.


def test_what_1f1b_changes():
    ends = [
        max(end for _, end in simulate_schedule(pipeline_schedule(name, 4, 16), {"F": 1, "B": 2}).values())
        for name in ("gpipe", "1f1b")
    ]
    assert ends[0] == ends[1] == 19 * 3
    assert [peak_in_flight(pipeline_schedule(name, 4, 16)[0]) for name in ("gpipe", "1f1b")] == [16, 4]
    assert answer("07-1f1b-gain").startswith("the idle share stays")


def test_eight_stages_are_no_faster_than_one():
    """Kills: an option called right that the simulator does not confirm. A message takes a tenth of a unit here."""
    ends = [
        pipeline_chart("1f1b", stages, 1, forward=8 / stages, backward=16 / stages, hop=0.1).makespan
        for stages in (1, 8)
    ]
    assert ends[0] == 24
    assert 24 < ends[1] < 24 * 1.1
    assert answer("07-eight-stages").startswith("a little longer")


def test_a_finer_cut_halves_the_idle_time():
    idle = [pipeline_chart("gpipe", 3, m, forward=4 / m, backward=8 / m).idle[0] for m in (4, 8)]
    assert idle[1] == pytest.approx(idle[0] / 2)
    assert answer("07-twice-as-many").startswith("it halves")


def test_what_the_stages_hold():
    """The options: 1F1B, every stage like the first, the warm-up alone, GPipe."""
    held = [2 * peak_in_flight(order) for order in pipeline_schedule("1f1b", 4, 12)]
    gpipe = {2 * peak_in_flight(order) for order in pipeline_schedule("gpipe", 4, 12)}
    found = [re.findall(r"\d+", option) for option in CHOICES["07-in-flight"].options]
    assert [[int(number) for number in numbers] for numbers in found] == [
        held,
        held[:1],
        [size - 2 for size in held],
        [*gpipe],
    ]
    assert CHOICES["07-in-flight"].correct == 0


def test_two_ranks_that_send_to_each_other():
    waits = blocked_at(pipeline_schedule("1f1b", 2, 4))
    assert waits == {0: "send to rank 1 in 0F1", 1: "send to rank 0 in 1B0"}
    assert "in a send" in answer("07-send-or-isend")


def test_interleaving_costs_memory_and_messages():
    plain, cut = pipeline_chart("1f1b", 4, 12), pipeline_chart("interleaved", 4, 12, 4)
    assert cut.peaks[0] == 4 + 3 / 4 > plain.peaks[0] == 4
    sent = [sum(pipeline_bytes_sent(rank, 4, 12, 1, v) for rank in range(4)) for v in (1, 4)]
    assert sent[1] == sent[0] * 15 / 3
    assert answer("07-interleaving-price").startswith("memory and messages")


@pytest.mark.parametrize("experts", [64, 128])
def test_experts_do_not_enter_the_bytes(experts):
    """Tokens that visit two of many experts at random send as many rows to other ranks as the formula says."""
    tokens = 4096
    leaving = sum(
        expert // (experts // 8) != 0 for own in random_choices(tokens, experts, 2, seed=experts) for expert in own
    )
    assert leaving == pytest.approx(all_to_all_bytes(tokens, 1, 2, 8, 1), rel=0.02)
    assert answer("07-more-experts").startswith("nothing")


def test_the_estimates():
    """Worked out in another way: the boundary by counting, loads and drops by drawing."""
    found = {item.id: item.answer() for item in bank.of_chapter("ch07") if isinstance(item, Estimate)}
    assert found["07-boundary-guess"] == 8 * 4 * 2 * 7 / 8 / 2
    draws = [expert_loads(random_choices(512, 64, 2, seed=seed), 64) for seed in range(40)]
    dropped = [100 * dropped_share(loads, 16) for loads in draws]
    assert found["07-fair-drops"] == pytest.approx(sum(dropped) / len(dropped), rel=0.03)
    busiest = [100 * (max(loads) / 16 - 1) for loads in draws]
    assert found["07-slowest-rank"] == pytest.approx(sum(busiest) / len(busiest), rel=0.07)
    assert set(found) == {"07-boundary-guess", "07-slowest-rank", "07-fair-drops"}


def test_a_renormalized_top_one_teaches_the_router_nothing():
    import torch

    logits = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
    kept = torch.softmax(logits, -1).topk(1).values
    (kept / kept.sum(-1, keepdim=True)).sum().backward()
    assert logits.grad.abs().max() < 1e-7
    assert answer("07-router-gradient").startswith("nothing")


# Probes: other right programs pass, and wrong ones do not.


def backwards_last_first(name, ranks, microbatches, virtual_stages=1):
    """GPipe that goes backward from the last micro-batch to the first."""
    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name == "gpipe":
        return [order[:microbatches] + order[: microbatches - 1 : -1] for order in orders]
    return orders


def test_another_order_that_is_as_fast_and_holds_as_little_is_right():
    item = EXERCISES["pipeline_schedule"]
    hidden = [case for _, cases in item.hidden(Random("key 0")) for case in cases]
    assert set(handed_in.faults(item, backwards_last_first, (*item.cases, *hidden))) == {None}


@pytest.mark.parametrize(
    ("orders", "words"),
    [
        ([["0F0"]], "an operation is missing"),
        ([["0F0", "0B0", "0B0"]], "an operation appears twice"),
        ([["0F0", "0C0"]], "an operation is not written as 2F5"),
        ([["0F0"], ["0B0"]], "a stage is on two ranks"),
        ([["0B0", "0F0"]], "a backward comes before what it needs on its own rank"),
        ([["0F0", "0B0", "0I0"]], "a backward appears both whole and in halves"),
        (bank_times.CROSSED, "the ranks wait for one another: a deadlock"),
    ],
)
def test_the_conclusion_names_what_is_wrong_with_orders(orders, words):
    assert bank_schedules.timed(Case(), orders) == {"orders": words}


def test_the_conclusion_says_what_are_no_orders():
    for value in (3, [1], [["0F0", 1]], "0F0", (["0F0"],)):
        assert bank_schedules.timed(Case(), value) == {"orders": "not a list with a list of operations for each rank"}
    assert bank_schedules.timed(Case(), None) is None  # whoever printed instead of returning is told so


def test_the_conclusions_makespan_is_the_simulators():
    rng = Random(3)
    for name, shape in (("1f1b", (4, 7)), ("zb-h1", (5, 9)), ("interleaved", (3, 6, 2)), ("gpipe", (6, 3))):
        durations = {f"{stage}{kind}": rng.random() for stage in range(6) for kind in "FBIW"}
        orders = pipeline_schedule(name, *shape)
        end = max(end for _, end in simulate_schedule(orders, durations).values())
        assert bank_schedules.makespan(orders, durations) == pytest.approx(end)


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


def test_bubble_never_stands_alone_in_code():
    folders = ("solutions", "experiments", "autograder/bank", "demos")
    files = [file for folder in folders for file in (ROOT / folder / "ch07").glob("*.py")]
    files += [ROOT / "rankzero" / name for name in ("sim/schedules.py", "figures/schedules.py", "facts/layouts.py")]
    assert {file.name: found for file in files if (found := plain_bubbles(file.read_text(encoding="utf-8")))} == {}


def test_bubble_never_stands_alone_on_the_page():
    for page in ("07-pipeline-expert.ipynb", "deeper/07-pipeline-expert-deeper.ipynb"):
        for cell in nbformat.read(ROOT / "book" / page, as_version=4).cells:
            assert plain_bubbles(cell.source) == []


def test_the_rule_about_the_word_finds_it():
    assert plain_bubbles("The bubble shrinks.")
    assert plain_bubbles("A bubble fraction, a bubble overhead, zero-bubble and bubble_fraction.") == []
