"""Chapter 9, prefix reuse: the radix cache as a class."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch09.wrong_radix_caches import RADIX_CACHE
from autograder.items import Build, Case, Group, lazily

reference = lazily("solutions.ch09.radix_cache")

Call = tuple[str, tuple[Any, ...] | None]

_SIZES: tuple[Call, ...] = (("evictable_size", None), ("protected_size", None))


def _insert(tokens: Sequence[int], slots: Sequence[int] | None = None) -> Call:
    return "insert", (list(tokens), list(tokens if slots is None else slots))


def _match(*tokens: int) -> Call:
    return "match", (list(tokens),)


def _lock(*tokens: int) -> Call:
    return "lock", (list(tokens),)


def _evict(count: int) -> Call:
    return "evict", (count,)


def _unlock(handle: int) -> Call:
    return "unlock", (handle,)


def _text(rng: Random, letters: int, longest: int) -> list[int]:
    return [rng.randint(1, letters) for _ in range(rng.randint(0, longest))]


def _trace(rng: Random, page: int, kinds: Sequence[str], count: int, letters: int, longest: int) -> Case:
    """Random calls over few tokens, so that sequences often begin alike; every slot is new."""
    calls: list[Call] = []
    slots, handles, given = 0, list[int](), 0
    for _ in range(count):
        name = rng.choice(kinds)
        tokens = _text(rng, letters, longest)
        if name == "insert":
            calls.append(_insert(tokens, range(slots, slots + len(tokens))))
            slots += len(tokens)
        elif name == "lock":
            calls.append(_lock(*tokens))
            handles.append(given)
            given += 1
        elif name == "unlock" and handles:
            calls.append(_unlock(handles.pop(rng.randrange(len(handles)))))
        elif name == "evict":
            calls.append(_evict(rng.choice((1, 1, 2, 5))))
        else:
            calls.append(_match(*tokens))
        calls += _SIZES if rng.random() < 0.1 else ()
    emptied = () if set(kinds) <= {"insert", "match"} else (_evict(1000), *_SIZES)
    return Case((page,), calls=(*calls, *_SIZES, *emptied))


def _plain(rng: Random) -> Case:
    kinds = ("insert", "insert", "match")
    return _trace(rng, 1, kinds, rng.randint(4, 20), rng.randint(2, 3), 8)


def _six(rng: Random) -> list[int]:
    """Six tokens, all different."""
    return rng.sample(range(1, 50), 6)


def _refreshed(rng: Random) -> Case:
    """What a match has touched goes last."""
    a, b, c, d, e, f = _six(rng)
    calls = (_insert([a, b]), _insert([c, d]), _insert([e, f]), _match(a, b), _evict(1), _evict(1), _evict(1))
    return Case(calls=calls)


def _inner(rng: Random) -> Case:
    """The prefix is older than one of its leaves, and goes after it."""
    a, b, c, d, e, f = _six(rng)
    calls = (_insert([a, b, c]), _insert([a, b, d, e]), _evict(1), _match(a, b, d, e, f), _evict(1), _evict(1))
    return Case(calls=(*calls, *_SIZES))


def _kept_slots(rng: Random) -> Case:
    a, b, c, d, e, _ = _six(rng)
    first, second = range(100, 103), range(200, 205)
    calls = (_insert([a, b, c], first), _insert([a, b, c, d, e], second), _match(a, b, c, d, e), _evict(9))
    return Case(calls=calls)


def _drawn(rng: Random) -> Case:
    """The tree after inserts that add nothing, and with branches that came in no order."""
    a, b, c, d, e, f = sorted(_six(rng))
    calls = (_insert([a, d, f]), _insert([a, b]), _insert([e, f]), _insert([a, c]), _insert([a, d, f]), _insert([a, d]))
    return Case(calls=(*calls, ("nodes", ()), ("check", ()), *_SIZES, _evict(1), ("nodes", ())))


def _whole_leaf(rng: Random) -> Case:
    tokens = _six(rng)
    return Case(calls=(_insert(tokens), _evict(rng.randint(1, 5)), *_SIZES, _match(*tokens)))


def _evictions(rng: Random) -> Case:
    kinds = ("insert", "insert", "insert", "match", "evict")
    return _trace(rng, 1, kinds, rng.randint(8, 30), rng.randint(2, 3), 7)


def _locked_path(rng: Random) -> Case:
    """The child of a locked node may go, no node above it."""
    a, b, c, d, e, f = _six(rng)
    calls = (_insert([a, b]), _insert([a, b, c, d]), _lock(a, b, c, d), _insert([a, b, c, d, e, f]), *_SIZES)
    return Case(calls=(*calls, _evict(9), *_SIZES, _unlock(0), *_SIZES, _evict(9)))


def _split_lock(rng: Random) -> Case:
    """A locked node is split after its lock; both halves stay locked, and both are freed by its handle."""
    a, b, c, d, e, _ = _six(rng)
    cut = [a, b, c, d][: rng.randint(1, 3)]
    calls = (_insert([a, b, c, d]), _lock(a, b, c, d), _insert([*cut, e]), *_SIZES, _evict(9), _match(a, b, c, d))
    return Case(calls=(*calls, _unlock(0), *_SIZES, _evict(9)))


def _grown(rng: Random) -> Case:
    """More is inserted below a lock, and locked too: each handle frees its own path."""
    a, b, c, d, e, f = _six(rng)
    calls = (_insert([a, b]), _lock(a, b, c, d, e), _insert([a, b, c, d]), _lock(a, b, c, d, f), _unlock(0), *_SIZES)
    return Case(calls=(*calls, _evict(9), *_SIZES, _unlock(1), _unlock(1), *_SIZES, _evict(9)))


def _locks(rng: Random) -> Case:
    kinds = ("insert", "insert", "insert", "match", "evict", "lock", "lock", "unlock")
    return _trace(rng, 1, kinds, rng.randint(10, 30), rng.randint(2, 3), 7)


def _inside_a_page(rng: Random) -> Case:
    """Sequences that part in the middle of a page."""
    page = rng.randint(2, 4)
    head, tail = list(range(page)), list(range(10, 10 + page))
    other = [*tail[:-1], 99]
    calls = (_insert(head + tail, range(100, 100 + 2 * page)), _insert(head + other, range(200, 200 + 2 * page)))
    return Case((page,), calls=(*calls, _match(*head, *other), _match(*head[:-1]), *_SIZES, _evict(1), *_SIZES))


def _pages(rng: Random) -> Case:
    kinds = ("insert", "insert", "insert", "match", "evict", "lock", "unlock")
    return _trace(rng, rng.randint(2, 4), kinds, rng.randint(8, 20), 2, 13)


def _two(rng: Random) -> Case:
    first, second = rng.sample(("", "other."), 2)
    a, b, c, d, _, _ = _six(rng)
    calls: tuple[Call, ...] = (
        (f"{first}insert", ([a, b, c], [1, 2, 3])),
        (f"{second}match", ([a, b, c],)),
        (f"{second}insert", ([a, d], [7, 8])),
        (f"{first}match", ([a, d],)),
        (f"{first}evict", (9,)),
        (f"{second}evictable_size", None),
    )
    return Case(calls=calls)


def _wrong_unlocks(rng: Random) -> Case:
    a, b, c, *_ = _six(rng)
    calls: tuple[Call, ...] = (
        _insert([a, b], [0, 1]),
        _lock(a),
        _unlock(rng.choice((1, 7, -1))),
        _unlock(0),
        _unlock(0),
        _match(a, b, c),
        *_SIZES,
    )
    return Case(calls=calls)


RADIX = Build(
    id="09-radix-cache",
    module="radix_cache",
    function="RadixCache",
    grade="calls",
    section="9.7",
    topic="prefix cache",
    cases=(
        Case(
            calls=(
                *map(_insert, ([1, 2, 3, 4, 5], [1, 2, 3, 6, 7], [8, 9])),
                _match(1, 2, 3, 4, 9),
                _evict(1),
                _evict(3),
                *_SIZES,
                ("nodes", ()),
                ("check", ()),
            )
        ),
        Case(calls=(_insert([1, 2, 3, 4]), _insert([1, 2, 5]), _lock(1, 2, 3, 4), _evict(10), _unlock(0), _evict(1))),
        Case(calls=(*map(_insert, ([1, 2, 3], [1, 2, 4], [5, 6])), _match(1, 2, 3), *[_evict(1)] * 4)),
        Case(
            (4,),
            calls=(
                _insert(range(10), range(100, 110)),
                _match(*range(10)),
                _match(*range(7)),
                _insert([*range(8), 50, 51, 52, 53], range(200, 212)),
                *_SIZES,
            ),
        ),
        Case(
            calls=(
                _insert([1, 2]),
                _lock(1, 2, 3),
                _insert([1, 2, 3, 4]),
                *_SIZES,
                _evict(10),
                _unlock(0),
                *_SIZES,
                _evict(10),
            )
        ),
        Case(calls=(_insert([1, 2, 3]), _lock(1, 2, 3), _lock(1), _unlock(0), _evict(5), _match(1, 2, 3))),
        Case(calls=(_insert([1, 2, 3]), _insert([1, 2, 4, 5]), _match(1, 2, 4, 5), _evict(1), _evict(1), _match(1, 2))),
        Case(calls=(_insert([1, 2], [10, 11]), _insert([1, 2, 3], [20, 21, 22]), _match(1, 2, 3))),
        Case(calls=(_insert([1, 2]), _insert([1, 3]), _evict(1), _match(), _evict(0))),
        Case(calls=(_insert([1, 2]), ("other.match", ([1, 2],)), _unlock(0), _match(1, 2))),
    ),
    groups=(
        Group(
            "match and insert",
            _plain,
            5,
            "Write down all prefixes that are cached, with the slots that came first: a match finds the longest. "
            "`nodes` shows the tree with its times and numbers.",
            lambda rng: [_drawn(rng), *(_kept_slots(rng) for _ in range(2))],
            step="evict",
        ),
        Group(
            "evictions",
            _evictions,
            8,
            "Draw the tree: only leaves without locks may go, the one that was touched longest ago first, as a whole.",
            lambda rng: [make(rng) for make in (_refreshed, _inner, _whole_leaf) for _ in range(2)],
            step="evict",
        ),
        Group(
            "locks",
            _locks,
            9,
            "Handles are 0, 1, 2, ... Each node counts the locks that hold at it and below it, also after a split.",
            lambda rng: [make(rng) for make in (_locked_path, _split_lock, _grown) for _ in range(2)],
            step="lock and unlock",
        ),
        Group(
            "pages",
            _pages,
            4,
            "Sequences are cut to whole pages, and edges part between pages only.",
            lambda rng: [_inside_a_page(rng) for _ in range(2)],
            step="pages",
        ),
        Group("two caches", _two, 2, "Two caches are independent.", step="evict"),
        Group(
            "locks that do not hold",
            _wrong_unlocks,
            2,
            "A handle that was never given, or was released already, is a ValueError and changes nothing.",
            step="lock and unlock",
        ),
        Group("longest prefixes", _plain, 3, "A match finds the longest prefix of any sequence that was inserted."),
    ),
    slips=RADIX_CACHE,
)

ITEMS: tuple[Build, ...] = (RADIX,)
