"""The pipeline that the stepper of chapter 7 shows: the schedule of the chapter, its idle time, its memory."""

from __future__ import annotations

import re

import pytest

from experiments.ch07.pipeline_steps import gpipe_scene, moment, one_f_one_b_scene, played
from rankzero.explore import Arrow, Box, Scene, frames
from solutions.ch07.pipeline import bubble_fraction, peak_in_flight, pipeline_schedule

SHAPES = [(2, 3), (3, 4), (4, 8)]


def moments(ranks: int, microbatches: int) -> list:
    chart = played(ranks, microbatches)
    return [moment(chart, step) for step in range(round(chart.makespan) + 1)]


@pytest.mark.parametrize(("ranks", "microbatches"), SHAPES)
def test_each_rank_does_its_order_and_nothing_else(ranks, microbatches):
    """Kills a unit of time that shows two operations, none, or one that is over."""
    assert len(moments(ranks, microbatches)) == 1 + 2 * (microbatches + ranks - 1)
    for rank, order in enumerate(pipeline_schedule("1f1b", ranks, microbatches)):
        done = [now.doing[rank] for now in moments(ranks, microbatches) if now.doing[rank]]
        assert done == [op.removeprefix(str(rank)) for op in order]


@pytest.mark.parametrize(("ranks", "microbatches"), SHAPES)
def test_the_end_has_the_idle_time_of_the_formula(ranks, microbatches):
    all_of_them = moments(ranks, microbatches)
    total = ranks * (len(all_of_them) - 1)
    assert all_of_them[-1].idle / total == pytest.approx(bubble_fraction(ranks, microbatches))
    assert all_of_them[-1].idle == sum(op == "" for now in all_of_them[1:] for op in now.doing)


@pytest.mark.parametrize(("ranks", "microbatches"), SHAPES)
def test_what_is_held_peaks_where_the_chapter_says(ranks, microbatches):
    """The most that a rank holds is what is counted from its order: p - i, and no more."""
    chart, all_of_them = played(ranks, microbatches), moments(ranks, microbatches)
    for rank, order in enumerate(chart.orders):
        assert max(now.held[rank] for now in all_of_them) == peak_in_flight(order) == min(microbatches, ranks - rank)
    assert all_of_them[0].held == (0,) * ranks


@pytest.mark.parametrize(("ranks", "microbatches"), SHAPES)
def test_every_message_is_sent_once_and_before_it_is_used(ranks, microbatches):
    sent = [message for now in moments(ranks, microbatches) for message in now.sent]
    assert len(sent) == 2 * (ranks - 1) * microbatches
    for rank in range(ranks - 1):
        assert sent.count((rank, rank + 1)) == sent.count((rank + 1, rank)) == microbatches
    arrived = [0] * ranks
    for now in moments(ranks, microbatches)[1:]:
        for rank, to in now.sent:
            arrived[to] += to > rank
        for rank, op in enumerate(now.doing[1:], 1):
            assert not op.startswith("F") or arrived[rank] > int(op[1:])


def boxes(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box)]


def test_the_pictures_of_the_page_show_it():
    """Bars that have begun, those of the last two units with a strong outline, arrows, the read-out, all on a phone."""
    scenes, all_moments = frames(one_f_one_b_scene, 6), moments(3, 4)
    for step, scene in enumerate(scenes):
        now, new = all_moments[2 * step], all_moments[max(1, 2 * step - 1) : 2 * step + 1]
        ops = [op for one in new for op in one.doing if op]
        assert sorted(box.text for box in boxes(scene) if box.strong) == sorted(ops)
        assert sum(isinstance(mark, Arrow) for mark in scene.marks) == sum(len(one.sent) for one in new)
        assert f"idle so far: {now.idle} of " in scene.svg()
        assert [int(held) for held in re.findall(r"holds (\d+)", scene.alt)] == list(now.held)
    assert len(boxes(scenes[-1])) == 2 * 3 * 4
    assert len({(box.x, box.y) for box in boxes(scenes[-1])}) == 24
    assert "idle so far: 12 of 36 units (33%)" in scenes[-1].svg()


def test_the_sentences_say_who_works_who_waits_and_what_is_held():
    scenes = frames(one_f_one_b_scene, 6)
    assert scenes[1].says == (
        "From 0 to 2: rank 0 runs F0 and F1; rank 1 waits for activation 0, then runs F0; "
        "rank 2 waits for activation 0. In the last unit they hold 2, 1 and 0 micro-batches."
    )
    assert max(moment(played(), 2 * step).held[0] for step in range(7)) == 3
    assert "rank 2 is done" in scenes[6].says


def test_gpipe_is_as_long_and_holds_everything():
    """Kills a second stepper that shows the schedule of the first one. A step is two units of time."""
    scenes, chart = frames(gpipe_scene, 6), played(schedule="gpipe")
    assert chart.makespan == played().makespan == 12
    assert "idle so far: 12 of 36 units (33%)" in scenes[-1].svg()
    assert max(moment(chart, step).held[0] for step in range(13)) == 4
    assert scenes[1].says == (
        "From 0 to 2: rank 0 runs F0 and F1; rank 1 waits for activation 0, then runs F0; "
        "rank 2 waits for activation 0. In the last unit they hold 2, 1 and 0 micro-batches."
    )
    assert scenes[3].says == (
        "From 4 to 6: rank 0 waits for gradient 0; rank 1 runs F3, then waits for gradient 0; rank 2 runs F2 and F3. "
        "In the last unit they hold 4, 4 and 4 micro-batches."
    )
    assert scenes[4].says == (
        "From 6 to 8: rank 0 waits for gradient 0; rank 1 waits for gradient 0, then runs B0; rank 2 runs B0 and B1. "
        "In the last unit they hold 4, 4 and 3 micro-batches."
    )
    assert scenes[6].says == (
        "From 10 to 12: rank 0 runs B2 and B3; rank 1 runs B3 and is done; rank 2 is done. "
        "In the last unit they hold 1, 0 and 0 micro-batches."
    )


def test_gpipe_draws_every_message_and_outlines_both_units():
    """Kills a picture of two units of time that shows the messages and operations of the second one alone."""
    scenes, chart = frames(gpipe_scene, 6), played(schedule="gpipe")
    assert sum(isinstance(mark, Arrow) for scene in scenes for mark in scene.marks) == 2 * 2 * 4
    for step, scene in enumerate(scenes[1:], 1):
        new = [moment(chart, time) for time in (2 * step - 1, 2 * step)]
        assert sum(isinstance(mark, Arrow) for mark in scene.marks) == sum(len(now.sent) for now in new)
        ops = [op for now in new for op in now.doing if op]
        assert sorted(box.text for box in boxes(scene) if box.strong) == sorted(ops)
