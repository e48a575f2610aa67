"""Pictures of weights on their way: what they say of themselves, and what stands in them."""

from __future__ import annotations

import math

import pytest
from matplotlib.patches import Rectangle

from experiments.ch14.sync_runs import bucket_spans
from rankzero import figures
from solutions.ch14.weight_sync import bucketed_sync_time, reshard_plan, shard_boxes


def boxes(axes) -> list[Rectangle]:
    """All but the sheet."""
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)][1:]


def test_a_plan_is_drawn_box_by_box():
    source, target = shard_boxes((8, 6), "rows4"), shard_boxes((8, 6), "columns2x2")
    picture = figures.weight_sync.reshard((8, 6), source, reshard_plan(source, target), itemsize=2)
    held, *wanted = picture.axes
    assert len(boxes(held)) == 4
    assert [len(boxes(axes)) for axes in wanted] == [4] * 4
    kept = [patch for axes in wanted for patch in boxes(axes) if patch.get_alpha() == figures.weight_sync.KEPT]
    assert len(kept) == 4
    assert "rank 0 36 B, rank 1 36 B" in picture.alt
    assert "svg" in picture.html()


def test_replicas_are_drawn_once_and_empty_boxes_not_at_all():
    source, target = shard_boxes((5, 4), "rows2x4"), shard_boxes((5, 4), "columns8")
    picture = figures.weight_sync.reshard((5, 4), source, reshard_plan(source, target))
    shown = [axes for axes in picture.axes if axes.get_visible()]
    assert len(shown) == 9
    assert len(boxes(shown[0])) == 2
    assert [len(boxes(axes)) for axes in shown[1:]] == [2] * 4 + [0] * 4


def test_roads_have_points_and_lines():
    times = {"disk": {10**6: 0.01, 10**8: 0.5}, "shared": {10**6: 0.001, 10**8: 0.0011}}
    picture = figures.weight_sync.roads(times, {"disk": (0.005, 2e8), "shared": (0.001, math.inf)})
    assert len(picture.axes[0].lines) == 4
    assert "At 100 MB: disk 500 ms, shared 1.1 ms" in picture.alt


def test_buckets_end_when_the_formula_says():
    stages = (4e9, 1e9, 2e9)
    spans = bucket_spans(7.5e9, 2e9, stages)
    assert len(spans) == 12
    assert max(span.end for span in spans) == pytest.approx(bucketed_sync_time(7.5e9, 2e9, stages))
    picture = figures.weight_sync.buckets(spans, ("gather", "send", "broadcast"))
    assert len(picture.axes[0].patches) == 12
    assert picture.alt.startswith("4 buckets pass gather, send, broadcast")
