"""From a prompt to a place in memory, in three tables: what the stepper of three levels draws. Standard library only.

The tree is a real one, and the other two levels follow from its slots.

>>> [block_of(slot) for slot in slots_of("second")]
[0, 0, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3]
"""

from __future__ import annotations

from functools import cache

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Arrow, Mark, Tone
from solutions.ch09.radix_cache import RadixCache, RadixNode

#: Tokens of a page, and of a block of the pool.
PAGE, BLOCKS = 4, 6
#: Two requests that begin with the same eight tokens, and the position that is looked up in the second.
REQUESTS = {"first": tuple("down the") + tuple("hole"), "second": tuple("down the") + tuple("well")}
LOOKED_UP = 9

#: Layout, pixels.
CELL, HIGH, ROW = 24, 26, 34


def _codes(name: str) -> list[int]:
    return [ord(letter) for letter in REQUESTS[name]]


@cache
def _tree() -> RadixCache:
    """The tree after both requests have been inserted and locked."""
    tree, free = RadixCache(PAGE), 0
    for name in REQUESTS:
        tokens = _codes(name)
        found, slots = tree.match(tokens)
        new = range(free, free + len(tokens) - found)
        tree.insert(tokens, [*slots, *new])
        tree.lock(tokens)
        free += len(new)
    return tree


def nodes() -> list[RadixNode]:
    """The nodes of the tree, parents first."""
    return list(_tree().nodes())


def slots_of(name: str) -> list[int]:
    """The second level: the slot of each position of a request."""
    return list(_tree().match(_codes(name))[1])


def block_of(slot: int) -> int:
    """The block of the pool in which a slot lies."""
    return slot // PAGE


def levels_scene(step: int) -> Scene:
    """The tree; then the rows of the requests; then the pool; then one position followed through all three."""
    follow = step == 3
    slot = slots_of("second")[LOOKED_UP]
    marks: list[Mark] = [Label(4, 14, "1  the tree: which beginnings exist, in which blocks", "start", size=11)]
    found = nodes()
    for index, node in enumerate(found):
        deep = 0 if node.parent < 0 else 1
        text = "".join(map(chr, node.tokens)).replace(" ", "_")
        blocks = sorted({block_of(one) for one in node.slots})
        x, y = (4, 42) if not deep else (196, 24 + ROW * (index - 1))
        chosen = follow and slot in node.slots
        note = f"{text}: {', '.join(map(str, blocks))}"
        marks.append(Box(x, y, 136, HIGH, note, tone=_tone(deep), fill=0.4, strong=chosen, size=11))
        if deep:
            marks.append(Arrow(142, 42 + HIGH / 2, 192, y + HIGH / 2))
    if step >= 1:
        marks.append(Label(4, 122, "2  the requests: the block of each page", "start", size=11))
        for row, name in enumerate(REQUESTS):
            marks.append(Label(4, 146 + ROW * row, name, "start", size=11, quiet=True))
            for page in range(len(REQUESTS[name]) // PAGE):
                block = block_of(slots_of(name)[page * PAGE])
                chosen = follow and name == "second" and page == LOOKED_UP // PAGE
                shared = page < 2
                tone = _tone(not shared)
                at = 64 + 44 * page, 130 + ROW * row
                marks.append(Box(*at, 40, HIGH - 4, f"{block}", tone=tone, fill=0.4, strong=chosen, size=12))
    if step >= 2:
        marks.append(Label(4, 212, "3  the pool: keys and values, in every layer", "start", size=11))
        held = {block_of(one): index for index, node in enumerate(found) for one in node.slots}
        for block in range(BLOCKS):
            chosen = follow and block == block_of(slot)
            fill = 0.4 if block in held else 0.0
            tone = _tone(bool(held.get(block, 0)))
            note = "" if block in held else "free"
            at = 4 + 55 * block, 220
            marks.append(Box(*at, 51, 34, f"{block}", note, tone=tone, fill=fill, strong=chosen, size=12))
    return Scene(336, 262, tuple(marks), _says(step, slot), _told(step))


def _tone(own: bool | int) -> Tone:
    return "accent" if own else "right"


def _says(step: int, slot: int) -> str:
    """The sentence of a step."""
    page, place = divmod(LOOKED_UP, PAGE)
    return (
        "Both requests begin with the same eight tokens, letters here. The tree stores them once, in blocks 0 and 1.",
        "Each running request has a row: one number for each page of its text. The rows begin alike.",
        "The pool has the keys and values themselves. Four of six blocks are in use, two of them by both requests.",
        f"Position {LOOKED_UP} of the second request: page {page} of its row says block {block_of(slot)}, and there it "
        f"is place {place}. No level looks at another request.",
    )[step]


def _told(step: int) -> str:
    """The picture in words."""
    rows = [f"{name}: blocks {sorted({block_of(one) for one in slots_of(name)})}" for name in REQUESTS]
    told = [f"tree of {len(nodes())} nodes", "; ".join(rows), f"pool of {BLOCKS} blocks, 4 in use", "one followed"]
    return "; ".join(told[: step + 1]) + "."
