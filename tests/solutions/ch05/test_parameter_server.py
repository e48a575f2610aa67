"""A parameter server against delayed SGD, and against a log of who pushed when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch05.batching import delayed_sgd
from solutions.ch05.parameter_server import ParameterServer


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_in_turn_follow_the_path_of_delayed_sgd(workers):
    """Every gradient is as many updates late as there are other workers, once each has pushed."""
    server, path, late = ParameterServer([2.0], 0.1), [2.0], []
    held = [server.pull()] * workers
    for turn in range(20):
        version, weights = held[turn % workers]
        late.append(server.push(version, [1.5 * weights[0]]))
        held[turn % workers] = server.pull()
        path.append(server.pull()[1][0])
    assert late == [min(turn, workers - 1) for turn in range(20)]
    assert path == pytest.approx(delayed_sgd(1.5, 0.1, workers - 1, 20, 2.0), rel=1e-12)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_staleness_counts_the_updates_of_others(order):
    """By the log alone: the pushes since the worker's own last one."""
    server, held = ParameterServer([0.0, 1.0], 0.5), [0] * 4
    for turn, worker in enumerate(order):
        others = turn - max((past + 1 for past in range(turn) if order[past] == worker), default=0)
        assert server.push(held[worker], [1.0, -2.0]) == others
        held[worker], weights = server.pull()
        assert held[worker] == turn + 1
        assert weights == pytest.approx([-0.5 * (turn + 1), 1 + turn + 1])


def test_what_is_too_late_changes_nothing():
    server = ParameterServer([1.0], 1.0, max_staleness=1)
    assert [server.push(0, [1.0]) for _ in range(4)] == [0, 1, 2, 2]
    assert server.pull() == (2, [-1.0])


def test_what_was_pulled_stays():
    server = ParameterServer([1.0], 1.0)
    _, pulled = server.pull()
    server.push(0, [3.0])
    assert pulled == [1.0]
    pulled.append(7.0)
    assert server.pull() == (1, [-2.0])
