"""A product of a vector and a 2 x 4 matrix on two ranks: what the steppers of sections 6.1 to 6.3 draw.

Standard library only. The vector is drawn to the left of the matrix, one number beside each row, and the product below
it, one number under each column.

>>> whole()
[53, 56, 59, 62]
>>> [slices(0), partial_sums(0)]
[[53, 56], [11, 12, 13, 14]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

#: The input, the matrix, and the matrices of the small MLP: 2 x 4, then 4 x 1.
X = (1, 2)
A = ((11, 12, 13, 14), (21, 22, 23, 24))
UP = ((1, -3, 2, 1), (1, 1, -2, 1))
DOWN = (10, 20, 30, 40)
RANKS, COLUMNS = 2, 4

#: Layout of the picture, pixels: left margin, the column of the vector, the matrix, the height of a box, of a rank.
LEFT, VECTOR, MATRIX = 52, 44, 52
HEIGHT, ROW, RANK = 27, 31, 124


def own_columns(rank: int) -> range:
    """The columns of a rank."""
    return range(rank * COLUMNS // RANKS, (rank + 1) * COLUMNS // RANKS)


def product(x: Sequence[float], matrix: Sequence[Sequence[float]]) -> list[float]:
    """``x A``."""
    return [sum(a * row[column] for a, row in zip(x, matrix, strict=True)) for column in range(len(matrix[0]))]


def whole() -> list[float]:
    """All of the product."""
    return product(X, A)


def slices(rank: int) -> list[float]:
    """What a rank computes from its columns: final numbers, some of them."""
    return [whole()[column] for column in own_columns(rank)]


def partial_sums(rank: int) -> list[float]:
    """What a rank computes from its row: a summand of every number."""
    return product(X[rank : rank + 1], A[rank : rank + 1])


def contributions(rank: int) -> list[float]:
    """The gradient of x that flows back through the columns of a rank, if every gradient of the output is 1."""
    return [sum(row[column] for column in own_columns(rank)) for row in A]


def input_gradient() -> list[float]:
    """The whole gradient of x."""
    return [sum(row) for row in A]


@dataclass(frozen=True)
class Held:
    """What a rank has in a picture: texts, empty where it has nothing.

    Attributes:
        x: beside the two rows.
        cells: the places ``(row, column)`` of the matrix that it holds.
        y: under the four columns.
        tones: of the numbers beside the rows and of those under the columns.
        new: which of the two, ``"x"`` or ``"y"``, this step has changed.
    """

    x: tuple[str, str]
    cells: frozenset[tuple[int, int]]
    y: tuple[str, str, str, str]
    tones: tuple[Tone, Tone] = ("quiet", "accent")
    new: str = ""


ALL = frozenset((row, column) for row in range(2) for column in range(COLUMNS))


def _columns_of(rank: int) -> frozenset[tuple[int, int]]:
    return frozenset((row, column) for row, column in ALL if column in own_columns(rank))


def _row_of(rank: int) -> frozenset[tuple[int, int]]:
    return frozenset((row, column) for row, column in ALL if row == rank)


def _texts(values: Sequence[float], first: int = 0) -> tuple[str, str, str, str]:
    """Four texts, of which those from ``first`` on are the values."""
    texts = [""] * COLUMNS
    texts[first : first + len(values)] = [f"{value:g}" for value in values]
    return (texts[0], texts[1], texts[2], texts[3])


def _pair(values: Sequence[float]) -> tuple[str, str]:
    return (f"{values[0]:g}", f"{values[1]:g}")


def _own_x(rank: int, value: float) -> tuple[str, str]:
    return (f"{value:g}", "") if rank == 0 else ("", f"{value:g}")


def split_states() -> list[list[Held]]:
    """``[step][rank]`` of section 6.1: all of it twice; the column cut, its all-gather; the row cut, its all-reduce."""
    ranks, full = range(RANKS), _texts(whole())
    return [
        [Held(_pair(X), ALL, full) for _ in ranks],
        [Held(_pair(X), _columns_of(r), _texts(slices(r), own_columns(r).start), new="y") for r in ranks],
        [Held(_pair(X), _columns_of(r), full, ("quiet", "right"), "y") for r in ranks],
        [Held(_own_x(r, X[r]), _row_of(r), _texts(partial_sums(r)), new="y") for r in ranks],
        [Held(_own_x(r, X[r]), _row_of(r), full, ("quiet", "right"), "y") for r in ranks],
    ]


def pair_states() -> list[list[Held]]:
    """``[step][rank]`` of section 6.2: forward and backward through the column cut, then through the row cut."""
    ranks, ones = range(RANKS), (1.0,) * COLUMNS
    return [
        [Held(_pair(X), _columns_of(r), _texts(slices(r), own_columns(r).start)) for r in ranks],
        [
            Held(
                _pair(contributions(r)),
                _columns_of(r),
                _texts(ones[:2], own_columns(r).start),
                ("accent", "quiet"),
                "x",
            )
            for r in ranks
        ],
        [
            Held(
                _pair(input_gradient()),
                _columns_of(r),
                _texts(ones[:2], own_columns(r).start),
                ("right", "quiet"),
                "x",
            )
            for r in ranks
        ],
        [Held(_own_x(r, X[r]), _row_of(r), _texts(whole()), ("quiet", "right"), "y") for r in ranks],
        [Held(_own_x(r, input_gradient()[r]), _row_of(r), _texts(ones), ("right", "quiet"), "x") for r in ranks],
    ]


def _listed(values: Sequence[float]) -> str:
    texts = [f"{value:g}" for value in values]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _split_says() -> list[str]:
    return [
        f"Start. Both ranks hold all of A and x, and both compute {_listed(whole())}: the same work twice.",
        f"Column cut. Each rank holds two columns and all of x. Rank 0 computes {_listed(slices(0))}, rank 1 "
        f"{_listed(slices(1))}. The numbers are final, but each rank has only some of them.",
        "An all-gather joins the slices: both ranks have all four numbers.",
        f"Row cut. Each rank holds one row and one number of x. Rank 0 computes {_listed(partial_sums(0))}, rank 1 "
        f"{_listed(partial_sums(1))}. Each rank has a number for all four places, but none of them is final.",
        f"An all-reduce adds the partial sums: {partial_sums(0)[0]:g} + {partial_sums(1)[0]:g} = {whole()[0]:g}, and "
        "so on. Both ranks have all four numbers.",
    ]


def _pair_says() -> list[str]:
    first, second, total = contributions(0), contributions(1), input_gradient()
    return [
        "Forward, column cut. Both ranks use all of x, and each computes its slice. Nothing is sent.",
        f"Backward, column cut. A gradient of 1 arrives for each number of a slice. Rank 0 finds {_listed(first)} "
        f"for x, rank 1 {_listed(second)}: each has the share that came through its own columns.",
        f"An all-reduce adds the two shares: {first[0]:g} + {second[0]:g} = {total[0]:g} and {first[1]:g} + "
        f"{second[1]:g} = {total[1]:g}, the whole gradient of x on both ranks.",
        f"Forward, row cut. An all-reduce adds the partial sums: both ranks have {_listed(whole())}.",
        f"Backward, row cut. Both ranks get the complete gradient of the sum, four ones. Rank 0 finds {total[0]:g} for "
        f"its number of x, rank 1 {total[1]:g}: nothing is sent.",
    ]


def split_scene(step: int) -> Scene:
    """The picture of section 6.1 after ``step`` steps; there are four."""
    return _scene(split_states()[step], _split_says()[step])


def pair_scene(step: int) -> Scene:
    """The picture of section 6.2 after ``step`` steps; there are four."""
    return _scene(pair_states()[step], _pair_says()[step])


def _scene(held: Sequence[Held], says: str) -> Scene:
    marks: list[Box | Label] = []
    for rank, one in enumerate(held):
        marks += _rank(rank, one)
    alt = "; ".join(
        f"rank {rank}: beside the rows {_seen(one.x)}, under the columns {_seen(one.y)}"
        for rank, one in enumerate(held)
    )
    return Scene(LEFT + VECTOR + 10 + COLUMNS * MATRIX, RANKS * RANK, tuple(marks), says, f"{alt.capitalize()}.")


def _seen(texts: Sequence[str]) -> str:
    return ", ".join(text or "nothing" for text in texts)


def _rank(rank: int, held: Held) -> list[Box | Label]:
    top, across = 22 + RANK * rank, LEFT + VECTOR + 10
    marks: list[Box | Label] = [
        Label(4, top + 18, f"rank {rank}", "start", quiet=True),
        Label(LEFT + VECTOR / 2 - 3, top - 6, "x", quiet=True),
        Label(across + 2 * MATRIX - 3, top - 6, "A", quiet=True),
    ]
    for row in range(2):
        place = top + ROW * row
        marks.append(_number(LEFT, place, VECTOR - 6, held.x[row], held.tones[0], held.new == "x"))
        for column in range(COLUMNS):
            mine = (row, column) in held.cells
            text = str(A[row][column]) if mine else ""
            marks.append(Box(across + MATRIX * column, place, MATRIX - 6, HEIGHT, text, fill=0.5 * mine))
    below = top + 2 * ROW + 6
    marks.append(Label(across - 8, below + 18, "Y", "end", quiet=True))
    for column, text in enumerate(held.y):
        marks.append(_number(across + MATRIX * column, below, MATRIX - 6, text, held.tones[1], held.new == "y"))
    return marks


def _number(x: float, y: float, width: float, text: str, tone: Tone, new: bool) -> Box:
    fill = 0.0 if not text or tone == "quiet" else 0.8
    return Box(x, y, width, HEIGHT, text, "", tone if text else "quiet", fill, bool(text) and new)


# The small MLP of section 6.3.


@dataclass(frozen=True)
class Mlp:
    """A pass through two matrices with a ReLU between them, the inner features split over the ranks.

    Attributes:
        inner: before the ReLU, by inner feature.
        active: after it.
        sums: by rank, what its inner features add to the output.
    """

    inner: list[float]
    active: list[float]
    sums: list[float]
    output: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", sum(self.sums))


def relu(values: Sequence[float]) -> list[float]:
    """Zero in place of what is negative."""
    return [max(value, 0) for value in values]


def columns_then_rows() -> Mlp:
    """The right way: columns of the first matrix, rows of the second."""
    inner = product(X, UP)
    active = relu(inner)
    return Mlp(inner, active, [sum(active[c] * DOWN[c] for c in own_columns(rank)) for rank in range(RANKS)])


def rows_first() -> tuple[list[list[float]], float]:
    """The wrong way: by rank, the ReLU of its partial sums of the inner features; and the output that follows."""
    partial = [relu(product(X[rank : rank + 1], UP[rank : rank + 1])) for rank in range(RANKS)]
    added = [sum(values) for values in zip(*partial, strict=True)]
    return partial, sum(a * b for a, b in zip(added, DOWN, strict=True))


#: Layout of the MLP's picture: room for the names of its rows, a column, the gap between the ranks.
NAMES, COLUMN, GAP, LINE = 100, 50, 18, 34


def mlp_scene(step: int) -> Scene:
    """Down through the MLP, row by row; in the last of three steps the ranks add up what they have."""
    one = columns_then_rows()
    rows: list[tuple[str, Sequence[float]]] = [("x A", one.inner), ("ReLU", one.active), ("times B", _weighted(one))]
    marks: list[Box | Label] = [Label(_corner(own_columns(r).start), 14, f"rank {r}", "start") for r in range(RANKS)]
    for place, weights in enumerate(UP):
        marks += _line(place, f"A, row for {X[place]}", weights, "quiet", False)
    for place, (name, values) in enumerate(rows[: step + 1], start=2):
        marks += _line(place, name, values, "accent", place == step + 2)
    if step >= 2:
        marks += _sums(one, step == 3)
    width = _corner(COLUMNS - 1) + COLUMN
    return Scene(width, 22 + 7 * LINE, tuple(marks), _mlp_says(one)[step], _mlp_alt(rows[: step + 1], one, step))


def _weighted(mlp: Mlp) -> list[float]:
    return [value * weight for value, weight in zip(mlp.active, DOWN, strict=True)]


def _corner(column: int) -> float:
    return NAMES + COLUMN * column + GAP * (column // 2)


def _line(place: int, name: str, values: Sequence[float], tone: Tone, new: bool) -> list[Box | Label]:
    y = 22 + LINE * place
    marks: list[Box | Label] = [Label(2, y + 18, name, "start", quiet=True)]
    fill = 0.0 if tone == "quiet" else 0.6
    for column, value in enumerate(values):
        marks.append(Box(_corner(column), y, COLUMN - 6, HEIGHT, f"{value:g}", "", tone, fill, new))
    return marks


def _sums(mlp: Mlp, joined: bool) -> list[Box | Label]:
    y = 22 + 5 * LINE
    marks: list[Box | Label] = [Label(2, y + 18, "sum of a rank", "start", quiet=True)]
    for rank, value in enumerate(mlp.sums):
        marks.append(Box(_corner(own_columns(rank).start), y, 2 * COLUMN - 6, HEIGHT, f"{value:g}", "", "accent", 0.8))
    if joined:
        marks.append(Label(2, y + LINE + 18, "g: all-reduce", "start", quiet=True))
        width = _corner(COLUMNS - 1) + COLUMN - 6 - _corner(0)
        marks.append(Box(_corner(0), y + LINE, width, HEIGHT, f"{mlp.output:g}", "", "right", 1.0, True))
    return marks


def _mlp_says(mlp: Mlp) -> list[str]:
    return [
        f"Start. x is {X[0]} and {X[1]} on both ranks. Each multiplies with its own two columns of A: rank 0 has "
        f"{_listed(mlp.inner[:2])}, rank 1 {_listed(mlp.inner[2:])}.",
        "ReLU sets negative numbers to zero. It acts on every number by itself, so a slice is all that it needs.",
        f"The four inner features meet the rows of B, {_listed(DOWN)}. Each rank has the rows for its own features and "
        f"adds up: {mlp.sums[0]:g} on rank 0, {mlp.sums[1]:g} on rank 1.",
        f"This is the first thing that the ranks send: g adds {mlp.sums[0]:g} and {mlp.sums[1]:g}, and both have "
        f"{mlp.output:g}.",
    ]


def _mlp_alt(rows: Sequence[tuple[str, Sequence[float]]], mlp: Mlp, step: int) -> str:
    seen = [f"Rows of A: {'; '.join(_listed(row) for row in UP)}"]
    seen += [f"{name}: {_listed(values)}" for name, values in rows]
    seen += [f"sums of the ranks: {_listed(mlp.sums)}"] if step >= 2 else []
    seen += [f"all-reduced: {mlp.output:g}"] if step == 3 else []
    return f"{'. '.join(seen)}."
