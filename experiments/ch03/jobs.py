"""Which collective a job needs: who has what before, and who needs what afterwards. Standard library only.

>>> why("all_reduce")
'Each rank has a summand, and everyone needs the whole: all_reduce.'
"""

from __future__ import annotations

from rankzero.explore import Arrow, Box, Label, Scene

#: What the ranks have before, and who needs the result: the rows and columns of the picture.
HAVES = ("one has all", "each a part", "summands", "parts for all")
NEEDS = ("one", "each its part", "everyone")

#: Layout of the picture, pixels.
LEFT, TOP = 80, 44
ACROSS, DOWN = 86, 30
WIDTH, HEIGHT = 84, 25


#: What each collective of the picture is, a place in :data:`HAVES` and one in :data:`NEEDS`.
PLACES = {
    "broadcast": (0, 2),
    "scatter": (0, 1),
    "gather": (1, 0),
    "all_gather": (1, 2),
    "reduce": (2, 0),
    "all_reduce": (2, 2),
    "reduce_scatter": (2, 1),
    "all_to_all": (3, 1),
}
#: Jobs, each with the collective that does it.
JOBS = {
    "gradients of weights that every rank keeps": "all_reduce",
    "gradients, when each rank updates only its share of the weights": "reduce_scatter",
    "tokens on their way to layers (experts) on other ranks": "all_to_all",
}

_HAS = (
    "one rank has everything",
    "each rank has a part",
    "each rank has a summand",
    "each rank has a part for every other rank",
)
_NEEDS = ("one rank needs the whole", "each rank needs its own part", "everyone needs the whole")


def chooser_scene(step: int) -> Scene:
    """The table of the eight collectives, with the one that job ``step`` takes marked; none at step 0."""
    chosen = [*JOBS.values()][step - 1] if step else ""
    heads = [
        Label(LEFT + ACROSS * index + WIDTH / 2, 34, name, quiet=True, size=11) for index, name in enumerate(NEEDS)
    ]
    rows = [Label(2, TOP + DOWN * index + 17, name, "start", quiet=True, size=11) for index, name in enumerate(HAVES)]
    cells = [_cell(operation, operation == chosen) for operation in PLACES]
    marks: tuple[Box | Arrow | Label, ...] = (
        Label(LEFT, 14, "who needs the result?", "start", quiet=True),
        *heads,
        *rows,
        *cells,
    )
    size = LEFT + ACROSS * len(NEEDS), TOP + DOWN * len(HAVES) + 2
    return Scene(*size, marks, _says(step), _holds(chosen))


def why(operation: str) -> str:
    """Who has what, and who needs what: the sentence that names a collective."""
    has, needs = PLACES[operation]
    return f"{_HAS[has].capitalize()}, and {_NEEDS[needs]}: {operation}."


def _cell(operation: str, marked: bool) -> Box:
    has, needs = PLACES[operation]
    corner = LEFT + ACROSS * needs, TOP + DOWN * has
    return Box(*corner, WIDTH, HEIGHT, operation, "", "accent", 0.8 if marked else 0.0, marked, 10)


def _says(step: int) -> str:
    if step == 0:
        return "Start. Two questions decide on a collective: who has what (the row), and who needs what (the column)?"
    job, operation = [*JOBS.items()][step - 1]
    return f"Job {step} of {len(JOBS)}: {job}. {why(operation)}"


def _holds(chosen: str) -> str:
    return f"Marked: {chosen}." if chosen else " ".join(map(why, PLACES))
