"""The prefix cache: what serving systems state, a flat model without a tree beside it, and its accounts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from autograder import bank
from autograder.marking import trusted
from solutions.ch09.radix_cache import RadixCache, RadixNode


def filled(*sequences: list[int], page_size: int = 1) -> RadixCache:
    """A cache where the slot of a token is ten times its number."""
    cache = RadixCache(page_size)
    for tokens in sequences:
        cache.insert(tokens, [10 * token for token in tokens])
    return cache


def size(cache: RadixCache) -> int:
    cache.check()
    return cache.evictable_size + cache.protected_size


# What SGLang's tests state for its own cache.
# github.com/sgl-project/sglang/blob/341ffe19c346fd8dbf184b2e19e5d5c996a0496d/
#   test/registered/radix_cache/test_radix_cache_unit.py


def test_insert_and_match_as_in_sglang():
    cache = RadixCache()
    assert cache.insert([1, 2, 3], [10, 20, 30]) == 0
    assert (size(cache), cache.evictable_size) == (3, 3)
    assert cache.match([1, 2, 3]) == (3, [10, 20, 30])
    assert cache.match([1, 2]) == (2, [10, 20])


def test_the_size_is_the_sum_as_in_sglang():
    assert size(RadixCache()) == 0
    assert size(filled([1, 2, 3])) == 3
    assert size(filled([1, 2, 3], [4, 5])) == 5


def test_a_lock_moves_tokens_from_one_account_to_the_other_as_in_sglang():
    cache = filled([1, 2, 3])
    handle = cache.lock([1, 2, 3])
    assert (cache.evictable_size, cache.protected_size) == (0, 3)
    cache.unlock(handle)
    assert (cache.evictable_size, cache.protected_size) == (3, 0)


def test_evictions_free_slots_as_in_sglang():
    cache = filled([1, 2], [3, 4])
    assert cache.evict(2) == [10, 20]
    assert size(cache) == 2


@pytest.mark.parametrize(("page", "length"), [(1, 5), (2, 5), (4, 6)])
def test_a_match_ends_with_a_page_as_in_sglang(page, length):
    cache = filled(list(range(length)), page_size=page)
    matched, slots = cache.match(range(length))
    assert matched == len(slots) == length // page * page > 0


@pytest.mark.parametrize("page", [1, 2])
def test_nodes_are_split_where_matches_end_as_in_sglang(page):
    long, branch = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 9, 10]
    cache = filled(long, branch, page_size=page)
    assert size(cache) == 10
    assert cache.match([1, 2, 3, 4, 999, 1000]) == (4, [10, 20, 30, 40])
    assert cache.match(long) == (8, [10 * token for token in long])
    assert cache.match([1, 2, 3, 4, 5, 6, 777, 888]) == (6, [10 * token for token in long[:6]])
    assert cache.match(branch) == (4, [10, 20, 90, 100])
    assert size(cache) == 10


# The rules, on small trees.


def test_the_oldest_leaf_goes_first_and_parents_after_their_children():
    cache = RadixCache()
    assert [cache.insert(row, row) for row in ([1, 2, 3, 4, 5], [1, 2, 3, 6, 7], [8, 9])] == [0, 3, 0]
    assert cache.match([1, 2, 3, 4, 9]) == (4, [1, 2, 3, 4])
    assert cache.evict(1) == [6, 7]
    assert cache.evict(3) == [8, 9, 5]
    assert size(cache) == 4


def test_a_lock_protects_the_whole_path():
    cache = RadixCache()
    assert [cache.insert(row, row) for row in ([1, 2, 3, 4], [1, 2, 5])] == [0, 2]
    assert cache.lock([1, 2, 3, 4]) == 0
    assert cache.evict(10) == [5]
    cache.unlock(0)
    assert cache.evict(1) == [3, 4]
    assert size(cache) == 2


def test_a_match_refreshes_its_path():
    cache = RadixCache()
    for row in ([1, 2, 3], [1, 2, 4], [5, 6]):
        cache.insert(row, row)
    cache.match([1, 2, 3])
    assert [cache.evict(1) for _ in range(4)] == [[4], [5, 6], [3], [1, 2]]


def test_edges_part_between_pages():
    cache = RadixCache(4)
    assert cache.insert(range(10), range(100, 110)) == 0
    assert cache.match(range(10)) == (8, list(range(100, 108)))
    assert cache.match(range(7)) == (4, list(range(100, 104)))
    assert cache.insert([*range(8), 50, 51, 52, 53], range(200, 212)) == 8
    assert size(cache) == 12


def test_what_grows_below_a_lock_is_not_locked():
    cache = RadixCache()
    cache.insert([1, 2], [1, 2])
    assert cache.lock([1, 2, 3]) == 0
    assert cache.insert([1, 2, 3, 4], [1, 2, 3, 4]) == 2
    assert (cache.evictable_size, cache.protected_size) == (2, 2)
    assert cache.evict(10) == [3, 4]
    cache.unlock(0)
    assert cache.evict(10) == [1, 2]


def test_a_handle_outlives_the_split_of_its_node():
    cache = RadixCache()
    cache.insert([1, 2, 3], [1, 2, 3])
    assert (cache.lock([1, 2, 3]), cache.lock([1])) == (0, 1)
    cache.unlock(0)
    assert cache.evict(5) == [2, 3]
    assert cache.match([1, 2, 3]) == (1, [1])


def test_of_two_leaves_of_one_time_the_older_goes_first():
    cache = RadixCache()
    cache.insert([1, 2], [1, 2])
    cache.insert([1, 3], [1, 3])
    assert cache.evict(1) == [2]


def test_the_slots_that_came_first_stay():
    cache = RadixCache()
    cache.insert([1, 2], [10, 11])
    assert cache.insert([1, 2, 3], [20, 21, 22]) == 2
    assert cache.match([1, 2, 3]) == (3, [10, 11, 22])


def test_nothing_is_cached_of_nothing():
    cache = RadixCache(4)
    assert cache.insert([1, 2, 3], [1, 2, 3]) == 0
    assert cache.match([]) == (0, [])
    cache.unlock(cache.lock([1, 2, 3]))
    assert (cache.evict(5), size(cache), cache.nodes()) == ([], 0, [])


def test_nodes_are_listed_as_a_picture_needs_them():
    cache = filled([1, 2, 3], [1, 2, 0], [0])
    cache.lock([1, 2, 3])
    assert cache.nodes() == [
        RadixNode(-1, (0,), (0,), 0, 3, 4),
        RadixNode(-1, (1, 2), (10, 20), 1, 4, 2),
        RadixNode(1, (0,), (0,), 0, 2, 3),
        RadixNode(1, (3,), (30,), 1, 4, 1),
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda cache: cache.insert([1, 2], [1]),
        lambda cache: cache.unlock(1),
        lambda cache: cache.unlock(-1),
    ],
)
def test_a_call_that_raises_changes_nothing(call):
    cache = filled([1, 2, 3])
    cache.lock([1])
    before = cache.nodes()
    with pytest.raises(ValueError, match="must be"):
        call(cache)
    assert cache.nodes() == before
    cache.unlock(0)
    with pytest.raises(ValueError, match="handle must be of a lock that holds, got 0"):
        cache.unlock(0)


# A flat model: every node is known by the tokens from the root to its end; there is no tree, only prefixes.


@dataclass
class End:
    touched: int
    born: int
    locks: int


class Flat:
    """The rules of the cache over two dictionaries: a page's slots by the prefix that it ends, and where nodes end."""

    def __init__(self, page: int) -> None:
        self.page, self.clock, self.born = page, 0, 0
        self.slots: dict[tuple[int, ...], list[int]] = {}
        self.ends: dict[tuple[int, ...], End] = {}
        self.locked: dict[int, tuple[int, ...]] = {}

    def pages(self, tokens) -> tuple[int, ...]:
        return tuple(tokens[: len(tokens) // self.page * self.page])

    def walk(self, tokens) -> tuple[int, ...]:
        """The longest cached prefix; ends on the way and the one that it is within are touched."""
        self.clock += 1
        key = self.pages(tokens)
        found = max((key[:n] for n in range(0, len(key) + 1, self.page) if not n or key[:n] in self.slots), key=len)
        for end, state in self.ends.items():
            if found[: len(end)] == end:
                state.touched = self.clock
        within = [end for end in self.ends if found and found == end[: len(found)] and found not in self.ends]
        if within:
            end = min(within, key=len)
            self.ends[end].touched = self.clock
            self.ends[found] = End(self.clock, self.next(), self.ends[end].locks)
        return found

    def next(self) -> int:
        self.born += 1
        return self.born

    def start(self, end: tuple[int, ...]) -> int:
        """Where the node that ends there begins."""
        return max(
            (len(other) for other in self.ends if len(other) < len(end) and end[: len(other)] == other), default=0
        )

    def insert(self, tokens, slots) -> int:
        found, key = self.walk(tokens), self.pages(tokens)
        for start in range(len(found), len(key), self.page):
            stop = start + self.page
            self.slots[key[:stop]] = list(slots[start:stop])
        if found != key:
            self.ends[key] = End(self.clock, self.next(), 0)
        return len(found)

    def match(self, tokens) -> tuple[int, list[int]]:
        found = self.walk(tokens)
        return len(found), [slot for end in self.cuts(found, 0) for slot in self.slots[end]]

    def cuts(self, key: tuple[int, ...], start: int) -> list[tuple[int, ...]]:
        """The prefixes of ``key`` that end its pages from ``start`` on."""
        return [key[:n] for n in range(start + self.page, len(key) + 1, self.page)]

    def lock(self, tokens) -> int:
        found = self.walk(tokens)
        handle = len(self.locked)
        self.locked[handle] = found
        self.count(found, 1)
        return handle

    def unlock(self, handle: int) -> None:
        self.count(self.locked[handle], -1)

    def count(self, found: tuple[int, ...], by: int) -> None:
        for end, state in self.ends.items():
            state.locks += by * (found[: len(end)] == end)

    def evict(self, count: int) -> list[int]:
        freed: list[int] = []
        while len(freed) < count:
            leaves = [
                (state.touched, state.born, end)
                for end, state in self.ends.items()
                if not state.locks and not any(len(o) > len(end) and o[: len(end)] == end for o in self.ends)
            ]
            if not leaves:
                break
            *_, end = min(leaves)
            freed += [slot for cut in self.cuts(end, self.start(end)) for slot in self.slots.pop(cut)]
            del self.ends[end]
        return freed

    def sizes(self) -> tuple[int, int]:
        sums = [0, 0]
        for end, state in self.ends.items():
            sums[state.locks > 0] += len(end) - self.start(end)
        return sums[0], sums[1]


TOKENS = st.lists(st.integers(1, 2), max_size=11)


class Traces(RuleBasedStateMachine):
    """Random calls over an alphabet of two letters, so that sequences often begin alike."""

    @initialize(page=st.integers(1, 3))
    def start(self, page):
        self.cache, self.flat = RadixCache(page), Flat(page)
        self.slot, self.held = 0, []

    @rule(tokens=TOKENS)
    def insert(self, tokens):
        slots = range(self.slot, self.slot + len(tokens))
        self.slot += len(tokens)
        assert self.cache.insert(tokens, slots) == self.flat.insert(tokens, slots)

    @rule(tokens=TOKENS)
    def match(self, tokens):
        assert self.cache.match(tokens) == self.flat.match(tokens)

    @rule(tokens=TOKENS)
    def lock(self, tokens):
        handle = self.cache.lock(tokens)
        assert handle == self.flat.lock(tokens)
        self.held.append(handle)

    @rule(which=st.integers(0, 5))
    def unlock(self, which):
        if self.held:
            handle = self.held.pop(which % len(self.held))
            self.cache.unlock(handle)
            self.flat.unlock(handle)

    @rule(count=st.integers(0, 9))
    def evict(self, count):
        freed = self.cache.evict(count)
        assert freed == self.flat.evict(count)
        assert len(freed) >= count or self.cache.evictable_size == 0

    @invariant()
    def accounts_agree(self):
        if hasattr(self, "cache"):
            self.cache.check()
            assert (self.cache.evictable_size, self.cache.protected_size) == self.flat.sizes()
            slots = [slot for node in self.cache.nodes() for slot in node.slots]
            assert sorted(slots) == sorted(slot for page in self.flat.slots.values() for slot in page)
            assert len(set(slots)) == len(slots)


TestTraces = Traces.TestCase
TestTraces.settings = settings(max_examples=200, stateful_step_count=15, deadline=None, derandomize=True)


@pytest.mark.proof(part="runs")
class TestManyTraces(Traces.TestCase):
    settings = settings(TestTraces.settings, max_examples=1000)


def _spoil_lock(cache: RadixCache) -> None:
    cache._root.children[(1,)].locks += 1


def _spoil_size(cache: RadixCache) -> None:
    cache._evictable += 1


def _spoil_slots(cache: RadixCache) -> None:
    cache._root.children[(1,)].slots = ()


def _spoil_place(cache: RadixCache) -> None:
    cache._root.children[(9,)] = cache._root.children.pop((1,))


@pytest.mark.parametrize("spoil", [_spoil_lock, _spoil_size, _spoil_slots, _spoil_place])
def test_check_finds_what_is_spoilt(spoil):
    cache = filled([1, 2, 3], [1, 2, 4])
    cache.check()
    spoil(cache)
    with pytest.raises(AssertionError):
        cache.check()


@pytest.mark.parametrize("key", range(5))
def test_the_flat_model_answers_the_hidden_cases(key):
    """A second program for every rule; a flat one has no tree to show or to check."""
    cases = [case for _, cases in bank.find("09-radix-cache").hidden(Random(key)) for case in cases]
    for case, outcome in zip(cases, trusted.run(bank.find("09-radix-cache"), RadixCache, cases), strict=True):
        flats = {"": Flat(*(case.args or (1,)))}
        for (path, arguments), value in zip(case.calls, outcome.value, strict=True):
            owner, _, name = path.rpartition(".")
            flat = flats.setdefault(owner, Flat(*(case.args or (1,))))
            if name in ("evictable_size", "protected_size"):
                assert value == flat.sizes()[name == "protected_size"]
            elif name not in ("nodes", "check") and not (isinstance(value, tuple) and value[0] == "raises"):
                assert getattr(flat, name)(*arguments) == value
