"""Three rules for shared memory between real processes: one tears, two do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.ch14 import torn_runs
from experiments.ch14.torn_runs import CheckedSlots, Race, Use, race
from rankzero.world import shared_weights
from solutions.ch14.weight_slots import WeightSlots


@pytest.fixture
def folders(monkeypatch):
    """Where the shared weights were."""
    found = []
    right = shared_weights._folder

    def noted(size):
        made = right(size)
        return _Noted(made, found)

    monkeypatch.setattr(shared_weights, "_folder", noted)
    return found


class _Noted:
    def __init__(self, made, found):
        self.made, self.found = made, found

    def __enter__(self):
        self.found.append(self.made.__enter__())
        return self.found[-1]

    def __exit__(self, *reason):
        return self.made.__exit__(*reason)


def test_one_buffer_is_torn():
    """Kills a reader that never looks, and a writer that never writes."""
    run = race("single", 1.0)
    assert run.torn > 0
    assert run.versions > 1
    assert run.backward == 0


def test_two_slots_that_are_checked_are_not_torn():
    run = race("versioned", 0.5)
    assert run.torn == 0
    assert run.reads + run.count("retried") > 0


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("slots_class", [WeightSlots, lambda slots: WeightSlots(slots)])
def test_pinned_slots_are_not_torn_and_never_go_back(slots_class, folders):
    run = race("pinned", 0.5, slots_class=slots_class)
    assert (run.torn, run.backward, run.count("retried")) == (0, 0, 0)
    assert run.reads > 0
    assert run.versions > 0
    assert [Path(folder).exists() for folder in folders] == [False]


@pytest.mark.proof(part="runs")
def test_a_rule_that_ignores_pins_is_caught():
    """The race finds a wrong class: the check is not one that cannot fail."""

    class Overwrites(WeightSlots):
        def begin_publish(self):
            self._open = 0
            return 0

    assert race("pinned", 1.0, slots_class=Overwrites).torn > 0


def test_checked_slots_notice_what_was_written_meanwhile():
    slots = CheckedSlots()
    assert slots.acquire() is None
    for version in (1, 2):
        slots.begin_publish()
        slots.commit(version)
    assert (slots.acquire(), slots.intact(0, 1), slots.intact(1, 2)) == ((1, 2), True, True)
    assert slots.begin_publish() == 0
    assert (slots.intact(0, 1), slots.intact(1, 2)) == (False, True)


def test_a_tensor_needs_its_owner():
    assert torn_runs.handed_over(waits=True) == "[0, 1, 2, 3]"
    assert torn_runs.handed_over(waits=False).endswith("Error")


def test_counts():
    fates = [("writer", 3, "written"), ("reader", 3, "whole"), ("reader", 2, "torn"), ("reader", 4, "retried")]
    run = Race("single", tuple(Use(who, 0, version, 0.0, 1.0, fate) for who, version, fate in fates))
    assert (run.reads, run.torn, run.versions, run.backward) == (2, 1, 1, 1)


def test_rows_of_the_picture():
    uses = tuple(Use("writer", slot, slot, float(slot), slot + 0.5, "written") for slot in (0, 1, 0))
    rows = torn_runs.rows(Race("pinned", uses), 0.9)
    assert rows == {"writer, slot 0": [("written", 0.0, 0.5), ("written", 0.0, 0.5)], "reader, slot 0": []}
