"""Chapter 9: ``debug_free``, prefix cache."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Slip


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


EXERCISE = Debug(
    "09 block_pool.debug_free",
    section="9.16",
    topic="prefix cache",
    wrong=wrong_free,
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
    bonus=True,
    promises=(
        Promise("from the last to the first", edit=("reversed(tables[sequence])", "tables[sequence]")),
        Promise(
            "that is left with none joins the tail of the queue",
            edit=("free.append(block)", "free.insert(0, block)"),
        ),
    ),
)
