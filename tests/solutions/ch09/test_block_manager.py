"""Paged memory: what serving systems state, a pool of real tokens beside it, and programs that are nearly right."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from autograder import bank
from autograder.items import Case
from autograder.marking import trusted
from solutions.ch09.block_manager import BlockManager, OutOfBlocks
from solutions.ch09.block_pool import debug_free
from tests.wrong_programs import wrong

WRITES_SHARED = wrong("09-block-manager", "must be copied before it is written")
KEEPS_REFERENCE = wrong("09-block-manager", "The sequence that got a copy")

NAMES = st.sampled_from("abcdef")


# What vLLM's tests state for its own manager (block 0 is reserved there, so its numbers are larger by one).
# github.com/vllm-project/vllm/blob/717aebb008de838f4bbbb84a66d254f0f6c8c9bb/tests/v1/core/test_prefix_caching.py


def test_a_shared_head_is_freed_last_as_in_vllm_test_prefill():
    manager = BlockManager(10, 16)
    assert manager.allocate("req0", 55) == [0, 1, 2, 3]
    assert manager.fork("req0", "req1", 48) == [0, 1, 2]
    assert manager.append("req1", 5) == []
    assert manager.table("req1") == [0, 1, 2, 4]
    assert [manager.references(block) for block in (0, 1, 2)] == [2, 2, 2]
    assert len(manager.free_queue()) == 5
    manager.free("req0")
    manager.free("req1")
    assert [block + 1 for block in manager.free_queue()] == [6, 7, 8, 9, 10, 4, 5, 3, 2, 1]


def test_whole_tables_come_back_from_the_tail_as_in_vllm_test_evict():
    manager = BlockManager(10, 16)
    assert len(manager.allocate("req0", 5 * 16 + 7)) == 6
    assert len(manager.allocate("req1", 3 * 16)) == 3
    assert len(manager.free_queue()) == 1
    manager.free("req0")
    manager.free("req1")
    assert [block + 1 for block in manager.free_queue()] == [10, 6, 5, 4, 3, 2, 1, 9, 8, 7]


def test_a_decoding_sequence_takes_a_block_only_when_its_last_is_full_as_in_vllm_test_decode():
    manager = BlockManager(10, 16)
    assert manager.allocate("req0", 55) == [0, 1, 2, 3]
    manager.append("req0", 4)
    assert len(manager.table("req0")) == 4
    manager.append("req0", 19)
    assert len(manager.table("req0")) == 5


def test_a_shared_block_is_copied_by_the_first_who_writes_it():
    """The copy on write of the PagedAttention paper, figure 8: two samples of one prompt."""
    manager = BlockManager(4, 4)
    assert manager.allocate("p", 6) == [0, 1]
    assert manager.fork("p", "c") == [0, 1]
    assert manager.append("c") == [(1, 2)]
    assert manager.table("c") == [0, 2]
    assert manager.append("p") == []
    assert manager.append("c", 2) == []
    assert manager.table("c") == [0, 2, 3]
    with pytest.raises(OutOfBlocks, match=r"^need 1 blocks, 0 free$"):
        manager.append("p", 2)
    assert (manager.table("p"), manager.length("p")) == ([0, 1], 7)
    manager.free("c")
    assert manager.free_queue() == [3, 2]
    manager.free("p")
    assert manager.free_queue() == [3, 2, 1, 0]


# Edges.


def test_no_tokens_take_no_block():
    manager = BlockManager(2, 4)
    assert manager.allocate("x", 0) == []
    assert manager.append("x", 4) == []
    assert manager.table("x") == [0]
    assert manager.append("x") == []
    assert manager.table("x") == [0, 1]
    assert manager.can_allocate(0)
    assert not manager.can_allocate(1)


def test_appending_nothing_copies_nothing():
    manager = BlockManager(4, 4)
    manager.allocate("p", 6)
    manager.fork("p", "c")
    assert manager.append("c", 0) == []
    assert manager.table("c") == [0, 1]


def test_the_child_of_a_parent_that_ended_writes_in_place():
    manager = BlockManager(4, 4)
    manager.allocate("p", 8)
    manager.fork("p", "c", 6)
    manager.free("p")
    assert manager.append("c", 2) == []
    assert (manager.table("c"), manager.length("c")) == ([0, 1], 8)


def test_a_copy_needs_a_block_too():
    manager = BlockManager(2, 4)
    manager.allocate("p", 7)
    manager.fork("p", "c")
    with pytest.raises(OutOfBlocks, match="need 1 blocks, 0 free"):
        manager.append("c")
    assert (manager.table("c"), manager.length("c"), manager.references(1)) == ([0, 1], 7, 2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda manager: manager.append("new"), KeyError),
        (lambda manager: manager.fork("new", "b"), KeyError),
        (lambda manager: manager.free("new"), KeyError),
        (lambda manager: manager.table("new"), KeyError),
        (lambda manager: manager.length("new"), KeyError),
        (lambda manager: manager.allocate("a", 1), ValueError),
        (lambda manager: manager.allocate("b", 25), OutOfBlocks),
        (lambda manager: manager.append("a", 28), OutOfBlocks),
        (lambda manager: manager.fork("a", "a"), ValueError),
        (lambda manager: manager.fork("a", "b", 6), ValueError),
    ],
)
def test_a_call_that_raises_changes_nothing(call, error):
    manager = BlockManager(8, 4)
    manager.allocate("a", 5)
    with pytest.raises(error):
        call(manager)
    assert (manager.table("a"), manager.length("a"), manager.free_queue()) == ([0, 1], 5, [2, 3, 4, 5, 6, 7])
    manager.check()


def test_answers_are_copies():
    manager = BlockManager(4, 4)
    manager.allocate("a", 8).append(9)
    manager.table("a").clear()
    manager.free_queue().clear()
    assert (manager.table("a"), manager.free_queue()) == ([0, 1], [2, 3])


def test_the_error_can_be_reached_from_the_class():
    """An engine gets the class alone, and must know what to catch."""
    assert BlockManager.OutOfBlocks is OutOfBlocks
    assert issubclass(OutOfBlocks, RuntimeError)


# A pool of real tokens beside the manager: a sequence must read back exactly what it wrote.


class Pool:
    """Blocks of tokens; a program writes where the manager says, and makes the copies that it reports."""

    def __init__(self, manager, blocks: int, size: int) -> None:
        self.manager, self.size = manager, size
        self.blocks: list[list[object]] = [[None] * size for _ in range(blocks)]
        self.written: dict[str, list[object]] = {}
        self.stamp = 0

    def write(self, name: str, tokens: int) -> None:
        """Put new tokens, all different, behind those of ``name``."""
        mine, table = self.written[name], self.manager.table(name)
        for place in range(len(mine), len(mine) + tokens):
            self.stamp += 1
            mine.append(self.stamp)
            self.blocks[table[place // self.size]][place % self.size] = self.stamp

    def allocate(self, name: str, tokens: int) -> None:
        table = self.manager.allocate(name, tokens)
        assert table == self.manager.table(name)
        self.written[name] = []
        self.write(name, tokens)

    def append(self, name: str, tokens: int) -> None:
        for source, destination in self.manager.append(name, tokens):
            self.blocks[destination] = list(self.blocks[source])
        self.write(name, tokens)

    def fork(self, parent: str, child: str, tokens: int) -> None:
        assert self.manager.fork(parent, child, tokens) == self.manager.table(child)
        self.written[child] = self.written[parent][:tokens]

    def free(self, name: str) -> None:
        self.manager.free(name)
        del self.written[name]

    def compare(self) -> None:
        """Every sequence reads its own tokens, and the free blocks are those that no table holds."""
        held = set()
        for name, tokens in self.written.items():
            table = self.manager.table(name)
            held |= set(table)
            assert [self.blocks[table[at // self.size]][at % self.size] for at in range(len(tokens))] == tokens
            assert self.manager.length(name) == len(tokens)
        assert sorted(self.manager.free_queue()) == sorted(set(range(len(self.blocks))) - held)


class Traces(RuleBasedStateMachine):
    """Random calls on a small pool: many are refused, and then nothing may have changed."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = BlockManager(9, 4)
        self.pool = Pool(self.manager, 9, 4)

    @rule(name=NAMES, tokens=st.integers(0, 24))
    def allocate(self, name, tokens):
        known, fits = name in self.pool.written, self.manager.can_allocate(tokens)
        try:
            self.pool.allocate(name, tokens)
            assert fits
            assert not known
        except ValueError:
            assert known
        except OutOfBlocks:
            assert not fits

    @rule(name=NAMES, tokens=st.integers(0, 9))
    def append(self, name, tokens):
        if name in self.pool.written:
            free = len(self.manager.free_queue())
            try:
                self.pool.append(name, tokens)
            except OutOfBlocks:
                assert -(-tokens // 4) + 1 > free

    @rule(parent=NAMES, child=NAMES, share=st.floats(0, 1))
    def fork(self, parent, child, share):
        if parent in self.pool.written and child not in self.pool.written:
            self.pool.fork(parent, child, round(share * self.manager.length(parent)))

    @rule(name=NAMES)
    def free(self, name):
        if name in self.pool.written:
            self.pool.free(name)

    @invariant()
    def nothing_is_lost(self):
        self.manager.check()
        self.pool.compare()


TestTraces = Traces.TestCase
TestTraces.settings = settings(max_examples=200, stateful_step_count=15, deadline=None, derandomize=True)


@pytest.mark.proof(part="runs")
class TestManyTraces(Traces.TestCase):
    settings = settings(TestTraces.settings, max_examples=1000)


@pytest.mark.parametrize("program", [WRITES_SHARED, KEEPS_REFERENCE])
def test_the_pool_sees_what_wrong_programs_do(program):
    """Kills: a shadow that is never compared."""
    pool = Pool(program(9, 4), 9, 4)
    pool.allocate("a", 6)
    pool.fork("a", "b", 6)
    pool.append("b", 1)
    pool.append("a", 1)
    pool.free("a")
    with pytest.raises(AssertionError):
        pool.compare()


@pytest.mark.parametrize("spoil", ["_counts[0] += 1", "_free.append(0)", "_free.pop()", "_tables['a'].pop()"])
def test_check_finds_what_is_spoilt(spoil):
    manager = BlockManager(4, 4)
    manager.allocate("a", 6)
    manager.check()
    exec(f"manager.{spoil}", {"manager": manager})
    with pytest.raises(AssertionError):
        manager.check()


# The debug exercise, and the bank.


@pytest.mark.parametrize("key", range(20))
def test_the_mended_free_does_what_the_manager_does(key):
    rng = Random(key)
    manager = BlockManager(40, 4)
    names = "abcde"
    manager.allocate("a", rng.randint(1, 30))
    for name in names[1:]:
        manager.fork(rng.choice(names[: names.index(name)]), name)
        manager.append(name, rng.randint(0, 20))
    tables, queue = {name: manager.table(name) for name in names}, manager.free_queue()
    finished = rng.sample(names, rng.randint(0, 5))
    for name in finished:
        manager.free(name)
    assert debug_free(tables, queue, finished) == manager.free_queue()


def test_hidden_traces_hold_forks_copies_and_refusals():
    """Kills: a generator whose traces never get to what is hard."""
    seen: set[object] = set()
    for key in range(5):
        cases = [case for _, cases in bank.find("09-block-manager").hidden(Random(key)) for case in cases]
        for case, outcome in zip(cases, trusted.run(bank.find("09-block-manager"), BlockManager, cases), strict=True):
            if case.raises is None:
                seen |= {_kind(name, value) for (name, _), value in zip(case.calls, outcome.value, strict=True)}
    assert {("append", "copies"), ("append", "raises"), ("allocate", "raises"), ("fork", "shares")} <= seen


def _kind(name: str, value: object) -> tuple[str, str]:
    if isinstance(value, tuple):
        return name, "raises"
    return name, "nothing" if not value else {"append": "copies", "fork": "shares"}.get(name, "something")


def test_a_case_of_the_page_is_vllms():
    first = bank.find("09-block-manager").cases[0]
    assert isinstance(first, Case)
    (outcome,) = trusted.run(bank.find("09-block-manager"), BlockManager, [first])
    assert outcome.value[7] == [5, 6, 7, 8, 9, 3, 4, 2, 1, 0]
