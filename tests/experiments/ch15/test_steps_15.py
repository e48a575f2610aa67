"""The capstone's pictures in steps and its sheet: what they show is computed here by other means."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import accumulate

import pytest

from experiments.ch15 import layout_steps, rename_steps, save_steps
from experiments.ch15.plan_sheet import DECISIONS, HEAD, Plan, Row, Sheet
from rankzero.explore import Box, Scene, frames
from rankzero.explore.scene import NARROW
from rankzero.facts.models import LLAMA3_405B, LLAMA32_1B, MIXTRAL_8X7B
from solutions.ch07.pipeline import pipeline_schedule
from solutions.ch15 import llama_405b
from solutions.ch15.failing_runs import simulate_run

SCENES = {layout_steps.layout_scene: 4, save_steps.saves_scene: 3, rename_steps.rename_scene: 4}


def boxes(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box)]


@pytest.mark.parametrize("draw", SCENES)
def test_every_picture_fits_a_phone(draw):
    for scene in frames(draw, SCENES[draw]):
        assert scene.width <= NARROW
        assert all(box.x + box.width <= scene.width for box in boxes(scene))
        assert all(box.y + box.height <= scene.height for box in boxes(scene))
        assert scene.says
        assert scene.alt


# The layout


def test_partners_differ_in_one_place():
    """Kills a numbering in which another dimension is innermost."""
    at = layout_steps.coordinates
    for rank in range(layout_steps.GPUS):
        assert sum(place * 2**power for power, place in enumerate(at(rank).values())) == rank
        for name, partner in layout_steps.partners(rank).items():
            assert {key for key in at(rank) if at(rank)[key] != at(partner)[key]} == {name}


def test_only_the_chosen_gpu_and_its_partner_are_marked():
    for step, name in enumerate(layout_steps.DIMENSIONS, 1):
        scene = layout_steps.layout_scene(step)
        strong = {box.text for box in boxes(scene) if box.strong}
        assert strong == {"GPU 5", f"GPU {layout_steps.partners(5)[name]}"}
        assert scene.says.startswith(name)


def test_tensor_parallel_partners_share_a_node():
    places = {box.text: (box.x, box.y) for box in boxes(layout_steps.layout_scene(0))}
    one, other = places["GPU 4"], places["GPU 5"]
    assert other[1] == one[1]
    assert other[0] - one[0] == layout_steps.WIDTH + layout_steps.GAP


# Saving


@pytest.mark.parametrize("every", save_steps.EVERY)
def test_the_strips_are_the_run_of_the_simulator(every):
    """Kills a strip that leaves out the restart or counts lost work as useful."""
    run = simulate_run(save_steps.WORK, every, save_steps.SAVE, save_steps.RESTART, [save_steps.FAILS])
    assert save_steps.spent(every) == {kind: run[kind] for kind in ("useful", "checkpoint", "lost", "restart")}
    assert save_steps.wall(every) == run["wall"]


def test_the_middle_interval_is_the_best():
    assert min(save_steps.EVERY, key=save_steps.wall) == 4


def test_the_sentence_names_what_the_strip_shows():
    says = save_steps.saves_scene(3).says
    assert "1 minute of saving in 1 save" in says
    assert f"{save_steps.wall(8):g} minutes" in says


# The disk


def test_there_is_a_whole_checkpoint_at_every_moment():
    """Kills an order of steps in which a crash finds nothing, or resumes from a draft."""
    assert [rename_steps.newest(step) for step in range(5)] == ["step-8"] * 3 + ["step-16"] * 2
    for step, disk in enumerate(rename_steps.DISK):
        resumed = [box for box in boxes(rename_steps.rename_scene(step)) if box.strong]
        assert len(resumed) == rename_steps.RANKS
        assert disk[rename_steps.newest(step)] == rename_steps.RANKS


# The plan and its sheet


def test_the_plan_as_it_stands_is_the_published_one():
    """Row B of the paper's table; the rest of its layout is assumed in the same way."""
    published = llama_405b.STAGES[1]
    assert Plan().layout == published.layout
    assert Plan().batch * Plan().sequence == published.tokens_per_step
    assert (Plan().gpus, Plan().tokens) == (published.gpus, llama_405b.TOKENS)
    assert Plan().partition == [7, *[8] * 14, 7]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gpus": 100}, "gpus must be a multiple of tp \\* cp \\* pp = 128"),
        ({"tp": 16}, "tp must be at most 8"),
        ({"batch": 2000}, "batch must be a multiple of the 128 replicas"),
        ({"gpus": 32_768}, "batch must be at least 4096: 16 sequences a replica"),
        ({"batch": 3072}, "batch must be a multiple of 2048: 16 sequences a replica and round"),
        ({"model": MIXTRAL_8X7B, "gpus": 1024, "pp": 1}, "model must be dense"),
        ({"recompute": "some"}, "recompute"),
    ],
)
def test_a_plan_that_the_sheet_cannot_count_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        Plan(**changed)


