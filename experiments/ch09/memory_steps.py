"""What steppers draw of keys and values: a token's bytes, what fits beside weights, reservations, and a look-up through
a block table. Standard library only.

>>> TOKEN_BYTES
256
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

#: The small model of 9.3: layers, key-value heads, numbers of a head, bytes of a number.
LAYERS, HEADS, WIDTH, ELEMENT = 4, 2, 8, 2
TOKEN_BYTES = 2 * LAYERS * HEADS * WIDTH * ELEMENT


def token_scene(step: int) -> Scene:
    """The bytes of one token in three steps: a key and a value, all heads, all layers."""
    marks: list[Mark] = []
    shown_layers = LAYERS if step == 2 else 1
    shown_heads = HEADS if step >= 1 else 1
    for layer in range(shown_layers):
        y = 20 + 32 * layer
        marks.append(Label(4, y + 18, f"layer {layer}", "start", quiet=True))
        for head in range(shown_heads):
            for kind, name in enumerate("KV"):
                x = 56 + 140 * head + 66 * kind
                tone: Tone = "accent" if kind == 0 else "right"
                box = (x, y, 60, 27, f"{name}: {WIDTH}")
                marks.append(Box(*box, tone=tone, fill=0.6, strong=step == (2 if layer else 1 if head else 0), size=12))
    for head in range(shown_heads):
        marks.append(Label(119 + 140 * head, 14, f"head {head}", quiet=True, size=11))
    counts = (2 * WIDTH, 2 * WIDTH * HEADS, 2 * WIDTH * HEADS * LAYERS)
    says = (
        f"A key is a vector of {WIDTH} numbers, here of {ELEMENT} bytes each, and so is its value: together "
        f"{counts[0] * ELEMENT} bytes.",
        f"A layer of this model has {HEADS} key-value heads: {counts[1] * ELEMENT} bytes.",
        f"And the model has {LAYERS} layers: one token takes {counts[2] * ELEMENT} bytes, whatever the token is.",
    )[step]
    return Scene(334, 20 + 32 * LAYERS, tuple(marks), says, f"{counts[step]} numbers. {says}")


# What fits.

#: Numbers of GPUs that are drawn, and the share of their memory that a server takes.
GPUS, USABLE = (2, 4, 8), 0.9


def room(gpus: int) -> float:
    """GB that are left for keys and values of Llama 3 70B in bf16 on H100s."""
    return (gpus * H100_SXM.memory * USABLE - 2 * LLAMA3_70B.parameters) / GB


def room_scene(step: int) -> Scene:
    """The memory of 2, 4 and 8 GPUs as bars: weights, what the server leaves alone, and the room for tokens."""
    marks: list[Mark] = []
    weights, scale = 2 * LLAMA3_70B.parameters / GB, 300 / (GPUS[-1] * H100_SXM.memory / GB)
    for index, gpus in enumerate(GPUS[: step + 2]):
        y, memory = 18 + 46 * index, gpus * H100_SXM.memory / GB
        left, spare = room(gpus), memory * (1 - USABLE)
        marks.append(Label(4, y - 5, f"{gpus} GPUs, {memory:g} GB: room for {left:.0f} GB of cache", "start"))
        x = 4.0
        parts: tuple[tuple[float, str, Tone, float], ...] = (
            (weights, "weights", "accent", 0.7),
            (left, "room", "right", 0.7),
            (spare, "", "quiet", 0.4),
        )
        for size, name, tone, fill in parts:
            text = name if size * scale > 44 else ""
            marks.append(Box(x, y, size * scale, 22, text, tone=tone, fill=fill, strong=index == step + 1, size=12))
            x += size * scale
    gpus = GPUS[step + 1]
    says = (
        f"{gpus} GPUs of 80 GB. The weights of Llama 3 70B take {weights:.0f} GB, a tenth of the memory is left for "
        f"other things, and {room(gpus):.0f} GB are room for keys and values."
    )
    return Scene(310, 18 + 46 * len(GPUS), tuple(marks), says, says)


# Reservations.


@dataclass(frozen=True)
class Reserved:
    """A request that reserves its longest length: where, how much, what it has written, and whether it has ended."""

    name: str
    start: int
    size: int
    filled: int


SLOTS = 40
#: Moments of forty slots: the reservations at each, and what is said.
RESERVATIONS: tuple[tuple[str, tuple[Reserved, ...]], ...] = (
    ("Start. Forty slots, each for the keys and values of one token.", ()),
    (
        "A comes with 4 tokens and may get 16 in all. Nobody knows how many it will need, so it reserves 16 slots.",
        (Reserved("A", 0, 16, 4),),
    ),
    (
        "B comes with 6 tokens and reserves 14. C reserves the last 10. All 40 slots are taken, and 13 hold a token. "
        "D, which wants 12 slots, has to wait.",
        (Reserved("A", 0, 16, 4), Reserved("B", 16, 14, 6), Reserved("C", 30, 10, 3)),
    ),
    (
        "Later, C ends after 6 tokens; it never used its other 4 slots. Ten slots are free, and D needs 12: it waits.",
        (Reserved("A", 0, 16, 7), Reserved("B", 16, 14, 9)),
    ),
    (
        "A ends, too. Now 26 slots are free, 16 on the left and 10 on the right. D reserves 12 on the left.",
        (Reserved("D", 0, 12, 5), Reserved("B", 16, 14, 10)),
    ),
    (
        "E wants 14 slots. 14 are free, 4 in one hole and 10 in another: E waits for a row of 14.",
        (Reserved("D", 0, 12, 6), Reserved("B", 16, 14, 11)),
    ),
)


def reservation_scene(step: int) -> Scene:
    """The forty slots at one moment: dark is a token, pale is reserved and empty, white is free."""
    says, held = RESERVATIONS[step]
    owners = {slot: one for one in held for slot in range(one.start, one.start + one.size)}
    marks: list[Mark] = []
    for slot in range(SLOTS):
        x, y = 4 + 33 * (slot % 10), 6 + 26 * (slot // 10)
        one = owners.get(slot)
        filled = one is not None and slot < one.start + one.filled
        fill = 0.9 if filled else 0.25 if one else 0.0
        tone: Tone = "right" if filled else "accent"
        marks.append(Box(x, y, 31, 23, one.name if one else "", tone=tone, fill=fill, size=12))
    tokens, taken = sum(one.filled for one in held), sum(one.size for one in held)
    told = "; ".join(
        f"{one.name}: slots {one.start} to {one.start + one.size - 1}, {one.filled} filled" for one in held
    )
    marks.append(Label(4, 126, f"{tokens} with a token, {taken - tokens} reserved, {SLOTS - taken} free", "start"))
    return Scene(336, 134, tuple(marks), says, told or "All slots are free.")


# A look-up through the table.

#: The sequence of 9.7: its table, block size and length; and the scores of its slots.
TABLE, BLOCK, LENGTH = (3, 1), 2, 3
SCORES = (1.0, 0.0, 0.0)


def weights() -> tuple[float, ...]:
    """The softmax of the scores of the tokens that are there."""
    total = sum(map(math.exp, SCORES))
    return tuple(math.exp(score) / total for score in SCORES)


def lookup_scene(step: int) -> Scene:
    """A query that reads three tokens in two blocks of a pool of four: the table, the scores, the weights."""
    marks: list[Mark] = [Label(4, 18, "table of the sequence:", "start", quiet=True)]
    for place, block in enumerate(TABLE):
        marks.append(Box(150 + 44 * place, 4, 38, 22, str(block), tone="accent", fill=0.5))
    for block in range(4):
        x = 4 + 84 * block
        marks.append(Label(x + 38, 62, f"block {block}", size=11, quiet=True))
        place = TABLE.index(block) if block in TABLE else -1
        for offset in range(BLOCK):
            token = place * BLOCK + offset
            seen = place >= 0 and token < LENGTH
            text = f"k{token}" if seen else "NaN"
            lit = seen
            marks.append(
                Box(x + 39 * offset, 68, 37, 26, text, tone="right" if seen else "quiet", fill=0.7 * lit, size=11)
            )
        if place >= 0:
            marks.append(Arrow(169 + 44 * place, 27, x + 38, 50))
    if step >= 1:
        for token, score in enumerate(SCORES):
            marks.append(Box(4 + 84 * token, 104, 76, 26, f"q·k{token} = {score:g}", tone="accent", fill=0.4, size=12))
    if step >= 2:
        for token, weight in enumerate(weights()):
            marks.append(Box(4 + 84 * token, 136, 76, 26, f"{weight:.2f} v{token}", tone="right", fill=0.5, size=12))
    says = (
        "A sequence of 3 tokens lies in blocks 3 and 1 of a pool, as its table says. Slots that nobody has written "
        "hold NaN here, and so does the slot beyond the third token.",
        "The query's product with each key is its score. Only three slots are read.",
        "The softmax turns scores into weights, and the output is the weighted sum of the three values.",
    )[step]
    return Scene(338, 166, tuple(marks), says, f"Table {TABLE}, length {LENGTH}. {says}")
