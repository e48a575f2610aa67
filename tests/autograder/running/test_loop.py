"""The milestone "rlhf": the reference has every level; a wrong loop loses those that it breaks and reads why."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch14 import loop as levels
from autograder.bank.ch14.loop_draws import Desk, drawn
from autograder.items import Later, NoQuestion, Slip, Verdict
from autograder.maintenance import verifying
from autograder.running import systems
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from tests.autograder import another_loop, nursery
from tools.common import ROOT

RLHF = next(system for system in bank.systems() if system.id == "14-rlhf")
KEY = b"sesame"
UPDATE, PRICE, ROLLOUT, LOOP, LEARNS, TURNS, AHEAD, BOUND = range(8)
#: The levels that a twin judges.
EXACT = (UPDATE, PRICE, ROLLOUT, LOOP, TURNS, AHEAD, BOUND)

#: Each wrong loop: the levels that it loses, and words of the sentence that it reads in the first of them.
WRONG = {
    "The first <eos> is left out of the mask.": ({UPDATE}, "is left out of the mask"),
    "The mask goes one token beyond <eos>.": ({UPDATE}, "one token beyond the first <eos>"),
    "The loss is a mean over all cells.": ({UPDATE}, "divided by all cells, padding included"),
    "Old log-probabilities are taken anew.": ({UPDATE, LOOP, AHEAD, BOUND}, "taken anew in each minibatch"),
    "The price has the wrong sign.": ({PRICE, LEARNS}, "The price has the wrong sign"),
    "The price is k1.": ({PRICE, LEARNS}, "The price is k1"),
    "Log-probabilities are taken without the temperature.": ({ROLLOUT}, "those at temperature 1"),
    "Each batch answers the prompts of the next one.": ({LOOP}, "to the prompts of the next one"),
    "The price is ignored.": ({PRICE, LEARNS}, "plan.beta was ignored"),
    "Weights are sent to each writer by itself.": ({TURNS}, "On 3 ranks: Rank 0 sent 6 times the model, where 3"),
    "A number for every word of the vocabulary travels.": ({TURNS, AHEAD}, "logits and masks need not travel"),
    "Weights are trained while they are being sent.": ({AHEAD}, "those of version 1 after 1 of the 4 minibatches"),
    "The weights of old tokens have a gradient.": ({AHEAD, BOUND}, "weights of old tokens have a gradient"),
    "Batch i waits for version i.": ({AHEAD}, "written by the newest weights, as with lag 0"),
    "The weights of old tokens are not capped.": ({AHEAD, BOUND}, "were not capped at plan.cap"),
    "Old tokens are not weighted, and clipped against the writer.": ({AHEAD, BOUND}, "Old tokens were not weighted"),
    "The clipped term always counts.": ({UPDATE, LOOP, AHEAD, BOUND}, "of the two terms the smaller one counts"),
    "Gradients are never cleared.": ({UPDATE, LOOP, LEARNS, TURNS, AHEAD, BOUND}, "never cleared between minibatches"),
    "Version 0 is sent as well.": ({TURNS, AHEAD}, "Rank 0 sent 4 times the model, where 3 are enough"),
    "Batches are begun without a bound.": ({BOUND}, "Count the batches that have been begun"),
    "A batch more is begun than the bound allows.": ({BOUND}, "updates old when it was learned from, and the bound is"),
    "Batches that have arrived do not count as begun.": ({BOUND}, "Count the batches that have been begun"),
    "Old tokens have no weight where the lag is not fixed.": ({BOUND}, "Old tokens were not weighted"),
    "A batch is begun when the one before it has been learned from.": (
        {BOUND},
        "later batches had been written or begun",
    ),
    "Batches are learned from in the order in which they arrive.": (
        {BOUND},
        "No version of the weights has written batch",
    ),
    "One writer writes everything.": ({TURNS}, "Rank 1 wrote 20 rows of batch 0"),
}

pytestmark = [pytest.mark.xdist_group("systems"), pytest.mark.timeout(1800)]
SYSTEMS = pytest.mark.proof(part="systems")


#: Levels of loops that are written for one rank without a bound.
LEARNERS = [(name, place) for name in ("of_parts", "from_nothing") for place in (UPDATE, PRICE, ROLLOUT, LOOP)]


def source_of(file: str) -> str:
    """A program beside this folder; one imports what only a submission has."""
    return (ROOT / "tests/autograder" / file).read_text(encoding="utf-8")


def named(slip: Slip) -> str:
    return f"loop_{RLHF.item.slips.index(slip)}"


@pytest.fixture(scope="module", params=nursery.WALLS)
def runner(request, forked) -> Iterator[Runner]:
    """One runner for all programs, each a module of one submission; without a sandbox its ranks are forked."""
    sources = {named(slip): RLHF.item.source_of(slip) for slip in RLHF.item.slips}
    for room, name in (("solutions", "loop"), ("labs", "stub")):
        units = verifying.submission(room, [RLHF.item]).units
        sources[name] = next(unit.source for unit in units if unit.module == "loop")
    sources["another"] = inspect.getsource(another_loop)
    sources["of_parts"], sources["from_nothing"] = (
        source_of(f"loop_{name}.py") for name in ("of_parts", "from_nothing")
    )
    sources["careless"] = sources["from_nothing"].replace(", dtype=torch.float64", "")
    sources["multiplied"] = sources["from_nothing"].replace("torch.where(m > 0, lp - old[idx], 0.0)", "lp - old[idx]")
    sources["rlhf"] = (ROOT / "solutions/ch13/rlhf.py").read_text(encoding="utf-8")
    handed = Submission("loop", tuple(Unit(f"{name}.py", source, name) for name, source in sources.items()))
    with Runner(handed, Processes(Sandbox.measure(request.param)), systems.limits(RLHF), [RLHF.item]) as made:
        yield made


def judged(runner: Runner, module: str, place: int, key: bytes = KEY) -> Verdict:
    """The verdict on one level of a module."""
    player = systems.Player(RLHF.item.moved_to(module), runner)
    level = RLHF.levels[place]
    return systems.judged(level, systems.draw(RLHF, level, key), player)


def test_the_reference_has_the_exact_levels_at_the_least_cost(runner):
    found = {place: judged(runner, "loop", place) for place in EXACT}
    assert {place: verdict.wrong for place, verdict in found.items()} == dict.fromkeys(EXACT, "")
    for place in (ROLLOUT, LOOP):
        assert found[place].costs.computed.spent == found[place].costs.computed.least
    for place in (TURNS, AHEAD):
        assert found[place].costs.sent.spent == found[place].costs.sent.least


@SYSTEMS
@pytest.mark.parametrize("place", range(8))
def test_the_reference_has_every_level_under_ten_keys(runner, place):
    """Where models are trained, three keys have nine of them."""
    keys = [f"key {number}".encode() for number in range(3 if place == LEARNS else 10)]
    assert [judged(runner, "loop", place, key).wrong for key in keys] == [""] * len(keys)


@SYSTEMS
def test_the_reference_learns_and_is_not_fooled(runner):
    verdict = judged(runner, "loop", LEARNS)
    assert not verdict.wrong
    assert 1.3 < verdict.costs.judged.spent < 2


@pytest.mark.parametrize("place", [UPDATE, *(pytest.param(place, marks=SYSTEMS) for place in range(1, 8))])
def test_the_stub_has_no_level(runner, place):
    verdict = judged(runner, "stub", place)
    assert verdict.open
    assert verdict.wrong == "not implemented yet (14-rlhf: not written yet)"


@SYSTEMS
@pytest.mark.parametrize("place", EXACT)
def test_another_right_loop_has_every_level(runner, place):
    """Kills judges that know the reference only: here are passes row by row, no cache, copies on their way."""
    verdict = judged(runner, "another", place)
    assert not verdict.wrong
    if place == LOOP:
        assert verdict.costs.computed.spent > 2 * verdict.costs.computed.least


@pytest.mark.parametrize(
    ("name", "place"), [("of_parts", UPDATE), *(pytest.param(*case, marks=SYSTEMS) for case in LEARNERS)]
)
def test_a_learners_loop_has_the_levels_that_it_is_written_for(runner, name, place):
    """Of earlier chapters' functions, and from the docstring alone."""
    assert judged(runner, name, place).wrong == ""


