"""Chapter 7: what its cases hold, and what its drivers see."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch07 import choose_layout
from autograder.items import edits
from autograder.marking import trusted
from rankzero.facts.models import LLAMA2_13B
from solutions.ch07 import layout


@pytest.mark.parametrize("apart", [5e-10, 2e-9])
@pytest.mark.parametrize("job", choose_layout.TURNING, ids=repr)
def test_near_ties_are_as_near_as_they_say(job, apart):
    """The layout of the least time is not the simplest, and the answer changes with the width of a tie."""
    (drawn,) = choose_layout._near_tie(Random(1), job, apart).args
    room = drawn.gpu_memory * (1 - drawn.reserve)
    fitting = [one for one in layout.candidates(drawn) if sum(layout.layout_memory(one, drawn)) <= room]
    times = sorted({layout.step_time(one, drawn) for one in fitting})
    distinct = [times[0], *(later for earlier, later in itertools.pairwise(times) if later > earlier * (1 + 1e-13))]
    assert distinct[1] / distinct[0] - 1 == pytest.approx(apart, rel=1e-3)
    assert distinct[2] / distinct[1] - 1 > 1e-7
    best = layout.choose_layout(drawn)
    assert (layout.step_time(best, drawn) > distinct[0] * (1 + 1e-13)) is (apart < 1e-9)


def test_the_drawn_models_have_what_the_docstring_names():
    key = Random(3)
    cases = {group.name: cases for group, cases in bank.find("07-layout-memory").hidden(key)}
    mixtures = [case.args[1].model for case in cases["experts"]]
    assert any(model.shared_experts for model in mixtures)
    assert any(not model.gated for model in mixtures)
    first, second, third = cases["split models"][:3]
    assert first.args[1].model == LLAMA2_13B
    assert LLAMA2_13B.layers % first.args[0].pp
    assert second.args[0].cp == 2
    assert third.args[1].global_batch // third.args[0].dp < third.args[0].pp


def test_every_expert_has_rows_from_somebody():
    """Kills: an expert without rows, whose gradient may be None or zeros."""
    for key in range(40):
        for group, cases in bank.find("07-expert-parallel-forward").hidden(Random(key)):
            for case in cases if group.name != "impossible arguments" else ():
                chosen = {int(expert) for args in case.args for expert in args[2].tolist()}
                assert chosen == set(range(case.args[0][4]))


def test_a_loss_with_its_graph_and_other_types_of_weights_lose_points():
    """Kills: drivers that hand back values without saying that."""
    route, step = bank.find("07-route"), bank.find("07-pipeline-step")
    (answer,) = trusted.run(route, route.solution(), [replace(route.cases[0], kwargs={"dtype": "float64"})])
    assert answer.value["type"] == "torch.float64"
    kept = edits.edited(step.solution(), [("total += y.detach()", "total = total + y")])
    for program, graph in ((step.solution(), False), (kept, True)):
        (answer,) = trusted.run(step, program, [step.cases[-1]])
        assert [rank["loss.requires_grad"] for rank in answer.value] == [graph]
