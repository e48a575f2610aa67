"""Three roads for the weights of a training that goes on: the same training, and every byte of it arrives."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.ch12.toy_models import reference
from experiments.ch14.exchange_runs import ROADS, in_turns
from experiments.ch14.lag_runs import DECOUPLED, flat
from rankzero.world import shared_weights

pytestmark = pytest.mark.xdist_group("rlhf runs")  # one process, which trains the reference once

UPDATES = 2
SHORT = replace(DECOUPLED, settings=replace(DECOUPLED.settings, responses=8))


@pytest.fixture(scope="module")
def folders():
    """The folders of the shared weights that this module's runs have made."""
    create, made = shared_weights.create, []

    @contextlib.contextmanager
    def noted(nbytes):
        with create(nbytes) as address:
            made.append(Path(address.folder))
            yield address

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_weights, "create", noted)
        yield made


@pytest.fixture(scope="module")
def runs(folders):
    model = reference()
    return flat(model).nbytes, {road: in_turns(model, road, UPDATES, SHORT) for road in ROADS}


@pytest.mark.proof(part="runs")
def test_the_road_changes_nothing_but_time(runs):
    """Kills: weights that are torn, stale, or not loaded. Each batch is written by the weights of the update before."""
    _, found = runs
    assert len({run.judges for run in found.values()}) == 1
    assert all(len(set(run.judges)) > 1 and len(run.exchanges) == UPDATES for run in found.values())
    assert all(exchange.seconds > 0 for run in found.values() for exchange in run.exchanges)


@pytest.mark.proof(part="runs")
def test_bytes(runs):
    """Slots and buckets carry the weights and nothing else; a file has a frame. The log has the broadcast's bytes."""
    size, found = runs
    assert {exchange.bytes for exchange in found["shared"].exchanges} == {size}
    assert {exchange.bytes for exchange in found["broadcast"].exchanges} == {size}
    assert found["broadcast"].broadcast_bytes == UPDATES * size
    assert found["disk"].broadcast_bytes == found["shared"].broadcast_bytes == 0
    assert all(size < exchange.bytes < 2 * size for exchange in found["disk"].exchanges)


@pytest.mark.proof(part="runs")
def test_nothing_is_left(runs, folders):
    assert len(folders) == len(ROADS)
    assert not any(folder.exists() for folder in folders)