@SYSTEMS
@pytest.mark.parametrize(
    ("name", "words"),
    [("careless", "Something was rounded to float32"), ("multiplied", "nothing behind <eos> may reach the loss")],
)
def test_what_a_learner_stumbles_over_is_said(runner, name, words):
    """What was wrong with the first loops that were written so."""
    assert words in judged(runner, name, UPDATE).wrong


@SYSTEMS
def test_a_loop_for_one_rank_is_open_where_there_are_several(runner):
    assert judged(runner, "from_nothing", TURNS).open


CHEAPEST, *OTHERS = sorted(RLHF.item.slips, key=lambda slip: slip.sentence != "The price is k1.")


def test_every_wrong_loop_is_told_of():
    assert [slip.sentence for slip in RLHF.item.slips] == list(WRONG)


@pytest.mark.parametrize(
    "slip", [CHEAPEST, *(pytest.param(slip, marks=SYSTEMS) for slip in OTHERS)], ids=lambda slip: slip.sentence
)
def test_a_wrong_loop_loses_the_levels_that_it_breaks_and_reads_why(runner, slip):
    lost, words = WRONG[slip.sentence]
    places = [PRICE, UPDATE] if slip is CHEAPEST else EXACT
    found = {place: judged(runner, named(slip), place).wrong for place in places}
    assert {place for place, sentence in found.items() if sentence} == lost & {*places}, found
    assert words in found[min(lost)]


