"""Chapter 9: ``BlockManager``, paged memory."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip, lazily

reference = lazily("solutions.ch09.block_manager")

Call = tuple[str, tuple[Any, ...] | None]
_QUEUE: Call = ("free_queue", ())


def _known(manager: Any, names: str) -> list[str]:
    def knows(name: str) -> bool:
        try:
            return manager.length(name) >= 0
        except KeyError:
            return False

    return [name for name in names if knows(name)]


def _some_call(rng: Random, manager: Any, names: str, forks: bool) -> tuple[str, tuple[Any, ...]]:
    """A call that a careful program could make now; it may ask for more blocks than there are."""
    known = _known(manager, names)
    fresh = [name for name in names if name not in known]
    room = len(manager.free_queue())
    kinds = ["allocate"] * bool(fresh) + ["append", "append", "append", "free", "table", "length"] * bool(known)
    kinds += ["fork", "fork"] * bool(forks and known and fresh) + ["can_allocate", "free_queue", "references"]
    name = rng.choice(kinds)
    if name in ("can_allocate", "free_queue", "references"):
        tokens = {"can_allocate": (rng.randint(0, 60),), "free_queue": (), "references": (0,)}
        return name, tokens[name]
    if name == "allocate":
        return name, (rng.choice(fresh), rng.randint(0, 12 * room // 2 + 4))
    which = rng.choice(known)
    if name == "fork":
        child, length = rng.choice(fresh), manager.length(which)
        return name, (which, child) if rng.random() < 0.5 else (which, child, rng.randint(0, length))
    if name == "append":
        return name, (which,) if rng.random() < 0.5 else (which, rng.choice((0, 1, 2, 3, 7, 15, 16)))
    return name, (which,)


def _trace(rng: Random, blocks: int, size: int, names: str, count: int, forks: bool = True) -> Case:
    """Random calls, chosen while they are made, and the state at the end."""
    manager, calls = reference.BlockManager(blocks, size), list[Call]()
    for _ in range(count):
        name, arguments = _some_call(rng, manager, names, forks)
        calls.append((name, arguments))
        try:
            getattr(manager, name)(*arguments)
        except RuntimeError:
            calls.append(_QUEUE)
    tables: list[Call] = [("table", (name,)) for name in _known(manager, names)]
    counts: list[Call] = [("references", (block,)) for block in rng.sample(range(blocks), min(blocks, 4))]
    return Case((blocks, size), calls=(*calls, *tables, *counts, _QUEUE))


def _alone(rng: Random) -> Case:
    blocks, size = rng.randint(4, 40), rng.choice((1, 2, 4, 8, 16, 32))
    return _trace(rng, blocks, size, "abcdef", rng.randint(5, 30), forks=False)


def _to_the_brim(rng: Random) -> Case:
    """Blocks that become exactly full, token by token and at once."""
    size, full = rng.randint(2, 8), rng.randint(1, 3)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", full * size - 1)),
        ("append", ("a",)),
        ("table", ("a",)),
        ("append", ("a", size)),
        ("table", ("a",)),
        ("append", ("a",)),
        ("table", ("a",)),
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((rng.randint(full + 3, 12), size), calls=calls)


def _forked(rng: Random) -> Case:
    blocks, size = rng.randint(8, 40), rng.choice((1, 2, 4, 4, 8, 16))
    return _trace(rng, blocks, size, "abcdef", rng.randint(10, 80))


def _written_after_a_fork(rng: Random) -> Case:
    size = rng.randint(3, 9)
    length = size * rng.randint(1, 3) + rng.randint(1, size - 2)
    calls: tuple[Call, ...] = (
        ("allocate", ("p", length)),
        ("fork", ("p", "c")),
        ("append", ("c", 0)),
        ("append", ("c",)),
        ("table", ("c",)),
        ("references", (length // size,)),
        ("append", ("p",)),
        ("table", ("p",)),
        ("append", ("c", size)),
        ("free", ("p",)),
        _QUEUE,
        ("free", ("c",)),
        _QUEUE,
    )
    return Case((12, size), calls=calls)


def _copied_and_grown(rng: Random) -> Case:
    """A copy and a new block in one call: the first block that is taken replaces the shared one."""
    size = rng.randint(2, 6)
    calls: tuple[Call, ...] = (
        ("allocate", ("p", size * rng.randint(1, 3) + rng.randint(1, size - 1))),
        ("fork", ("p", "c")),
        ("append", ("c", size * rng.randint(1, 2))),
        ("table", ("c",)),
        ("table", ("p",)),
        _QUEUE,
    )
    return Case((rng.randint(8, 12), size), calls=calls)


def _prefix_then_free(rng: Random) -> Case:
    size, whole = rng.randint(2, 16), rng.randint(2, 4)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", (whole + 1) * size)),
        ("fork", ("a", "b", whole * size - rng.randint(0, size - 1))),
        ("free", ("a",)),
        _QUEUE,
        ("append", ("b",)),
        ("append", ("b", size)),
        ("table", ("b",)),
        ("free", ("b",)),
        _QUEUE,
    )
    return Case((rng.randint(whole + 2, 12), size), calls=calls)


def _tight(rng: Random) -> Case:
    blocks, size = rng.randint(1, 6), rng.choice((1, 2, 3, 4))
    return _trace(rng, blocks, size, "abc", rng.randint(10, 25))


def _refused(rng: Random) -> Case:
    """An allocation and an append that do not fit, and what is there after them."""
    blocks, size = rng.randint(3, 8), rng.randint(2, 8)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * (blocks - 2))),
        ("allocate", ("b", 2 * size + rng.randint(1, size))),
        _QUEUE,
        ("append", ("a", 2 * size + 1)),
        ("length", ("a",)),
        ("table", ("a",)),
        _QUEUE,
        ("allocate", ("b", 2 * size)),
        ("can_allocate", (1,)),
        ("can_allocate", (0,)),
    )
    return Case((blocks, size), calls=calls)


def _block_for_the_copy_alone(rng: Random) -> Case:
    """One block is free: enough for the copy, and not for the new tokens as well."""
    blocks, size = rng.randint(2, 5), rng.randint(2, 8)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * (blocks - 1) - 1)),
        ("fork", ("a", "b")),
        ("append", ("b", size + rng.randint(1, 3))),
        ("table", ("b",)),
        ("length", ("b",)),
        ("references", (blocks - 2,)),
        ("references", (blocks - 1,)),
        _QUEUE,
        ("append", ("b",)),
        ("append", ("b",)),
        ("table", ("b",)),
        ("table", ("a",)),
    )
    return Case((blocks, size), calls=calls)


def _no_block_for_the_copy(rng: Random) -> Case:
    blocks, size = rng.randint(1, 4), rng.randint(2, 8)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * blocks - 1)),
        ("fork", ("a", "b")),
        ("append", ("b",)),
        ("table", ("b",)),
        ("length", ("b",)),
        ("references", (blocks - 1,)),
        ("free", ("a",)),
        ("append", ("b",)),
        ("append", ("b",)),
    )
    return Case((blocks, size), calls=calls)


def _two(rng: Random) -> Case:
    first, second = rng.sample(("", "other."), 2)
    calls: tuple[Call, ...] = (
        (f"{first}allocate", ("a", rng.randint(5, 20))),
        (f"{second}allocate", ("a", rng.randint(5, 20))),
        (f"{first}append", ("a", rng.randint(1, 9))),
        (f"{second}table", ("a",)),
        (f"{first}table", ("a",)),
        (f"{second}free", ("a",)),
        (f"{first}length", ("a",)),
    )
    return Case((16, rng.randint(2, 8)), calls=calls)


def _handed_out(rng: Random) -> Case:
    """Tables that a caller holds and changes while the sequences grow: how long the caller's are, and what is kept."""
    size = rng.randint(2, 6)
    held = rng.randint(1, 3)
    return _held_and_changed(rng, size, held, ("allocate", ("b", size)), 1)


