"""The capstone's pictures in steps and its sheet: what they show is computed here by other means."""

from __future__ import annotations

import math

import pytest

from experiments.ch15 import layout_steps, plan_sheet, rename_steps, save_steps
from experiments.ch15.plan_sheet import DECISIONS, Row, sheet
from rankzero.explore import Box, Scene, frames
from rankzero.explore.scene import NARROW
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


# The sheet


def test_a_row_says_how_far_it_is_off():
    assert Row("model", "parameters", 110, "", 100).error == "+10.0%"
    assert Row("model", "parameters", 90, "", 100).error == "-10.0%"
    assert Row("model", "parameters", 90).error == ""
    assert [Row("memory", "GPU", value, "GB", (0, 80)).error for value in (80, 80.5)] == ["within", "outside"]


def test_what_is_not_decided_is_open():
    """Kills a sheet that drops a decision, or prints the rows in the order of the call."""
    text = sheet(Row("memory", "GPU", 3, "GB"), Row("model", "parameters", 1), Row("model", "FLOP", 2e25))
    lines = text.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["model", "FLOP", *DECISIONS[1:]]
    assert [line.endswith("open") for line in lines] == [False, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("limits", "printed"),
    [((0, 80), "up to 80"), ((1, 4000), "1 to 4,000"), ((90, math.inf), "over 90"), (3.8e25, "3.8e+25"), (None, "")],
)
def test_what_is_published_is_printed_as_it_is(limits, printed):
    row = str(Row("model", "what", 5, "", limits))
    assert row[45:62].strip() == printed


def test_the_sheet_fits_the_column_of_a_page():
    rows = [Row(name, "w" * 28, 123_456, "million $", (1, 4000)) for name in DECISIONS]
    assert max(map(len, sheet(*rows).splitlines())) <= 88
    assert len(plan_sheet.HEAD) <= 88


def test_an_earlier_decision_takes_one_line():
    """Kills a sheet that calls a decision open which has been made, and a line that is too long."""
    earlier = [Row("model", "parameters", 405.9, "billion"), *(Row("batch", "w" * 28, 1, "h") for _ in range(4))]
    lines = sheet(Row("layout", "ranks", 128), filled=earlier).splitlines()[2:]
    assert lines[0] == "model       parameters: 405.9 billion"
    assert lines[1].startswith("batch       wwww")
    assert lines[1].endswith("; ...")
    assert [line.split()[0] for line in lines] == list(DECISIONS)
    assert max(map(len, lines)) <= 88
