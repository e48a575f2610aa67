"""Four tokens on two ranks, and four blocks of keys on four ranks: what the steppers of sequences draw.

Standard library only. :func:`sequence_scene` follows four tokens through sequence parallelism (section 6.5), and
:func:`ring_scene` four blocks of keys and values through a causal ring (section 6.11).

>>> sequence_states()[3]
[[30, 60], [90, 120]]
>>> [visiting(rank, step=1) for rank in range(4)]
[3, 0, 1, 2]
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

#: One number for each of four tokens, and what the split matrices of each rank multiply it by.
TOKENS = (1, 2, 3, 4)
WEIGHTS = (10, 20)
RANKS = 2

#: Layout, pixels.
LEFT, TOP = 56, 26
ACROSS, DOWN, HEIGHT = 62, 44, 32


def own_tokens(rank: int) -> range:
    """The tokens of a rank."""
    return range(rank * len(TOKENS) // RANKS, (rank + 1) * len(TOKENS) // RANKS)


def sequence_states() -> list[list[list[float]]]:
    """``[step][rank]``, what a rank has: its own tokens, all tokens, partial sums, complete sums, its own result."""
    own: list[list[float]] = [[TOKENS[t] for t in own_tokens(rank)] for rank in range(RANKS)]
    partial: list[list[float]] = [[weight * token for token in TOKENS] for weight in WEIGHTS]
    total = [sum(values) for values in zip(*partial, strict=True)]
    reduced = [[total[t] for t in own_tokens(rank)] for rank in range(RANKS)]
    added = [[a + b for a, b in zip(old, new, strict=True)] for old, new in zip(own, reduced, strict=True)]
    return [own, [[*TOKENS] for _ in range(RANKS)], partial, reduced, added]


_PHASES: tuple[tuple[str, Tone], ...] = (
    ("norm", "quiet"),
    ("all-gather", "right"),
    ("split matrices", "accent"),
    ("reduce-scatter", "right"),
    ("residual", "right"),
)


def _listed(values: Sequence[float]) -> str:
    texts = [f"{value:g}" for value in values]
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def _sequence_says(states: Sequence[Sequence[Sequence[float]]]) -> list[str]:
    return [
        f"Norm. Rank 0 has tokens 0 and 1, with the values {_listed(states[0][0])}, and rank 1 tokens 2 and 3, with "
        f"{_listed(states[0][1])}. A norm acts on every token by itself, so each rank handles only its own.",
        "All-gather. The matrices need all tokens, so both ranks collect them. This takes the place of f.",
        f"Split matrices. Rank 0 multiplies by {WEIGHTS[0]}, rank 1 by {WEIGHTS[1]}: partial sums for all four tokens, "
        "none of them final.",
        f"Reduce-scatter. The partial sums are added, and each rank keeps those of its own tokens: rank 0 has "
        f"{_listed(states[3][0])}, rank 1 {_listed(states[3][1])}. This takes the place of g.",
        f"Residual. Each rank adds its own input, and dropout would act here, too: {_listed(states[4][0])} on rank 0, "
        f"{_listed(states[4][1])} on rank 1.",
    ]


def sequence_scene(step: int) -> Scene:
    """The picture after ``step`` steps; there are four."""
    states = sequence_states()
    phase, tone = _PHASES[step]
    marks: list[Box | Label] = [_head(t, f"token {t}") for t in range(len(TOKENS))]
    for rank, values in enumerate(states[step]):
        marks.append(Label(4, _y(rank) + 21, f"rank {rank}", "start", quiet=True))
        mine = own_tokens(rank) if len(values) < len(TOKENS) else range(len(TOKENS))
        texts = dict(zip(mine, (f"{value:g}" for value in values), strict=True))
        marks += [_box(rank, t, texts.get(t, ""), tone, bool(step)) for t in range(len(TOKENS))]
    marks.append(Label(LEFT, _y(RANKS) + 6, f"step {step}: {phase}", "start"))
    alt = "; ".join(f"rank {rank} has {_listed(values)}" for rank, values in enumerate(states[step]))
    says = _sequence_says(states)[step]
    return Scene(LEFT + ACROSS * len(TOKENS), _y(RANKS) + 12, tuple(marks), says, f"{alt.capitalize()}.")


def _head(column: int, text: str) -> Label:
    return Label(LEFT + ACROSS * column + (ACROSS - 8) / 2, 16, text, quiet=True)


def _y(row: int) -> float:
    return TOP + DOWN * row


def _box(row: int, column: int, text: str, tone: Tone, strong: bool, note: str = "") -> Box:
    place = LEFT + ACROSS * column, _y(row), ACROSS - 8, HEIGHT
    if not text:
        return Box(*place, "", "", "quiet")
    return Box(*place, text, note, tone, 0.0 if tone == "quiet" else 0.7, strong)


# A ring of keys and values.

BLOCKS = 4


def visiting(rank: int, step: int) -> int:
    """The block of keys and values that a rank has after ``step`` steps: they move to the next rank."""
    return (rank - step) % BLOCKS


def ring_states() -> list[list[list[str]]]:
    """``[step][rank][block]``: ``"now"`` is merged in this step, ``"done"`` was before, ``"pass"`` is not needed."""
    states: list[list[list[str]]] = []
    for step in range(BLOCKS):
        rows = [["done" if text in ("now", "done") else "" for text in row] for row in states[-1]] if states else []
        rows = rows or [[""] * BLOCKS for _ in range(BLOCKS)]
        for rank in range(BLOCKS):
            block = visiting(rank, step)
            rows[rank][block] = "now" if block <= rank else "pass"
        states.append(rows)
    return states


def merged(step: int) -> list[int]:
    """How many blocks each rank has merged after ``step`` steps."""
    return [sum(text in ("now", "done") for text in row) for row in ring_states()[step]]


def _ring_says(step: int) -> str:
    if step == 0:
        return (
            "Start. Rank r has the queries, the keys and the values of block r, and attends to its own block. Within "
            "it, every query sees the tokens up to itself."
        )
    uses = [rank for rank in range(BLOCKS) if visiting(rank, step) <= rank]
    news = ", ".join(f"rank {rank} merges block {visiting(rank, step)}" for rank in uses)
    idle = [rank for rank in range(BLOCKS) if rank not in uses]
    waits = f"rank {idle[0]} has" if len(idle) == 1 else f"ranks {_listed(idle)} have"
    return (
        f"Step {step} of {BLOCKS - 1}. Every rank passes its block on to the next one: {news}; {waits} a block of "
        "later tokens and nothing to do."
    )


def ring_scene(step: int) -> Scene:
    """A causal ring after ``step`` steps: a row is a rank with its queries, a column a block of keys and values."""
    marks: list[Box | Label] = [_head(block, f"keys {block}") for block in range(BLOCKS)]
    looks: dict[str, tuple[str, Tone, bool]] = {
        "": ("", "quiet", False),
        "now": ("now", "right", True),
        "done": ("done", "right", False),
        "pass": ("later", "quiet", True),
    }
    for rank, row in enumerate(ring_states()[step]):
        marks.append(Label(4, _y(rank) + 21, f"rank {rank}", "start", quiet=True))
        marks += [_box(rank, block, *looks[text]) for block, text in enumerate(row)]
    counts = merged(step)
    marks.append(Label(LEFT, _y(BLOCKS) + 6, f"blocks merged so far: {_listed(counts)}", "start"))
    alt = "; ".join(f"rank {r} has block {visiting(r, step)} and has merged {counts[r]}" for r in range(BLOCKS))
    size = LEFT + ACROSS * BLOCKS, _y(BLOCKS) + 12
    return Scene(*size, tuple(marks), _ring_says(step), f"{alt.capitalize()}.")
