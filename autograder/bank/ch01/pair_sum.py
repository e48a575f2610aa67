"""Chapter 1: ``pair_sum``, ranks that branch."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch01.shared import said, values
from autograder.bank.groups import listed
from autograder.items import Build, Case, Right, Slip


def _of_odd_ranks(case: Case) -> list[int]:
    """Bytes that each rank has to hear: an odd one hears its partner."""
    return [8 * (rank % 2) for rank in range(len(case.args))]


def _pairs(rng: Random) -> list[Case]:
    return [said(rng, 4), said(rng, 2)]


def _left_over(rng: Random) -> list[Case]:
    """An odd number of ranks, and one rank alone."""
    return [said(rng, 3), values(rng.uniform(-9, 9)), values(*(rng.uniform(1, 9) for _ in range(3)))]


def _bits(rng: Random) -> list[Case]:
    """Numbers that float32 cannot hold."""
    small = rng.uniform(1, 9) * 1e-12
    return [values(1.0, small, 1.0, -small), values(rng.uniform(1, 9) * 1e200, 1e199)]


def pairs_by_xor(value):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    partner = rank ^ 1
    if partner >= ranks:
        return value
    number = torch.tensor(value, dtype=torch.float64)
    if partner > rank:
        dist.isend(number, partner).wait()
        return None
    other = torch.zeros((), dtype=torch.float64)
    dist.irecv(other, partner).wait()
    return other.item() + value


EXERCISE = Build(
    "01 first_program.pair_sum",
    section="1.3",
    topic="ranks that branch",
    grade="world",
    tolerance=0.0,
    rule=rules.every(
        rules.only_messages,
        rules.frugal(1, 8, "one message of 8 bytes for each pair is enough"),
        least_received.heard(_of_odd_ranks),
    ),
    cases=(values(1, 2, 3, 4), values(0.5, 0.25), values(5, 7, 9)),
    groups=(
        listed("pairs", _pairs, "The even rank sends, the odd one adds; the pairs work at the same time."),
        listed("left over", _left_over, "The last of an odd number of ranks has nobody to send to."),
        listed("bits", _bits, "A Python float is a float64, and every bit of it counts."),
    ),
    slips=(
        Slip(
            "The branches are swapped: even ranks receive, so rank 0 turns to the last rank. Let odd ranks receive.",
            edits=(
                ("if rank % 2 == 1:", "if rank % 2 == 0 and ranks > 1:"),
                ("dist.recv(partner, src=rank - 1)", "dist.recv(partner, src=(rank - 1) % ranks)"),
                ("dist.send(mine, dst=rank + 1)", "dist.send(mine, dst=(rank + 1) % ranks)"),
                ("if rank + 1 == ranks:", "if ranks == 1:"),
            ),
        ),
        Slip(
            "The last even rank sends to a rank that does not exist: keep its value instead.",
            edit=("    if rank + 1 == ranks:\n        return value\n", ""),
        ),
        Slip(
            "The last even rank sends to rank 0, which does not receive: it has no partner and keeps its value.",
            edits=(
                ("    if rank + 1 == ranks:\n        return value\n", ""),
                ("dst=rank + 1", "dst=(rank + 1) % ranks"),
            ),
        ),
        Slip(
            "The even rank returns its value, though it has given it away: the pair's sum would count it twice.",
            edit=("    return None", "    return value"),
        ),
        Slip(
            "The odd rank returns its partner's value alone: add its own.",
            edit=("return value + partner.item()", "return partner.item()"),
        ),
        Slip(
            "The value traveled as float32, which keeps 24 significant bits: a Python float is float64.",
            edit=(", dtype=torch.float64", ""),
        ),
        Slip(
            "That adds up all ranks: only the two of a pair belong together.",
            edits=(
                ("dist.recv(partner, src=rank - 1)", "partner = mine.clone(); dist.all_reduce(partner)"),
                ("return value + partner.item()", "return partner.item()"),
                (
                    "    if rank + 1 == ranks:\n        return value\n    dist.send(mine, dst=rank + 1)",
                    "    dist.all_reduce(mine)",
                ),
            ),
        ),
    ),
    rights=(
        Right("the partner by its last bit", program=pairs_by_xor),
        Right("the remainder as a truth value", edit=("if rank % 2 == 1:", "if rank % 2:")),
    ),
)
