"""The two-level schedules of chapter 4's design: every one ends in the sum, and its time is that of a closed form."""

from __future__ import annotations

import pytest

from rankzero.facts.units import GB, KB, MB, us
from rankzero.sim.network import Network
from solutions.ch04.all_reduce_algorithms import all_reduce_time, hierarchical_all_reduce_time
from solutions.ch04.schedules import complete, simulate_two_levels, two_level_schedule

CLUSTER = Network(450 * GB, 1 * us, ranks_per_node=4, inter_bandwidth=50 * GB, inter_latency=5 * us)


@pytest.mark.parametrize("group", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(("trees", "chunks"), [(0, 1), (2, 1), (2, 2), (2, 5)])
def test_every_schedule_ends_in_the_sum(group, trees, chunks):
    assert complete(simulate_two_levels(64 * KB, 16, CLUSTER, group, trees, chunks))


def test_groups_that_are_nodes_take_the_time_of_the_closed_form():
    """Kills a share that is not S/g, and a phase that is left out."""
    run = simulate_two_levels(480 * MB, 48, CLUSTER, group=4, trees=0)
    form = hierarchical_all_reduce_time(480 * MB, 12, 4, 450 * GB, 50 * GB, 1 * us, 5 * us)
    assert run.seconds == pytest.approx(form, rel=1e-6)


@pytest.mark.parametrize("group", [1, 16])
def test_one_level_is_a_ring(group):
    """With groups of one everything is across, with one group everything is inside."""
    run = simulate_two_levels(16 * MB, 16, Network(50 * GB, 5 * us), group, trees=0)
    assert run.seconds == pytest.approx(all_reduce_time("ring", 16 * MB, 16, 50 * GB, 5 * us))


def test_arguments_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="group must divide 16 ranks, got 3"):
        two_level_schedule(16, 3, 0)
    with pytest.raises(ValueError, match="trees must be one of 0, 2, got 1"):
        two_level_schedule(16, 4, 1)
