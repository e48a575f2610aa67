"""The first two programs step by step: what their steppers draw. Standard library only.

>>> passed_on(4)[-1]
[0, 1, 2, 3]
>>> heard(3)[-1].total
3
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene

#: Layout, pixels: the column of names, the height of the head, the distance between boxes, and their size.
LEFT, TOP = 38, 18
ACROSS, DOWN = 64, 30
WIDTH, HEIGHT = 44, 25
#: Sizes of text: in boxes, and beside them.
TEXT, SMALL = 11, 10

Mark = Box | Arrow | Label


# A number travels down the chain


def passed_on(ranks: int = 4) -> list[list[int | None]]:
    """What each rank holds at the start and after each message; None for one that still waits.

    Rank 0 begins with 0. Every rank that gets the number keeps it and sends on one more.
    """
    states: list[list[int | None]] = [[0] + [None] * (ranks - 1)]
    for rank in range(1, ranks):
        before = states[-1][rank - 1]
        states.append([*states[-1][:rank], (before or 0) + 1, *states[-1][rank + 1 :]])
    return states


def pass_it_on_scene(step: int, ranks: int = 4) -> Scene:
    """The picture after message ``step``: a box is a rank, an arrow the message."""
    held = passed_on(ranks)[step]
    marks: list[Mark] = []
    for rank, number in enumerate(held):
        x = 4 + ACROSS * rank
        marks.append(Label(x + WIDTH / 2, 11, f"rank {rank}", size=SMALL, quiet=True))
        text, note = ("waits", "") if number is None else (f"{number}", "")
        marks.append(
            Box(x, TOP, WIDTH, HEIGHT, text, note, "accent", 0.6 * (number is not None), rank == step > 0, TEXT)
        )
    if step > 0:
        x = 4 + ACROSS * (step - 1) + WIDTH
        marks.append(Arrow(x + 2, TOP + HEIGHT / 2, x + ACROSS - WIDTH - 2, TOP + HEIGHT / 2))
    return Scene(8 + ACROSS * (ranks - 1) + WIDTH, TOP + HEIGHT + 6, tuple(marks), _passing(held, step), _alt(held))


def _passing(held: list[int | None], step: int) -> str:
    if step == 0:
        waiting = f"Ranks 1 to {len(held) - 1} are in recv, each waiting for the rank before it."
        return f"Start. Rank 0 has 0 and need not wait. {waiting}"
    last = step == len(held) - 1
    end = "It is the last rank and sends nothing: all are done." if last else "It goes on to its send."
    return f"Message {step}. Rank {step - 1} sends {held[step]}, and rank {step} returns from its recv. {end}"


def _alt(held: list[int | None]) -> str:
    return "; ".join(f"rank {rank} {'waits' if n is None else f'has {n}'}" for rank, n in enumerate(held)) + "."


# Everyone hears everyone, and a sum


@dataclass(frozen=True)
class Heard:
    """What every rank has after a step of the program: the pairs it has heard, by rank, and the sum, or None.

    Attributes:
        pairs: ``[rank]``, the pairs in the list of that rank; None where nothing has arrived.
        total: the sum on every rank; None before the all-reduce.
    """

    pairs: list[list[tuple[int, int] | None]]
    total: int | None = None


def heard(ranks: int = 3) -> list[Heard]:
    """The start, the state after the all-gather and that after the all-reduce."""
    own = [(10 * rank, 10 * rank + 1) for rank in range(ranks)]
    start = [[own[index] if index == rank else None for index in range(ranks)] for rank in range(ranks)]
    everything: list[list[tuple[int, int] | None]] = [[*own] for _ in range(ranks)]
    return [Heard(start), Heard(everything), Heard(everything, sum(range(ranks)))]


def hello_scene(step: int, ranks: int = 3) -> Scene:
    """The picture after step ``step``: a row is a rank, a column is the rank whose pair it is, and the sum."""
    state = heard(ranks)[step]
    across, width = 54, 49
    marks: list[Mark] = [
        Label(LEFT + across * index + width / 2, 11, f"from {index}", size=SMALL, quiet=True) for index in range(ranks)
    ]
    marks.append(Label(LEFT + across * ranks + width / 2, 11, "sum", size=SMALL, quiet=True))
    for rank, row in enumerate(state.pairs):
        y = TOP + DOWN * rank
        marks.append(Label(4, y + 17, f"rank {rank}", "start", SMALL, True))
        for index, pair in enumerate(row):
            new = step == 1 and index != rank
            text = "" if pair is None else f"{pair[0]}, {pair[1]}"
            marks.append(
                Box(LEFT + across * index, y, width, HEIGHT, text, "", "accent", 0.6 * (pair is not None), new, TEXT)
            )
        total = f"{state.total}" if state.total is not None else ""
        x = LEFT + across * ranks
        marks.append(Box(x, y, width, HEIGHT, total, "", "right", 0.6 * bool(total), step == 2, TEXT))
    size = LEFT + across * ranks + width + 4, TOP + DOWN * (ranks - 1) + HEIGHT + 6
    return Scene(*size, tuple(marks), _hears(step, ranks), _hello_alt(state))


def _hears(step: int, ranks: int) -> str:
    numbers = " + ".join(map(str, range(ranks)))
    return (
        "Start. Every rank has the pair it made itself, and empty places for the others.",
        "all_gather. Every rank hands in its pair and gets all pairs, in rank order.",
        f"all_reduce. Every rank hands in its number, and every rank gets the sum {numbers} = {sum(range(ranks))}.",
    )[step]


def _hello_alt(state: Heard) -> str:
    rows = []
    for rank, row in enumerate(state.pairs):
        got = ", ".join(str(pair) for pair in row if pair is not None)
        rows.append(f"rank {rank} has {got}" + (f" and the sum {state.total}" if state.total is not None else ""))
    return f"{'; '.join(rows).capitalize()}."