def _handed_out_by_a_fork(rng: Random) -> Case:
    size, held = rng.randint(2, 6), rng.randint(1, 3)
    return _held_and_changed(rng, size, held, ("fork", ("a", "b")), size + 1)


def _held_and_changed(rng: Random, size: int, held: int, second: Call, more: int) -> Case:
    calls: tuple[Call, ...] = (
        ("allocate", ("a", held * size)),
        second,
        ("table", ("a",)),
        ("append", ("a",)),
        ("append", ("b", more)),
        ("#0.__len__", ()),
        ("#1.__len__", ()),
        ("#2.__len__", ()),
        *((f"#{index}.append", (0,)) for index in rng.sample(range(3), 3)),
        ("table", ("a",)),
        ("table", ("b",)),
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((rng.randint(held + 4, 12), size), calls=calls)


def _wrong_names(rng: Random) -> Case:
    """Names that are unknown or taken."""
    length = rng.randint(1, 9)
    wrong: list[Call] = [
        ("allocate", ("a", 1)),
        ("append", ("b",)),
        ("fork", ("a", "a")),
        ("fork", ("b", "c")),
        ("free", ("b",)),
        ("table", ("b",)),
        ("length", ("b",)),
    ]
    rng.shuffle(wrong)
    return Case((8, 4), calls=(("allocate", ("a", length)), *wrong, ("table", ("a",)), _QUEUE))


def _never_grown(rng: Random) -> Case:
    """Sequences of which two end, and a new one that takes blocks of both."""
    third, size = rng.randint(2, 6), rng.choice((2, 4, 8, 16))
    gone = rng.sample("abc", 2)
    calls: tuple[Call, ...] = (
        *(("allocate", (name, rng.randint(size + 1, third * size))) for name in "abc"),
        ("free", (gone[0],)),
        _QUEUE,
        ("free", (gone[1],)),
        _QUEUE,
        ("allocate", ("d", rng.randint(third * size + 1, 2 * third * size))),
        ("table", ("d",)),
        ("length", ("d",)),
        _QUEUE,
    )
    return Case((3 * third, size), calls=calls)


EXERCISE = Build(
    "09 block_manager.BlockManager",
    section="9.16",
    topic="paged memory",
    bonus=True,
    grade="calls",
    cases=(
        Case(  # the calls of vLLM's test_prefix_caching.py::test_prefill, with block numbers from 0
            (10, 16),
            calls=(
                ("allocate", ("a", 55)),
                ("fork", ("a", "b", 48)),
                ("append", ("b", 5)),
                ("table", ("b",)),
                ("free", ("a",)),
                _QUEUE,
                ("free", ("b",)),
                _QUEUE,
                ("check", ()),
            ),
        ),
        Case(
            (4, 4),
            calls=(
                ("allocate", ("p", 6)),
                ("fork", ("p", "c")),
                ("references", (1,)),
                ("append", ("c",)),
                ("table", ("c",)),
                ("append", ("p",)),
                ("append", ("c", 2)),
                ("table", ("c",)),
                ("append", ("p", 2)),
                ("table", ("p",)),
                ("length", ("p",)),
                ("free", ("c",)),
                _QUEUE,
                ("free", ("p",)),
                _QUEUE,
            ),
        ),
        Case(
            (2, 4),
            calls=(
                ("allocate", ("x", 0)),
                ("append", ("x", 4)),
                ("table", ("x",)),
                ("append", ("x",)),
                ("table", ("x",)),
                ("can_allocate", (1,)),
            ),
        ),
        Case((4, 16), calls=(("allocate", ("a", 40)), ("allocate", ("b", 17)), _QUEUE, ("allocate", ("b", 16)))),
        Case((8, 4), calls=(("allocate", ("a", 6)), ("fork", ("a", "b")), ("append", ("b", 0)), ("table", ("b",)))),
        Case((8, 4), calls=(("allocate", ("a", 6)), ("other.allocate", ("a", 3)), ("length", ("a",)))),
        Case((8, 4), calls=(("allocate", ("a", 6)), ("allocate", ("a", 6)), ("append", ("b",)), ("free", ("b",)))),
    ),
    groups=(
        Group(
            "sequences that come and go",
            _alone,
            5,
            "Blocks are taken from the head of the queue, only when the last one is full, and come back to the tail. "
            "Whoever asks for a table gets a new list.",
            lambda rng: [*(_to_the_brim(rng) for _ in range(2)), _handed_out(rng)],
            step="append",
        ),
        Group(
            "forks",
            _forked,
            7,
            "Draw two tables with a common block: who may write it, and when is it free?",
            lambda rng: [
                *(make(rng) for make in (_written_after_a_fork, _prefix_then_free) for _ in range(2)),
                _copied_and_grown(rng),
            ],
            step="fork",
        ),
        Group(
            "a pool that runs out",
            _tight,
            8,
            "Count what a call needs before it changes anything: OutOfBlocks leaves everything as it was. "
            "`can_allocate` is true where the free blocks just suffice.",
            lambda rng: [
                make(rng) for make in (_refused, _no_block_for_the_copy, _block_for_the_copy_alone) for _ in range(2)
            ],
            step="fork",
        ),
        Group("two managers", _two, 2, "Two managers are independent.", step="append"),
        Group(
            "names unknown or taken",
            _wrong_names,
            3,
            "An unknown name is a KeyError, a new one that is taken a ValueError, and neither changes anything.",
            step="fork",
        ),
        Group(
            "allocate and free",
            _never_grown,
            3,
            "A table takes ceil(length / block_size) blocks from the head of the queue; `free` gives them back to its "
            "tail, the last one first.",
        ),
        Group(
            "tables of forks",
            _handed_out_by_a_fork,
            2,
            "A caller may change the table that `fork` returned: it is a list of its own.",
            step="tables of forks",
        ),
    ),
    slips=(
        Slip(
            "A block that another table still holds is not free: it joins the queue when its count reaches 0.",
            edit=(
                (
                    "            self._counts[block] -= 1\n"
                    "            if self._counts[block] == 0:\n"
                    "                self._free.append(block)"
                ),
                "            self._counts[block] = 0\n            self._free.append(block)",
            ),
        ),
        Slip(
            "A partly filled block that is shared must be copied before it is written: the other sequence reads it.",
            edit=(
                "copied = tokens > 0 and length % self._block_size > 0 and self._counts[table[-1]] > 1",
                "copied = False",
            ),
        ),
        Slip(
            "A block that has just become full needs no successor yet: the next one is taken with the next token.",
            edit=(
                "more = self._blocks(length + tokens) - len(table)",
                "more = max(0, (length + tokens) // self._block_size + (tokens > 0) - len(table))",
            ),
        ),
        Slip(
            "`free` goes from the last block to the first: the head of a sequence is to be reused last.",
            edit=("reversed(table)", "table"),
        ),
        Slip(
            "Freed blocks join the tail of the queue here; yours join its head and are taken next.",
            edit=("self._free.append(block)", "self._free.appendleft(block)"),
        ),
        Slip(
            "A call that raises changes nothing: yours took blocks from the queue first, and they are lost.",
            edit=(
                '            raise OutOfBlocks(f"need {need} blocks, {len(self._free)} free")',
                (
                    "            self._take(len(self._free))\n"
                    '            raise OutOfBlocks(f"need {need} blocks, {len(self._free)} free")'
                ),
            ),
        ),
        Slip(
            "A block with a single owner is written in place: copy only where its count is above 1.",
            edits=(
                ("length % self._block_size > 0 and self._counts[table[-1]] > 1", "length % self._block_size > 0"),
                (
                    "        self._counts[shared] -= 1\n",
                    (
                        "        self._counts[shared] -= 1\n"
                        "        if self._counts[shared] == 0:\n"
                        "            self._free.append(shared)\n"
                    ),
                ),
            ),
        ),
        Slip(
            "The sequence that got a copy no longer holds the block that was copied: its count drops by one.",
            edit=("        self._counts[shared] -= 1\n", ""),
        ),
        Slip(
            "Appending 0 tokens writes nothing, so nothing is copied.",
            edit=("copied = tokens > 0 and length", "copied = length"),
        ),
        Slip(
            "A fork also shares the block that its tokens fill in part.",
            edits=(
                ("table[: self._blocks(tokens)]", "table[: tokens // self._block_size]"),
                (
                    "length % self._block_size > 0 and self._counts",
                    "length % self._block_size > 0 and bool(table) and self._counts",
                ),
            ),
        ),
        Slip(
            "Two managers share their tables: keep them in the instance, not in the class.",
            edits=(
                (
                    "    OutOfBlocks = OutOfBlocks\n",
                    (
                        "    OutOfBlocks = OutOfBlocks\n"
                        "    _tables: dict[Hashable, list[int]] = {}\n"
                        "    _lengths: dict[Hashable, int] = {}\n"
                    ),
                ),
                (
                    (
                        "        self._tables: dict[Hashable, list[int]] = {}\n"
                        "        self._lengths: dict[Hashable, int] = {}\n"
                    ),
                    "        self._tables.clear()\n        self._lengths.clear()\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "blocks are taken from its head and come back to its tail",
            edit=("self._free.append(block)", "self._free.appendleft(block)"),
        ),
        Promise(
            "A call that raises changes nothing.",
            edit=(
                "        self._need_free(copied + more)\n"
                "        copies = [self._replace_last(table)] if copied else []\n",
                "        self._need_free(copied)\n        copies = [self._replace_last(table)] if copied else []\n"
                "        self._need_free(more)\n",
            ),
        ),
        Promise(
            "A call that raises changes nothing.",
            edit=(
                "        self._need_free(self._blocks(tokens))\n",
                "        self._lengths[sequence], self._tables[sequence] = 0, []\n"
                "        self._need_free(self._blocks(tokens))\n",
            ),
        ),
        *(
            Promise("Tables are handed out as new lists", edits=(edit,))
            for edit in (
                ("        return list(self._tables[sequence])", "        return self._tables[sequence]"),
                ("        return self.table(sequence)", "        return self._tables[sequence]"),
                ("        return list(shared)", "        return shared"),
            )
        ),
        Promise(
            "Whether the free blocks could hold a new sequence",
            edit=("self._blocks(tokens) <= len(self._free)", "self._blocks(tokens) < len(self._free)"),
        ),
        Promise(
            "Give a new sequence the blocks for",
            edit=("= tokens, self._take(self._blocks(tokens))", "= tokens, self._take(self._blocks(tokens + 1))"),
        ),
        Promise(
            "Blocks are taken only where the last one does not suffice.",
            edit=("more = self._blocks(length + tokens)", "more = self._blocks(length + tokens + 1)"),
        ),
        Promise(
            "not be written: then the first block that is taken replaces it in this table, and its tokens are to be "
            "copied.",
            edit=(
                "        copies = [self._replace_last(table)] if copied else []\n        table += self._take(more)\n",
                "        taken = self._take(more)\n"
                "        copies = [self._replace_last(table)] if copied else []\n        table += taken\n",
            ),
        ),
        Promise(
            "A last block that is partly filled and shared must",
            edit=("copied = tokens > 0 and", "copied = False and"),
        ),
        Promise(
            "A last block that is partly filled and shared must",
            edit=("length % self._block_size > 0", "length > 0"),
        ),
        Promise(
            "Returns: ``[(source, destination)]``, the block to copy before the tokens are written, or ``[]``.",
            edit=("return shared, own", "return own, shared"),
        ),
        Promise(
            "Make a new sequence of the first",
            edit=("table[: self._blocks(tokens)]", "table[: tokens // self._block_size]"),
        ),
        Promise(
            "child: a new one.",
            edit=(
                "        self._refuse_known(child)\n",
                "",
            ),
        ),
        Promise("None takes them all", edit=("length if tokens is None", "0 if tokens is None")),
        Promise(
            "its blocks lose one reference each, from the last to the first",
            edit=("for block in reversed(table):", "for block in table:"),
        ),
        Promise(
            "A block that is left with none joins the tail of the queue at once.",
            edit=("if self._counts[block] == 0:", "if self._counts[block] <= 1:"),
        ),
    ),
)
