"""What steppers draw of a pool of blocks: who holds each block, what lies in it, and who is next in the queue.

Each function draws step 0, 1, ... of one story; the pool is the finished one of the course, so no picture can disagree
with it. Standard library only.

>>> block_story()[-1].tables["A"]
(0, 1, 3, 2)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankzero.explore import Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from solutions.ch09.block_pool import BlockPool, PrefixPool

#: Layout, pixels: the height of a block, the distance of rows, the first row's place; and, by the number of blocks, how
#: many stand in a row, with their width and distance.
HEIGHT, DOWN, TOP, LEFT = 30, 50, 20, 4
ROWS = {6: (6, 51, 55), 10: (5, 60, 66)}
#: Tokens of a block.
SIZE = 4


@dataclass(frozen=True)
class Moment:
    """A pool after one call.

    Attributes:
        says: what happened.
        tables: the blocks of each sequence.
        queue: the free blocks, the next one first.
        contents: what lies in each block that was ever written.
        named: the blocks that have a name.
        changed: the blocks that this call took, shared or gave back.
    """

    says: str
    tables: Mapping[str, Sequence[int]]
    queue: Sequence[int]
    contents: Mapping[int, str]
    named: frozenset[int]
    changed: frozenset[int]


class _Teller:
    """Makes calls of a pool and keeps the moments; texts are written into blocks as a server would."""

    def __init__(self, pool: BlockPool) -> None:
        self.pool, self.contents, self.moments = pool, dict[int, str](), list[Moment]()

    def write(self, sequence: str, written: int) -> None:
        """Put a sequence's tokens into its blocks, from token ``written`` on."""
        length = self.pool.lengths[sequence]
        for place, block in enumerate(self.pool.tables[sequence]):
            first, last = place * SIZE, min(length, (place + 1) * SIZE) - 1
            if last >= written:
                self.contents[block] = f"{sequence} {first}" + (f"-{last}" if last > first else "")

    def tell(self, says: str, before: Sequence[int] = ()) -> None:
        """Keep the pool as it is now; ``before`` was its queue before the call."""
        self.moments.append(self._moment(says, frozenset(before) ^ frozenset(self.pool.queue)))

    def _moment(self, says: str, changed: frozenset[int]) -> Moment:
        named = getattr(self.pool, "named", [None] * 99)
        known = frozenset(block for block in self.contents if named[block] is not None)
        tables = {str(name): tuple(table) for name, table in self.pool.tables.items()}
        return Moment(says, tables, tuple(self.pool.queue), dict(self.contents), known, changed)


@functools.cache
def block_story() -> tuple[Moment, ...]:
    """Three sequences in six blocks: one grows, one ends, and its block is used again."""
    pool = BlockPool(6, SIZE)
    teller = _Teller(pool)

    def allocate(name: str, tokens: int, says: str) -> None:
        before = pool.free_queue()
        pool.allocate(name, tokens)
        teller.write(name, 0)
        teller.tell(says, before)

    def append(name: str, tokens: int, says: str) -> None:
        before, written = pool.free_queue(), pool.lengths[name]
        pool.append(name, tokens)
        teller.write(name, written)
        teller.tell(says, before)

    allocate("A", 6, "A comes with 6 tokens. Blocks hold four, so it gets two: 0 and 1, from the head of the queue.")
    allocate("B", 3, "B comes with 3 tokens, and gets block 2.")
    append("A", 3, "A has written 3 more tokens. Two of them fit into block 1. The third one needs a block: 3.")
    before = pool.free_queue()
    pool.free("B")
    teller.tell("B ends. Block 2 joins the tail of the queue, with B's tokens still in it.", before)
    allocate("C", 5, "C comes with 5 tokens, and gets blocks 4 and 5.")
    append("A", 4, "A goes on to 13 tokens. The 13th needs a block: 2, over what B left there.")
    return tuple(teller.moments)


