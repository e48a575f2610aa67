"""Slots against a memory that remembers what was written; the gate against a count of what has started."""

from __future__ import annotations

from random import Random

import pytest

from solutions.ch14.rlhf_schedule import simulate_async
from solutions.ch14.weight_slots import StalenessGate, WeightSlots


def test_the_trace_of_the_page():
    slots = WeightSlots(2)
    assert slots.acquire() is None
    assert slots.begin_publish() == 0
    slots.commit(1)
    assert (slots.acquire(), slots.begin_publish(), slots.acquire()) == ((0, 1), 1, (0, 1))
    slots.commit(2)
    assert slots.begin_publish() is None
    slots.release(0)
    assert slots.begin_publish() is None
    slots.release(0)
    assert (slots.begin_publish(), slots.acquire()) == (0, (1, 2))


def test_a_third_slot_lets_the_writer_go_on():
    slots = WeightSlots(3)
    for version in (1, 2):
        slots.begin_publish()
        slots.commit(version)
        slots.acquire()
    assert slots.begin_publish() == 2


class Memory:
    """Slots of four words: written and read a word at a time, so that whoever shares a slot shows."""

    def __init__(self, slots: int, rng: Random) -> None:
        self.rules, self.rng = WeightSlots(slots), rng
        self.words = [[None] * 4 for _ in range(slots)]
        self.writer: tuple[int, int, int] | None = None  # slot, version, words written
        self.readers: list[tuple[int, int, list]] = []  # slot, version, words read
        self.seen: list[int] = []
        self.version = 0

    def write(self) -> None:
        if self.writer is None:
            slot = self.rules.begin_publish()
            self.writer = None if slot is None else (slot, self.version + 1, 0)
            return
        slot, version, done = self.writer
        if done < 4:
            self.words[slot][done] = version
            self.writer = (slot, version, done + 1)
            return
        self.rules.commit(version)
        self.version, self.writer = version, None

    def read(self) -> None:
        going = [one for one in self.readers if len(one[2]) < 4]
        if going and self.rng.random() < 0.7:
            slot, _, words = self.rng.choice(going)
            words.append(self.words[slot][len(words)])
        elif len(self.readers) < 3 and (got := self.rules.acquire()):
            self.seen.append(got[1])
            self.readers.append((*got, []))
        for slot, version, words in [one for one in self.readers if len(one[2]) == 4]:
            assert words == [version] * 4
            self.rules.release(slot)
            self.readers.remove((slot, version, words))


@pytest.mark.parametrize("slots", [2, 3, 5])
def test_no_schedule_tears_a_read(slots):
    """Kills: a slot at once written and pinned, a version that falls for a reader."""
    for seed in range(30):
        rng = Random(seed)
        memory = Memory(slots, rng)
        for _ in range(400):
            memory.write() if rng.random() < 0.5 else memory.read()
        assert memory.seen == sorted(memory.seen)
        assert memory.version > 2


def test_what_is_refused_changes_nothing():
    slots = WeightSlots()
    with pytest.raises(ValueError, match="no publish is open"):
        slots.commit(1)
    slots.begin_publish()
    slots.commit(4)
    slots.begin_publish()
    for version in (4, 3):
        with pytest.raises(ValueError, match=f"version must be above the latest one, 4, got {version}"):
            slots.commit(version)
    with pytest.raises(ValueError, match="slot 1 is being written"):
        slots.begin_publish()
    assert (slots.latest, slots.version) == (0, 4)
    slots.commit(5)
    assert (slots.latest, slots.version) == (1, 5)
    for slot in (0, 1):
        with pytest.raises(ValueError, match="not pinned"):
            slots.release(slot)


# The gate.


def test_the_gate_of_the_page():
    gate = StalenessGate(4, 1, 6)
    seen = [gate.capacity()]
    for name, times in (("submit", 6), ("accept", 4), ("submit", 2), ("reject", 1), ("advance", 1)):
        for _ in range(times):
            getattr(gate, name)()
        seen.append(gate.capacity())
    assert seen == [6, 0, 2, 0, 1, 3]


def test_the_figure_of_the_question():
    gate = StalenessGate(64, 4, 256)
    gate.version, gate.accepted, gate.running = 10, 900, 32
    assert gate.capacity() == 28


def runs(batch: int, ahead: int, seed: int, dropped: float) -> list[list[int]]:
    """Batches of the versions that their responses started under; they end in any order."""
    rng, gate, running = Random(seed), StalenessGate(batch, ahead, 3 * batch), []
    done, batches = list[int](), list[list[int]]()
    for _ in range(40 * batch):
        if gate.capacity() and rng.random() < 0.6:
            gate.submit()
            running.append(gate.version)
        elif running:
            version = running.pop(rng.randrange(len(running)))
            if rng.random() < dropped:
                gate.reject()
            else:
                gate.accept()
                done.append(version)
        if len(done) >= batch and rng.random() < 0.5:
            batches.append([done.pop(0) for _ in range(batch)])
            gate.advance()
        assert gate.accepted + gate.running <= (ahead + gate.version + 1) * batch
        assert gate.running <= 3 * batch
    return batches


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_of_zero_is_synchronous(seed):
    """Every batch is of the version that is trained, and rejected responses are made up for."""
    batches = runs(1 + seed % 5, 0, seed, 0.3)
    assert len(batches) > 3
    assert batches == [[version] * (1 + seed % 5) for version in range(len(batches))]


def test_one_response_may_be_older_than_the_bound():
    """The straggler of the page: four versions late under a bound of one."""
    run = simulate_async([9, *[1] * 11], 2, 2, 1.0, 1.0, 0.0, 1)
    assert max(age for step in run.steps for age in step[2]) == 4


def test_bad_calls_of_the_gate():
    gate = StalenessGate(1, 0, 4)
    for end in (gate.accept, gate.reject):
        with pytest.raises(ValueError, match="no response is running"):
            end()
    gate.submit()
    with pytest.raises(ValueError, match="no response may start: 1 are running, 0 were accepted"):
        gate.submit()
