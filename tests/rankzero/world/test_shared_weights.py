"""Weights in shared memory: what one process writes another reads, who waits is woken, and nothing is left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankzero import world
from rankzero.world import shared_weights
from rankzero.world.shared_weights import Address, SharedWeights
from solutions.ch14.weight_slots import WeightSlots


def box_of(address: Address, process: int = 0, slots: int = 2) -> SharedWeights:
    return SharedWeights(address, process, WeightSlots(slots))


def fill(byte: int):
    def write(memory: memoryview) -> None:
        memory[:] = bytes([byte]) * len(memory)

    return write


def test_two_sides_in_one_process():
    with shared_weights.create(16) as address:
        writer, reader = box_of(address, 0), box_of(address, 1)
        assert reader.look("version") is None
        assert writer.publish(3, fill(7)) == 0
        with reader.reading() as (memory, version):
            assert (bytes(memory), version) == (bytes([7]) * 16, 3)
            assert writer.publish(4, fill(9)) == 1
            assert writer.ask("begin_publish") is None
            assert bytes(memory) == bytes([7]) * 16
        assert writer.ask("begin_publish") == 0
        assert (reader.newer(3), reader.newer(None)) == (4, 4)
        del memory
        writer.close()
        reader.close()


def _exchange(address: Address, versions: int) -> list[tuple[int, bytes]]:
    import torch.distributed as dist

    box = box_of(address, dist.get_rank())
    if box.process == 0:
        for version in range(1, versions + 1):
            box.publish(version, fill(version))
        return []
    seen: list[tuple[int, bytes]] = []
    while not seen or seen[-1][0] < versions:
        box.newer(seen[-1][0] if seen else None)
        with box.reading() as (memory, version):
            seen.append((version, bytes(memory)))
    return seen


def test_two_processes_wait_for_each_other():
    """A lost notification would hang one of them; both waits occur: for a slot and for a version."""
    with shared_weights.create(1 << 12) as address:
        seen = world.run(_exchange, address, 60, ranks=2, timeout=250).values[1]
    versions = [version for version, _ in seen]
    assert versions == sorted(set(versions))
    assert versions[-1] == 60
    assert all(memory == bytes([version]) * (1 << 12) for version, memory in seen)


def test_nothing_is_left_behind():
    with shared_weights.create(100) as address:
        assert Path(address.folder).is_dir()
    assert not Path(address.folder).exists()
    with pytest.raises(RuntimeError, match="on purpose"), shared_weights.create(100) as address:
        raise RuntimeError("on purpose")
    assert not Path(address.folder).exists()


def _dies(address: Address) -> None:
    box = box_of(address)
    box.ask("begin_publish")
    os._exit(1)


def test_a_process_that_dies_leaves_nothing_either():
    with pytest.raises(world.WorldError), shared_weights.create(100) as address:
        world.run(_dies, address, ranks=1, timeout=250)
    assert not Path(address.folder).exists()


def test_a_call_that_raises_changes_nothing():
    class Careless(WeightSlots):
        def commit(self, version: int) -> None:
            self.version = -1
            raise ValueError("after a change")

    with shared_weights.create(8) as address:
        first, second = SharedWeights(address, 0, Careless()), SharedWeights(address, 1, Careless())
        with pytest.raises(ValueError, match="after a change"):
            second.ask("commit", 1)
        assert second.look("version") is None
        first.ask("begin_publish")
        with pytest.raises(ValueError, match="after a change"):
            first.ask("commit", 1)
        assert second.look("version") is first.look("version") is None


def test_rules_may_be_anybodys():
    """Attributes of any plain kind travel, those of a class that nobody can import too."""

    class Mine(WeightSlots):
        def __init__(self) -> None:
            super().__init__(2)
            self.history: list[tuple[str, int]] = []

        def commit(self, version: int) -> None:
            super().commit(version)
            self.history.append(("commit", version))

    with shared_weights.create(8) as address:
        first, second = SharedWeights(address, 0, Mine()), SharedWeights(address, 1, Mine())
        first.publish(1, fill(1))
        second.publish(2, fill(2))
        assert first.look("history") == [("commit", 1), ("commit", 2)]


def test_rules_that_grow_without_bound():
    with shared_weights.create(8) as address:
        box = box_of(address)
        with pytest.raises(ValueError, match="more than 65528"):
            box.ask("__setattr__", "notes", "x" * shared_weights.HEADER)
        assert box.ask("begin_publish") == 0


@pytest.mark.parametrize(("arguments", "named"), [((0,), "nbytes"), ((8, 0), "slots"), ((8, 2, 0), "processes")])
def test_bad_sizes(arguments, named):
    with pytest.raises(ValueError, match=f"{named} must be an integer >= 1, got 0"), shared_weights.create(*arguments):
        pass


def test_a_process_that_is_not_there():
    with shared_weights.create(8) as address, pytest.raises(ValueError, match="process must be from 0 to 1, got 2"):
        box_of(address, 2)
