"""A ring in which every rank sends to its right neighbor and receives from its left: four orders for the two calls.

Programs are lists of calls, as in ``simulate``; a call may also be ``isend`` or ``irecv``, which is posted at once and
waited for at the end. :func:`play_rounds` finds which calls complete in which round. Standard library only.

>>> [len(play_rounds(ring_programs(policy, 8))[0]) for policy in POLICIES]
[0, 8, 2, 1]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankzero import checks

#: Ways to order the two calls of a rank, by name.
POLICIES = ("all_send", "one_receives_first", "parity", "non_blocking")

Program = Sequence[tuple[str, int]]
Call = tuple[int, int]  # a rank, and the position of the call in its program


def ring_programs(policy: str, ranks: int) -> list[list[tuple[str, int]]]:
    """The program of every rank of the ring.

    Args:
        policy: ``all_send`` (everybody sends first), ``one_receives_first`` (rank 0 receives first), ``parity`` (odd
            ranks receive first) or ``non_blocking`` (everybody posts both, then waits).
        ranks: on the ring; at least 2.
    """
    checks.one_of(POLICIES, policy=policy)
    checks.count(2, ranks=ranks)
    sign = "i" if policy == "non_blocking" else ""
    programs = []
    for rank in range(ranks):
        calls = [(f"{sign}send", (rank + 1) % ranks), (f"{sign}recv", (rank - 1) % ranks)]
        receives_first = rank == 0 if policy == "one_receives_first" else policy == "parity" and rank % 2
        programs.append(calls[::-1] if receives_first else calls)
    return programs


def play_rounds(
    programs: Sequence[Program], eager: bool = False
) -> tuple[list[list[tuple[str, int, int]]], dict[int, tuple[str, int]]]:
    """Run programs in rounds until no call can complete: which calls completed in each round, and who is stuck where.

    The rules are those of ``simulate``: without buffers a send and its receive complete together; with ``eager`` a send
    completes at once and its receive in a later round. A rank stops at its first blocking call that is not complete;
    calls that it posted without blocking do not stop it.

    Args:
        programs: what each rank calls, in order: ``send``, ``recv``, ``isend`` or ``irecv``, and the other rank.
        eager: whether the transport buffers every message.

    Returns:
        ``(rounds, blocked)``: for each round the calls that completed, each as ``(verb, rank, peer)``; and, for each
        rank that has not finished, its first incomplete call.
    """
    done: set[Call] = set()
    rounds = []
    while moving := _moving(programs, done, eager):
        done.update(moving)
        rounds.append([(programs[rank][index][0], rank, programs[rank][index][1]) for rank, index in moving])
    left = [[call for index, call in enumerate(p) if (rank, index) not in done] for rank, p in enumerate(programs)]
    return rounds, {rank: (calls[0][0], calls[0][1]) for rank, calls in enumerate(left) if calls}


def _moving(programs: Sequence[Program], done: set[Call], eager: bool) -> list[Call]:
    """The calls that complete in the next round, by rank."""
    ready = [(rank, place) for rank, program in enumerate(programs) for place in _ready(rank, program, done)]
    moving = []
    for rank, index in ready:
        verb, partner = programs[rank][index][0], _partner(programs, rank, index)
        together = partner in ready and not eager
        if together or (eager and (verb.endswith("send") or partner in done)):
            moving.append((rank, index))
    return moving


def _ready(rank: int, program: Program, done: set[Call]) -> Iterator[int]:
    """Positions of the calls that a rank has reached: those it has posted, and the blocking one it is in."""
    for index, (verb, _) in enumerate(program):
        if (rank, index) not in done:
            yield index
            if not verb.startswith("i"):
                return


def _partner(programs: Sequence[Program], rank: int, index: int) -> Call | None:
    """The other end of a message: the k-th send from one rank to another matches the k-th receive, if there is one."""
    verb, peer = programs[rank][index]
    other = "recv" if verb.endswith("send") else "send"
    before = sum(v.endswith(verb[-4:]) and p == peer for v, p in programs[rank][:index])
    ends = [i for i, (v, p) in enumerate(programs[peer]) if v.endswith(other) and p == rank]
    return (peer, ends[before]) if before < len(ends) else None
