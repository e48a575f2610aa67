"""Placed layouts: groups counted on a grid of ranks, and chapter 4's all-reduce."""

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
from solutions.ch07.layout import candidates, step_parts
from solutions.ch07.placed_groups import bandwidths, members_in_node, placement

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


@pytest.mark.parametrize(("per_node", "link"), [(1, 50 * GB), (64, 450 * GB)])
def test_where_all_links_agree_every_group_has_them(per_node, link):
    """A single node, or one GPU per node: placing the ranks changes nothing then."""
    for layout, job, inside in drawn():
        sizes = {"tp": layout.tp, "cp": layout.cp, "ep": layout.ep, "pp": layout.pp, "dp": layout.dp * layout.cp}
        found = bandwidths(layout, replace(job, gpus_per_node=per_node), inside)
        assert [found[axis] for axis, size in sizes.items() if size > 1] == pytest.approx(
            [link for size in sizes.values() if size > 1]
        ), layout


def test_a_group_is_between_one_port_and_a_link_of_its_node():
    """More ports never hurt; and some groups gain, so that the bounds are not empty."""
    rates = []
    for layout, job, inside in drawn():
        rates += bandwidths(layout, job, inside).values()
    assert all(50 * GB * (1 - 1e-9) <= rate <= 450 * GB * (1 + 1e-9) for rate in rates)
    assert any(60 * GB < rate < 440 * GB for rate in rates)


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


def test_bad_layouts_are_refused_in_either_order():
    with pytest.raises(ValueError, match="layout must take 64 GPUs, got 32"):
        step_parts(Layout(2, 1, 1, 16), JOBS[0], replicas_inside=True)
