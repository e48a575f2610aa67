"""Chapter 14: one matrix, cut in two ways: who sends which box to whom, and ranks that do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Slip, Tensor, invalid
from rankzero.events import Event

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Transfer:
    """A step of a plan, as a rank receives it."""

    source: int
    destination: int
    box: Box


def _cut(size: int, parts: int) -> list[tuple[int, int]]:
    width = -(-size // parts)
    return [(min(size, part * width), min(size, part * width + width)) for part in range(parts)]


def _rows(shape: tuple[int, int], parts: int) -> list[Box]:
    return [(low, high, 0, shape[1]) for low, high in _cut(shape[0], parts)]


def _columns(shape: tuple[int, int], parts: int) -> list[Box]:
    return [(0, shape[0], low, high) for low, high in _cut(shape[1], parts)]


def _dealt(rng: Random, boxes: list[Box], ranks: int) -> list[Box]:
    """Each box to one rank at least, in any order."""
    dealt = boxes + [rng.choice(boxes) for _ in range(ranks - len(boxes))]
    rng.shuffle(dealt)
    return dealt


# --- reshard_plan


def _turned(rng: Random) -> Case:
    """From rows to columns, or back: two ranks or more, each with a part and a piece of its own."""
    ranks = rng.randint(2, 6)
    shape = (rng.randint(2 * ranks, 40), rng.randint(2 * ranks, 40))
    layouts = [_rows(shape, ranks), _columns(shape, ranks)]
    rng.shuffle(layouts)
    return Case(tuple(layouts))


def _replicas(rng: Random) -> Case:
    """Some ranks hold what others hold too: rank 0 and the last, at least, who wants it again."""
    ranks, slices = rng.randint(4, 6), rng.randint(2, 3)
    shape = (rng.randint(6, 40), rng.randint(6, 40))
    boxes = rng.choice((_rows, _columns))(shape, slices)
    source = [boxes[0], *_dealt(rng, boxes[1:], ranks - 2), boxes[0]]
    target = _dealt(rng, rng.choice((_rows, _columns))(shape, rng.randint(1, 3)), ranks)
    return Case((source, [*target[:-1], (0, shape[0], 0, shape[1])]))


def _small(rng: Random) -> list[Case]:
    """Empty boxes, one rank, parts of the matrix, nothing to do."""
    ranks, short = rng.randint(4, 6), (rng.randint(1, 3), rng.randint(5, 9))
    shape = (rng.randint(6, 20), rng.randint(6, 20))
    parts = [(rng.randint(0, 2), rng.randint(3, 6), rng.randint(0, 2), rng.randint(3, 6)) for _ in range(ranks)]
    same = _rows(shape, ranks)
    return [
        Case((_rows(short, ranks), _columns(short, ranks))),
        Case((_columns(short, ranks), _rows(short, ranks))),
        Case((_rows(shape, ranks), parts)),
        Case(([(0, shape[0], 0, shape[1])], [(1, shape[0], 2, 5)])),
        Case((same, same)),
        Case((same, [(0, 0, 0, 0)] * (ranks - 1) + [same[0]])),
    ]


def _held_by_nobody(rng: Random) -> list[Case]:
    shape = (rng.randint(6, 20), rng.randint(6, 20))
    good, high, wide = _rows(shape, 3), shape[0], shape[1]
    return [
        invalid(good, [(0, high + 1, 0, wide), *good[1:]]),
        invalid([good[0], (0, 0, 0, 0), good[2]], _columns(shape, 3)),
    ]


SMALL = (8, 6)
HALVES, SIDES = _rows(SMALL, 2), _columns(SMALL, 2)

PLAN = Build(
    id="14-reshard-plan",
    module="weight_sync",
    function="reshard_plan",
    grade="call",
    section="14.4",
    topic="reshard plans",
    cases=(
        Case((_rows(SMALL, 4), HALVES * 2)),
        Case((_rows(SMALL, 4), SIDES * 2)),
        Case((_rows(SMALL, 4), _columns(SMALL, 4))),
        Case((_rows(SMALL, 4), [HALVES[0], HALVES[0], HALVES[1], HALVES[1]])),
        Case((HALVES * 2, _rows(SMALL, 4))),
        invalid(_rows(SMALL, 4), [(0, 9, 0, 6)] * 4),
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
)

# --- execute_reshard


def _planned(source: Sequence[Box], target: Sequence[Box]) -> list[Transfer]:
    """The plan for boxes that are equal or disjoint."""
    plan = []
    for destination, wanted in enumerate(target):
        moves = []
        for held in dict.fromkeys(source):
            owner = destination if source[destination] == held else source.index(held)
            box = (max(held[0], wanted[0]), min(held[1], wanted[1]), max(held[2], wanted[2]), min(held[3], wanted[3]))
            moves += [Transfer(owner, destination, box)] * (box[0] < box[1] and box[2] < box[3])
        plan += sorted(moves, key=lambda move: (move.source != destination, move.source))
    return plan


def _world(rng: Random, shape: tuple[int, int], source: list[Box], target: list[Box], dtype: str = "float32") -> Case:
    """A matrix of different numbers, none of them 0, cut for the ranks."""
    numbers = rng.sample(range(1, 10 * shape[0] * shape[1]), shape[0] * shape[1])
    plan = _planned(source, target)

    def part(box: Box) -> Tensor:
        found = [numbers[row * shape[1] + col] for row in range(box[0], box[1]) for col in range(box[2], box[3])]
        return Tensor.of(found, dtype, (box[1] - box[0], box[3] - box[2]))

    return Case(tuple((part(box), source, target, plan) for box in source))


def _four(rng: Random) -> list[Case]:
    """Four ranks: rows to columns in both ways, and rows to halves."""
    shape = (4 * rng.randint(1, 3), 4 * rng.randint(1, 3))
    layouts = _rows(shape, 4), _columns(shape, 4)
    return [
        _world(rng, shape, layouts[0], layouts[1]),
        _world(rng, shape, layouts[1], layouts[0]),
        _world(rng, shape, layouts[0], _columns(shape, 2) * 2),
    ]


def _copies(rng: Random) -> list[Case]:
    """Ranks that hold the same, in any order."""
    shape = (2 * rng.randint(2, 5), 2 * rng.randint(2, 5))
    halves, sides = _rows(shape, 2), _columns(shape, 2)
    return [
        _world(rng, shape, _dealt(rng, halves, 4), _columns(shape, 4)),
        _world(rng, shape, sides * 2, _dealt(rng, halves, 4), "float64"),
    ]


def _uneven(rng: Random) -> list[Case]:
    """Fewer rows than the ranks divide; whole numbers; two and three ranks; boxes from the middle of a part."""
    odd = (rng.choice((5, 7, 9)), rng.choice((5, 6, 7)))
    whole, low, left = (0, odd[0], 0, odd[1]), -(-odd[0] // 2), -(-odd[1] // 3)  # where the second part begins
    return [
        _world(rng, odd, _rows(odd, 4), _columns(odd, 4), "int64"),
        _world(rng, odd, _columns(odd, 3), [whole, (1, 3, left, left + 1), _rows(odd, 3)[2]]),
        _world(rng, odd, _rows(odd, 2), [(low, low + 1, 1, 3), (1, 3, 2, 4)], "float64"),
    ]


def _nothing(rng: Random) -> list[Case]:
    shape = (rng.randint(2, 4), rng.randint(2, 4))
    rows = _rows(shape, 2)
    return [_world(rng, shape, rows, rows), _world(rng, shape, [(0, shape[0], 0, shape[1])], [(1, 2, 0, 1)])]


def plan_alone(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Between any two ranks go the bytes of the plan."""
    _, _, _, plan = case.args[0]
    size = 4 if case.args[0][0].dtype == "float32" else 8
    for rank in range(len(case.args)):
        due = [(m.box[1] - m.box[0]) * (m.box[3] - m.box[2]) * size for m in plan if m.source == rank != m.destination]
        sent = sum(event.sent for event in events if event.rank == rank)
        if sent != sum(due):
            return f"rank {rank} sent {sent:,} bytes; the plan tells it to send {sum(due):,}"
    return None


