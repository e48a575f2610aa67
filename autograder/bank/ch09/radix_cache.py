"""Chapter 9: ``RadixCache``, prefix cache."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip

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


EXERCISE = Build(
    "09 radix_cache.RadixCache",
    section="9.17",
    topic="prefix cache",
    bonus=True,
    grade="calls",
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
    slips=(
        Slip(
            "Only leaves may be evicted: yours took a prefix away from under a suffix that is still cached.",
            edits=(
                ("return not node.children and node.locks == 0", "return node.locks == 0"),
                (
                    "            parent = self._remove(leaf)\n"
                    "            if parent is not self._root and _can_go(parent):\n"
                    "                heapq.heappush(heap, _age(parent))\n",
                    "            self._remove(leaf)\n"
                    "            heap = sorted(_age(node) for node, _ in self._nodes() if _can_go(node))\n"
                    "            self._evictable = sum(len(node.tokens) for *_, node in heap)\n",
                ),
            ),
        ),
        Slip(
            "A lock protects every node from the matched one up to the root, not the last one alone.",
            edits=(
                (
                    "        for step in _path(node):\n            if step.locks == 0:",
                    "        for step in list(_path(node))[:1]:\n            if step.locks == 0:",
                ),
                (
                    "for step in _path(self._handles.pop(handle)):",
                    "for step in list(_path(self._handles.pop(handle)))[:1]:",
                ),
            ),
        ),
        Slip(
            "When a locked node is split, both halves stay locked: copy the count.",
            edits=(
                (
                    "upper.touched, upper.locks = node.touched, node.locks",
                    "upper.touched = node.touched\n        if node.locks:\n            "
                    "self._move_to_protected(-length)",
                ),
                (
                    "            step.locks -= 1\n            if step.locks == 0:",
                    (
                        "            step.locks -= 1\n"
                        "            if step.locks < 0:\n"
                        "                step.locks = 0\n"
                        "            elif step.locks == 0:"
                    ),
                ),
            ),
        ),
        Slip(
            "A lock belongs to the end of its prefix: after a split that is the lower half, and unlocking starts "
            "there.",
            edit=(
                "        return upper\n",
                (
                    "        self._handles = {handle: upper if held is node else held for handle, held "
                    "in self._handles.items()}\n"
                    "        return upper\n"
                ),
            ),
        ),
        Slip(
            "The slots that were cached first stay: yours replaces them: old ones leak, new ones are freed twice.",
            edit=(
                "        stop = self._whole_pages(tokens)\n        if length < stop:",
                (
                    "        stop, end = self._whole_pages(tokens), length\n"
                    "        for step in _path(node):\n"
                    "            step.slots = tuple(slots[end - len(step.tokens) : end])\n"
                    "            end -= len(step.tokens)\n"
                    "        if length < stop:"
                ),
            ),
        ),
        Slip(
            "A match is a use: it must refresh the time of every node on its path.",
            edits=(
                (
                    "def _walk(self, tokens: Sequence[int])",
                    "def _walk(self, tokens: Sequence[int], touch: bool = True)",
                ),
                (
                    "            child.touched = self._clock\n",
                    "            child.touched = self._clock if touch else child.touched\n",
                ),
                (
                    "        node, length = self._walk(tokens)\n        return length, [slot",
                    "        node, length = self._walk(tokens, touch=False)\n        return length, [slot",
                ),
            ),
        ),
        Slip(
            "`unlock` goes up from the node that was locked: matched again, the tokens may end deeper after an insert.",
            edits=(
                ("self._handles[handle] = node", "self._handles[handle] = tuple(tokens)"),
                ("_path(self._handles.pop(handle))", "_path(self._walk(self._handles.pop(handle))[0])"),
            ),
        ),
        Slip(
            "A lock is released once: a second `unlock` with its handle lets a prefix go that another request still "
            "uses.",
            edit=("_path(self._handles.pop(handle))", "_path(self._handles[handle])"),
        ),
        Slip(
            "A prefix counts in whole pages: edges part between pages, never inside one.",
            edit=("return place // self._page_size * self._page_size", "return place"),
        ),
        Slip(
            "A leaf is evicted as a whole, even if that frees more than was asked for.",
            edit=(
                (
                    "            *_, leaf = heapq.heappop(heap)\n"
                    "            freed += leaf.slots\n"
                    "            parent = self._remove(leaf)\n"
                ),
                (
                    "            *_, leaf = heapq.heappop(heap)\n"
                    "            cut = max(0, len(leaf.tokens) - (count - len(freed)))\n"
                    "            freed += leaf.slots[cut:]\n"
                    "            if cut:\n"
                    "                self._evictable -= len(leaf.tokens) - cut\n"
                    "                leaf.tokens, leaf.slots = leaf.tokens[:cut], leaf.slots[:cut]\n"
                    "                continue\n"
                    "            parent = self._remove(leaf)\n"
                ),
            ),
        ),
        Slip(
            "Two caches share their tree: keep it in the instance, not in the class.",
            edits=(
                ("        self._root = _Node()", "        RadixCache._root = _Node()"),
                (
                    "        self._evictable = 0\n        self._protected = 0\n",
                    "        RadixCache._evictable = RadixCache._protected = 0\n",
                ),
                ("self._evictable += stop - length", "RadixCache._evictable += stop - length"),
                ("self._evictable -= len(leaf.tokens)", "RadixCache._evictable -= len(leaf.tokens)"),
                ("self._evictable -= tokens", "RadixCache._evictable -= tokens"),
                ("self._protected += tokens", "RadixCache._protected += tokens"),
            ),
        ),
    ),
    promises=(
        Promise(
            "Sequences are cut to whole pages of ``page_size`` tokens, and edges part only between pages.",
            edit=("return place // self._page_size * self._page_size", "return place"),
        ),
        Promise(
            "Sequences are cut to whole pages of ``page_size`` tokens",
            edit=("return len(tokens) // self._page_size * self._page_size", "return len(tokens)"),
        ),
        Promise(
            "A clock ticks once in each :meth:`match`, :meth:`insert` and :meth:`lock`",
            edit=("        self._clock += 1\n", ""),
        ),
        Promise(
            "every node on the path that is walked gets that time, also one that is matched only in part.",
            edit=(
                "            child.touched = self._clock\n"
                "            shared = self._shared(child.tokens, tokens[start:stop])\n",
                "            shared = self._shared(child.tokens, tokens[start:stop])\n"
                "            child.touched = self._clock if shared == len(child.tokens) else child.touched\n",
            ),
        ),
        Promise(
            "both halves keep its time and its locks", edit=("= node.touched, node.locks\n", "= node.touched, 0\n")
        ),
        Promise("both halves keep its time and its locks", edit=("= node.touched, node.locks\n", "= 0, node.locks\n")),
        Promise(
            "what is not cached yet becomes one new leaf.",
            edit=(
                "            leaf = self._new_node(tokens[length:stop], slots[length:stop], node)\n"
                "            leaf.touched = self._clock\n",
                "            for at in range(length, stop, self._page_size):\n"
                "                end = at + self._page_size\n"
                "                node = self._new_node(tokens[at:end], slots[at:end], node)\n"
                "                node.touched = self._clock\n",
            ),
        ),
        Promise(
            "How many of the tokens were cached already.",
            edit=(
                "self._evictable += stop - length\n        return length",
                "self._evictable += stop - length\n        return stop - length",
            ),
        ),
        Promise(
            "no node from its end up to the root is evicted",
            edit=("return not node.children and node.locks == 0", "return not node.children"),
        ),
        Promise(
            "A leaf goes as a whole", edit=("freed += leaf.slots\n", "freed += leaf.slots[: count - len(freed)]\n")
        ),
        Promise(
            "the one that was touched longest ago goes first",
            edit=("return node.touched, node.number, node", "return -node.touched, node.number, node"),
        ),
        Promise(
            "and of those of the same time the one that was created first",
            edit=("return node.touched, node.number, node", "return node.touched, -node.number, node"),
        ),
        Promise(
            "A parent whose last child went is a leaf from then on.",
            edit=("if parent is not self._root and _can_go(parent):", "if False:"),
        ),
        Promise(
            "children in the order of their tokens",
            edit=("children = sorted(node.children.items(), reverse=True)", "children = list(node.children.items())"),
        ),
    ),
)
