"""Chapter 14: ``execute_reshard``, reshard plans on real ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.bank.ch14.shared import Box, by_columns, by_rows, dealt
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Promise, Right, Slip, Tensor
from rankzero.events import Event


@dataclass(frozen=True)
class Transfer:
    """A step of a plan, as a rank receives it."""

    source: int
    destination: int
    box: Box


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
    layouts = by_rows(shape, 4), by_columns(shape, 4)
    return [
        _world(rng, shape, layouts[0], layouts[1]),
        _world(rng, shape, layouts[1], layouts[0]),
        _world(rng, shape, layouts[0], by_columns(shape, 2) * 2),
    ]


def _copies(rng: Random) -> list[Case]:
    """Ranks that hold the same, in any order."""
    shape = (2 * rng.randint(2, 5), 2 * rng.randint(2, 5))
    halves, sides = by_rows(shape, 2), by_columns(shape, 2)
    return [
        _world(rng, shape, dealt(rng, halves, 4), by_columns(shape, 4)),
        _world(rng, shape, sides * 2, dealt(rng, halves, 4), "float64"),
    ]


def _uneven(rng: Random) -> list[Case]:
    """Fewer rows than the ranks divide; whole numbers; two and three ranks; boxes from the middle of a part."""
    odd = (rng.choice((5, 7, 9)), rng.choice((5, 6, 7)))
    whole, low, left = (0, odd[0], 0, odd[1]), -(-odd[0] // 2), -(-odd[1] // 3)  # where the second part begins
    return [
        _world(rng, odd, by_rows(odd, 4), by_columns(odd, 4), "int64"),
        _world(rng, odd, by_columns(odd, 3), [whole, (1, 3, left, left + 1), by_rows(odd, 3)[2]]),
        _world(rng, odd, by_rows(odd, 2), [(low, low + 1, 1, 3), (1, 3, 2, 4)], "float64"),
    ]


def _nothing(rng: Random) -> list[Case]:
    shape = (rng.randint(2, 4), rng.randint(2, 4))
    rows = by_rows(shape, 2)
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


def reshard_receives_first(local, source, target, plan):
    """All receives are posted before the sends; pieces by index."""
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = torch.zeros(wanted[1] - wanted[0], wanted[3] - wanted[2], dtype=local.dtype)

    def put(move, piece):
        row0, row1, col0, col1 = move.box
        result[row0 - wanted[0] : row1 - wanted[0], col0 - wanted[2] : col1 - wanted[2]] = piece

    def taken(move):
        row0, row1, col0, col1 = move.box
        return local[row0 - held[0] : row1 - held[0], col0 - held[2] : col1 - held[2]].clone()

    coming, requests = [], []
    for tag, move in enumerate(plan):
        if rank == move.destination != move.source:
            row0, row1, col0, col1 = move.box
            piece = torch.empty(row1 - row0, col1 - col0, dtype=local.dtype)
            coming.append((dist.irecv(piece, move.source, tag=tag), move, piece))
    for tag, move in enumerate(plan):
        if rank == move.source:
            piece = taken(move).contiguous()
            if rank == move.destination:
                put(move, piece)
            else:
                requests.append((dist.isend(piece, move.destination, tag=tag), piece))
    for request, move, piece in coming:
        request.wait()
        put(move, piece)
    for request, _ in requests:
        request.wait()
    return result


EXERCISE = Build(
    "14 weight_push.execute_reshard",
    section="14.16",
    bonus=True,
    topic="reshard plans on real ranks",
    grade="world",
    probe="ch14_weights.resharded",
    rule=every(only_messages, plan_alone),
    cases=(
        _world(Random("rows to columns"), (4, 4), by_rows((4, 4), 4), by_columns((4, 4), 2) * 2),
        _world(Random("ceil"), (5, 4), by_rows((5, 4), 4), by_columns((5, 4), 4)),
        _world(Random("same"), (4, 2), by_rows((4, 2), 2), by_rows((4, 2), 2)),
    ),
    groups=(
        listed("four ranks", _four, "Every rank sends to every other."),
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
    rights=(
        Right("receives first", program=reshard_receives_first),
        Right(
            "sends first",
            edits=(
                (
                    "    for request in requests:\n        request.wait()\n",
                    "    for request in reversed(requests):\n        request.wait()\n",
                ),
                ("local.new_empty(", "local.new_zeros("),
            ),
        ),
    ),
    promises=(
        Promise("unchanged afterwards", edit=("    return result\n", "    local.zero_()\n    return result\n")),
        Promise(
            "Those with ``source == destination`` are copies, without a message.",
            edit=("_part(result, wanted, move.box).copy_(_part(local, held, move.box))", "pass"),
        ),
        Promise(
            "a new contiguous tensor of ``local``'s type",
            edit=(
                "local.new_empty(wanted[1] - wanted[0], wanted[3] - wanted[2])",
                "local.new_empty(wanted[3] - wanted[2], wanted[1] - wanted[0]).t()",
            ),
        ),
        Promise("it may be empty", edit=("    return result\n", "    return result if result.numel() else None\n")),
    ),
)