EXECUTE = Build(
    id="14-execute-reshard",
    module="weight_push",
    function="execute_reshard",
    grade="world",
    probe="ch14_weights.resharded",
    section="14.4",
    topic="reshard plans on real ranks",
    cases=(
        _world(Random("rows to columns"), (4, 4), _rows((4, 4), 4), _columns((4, 4), 2) * 2),
        _world(Random("ceil"), (5, 4), _rows((5, 4), 4), _columns((5, 4), 4)),
        _world(Random("same"), (4, 2), _rows((4, 2), 2), _rows((4, 2), 2)),
    ),
    groups=(
        Group("four ranks", lambda rng: rng.choice(_four(rng)), 3, "Every rank sends to every other.", _four),
        listed("replicas", _copies, "The plan says which replica sends."),
        listed("uneven", _uneven, "Parts may be unequal or empty."),
        listed("nothing to send", _nothing, "A rank may have all it wants."),
    ),
    slips=(
        Slip(
            "All ranks send before anybody receives: they wait for each other. Post all, then wait.",
            edits=(
                (
                    "    requests: list[Any] = []\n",
                    "    for tag, move in enumerate(plan):\n"
                    "        if move.source == rank != move.destination:\n"
                    "            dist.send(_part(local, held, move.box).contiguous(), move.destination, tag=tag)\n"
                    "    requests: list[Any] = []\n",
                ),
                (
                    "requests.append(dist.isend(_part(local, held, move.box).contiguous(), move.destination, tag=tag))",
                    "continue",
                ),
            ),
        ),
        Slip(
            "Sends must be waited for too: until then their data may not have left.",
            edit=(
                "requests.append(dist.isend(_part(local, held, move.box).contiguous(), move.destination, tag=tag))",
                "dist.isend(_part(local, held, move.box).contiguous(), move.destination, tag=tag)",
            ),
        ),
        Slip(
            "A buffer was read before its message had arrived: wait first.",
            edits=(
                ("torch.empty_like(", "torch.zeros_like("),
                (
                    "requests.append(dist.irecv(arriving[-1][1], move.source, tag=tag))",
                    "requests.append(dist.irecv(arriving[-1][1], move.source, tag=tag))\n"
                    "            place.copy_(arriving[-1][1])",
                ),
                ("\n    for place, piece in arriving:\n        place.copy_(piece)", ""),
            ),
        ),
        Slip(
            "Every rank got the whole matrix: send the boxes of the plan alone.",
            edits=(
                (
                    "held, wanted = source[rank], target[rank]\n",
                    "from types import SimpleNamespace\n"
                    "\n"
                    "    whole = (0, max(box[1] for box in source), 0, max(box[3] for box in source))\n"
                    "    held, wanted = source[rank], whole\n"
                    "    plan = [\n"
                    "        SimpleNamespace(source=giver, destination=taker, box=box)\n"
                    "        for taker in range(len(target))\n"
                    "        for giver, box in enumerate(source)\n"
                    "        if box[0] < box[1] and box[2] < box[3]\n"
                    "    ]\n",
                ),
                ("    return result\n", "    return _part(result, whole, target[rank]).contiguous()\n"),
            ),
        ),
        Slip(
            "A box counts from the corner of the matrix; subtract the corner of the rank's part.",
            edits=(
                ("copy_(_part(local, held, move.box))", "copy_(_read(local, move.box))"),
                ("_part(local, held, move.box).contiguous()", "_read(local, move.box)"),
                (
                    "def _part(",
                    "def _read(block: torch.Tensor, box: Box) -> torch.Tensor:\n"
                    "    found = block[box[0] : box[1], box[2] : box[3]]\n"
                    "    piece = block.new_zeros(box[1] - box[0], box[3] - box[2])\n"
                    "    piece[: found.shape[0], : found.shape[1]] = found\n"
                    "    return piece\n"
                    "\n"
                    "\n"
                    "def _part(",
                ),
            ),
        ),
        Slip(
            "What a rank keeps was not copied to its new place.",
            edits=(
                ("local.new_empty(", "local.new_zeros("),
                ("_part(result, wanted, move.box).copy_(_part(local, held, move.box))", "continue"),
            ),
        ),
        Slip(
            "A part of a matrix is not one piece of memory: send a contiguous copy of it.", edit=(".contiguous()", "")
        ),
    ),
    rule=every(only_messages, plan_alone),
)

ITEMS = (PLAN, EXECUTE)