def test_a_table_that_is_also_the_head_multiplies():
    """Kills: a fifth of the FLOP of a small model left out."""
    assert Plan(LLAMA32_1B, gpus=64, batch=64, pp=1).matrix == LLAMA32_1B.parameters
    assert Plan().matrix == LLAMA3_405B.parameters - LLAMA3_405B.vocab * LLAMA3_405B.hidden


@pytest.mark.parametrize(("pp", "layers", "gpus"), [(4, 16, 1024), (4, 8, 512), (16, 128, 16_384), (1, 3, 64)])
def test_activations_in_flight_are_those_of_the_schedule(pp, layers, gpus):
    """Against chapter 7's interleaved order, rank by rank."""
    plan = Plan(replace(LLAMA3_405B, layers=layers), gpus=gpus, pp=pp)
    orders = pipeline_schedule("interleaved", pp, plan.microbatches, plan.chunks)
    for stage, order in enumerate(orders):
        held = accumulate(1 if "F" in operation else -1 for operation in order)
        assert plan.in_flight(stage) == max(held) / plan.chunks


def rows_of(*rows):
    return lambda plan: rows


def test_a_number_is_llamas_error_and_a_limit_is_your_plans():
    """Kills a sheet that calls another plan's number wrong because Llama's is published."""
    mine, llama = Row("ranks", 64, "", 128), Row("ranks", 110, "", 100)
    assert mine.beside(Row("ranks", 128)).endswith("128   +0.0%")
    assert llama.beside(llama).endswith("+10.0%")
    assert not Row("ranks", 90).beside(llama).endswith("%")
    for value, verdict in ((80, "within"), (80.5, "outside")):
        assert Row("GPU", value, "GB", (0, 80)).beside(Row("GPU", 90, "GB")).endswith(verdict)


def test_both_plans_are_computed():
    sheet = Sheet(Plan(gpus=8192))
    line = sheet.fill("layout", lambda plan: [Row("ranks", plan.dp, "", 128)]).splitlines()[2]
    assert line.split() == ["layout", "ranks", "64", "128", "128", "+0.0%"]
    assert "  32  " in sheet.whole(Plan(gpus=4096))


def test_what_is_not_decided_is_open():
    """Kills a sheet that drops a decision, or prints the rows in the order of the call."""
    sheet = Sheet(Plan())
    sheet.fill("memory", rows_of(Row("GPU", 3, "GB")))
    sheet.fill("model", rows_of(Row("parameters", 1), Row("FLOP", 2e25)))
    lines = sheet.whole().splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["model", "FLOP", *DECISIONS[1:]]
    assert [line.endswith("open") for line in lines] == [False, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("limits", "printed"),
    [((0, 80), "up to 80"), ((1, 4000), "1 to 4,000"), ((90, math.inf), "over 90"), (3.8e25, "3.8e+25"), (None, "")],
)
def test_what_is_published_is_printed_as_it_is(limits, printed):
    row = Row("what", 5, "", limits)
    assert row.beside(row)[55:66].strip() == printed


def test_the_sheet_fits_the_column_of_a_page():
    sheet = Sheet(Plan())
    for name in DECISIONS:
        sheet.fill(name, rows_of(Row("w" * 22, 123_456, "million $", (1, 4000))))
    assert max(map(len, sheet.whole().splitlines())) <= len(HEAD) <= 88


def test_some_decisions_are_printed_alone():
    """Kills a sheet that names a decision on each of its rows, or prints one that was not asked for."""
    sheet = Sheet(Plan())
    sheet.fill("model", rows_of(Row("parameters", 405.9, "billion")))
    text = sheet.fill("batch", rows_of(Row("tokens", 16), Row("steps", 1)))
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["batch", "steps"]
    assert sheet.whole(None, "batch") == text
