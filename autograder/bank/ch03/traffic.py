"""Chapter 3: ``traffic``, bytes per rank."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip
from rankzero.facts.units import GB, MB

OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")
ROOTED = ("broadcast", "scatter", "gather", "reduce")


def _traffic(rng: Random, operation: str) -> Case:
    ranks = rng.randint(3, 64)
    root = rng.randrange(ranks) if operation in ROOTED else 0
    return Case(args=(operation, float(rng.randint(1, 10**9)), ranks, rng.randrange(ranks), root))


def _traffic_every_operation(rng: Random) -> list[Case]:
    return [_traffic(rng, operation) for operation in OPERATIONS for _ in range(2)]


def _traffic_chain_ends(rng: Random) -> list[Case]:
    """The ends of the chains: the root, the rank before it and the rank after it."""
    ends = [(operation, step) for operation in ROOTED for step in (-1, 0, 1)]
    ranks = rng.randint(3, 12)
    root = rng.randrange(ranks)
    return [Case(args=(operation, 6 * MB, ranks, (root + step) % ranks, root)) for operation, step in ends]


def _traffic_nothings(_: Random) -> list[Case]:
    """One rank, or zero bytes."""
    return [Case(args=(operation, *size, 0)) for operation in OPERATIONS for size in ((8 * MB, 1), (0.0, 4))]


EXERCISE = Build(
    "03 collective_cost.traffic",
    section="3.14",
    topic="bytes per rank",
    bonus=True,
    cases=(
        Case(args=("all_reduce", 1 * GB, 8, 0)),  # nccl-tests: 2(n-1)/n
        Case(args=("all_gather", 1 * GB, 8, 0)),  # nccl-tests: (n-1)/n
        Case(args=("all_reduce", 8 * MB, 4, 0)),
        Case(args=("all_gather", 8 * MB, 4, 0)),
        Case(args=("all_to_all", 8 * MB, 4, 3)),
        Case(args=("broadcast", 8 * MB, 4, 1), kwargs={"root": 2}),
        Case(args=("scatter", 8 * MB, 4, 2), kwargs={"root": 2}),
        Case(args=("reduce", 8 * MB, 4, 3), kwargs={"root": 2}),
        Case(args=("all_reduce", 8 * MB, 1, 0)),
    ),
    groups=(
        listed("every operation", _traffic_every_operation, "Look at each operation alone, with any rank and root."),
        listed("ends of a chain", _traffic_chain_ends, "Look at the ends of a chain: the root and its neighbors."),
        listed("nothing to send", _traffic_nothings, "One rank moves nothing, and zero bytes move nothing."),
    ),
    slips=(
        Slip(
            "`all_gather` took S for one rank's shard: here S is the whole, gathered tensor.",
            edit=(
                "        case _:  # all_gather",
                (
                    '        case "all_gather":\n'
                    "            return (ranks - 1) * message_bytes, (ranks - 1) * message_bytes\n"
                    "        case _:  # all_gather"
                ),
            ),
        ),
        Slip(
            "`all_reduce` moved 2 S: on each trip a rank sends all chunks but one, so the factor is 2(N-1)/N.",
            edit=("return 2 * others, 2 * others", "return 2 * message_bytes, 2 * message_bytes"),
        ),
        Slip(
            "Sent and received were added into one number: return both, sent first.",
            edits=(
                ("return 2 * others, 2 * others", "return 4 * others"),
                ("(others, 0.0) if rank == root else (0.0, block)", "others if rank == root else block"),
                ("(0.0, others) if rank == root else (block, 0.0)", "others if rank == root else block"),
                ("return others, others", "return 2 * others"),
                ("message_bytes * sends, message_bytes * receives", "message_bytes * (sends + receives)"),
            ),
        ),
        Slip(
            "`all_to_all` moved all of S: a rank keeps the block that is for itself.",
            edit=(
                "        case _:  # all_gather",
                (
                    '        case "all_to_all":\n'
                    "            return message_bytes, message_bytes\n"
                    "        case _:  # all_gather"
                ),
            ),
        ),
        Slip(
            "`reduce` ran the broadcast chain backwards: it runs root+1, root+2, ..., root.",
            edit=("rank != root, steps_after_root != 1 % ranks", "rank != root, steps_after_root < ranks - 1"),
        ),
    ),
    rights=(
        Right("blocks counted", edit=("message_bytes * (ranks - 1) / ranks  #", "(ranks - 1) * block  #")),
        Right(
            "the whole without the own block",
            edit=("message_bytes * (ranks - 1) / ranks  #", "message_bytes - block  #"),
        ),
    ),
    promises=(
        Promise("One rank alone moves nothing.", edit=("steps_after_root != 1 % ranks", "steps_after_root != 1")),
        Promise("Broadcast is a chain root, root+1, ...", edit=("steps_after_root < ranks - 1", "rank < ranks - 1")),
    ),
)