@functools.cache
def sharing_story() -> tuple[Moment, ...]:
    """The example of vLLM's design document: ten blocks of four, three requests, two of which share a beginning."""
    pool = PrefixPool(10, SIZE)
    teller = _Teller(pool)
    first = list(range(15))
    second, third = [*first[:10], 90, 91, 92, 93], [*first[:12], *range(200, 217)]

    def begin(name: str, tokens: Sequence[int], says: str) -> None:
        before = pool.free_queue()
        found = pool.share(name, tokens)
        pool.append(name, len(tokens) - found)
        pool.keep(name, tokens)
        teller.write(name, found)
        teller.tell(says, before)

    def end(name: str, says: str) -> None:
        before = pool.free_queue()
        pool.free(name)
        teller.tell(says, before)

    begin(
        "P",
        first,
        "P comes with 15 tokens, and gets blocks 0 to 3. Blocks 0, 1 and 2 are full, so they have names now.",
    )
    before = pool.free_queue()
    pool.append("P", 2)
    pool.keep("P", [*first, 15])
    teller.write("P", 15)
    teller.tell(
        "P has written 2 more tokens. Block 3 is full and has a name, and block 4 holds the second one.", before
    )
    begin(
        "Q",
        second,
        "Q comes with 14 tokens. The first 10 are P's, which is two whole blocks and a half. Q shares blocks 0 and 1, "
        "and computes the other 6 tokens into blocks 5 and 6.",
    )
    end(
        "P",
        "P ends. Q still holds blocks 0 and 1. Blocks 3 and 2 join the tail of the queue, with their names. Block 4 "
        "has none, so nobody can find it: it joins the head.",
    )
    end("Q", "Q ends. The head of the queue is without names, the tail holds the beginnings that came first.")
    begin(
        "R",
        third,
        "R comes with 29 tokens, of which the first 12 are P's. It takes blocks 0, 1 and 2 out of the queue, and five "
        "more from its head.",
    )
    return tuple(teller.moments)


@functools.cache
def shortage_story() -> tuple[Moment, ...]:
    """Six blocks: a cached beginning is given up first, then the memory of the request that came last."""
    pool = PrefixPool(6, SIZE)
    teller = _Teller(pool)
    pool.share("K", list(range(8)))
    pool.append("K", 8)
    pool.keep("K", list(range(8)))
    teller.write("K", 0)
    pool.free("K")
    for name, tokens in (("A", 8), ("B", 8)):
        pool.allocate(name, tokens)
        teller.write(name, 0)
    teller.tell(
        "Start. A and B run. K has ended; its two blocks are free, but still have names, so they can be shared."
    )
    before = pool.free_queue()
    for name in "AB":
        pool.append(name, 4)
        teller.write(name, 8)
    teller.tell(
        "A's 9th token takes block 1, and B's 9th takes block 0: K's beginning is lost. Both go on to 12 tokens, and "
        "every block is full.",
        before,
    )
    before = pool.free_queue()
    pool.free("B")
    pool.append("A", 1)
    teller.write("A", 12)
    teller.tell(
        "A's 13th token needs a block. B came last, so B is preempted: it gives back its blocks, waits, and is "
        "computed again later.",
        before,
    )
    return tuple(teller.moments)


def pool_scene(moments: Sequence[Moment], step: int, blocks: int) -> Scene:
    """The pool at one moment: green blocks are held, pale ones free; below, the tables and the queue."""
    moment, marks = moments[step], list[Mark]()
    row, width, across = ROWS[blocks]
    held = {block for table in moment.tables.values() for block in table}
    for block in range(blocks):
        x, y = LEFT + across * (block % row), TOP + DOWN * (block // row)
        star = "*" if block in moment.named else ""
        marks.append(Label(x + width / 2, y - 4, f"{block}{star}", size=11, quiet=True))
        text, fill = moment.contents.get(block, ""), 0.7 if block in held else 0.15 * (block in moment.contents)
        tone: Tone = "right" if block in held else "quiet"
        marks.append(Box(x, y, width, HEIGHT, text, tone=tone, fill=fill, strong=block in moment.changed, size=11))
    y = TOP + DOWN * -(-blocks // row)
    tables = "   ".join(f"{name}: {' '.join(map(str, table))}" for name, table in sorted(moment.tables.items()))
    marks.append(Label(LEFT, y + 2, f"tables   {tables or '-'}", "start"))
    marks.append(Label(LEFT, y + 20, f"queue   {' '.join(map(str, moment.queue)) or '-'}", "start"))
    return Scene(LEFT + across * row, y + 28, tuple(marks), moment.says, _holds(moment, blocks))


def _holds(moment: Moment, blocks: int) -> str:
    """All that the picture shows, for readers who cannot see it."""
    texts = [f"block {block}: {moment.contents.get(block, 'empty')}" for block in range(blocks)]
    tables = [f"table of {name}: {' '.join(map(str, table))}" for name, table in moment.tables.items()]
    named = ", ".join(map(str, sorted(moment.named))) or "none"
    return "; ".join([*texts, *tables, f"queue: {' '.join(map(str, moment.queue))}", f"with a name: {named}"]) + "."


def block_scene(step: int) -> Scene:
    """Step 0 to 5 of :func:`block_story`."""
    return pool_scene(block_story(), step, 6)


def sharing_scene(step: int) -> Scene:
    """Step 0 to 5 of :func:`sharing_story`."""
    return pool_scene(sharing_story(), step, 10)


def shortage_scene(step: int) -> Scene:
    """Step 0 to 2 of :func:`shortage_story`."""
    return pool_scene(shortage_story(), step, 6)
