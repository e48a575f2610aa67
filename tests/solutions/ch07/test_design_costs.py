"""Placed layouts: groups counted on a grid of ranks, chapter 4's all-reduce, and the advisor's own model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, MIXTRAL_8X7B
from rankzero.facts.units import GB
from solutions.ch04.all_reduce_algorithms import hierarchical_all_reduce_time
from solutions.ch07.design_costs import bandwidths, members_in_node, placed_parts, placement
from solutions.ch07.layout import candidates, step_parts, step_time

JOBS = (Job(LLAMA3_70B, 64, 256, 4096), Job(MIXTRAL_8X7B, 32, 256, 4096), Job(LLAMA3_8B, 64, 32, 131_072))


def drawn(count: int = 40) -> Iterator[tuple[Layout, Job, bool]]:
    """Layouts of several jobs, in both orders of stages and replicas."""
    rng = Random(7)
    for job in JOBS:
        for layout in rng.sample(candidates(job), count):
            yield layout, job, rng.random() < 0.5


def group(sizes: dict[str, int], axes: tuple[str, ...]) -> np.ndarray:
    """Rank 0's group along ``axes``, cut out of the grid of all ranks."""
    grid = np.arange(int(np.prod(list(sizes.values())))).reshape(list(reversed(sizes.values())))
    return grid[tuple(slice(None) if axis in axes else 0 for axis in reversed(sizes))].ravel()


def test_members_are_those_that_a_grid_of_ranks_shows():
    """Kills a count that takes the axes in the wrong order or leaves out an axis between two others."""
    for layout, job, inside in drawn():
        sizes = placement(layout, inside)
        for axes in (("tp",), ("cp",), ("ep",), ("pp",), ("cp", "dp"), ("cp", "ep", "dp")):
            near = int((group(sizes, axes) < job.gpus_per_node).sum())
            assert members_in_node(sizes, axes, job.gpus_per_node) == near, (layout, axes)


@pytest.mark.parametrize("per_node", [1, 64])
def test_where_all_links_agree_the_time_is_the_advisors(per_node):
    """A single node, or one GPU per node: placing the ranks changes nothing then."""
    for layout, job, inside in drawn():
        one = replace(job, gpus_per_node=per_node)
        assert placed_parts(layout, one, inside) == pytest.approx(step_parts(layout, one), rel=1e-9), layout


def test_no_placed_layout_is_slower_than_with_a_port_for_each_group():
    """More ports never hurt; and some layouts gain, so that the bound is not empty."""
    gains = []
    for layout, job, _ in drawn():
        placed, plain = sum(placed_parts(layout, job).values()), step_time(layout, job)
        assert placed <= plain * (1 + 1e-9), layout
        gains.append(plain / placed)
    assert max(gains) > 1.1


@pytest.mark.parametrize(("tp", "near"), [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_gradients_take_the_time_of_an_all_reduce_in_two_levels(tp, near):
    job, ranks = JOBS[0], 64 // tp
    found = bandwidths(Layout(tp, 1, 1, ranks), job)["dp"]
    seconds = hierarchical_all_reduce_time(1 * GB, ranks // near, near, 450 * GB, 50 * GB)
    assert 2 * (ranks - 1) / ranks * GB / found == pytest.approx(seconds)


def test_an_all_to_all_waits_for_the_ranks_of_other_nodes():
    """16 ranks, 8 in each node: 8 of 16 parts through the port, 7 of 16 on NVLink meanwhile."""
    found = bandwidths(Layout(1, 1, 1, 32, ep=16), Job(replace(MIXTRAL_8X7B, experts=16), 32, 256, 4096))["ep"]
    assert 15 / 16 / found == pytest.approx(max(8 / 16 / (50 * GB), 7 / 16 / (450 * GB)))


def test_the_inner_axis_gets_the_node():
    """Eight stages and eight replicas: whichever comes first is on NVLink."""
    layout, job = Layout(1, 1, 8, 8), JOBS[0]
    stages, replicas = (bandwidths(layout, job, inside) for inside in (False, True))
    assert (stages["pp"], stages["dp"]) == pytest.approx((450 * GB, 50 * GB))
    assert (replicas["pp"], replicas["dp"]) == pytest.approx((50 * GB, 450 * GB))


def test_bad_layouts_are_refused_as_by_the_advisor():
    with pytest.raises(ValueError, match="layout must take 64 GPUs, got 32"):
        placed_parts(Layout(2, 1, 1, 16), JOBS[0])
