"""Chapter 9: ``BlockPool``, paged memory."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip, lazily

reference = lazily("solutions.ch09.block_pool")

Call = tuple[str, tuple[Any, ...]]
_QUEUE: Call = ("free_queue", ())


def _come_and_go(rng: Random, grow: bool) -> Case:
    """Calls that fit, chosen while they are made; what is there is asked for after each."""
    blocks, size = rng.randint(8, 20), rng.choice((1, 2, 3, 4, 8))
    pool, calls = reference.BlockPool(blocks, size), list[Call]()
    for _ in range(rng.randint(8, 16)):
        known, room = sorted(pool.tables), len(pool.queue) * size
        fresh = [name for name in "abcdef" if name not in known]
        kinds = (
            ["allocate"] * (2 * bool(fresh)) + ["free"] * (len(known) > 1) + ["append"] * (3 * (grow and len(known)))
        )
        kind = rng.choice(kinds or ["free"])
        if kind == "allocate":
            call: Call = (kind, (rng.choice(fresh), rng.randint(0, min(room, 3 * size + 1))))
        elif kind == "append":
            call = (kind, (rng.choice(known), rng.randint(0, min(room, 2 * size))))
        else:
            call = (kind, (rng.choice(known),))
        getattr(pool, call[0])(*call[1])
        calls += [call, *([("table", (call[1][0],))] if kind == "append" else []), _QUEUE]
    return Case((blocks, size), calls=(*calls, *(("table", (name,)) for name in sorted(pool.tables))))


def _static(rng: Random) -> Case:
    return _come_and_go(rng, grow=False)


def _growing(rng: Random) -> Case:
    return _come_and_go(rng, grow=True)


def _two_end(rng: Random) -> Case:
    """Two of three sequences end, and a new one takes blocks of both."""
    third, size = rng.randint(2, 5), rng.choice((2, 4, 8, 16))
    first, second = rng.sample("abc", 2)
    calls: tuple[Call, ...] = (
        *(("allocate", (name, rng.randint(size + 1, third * size))) for name in "abc"),
        ("free", (first,)),
        _QUEUE,
        ("free", (second,)),
        _QUEUE,
        ("allocate", ("d", rng.randint(third * size + 1, 2 * third * size))),
        _QUEUE,
    )
    return Case((3 * third, size), calls=calls)


def _too_large(rng: Random) -> Case:
    """A sequence that does not fit, and what is there after it; then one that just fits."""
    blocks, size = rng.randint(4, 9), rng.randint(2, 8)
    held = rng.randint(1, blocks - 2)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * held)),
        ("allocate", ("b", size * (blocks - held) + rng.randint(1, size))),
        _QUEUE,
        ("allocate", ("c", size * (blocks - held))),
        _QUEUE,
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((blocks, size), calls=calls)


def _to_the_brim(rng: Random) -> Case:
    """Blocks that become exactly full, token by token and at once."""
    size, full = rng.randint(2, 8), rng.randint(1, 3)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", full * size - 1)),
        ("append", ("a",)),
        _QUEUE,
        ("append", ("a", size)),
        _QUEUE,
        ("append", ("a",)),
        ("table", ("a",)),
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((rng.randint(full + 3, 12), size), calls=calls)


def _grown_out(rng: Random) -> Case:
    """An append for which too few blocks are free changes nothing, and a smaller one still fits."""
    blocks, size = rng.randint(3, 8), rng.randint(3, 8)
    inside = rng.randint(1, size - 1)  # tokens in the last block
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * (blocks - 2) + inside)),
        ("append", ("a", 2 * size)),
        ("table", ("a",)),
        _QUEUE,
        ("append", ("a", size - inside)),
        _QUEUE,
        ("append", ("a", size)),
        ("append", ("a",)),
        ("table", ("a",)),
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((blocks, size), calls=calls)


def _handed_out(rng: Random) -> Case:
    """Tables and a queue that a caller holds and changes."""
    size = rng.randint(2, 6)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size * rng.randint(1, 3))),
        ("table", ("a",)),
        _QUEUE,
        *((f"#{index}.append", (0,)) for index in rng.sample(range(3), 3)),
        ("table", ("a",)),
        _QUEUE,
        ("free", ("a",)),
        _QUEUE,
    )
    return Case((rng.randint(6, 12), size), calls=calls)


def _grown_and_changed(rng: Random) -> Case:
    size = rng.randint(2, 6)
    calls: tuple[Call, ...] = (
        ("allocate", ("a", size)),
        ("append", ("a", size)),
        ("append", ("a",)),
        ("#0.__len__", ()),
        ("#1.__len__", ()),
        ("#1.append", (0,)),
        ("table", ("a",)),
    )
    return Case((rng.randint(6, 12), size), calls=calls)


def _two(rng: Random) -> Case:
    first, second = rng.sample(("", "other."), 2)
    calls: tuple[Call, ...] = (
        (f"{first}allocate", ("a", rng.randint(5, 20))),
        (f"{second}allocate", ("a", rng.randint(5, 20))),
        (f"{second}table", ("a",)),
        (f"{first}table", ("a",)),
        (f"{second}free", ("a",)),
        (f"{first}free_queue", ()),
        (f"{second}free_queue", ()),
    )
    return Case((16, rng.randint(2, 8)), calls=calls)


EXERCISE = Build(
    "09 block_pool.BlockPool",
    section="9.6",
    topic="paged memory",
    grade="calls",
    cases=(
        Case(
            (6, 4),
            calls=(("allocate", ("a", 6)), ("allocate", ("b", 3)), _QUEUE, ("free", ("b",)), _QUEUE, ("table", ("a",))),
        ),
        Case((4, 4), calls=(("allocate", ("a", 10)), ("allocate", ("b", 5)), _QUEUE, ("allocate", ("b", 4)))),
        Case(
            (6, 4),
            calls=(
                ("allocate", ("a", 6)),
                ("allocate", ("b", 3)),
                ("append", ("a", 2)),
                ("append", ("a",)),
                ("free", ("b",)),
                ("allocate", ("c", 5)),
                ("append", ("a", 4)),
                _QUEUE,
            ),
        ),
        Case((2, 4), calls=(("allocate", ("a", 5)), ("append", ("a", 4)), ("append", ("a", 3)), _QUEUE)),
    ),
    groups=(
        Group(
            "allocate and free",
            _static,
            6,
            "A table takes ceil(tokens / block_size) blocks from the head of the queue; `free` gives them back to its "
            "tail, the last one first.",
            lambda rng: [_two_end(rng), _two_end(rng), _handed_out(rng)],
        ),
        Group(
            "too few free blocks",
            _too_large,
            3,
            "Count what a call needs before it changes anything: OutOfBlocks leaves everything as it was.",
        ),
        Group("two pools", _two, 2, "Two pools are independent."),
        Group(
            "sequences that grow",
            _growing,
            6,
            "A block is taken only for a token that has no place in the last one.",
            lambda rng: [_grown_and_changed(rng)],
            step="append",
        ),
        Group(
            "to the last place",
            _to_the_brim,
            3,
            "A token that fills the last place of a block takes no other block.",
            step="append",
        ),
        Group(
            "growing out of the pool",
            _grown_out,
            4,
            "An `append` that raises OutOfBlocks leaves table, length and queue as they were.",
            step="append",
        ),
    ),
    slips=(
        Slip(
            "`free` goes from the last block to the first: the head of a sequence is to be taken again last.",
            edit=(
                "self.queue.extend(reversed(self.tables.pop(sequence)))",
                "self.queue.extend(self.tables.pop(sequence))",
            ),
        ),
        Slip(
            "Freed blocks join the tail of the queue; yours join its head and are taken next.",
            edit=(
                "self.queue.extend(reversed(self.tables.pop(sequence)))",
                "self.queue.extendleft(self.tables.pop(sequence))",
            ),
        ),
        Slip(
            "A last block that is filled in part is a block, too: round up.",
            edit=("self.take(-(-tokens // self.block_size))", "self.take(tokens // self.block_size)"),
        ),
        Slip(
            "A block that has just become full needs no successor yet: the next one is taken with the next token.",
            edit=(
                "self.take(-(-length // self.block_size) - len(self.tables[sequence]))",
                "self.take(max(0, length // self.block_size + (tokens > 0) - len(self.tables[sequence])))",
            ),
        ),
        Slip(
            "Tokens that have a place in the last block need no new one: count the blocks of the whole sequence.",
            edit=(
                "self.take(-(-length // self.block_size) - len(self.tables[sequence]))",
                "self.take(-(-tokens // self.block_size))",
            ),
        ),
        Slip(
            "A call that raises changes nothing: yours took blocks from the queue first, and they are lost.",
            edit=(
                '            raise OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")',
                (
                    "            self.queue.clear()\n"
                    '            raise OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")'
                ),
            ),
        ),
        Slip(
            "An `append` that raises must not make the sequence longer: take the blocks first, then change its length.",
            edit=(
                (
                    "        length = self.lengths[sequence] + tokens\n"
                    "        self.tables[sequence] += self.take(-(-length // self.block_size) - "
                    "len(self.tables[sequence]))\n"
                    "        self.lengths[sequence] = length\n"
                ),
                (
                    "        self.lengths[sequence] += tokens\n"
                    "        length = self.lengths[sequence]\n"
                    "        self.tables[sequence] += self.take(-(-length // self.block_size) - "
                    "len(self.tables[sequence]))\n"
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "Give a new sequence the blocks for",
            edit=("self.take(-(-tokens // self.block_size))", "self.take(-(-(tokens + 1) // self.block_size))"),
        ),
        Promise(
            "A call that raises changes nothing.",
            edit=(
                "        self.tables[sequence] = self.take(-(-tokens // self.block_size))\n",
                "        self.tables[sequence] = []\n"
                "        for _ in range(-(-tokens // self.block_size)):\n"
                "            self.tables[sequence] += self.take(1)\n",
            ),
        ),
        Promise(
            "blocks of a sequence, as a new list",
            edit=("return list(self.tables[sequence])", "return self.tables[sequence]"),
        ),
        Promise("taken first, as a new list", edit=("return list(self.queue)", "return self.queue")),
        Promise(
            "blocks from the head of the queue; OutOfBlocks if fewer are free",
            edit=("self.queue.popleft()", "self.queue.pop()"),
        ),
        Promise(
            "A block is taken only for a token that has no place in the last one.",
            edit=("-(-length // self.block_size) - len", "-(-(length + 1) // self.block_size) - len"),
        ),
        Promise(
            "join the tail of the queue, the last one of its table first",
            edit=("extend(reversed(self.tables", "extend(sorted(self.tables"),
        ),
    ),
)
