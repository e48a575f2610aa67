"""Four numbers added in four orders, on a machine that keeps two digits. Standard library only.

>>> [totals(chunk)[-1] for chunk in range(4)]
[0.0, 4.0, 0.0, 4.0]
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene
from solutions.ch03.ring_walk import ring_order

#: What ranks 0 to 3 hold in every chunk. The exact sum is 8.
NUMBERS = (200.0, 4.0, -200.0, 4.0)

#: Layout of the picture, pixels.
LEFT, TOP = 52, 26
ACROSS, DOWN = 72, 38
WIDTH, HEIGHT = 68, 33


def two_digits(number: float) -> float:
    """``number`` rounded to two significant digits: 104 becomes 100."""
    return float(f"{number:.1e}")


def totals(chunk: int) -> list[float]:
    """The running sums of a chunk in the order in which the ring of chapter 3 adds, rounded after each addition."""
    result: list[float] = []
    for rank in ring_order(len(NUMBERS), chunk):
        result.append(two_digits((result[-1] if result else 0.0) + NUMBERS[rank]))
    return result


def rounding_scene(step: int) -> Scene:
    """The running sums of all chunks after ``step`` additions: a row is a chunk, a column a stop of its walk."""
    ranks = len(NUMBERS)
    names = [Label(2, TOP + DOWN * chunk + 21, f"chunk {chunk}", "start", quiet=True) for chunk in range(ranks)]
    heads = ["start", *(f"stop {index}" for index in range(1, ranks))]
    tops = [Label(LEFT + ACROSS * index + WIDTH / 2, 18, head, quiet=True) for index, head in enumerate(heads)]
    boxes = [_box(chunk, index, step) for chunk in range(ranks) for index in range(step + 1)]
    size = LEFT + ACROSS * ranks, TOP + DOWN * ranks
    return Scene(*size, (*names, *tops, *boxes), _says(step), _holds(step))


def _box(chunk: int, index: int, step: int) -> Box:
    rank = ring_order(len(NUMBERS), chunk)[index]
    note = f"rank {rank}: {NUMBERS[rank]:+g}"
    done = index == len(NUMBERS) - 1
    corner = LEFT + ACROSS * index, TOP + DOWN * chunk
    text = f"{totals(chunk)[index]:g}"
    return Box(*corner, WIDTH, HEIGHT, text, note, "right" if done else "accent", 0.6 if done else 0.2, index == step)


def _says(step: int) -> str:
    chunks = range(len(NUMBERS))
    if step == 0:
        starts = ", ".join(f"chunk {chunk} on rank {ring_order(len(NUMBERS), chunk)[0]}" for chunk in chunks)
        return f"Start. Each chunk begins its walk on another rank: {starts}."
    sums = []
    for chunk in chunks:
        before, rank = totals(chunk)[step - 1], ring_order(len(NUMBERS), chunk)[step]
        exact, kept = before + NUMBERS[rank], totals(chunk)[step]
        rounded = f", kept as {kept:g}" if kept != exact else ""
        sign = "+" if NUMBERS[rank] > 0 else "-"
        sums.append(f"chunk {chunk}: {before:g} {sign} {abs(NUMBERS[rank]):g} is {exact:g}{rounded}")
    return f"Addition {step} of {len(NUMBERS) - 1}. {'; '.join(sums)}.".replace("chunk 0", "Chunk 0", 1)


def _holds(step: int) -> str:
    """All running sums, for readers who cannot see them."""
    rows = [f"chunk {chunk}: {', '.join(f'{value:g}' for value in totals(chunk)[: step + 1])}" for chunk in range(4)]
    return f"Running sums, {'; '.join(rows)}."
