"""Chapter 9, paged memory: the block manager as a class, and a `free` to be corrected."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch09.wrong_block_managers import BLOCK_MANAGER
from autograder.items import Build, Case, Debug, Group, Slip, lazily

reference = lazily("solutions.ch09.block_manager")

Call = tuple[str, tuple[Any, ...] | None]

_QUEUE: Call = ("free_queue", ())

# BlockManager


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
        *((f"#{place}.append", (0,)) for place in rng.sample(range(3), 3)),
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


BLOCKS = Build(
    id="09-block-manager",
    module="block_manager",
    function="BlockManager",
    grade="calls",
    section="9.6",
    topic="paged memory",
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
    slips=BLOCK_MANAGER,
)

# debug_free


def wrong_free(tables, queue, finished):
    import collections

    counts = collections.Counter(block for table in tables.values() for block in table)
    free = list(queue)
    for sequence in finished:
        for block in reversed(tables[sequence]):
            counts[block] -= 1
            free.append(block)
    return free


def _pool(rng: Random, shared: int) -> tuple[dict[str, list[int]], list[int]]:
    """Tables of three to five sequences that begin with the same ``shared`` blocks, and the free blocks."""
    names = "abcde"[: rng.randint(3, 5)]
    numbers = rng.sample(range(40), 40)
    head = [numbers.pop() for _ in range(shared)]
    tables = {name: head + [numbers.pop() for _ in range(rng.randint(2, 4))] for name in names}
    return tables, [numbers.pop() for _ in range(rng.randint(0, 6))]


def _sharing(rng: Random) -> Case:
    """Some sequences go, and one that shares their head stays."""
    tables, queue = _pool(rng, rng.randint(1, 3))
    names = rng.sample(sorted(tables), len(tables))
    return Case((tables, queue, names[: rng.randint(1, len(names) - 1)]))


def _all_gone(rng: Random) -> Case:
    tables, queue = _pool(rng, rng.randint(1, 3))
    return Case((tables, queue, rng.sample(sorted(tables), len(tables))))


def _unshared(rng: Random) -> Case:
    tables, queue = _pool(rng, 0)
    return Case((tables, queue, rng.sample(sorted(tables), rng.randint(0, 2))))


FREE = Debug(
    id="09-debug-free",
    module="block_manager",
    function="debug_free",
    grade="call",
    section="9.6",
    topic="paged memory",
    cases=(
        Case(({"a": [0, 1, 2, 3], "b": [0, 1, 2, 4]}, [5, 6, 7, 8, 9], ["a", "b"])),
        Case(({"a": [0, 1, 2, 3], "b": [0, 1, 2, 4]}, [5, 6, 7, 8, 9], ["a"])),
        Case(({"a": [3, 1], "b": [2]}, [0], ["a"])),
        Case(({"a": [3, 1], "b": [2]}, [0], [])),
    ),
    groups=(
        Group("a common head", _sharing, 6, "A block that another table still holds is not free."),
        Group("everything ends", _all_gone, 4, "In the end each block is in the queue exactly once."),
        Group("nothing shared", _unshared, 3, "Without sharing, all blocks of a finished sequence are free."),
    ),
    slips=(
        Slip(
            "A block that another table still holds is not free: yours is pushed whatever its count says.", wrong_free
        ),
        Slip(
            "A block is free when its count has just become 0: yours never joins the queue.",
            edit=("counts[block] == 0", "counts[block] < 0"),
        ),
        Slip(
            "A block must not join the queue, not even once, while another table holds it.",
            edit=(
                (
                    "for block in reversed(tables[sequence]):\n"
                    "            counts[block] -= 1\n"
                    "            if counts[block] == 0:\n"
                    "                free.append(block)"
                ),
                "free += [block for block in reversed(tables[sequence]) if block not in free]",
            ),
        ),
        Slip(
            "Each table that is freed lowers the counts: with the last one the shared blocks are free, too.",
            edit=(
                (
                    "for block in reversed(tables[sequence]):\n"
                    "            counts[block] -= 1\n"
                    "            if counts[block] == 0:\n"
                    "                free.append(block)"
                ),
                "free += [block for block in reversed(tables[sequence]) if counts[block] == 1]",
            ),
        ),
        Slip(
            "`free` goes from the last block to the first: the head of a sequence is reused last.",
            edit=("reversed(tables[sequence])", "tables[sequence]"),
        ),
    ),
    wrong=wrong_free,
)

ITEMS: tuple[Build, ...] = (BLOCKS, FREE)
