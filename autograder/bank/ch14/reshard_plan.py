"""Chapter 14: ``reshard_plan``, reshard plans."""

from __future__ import annotations

from random import Random

from autograder.bank.ch14.shared import by_columns, by_rows, dealt
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, invalid


def _turned(rng: Random) -> Case:
    """From rows to columns, or back: two ranks or more, each with a part and a piece of its own."""
    ranks = rng.randint(2, 6)
    shape = (rng.randint(2 * ranks, 40), rng.randint(2 * ranks, 40))
    layouts = [by_rows(shape, ranks), by_columns(shape, ranks)]
    rng.shuffle(layouts)
    return Case(tuple(layouts))


def _replicas(rng: Random) -> Case:
    """Some ranks hold what others hold too: rank 0 and the last, at least, who wants it again."""
    ranks, slices = rng.randint(4, 6), rng.randint(2, 3)
    shape = (rng.randint(6, 40), rng.randint(6, 40))
    boxes = rng.choice((by_rows, by_columns))(shape, slices)
    source = [boxes[0], *dealt(rng, boxes[1:], ranks - 2), boxes[0]]
    target = dealt(rng, rng.choice((by_rows, by_columns))(shape, rng.randint(1, 3)), ranks)
    return Case((source, [*target[:-1], (0, shape[0], 0, shape[1])]))


def _small(rng: Random) -> list[Case]:
    """Empty boxes, one rank, parts of the matrix, nothing to do."""
    ranks, short = rng.randint(4, 6), (rng.randint(1, 3), rng.randint(5, 9))
    shape = (rng.randint(6, 20), rng.randint(6, 20))
    parts = [(rng.randint(0, 2), rng.randint(3, 6), rng.randint(0, 2), rng.randint(3, 6)) for _ in range(ranks)]
    same = by_rows(shape, ranks)
    return [
        Case((by_rows(short, ranks), by_columns(short, ranks))),
        Case((by_columns(short, ranks), by_rows(short, ranks))),
        Case((by_rows(shape, ranks), parts)),
        Case(([(0, shape[0], 0, shape[1])], [(1, shape[0], 2, 5)])),
        Case((same, same)),
        Case((same, [(0, 0, 0, 0)] * (ranks - 1) + [same[0]])),
    ]


def _held_by_nobody(rng: Random) -> list[Case]:
    shape = (rng.randint(6, 20), rng.randint(6, 20))
    good, high, wide = by_rows(shape, 3), shape[0], shape[1]
    return [
        invalid(good, [(0, high + 1, 0, wide), *good[1:]]),
        invalid([good[0], (0, 0, 0, 0), good[2]], by_columns(shape, 3)),
    ]


SMALL = (8, 6)
HALVES, SIDES = by_rows(SMALL, 2), by_columns(SMALL, 2)
_KEPT = "Every element of every target box comes exactly once: from the destination itself where it has it"


EXERCISE = Build(
    "14 weight_sync.reshard_plan",
    section="14.4",
    topic="reshard plans",
    cases=(
        Case((by_rows(SMALL, 4), HALVES * 2)),
        Case((by_rows(SMALL, 4), SIDES * 2)),
        Case((by_rows(SMALL, 4), by_columns(SMALL, 4))),
        Case((by_rows(SMALL, 4), [HALVES[0], HALVES[0], HALVES[1], HALVES[1]])),
        Case((HALVES * 2, by_rows(SMALL, 4))),
        invalid(by_rows(SMALL, 4), [(0, 9, 0, 6)] * 4),
    ),
    groups=(
        Group("rows and columns", _turned, 6, "A transfer is the part that a source box and a target box share."),
        Group("replicas", _replicas, 5, "Each element comes once: from the rank itself, or the lowest that has it."),
        listed(
            "empty boxes, parts, one rank",
            _small,
            "A box may be empty, a target may leave gaps; a transfer is never empty.",
        ),
        listed(
            "held by nobody",
            _held_by_nobody,
            "An element that a target needs and no rank has: ValueError, not a plan with a hole.",
        ),
    ),
    slips=(
        Slip(
            "Replicas sent the same element twice: one of them is enough.",
            edits=(
                (
                    "moves = [Transfer(owner, destination, _overlap(box, wanted)) for box, owner in owners.items()]",
                    "moves = [Transfer(owner, destination, _overlap(box, wanted)) for owner, box in enumerate(source)]",
                ),
                ("sum(_area(move.box) for move in moves)", "sum(_area(box) for box in {move.box for move in moves})"),
            ),
        ),
        Slip(
            "Boxes are half open: two that only touch share nothing, and an empty box is not sent.",
            edits=(
                ("low_row >= high_row or low_col >= high_col", "low_row > high_row or low_col > high_col"),
                ("(0, 0, 0, 0) if empty", "(0, -1, 0, 0) if empty"),
                ("if _area(move.box)]", "if move.box[1] >= 0]"),
            ),
        ),
        Slip(
            "A rank that has an element does not ask a lower one for it.",
            edit=("return owners | {source[destination]: destination}", "return owners"),
        ),
        Slip(
            "What a rank keeps is listed too, with itself as the source.",
            edit=(
                "sorted(moves, key=lambda move: (move.source != move.destination, move.source))",
                "sorted((move for move in moves if move.source != destination), key=lambda move: move.source)",
            ),
        ),
        Slip(
            "For each destination its own piece comes first, then the others by source.",
            edit=("(move.source != move.destination, move.source)", "move.source"),
        ),
        Slip(
            "Boxes count rows and columns of the matrix, not of the sender's part.",
            edit=(
                "        plan += sorted(moves, key=lambda move: (move.source != move.destination, move.source))",
                "        for move in sorted(moves, key=lambda move: (move.source != move.destination, "
                "move.source)):\n"
                "            row, col = source[move.source][0], source[move.source][2]\n"
                "            a, b, c, d = move.box\n"
                "            plan.append(Transfer(move.source, destination, (a - row, b - row, c - col, d - col)))",
            ),
        ),
        Slip(
            "A plan with a hole: raise ValueError where a target needs an element that nobody holds.",
            edit=("if sum(_area(move.box) for move in moves) != _area(wanted):", "if False:"),
        ),
    ),
    promises=(
        Promise(_KEPT, edit=(" | {source[destination]: destination}", "")),
        Promise("lowest rank that has it", edit=("owners.setdefault(box, rank)", "owners[box] = rank")),
        Promise(
            "The boxes of a plan are not empty", edit=("[move for move in moves if _area(move.box)]", "list(moves)")
        ),
        Promise(
            "what a rank keeps is listed too",
            edit=("plan += sorted(moves,", "plan += sorted([move for move in moves if move.source != destination],"),
        ),
    ),
)