@SYSTEMS
@pytest.mark.parametrize("slip", [slip for slip in RLHF.item.slips if LEARNS in WRONG[slip.sentence][0]])
def test_a_loop_that_nothing_holds_back_is_fooled(runner, slip):
    assert "The judge gives its sentences" in judged(runner, named(slip), LEARNS).wrong


@SYSTEMS
def test_a_learning_test_would_pass_most_wrong_loops(runner):
    """Why there are twins: a mask without <eos> learns as well as the right one."""
    assert not judged(runner, "loop_0", LEARNS).wrong


# The desk.


def desk() -> Desk:
    job = drawn(Random(0), {"iterations": 2, "group_size": 2}, groups=1)
    return Desk(job, job.task.score)


ROW, NUMBERS = [1] * 11, "A" * 86 + "=="  # eight zeros as base64


@pytest.mark.parametrize(
    "question",
    [
        None,
        [],
        ["score"],
        ["judge", 0, [0], [ROW], NUMBERS],
        ["score", True, [0], [ROW], NUMBERS],
        ["score", 0, [0.0], [ROW], NUMBERS],
        ["score", 0, [0], [ROW, ROW], NUMBERS],
        ["score", 0, [0], [None], NUMBERS],
        ["score", 0, [0], [["1"] * 11], NUMBERS],
        ["score", 0, [0], [ROW], "?"],
        ["score", 0, [0], [ROW], "AAAA"],
        ["learning", "0"],
    ],
)
def test_what_no_driver_asks_ends_the_run(question):
    with pytest.raises(NoQuestion):
        desk()(0, question)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (["score", 2, [0], [ROW], NUMBERS], "there is no batch 2"),
        (["score", 0, [2], [ROW], NUMBERS], "batch 0 has no row 2"),
        (["score", 0, [0, 0], [ROW, ROW], NUMBERS], "2 rows have 16 log-probabilities, got 8"),
        (["score", 0, [0], [ROW[1:]], NUMBERS], "rows have 11 tokens"),
        (["score", 0, [0], [[99, *ROW[1:]]], NUMBERS], "holds a token that is none of 0 to"),
    ],
)
def test_what_a_program_may_get_wrong_is_said(question, words):
    assert words in desk()(0, question)["wrong"]


def test_a_row_is_scored_once():
    one = desk()
    assert "scores" in one(0, ["score", 0, [0], [ROW], NUMBERS])
    assert one(0, ["score", 0, [0], [ROW], NUMBERS])["wrong"] == "row 0 of batch 0 has been scored before"


def test_the_trainer_is_asked_whether_the_next_batch_is_there():
    one = desk()
    one(0, ["learning", 0])
    assert one.late == [0]
    one(0, ["learning", 1])  # there is no batch after the last
    assert (one.late, one.learned) == ([0], [0, 1])


def test_a_slow_batch_is_answered_later_and_counts_as_begun():
    one = replace(desk(), slow=frozenset({1}))
    with pytest.raises(Later) as later:
        one(1, ["score", 1, [0], [ROW], NUMBERS])
    assert "scores" in later.value.answer
    one(0, ["learning", 0])
    assert (one.begun, one.late) == ([1], [0])


def test_a_hard_batch_is_hard():
    """Kills a draw without what level 1 is about: rows of one token, a silent group, and noise behind the end."""
    plan = {"iterations": 1, "group_size": 4, "eos": 0}
    job = levels._given(Random(1), drawn(Random(1), plan), hard=True)
    tokens, log_probs, scores = job.task.given
    assert 1 in {job.task.real(row) for row in tokens}
    assert len(set(scores[:4])) == 1
    assert any(number != number for row in log_probs for number in row)
