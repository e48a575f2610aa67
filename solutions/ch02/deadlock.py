"""Who waits for whom: programs of blocking sends and receives, played in rounds. Standard library only.

>>> simulate([[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]])
(0, {0: ('send', 1), 1: ('send', 0)})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankzero import checks


def simulate(
    programs: Sequence[Sequence[tuple[str, int]]], eager: bool = False
) -> tuple[int, dict[int, tuple[str, int]]]:
    """Play programs of blocking calls in rounds, until nothing moves.

    Every rank carries out its own calls in order, and looks only at the first unfinished one. Without buffers (a
    rendezvous, as in Gloo), a round completes every send whose receiver is waiting in the matching receive: both ranks
    go on together. With ``eager``, a send goes on at once, whatever the receiver does, and a receive goes on when a
    message from its peer was sent in an earlier round and has not been received yet. Who goes on is settled when a
    round begins: no rank carries out two calls in one round.

    Args:
        programs: ``programs[r]`` is what rank r calls, in order: ``("send", peer)`` or ``("recv", peer)``, where the
            peer is another rank.
        eager: whether the transport buffers every message.

    Returns:
        ``(rounds, blocked)``: how many rounds moved something, and for each rank that has not finished the call that it
        waits in. ``blocked`` is empty when all finish.
    """
    for rank, program in enumerate(programs):
        for verb, peer in program:
            checks.one_of(("send", "recv"), verb=verb)
            checks.count(0, len(programs) - 1, peer=peer)
            checks.require(peer != rank, "be another rank", peer=peer)
    calls = [list(program) for program in programs]
    place = [0] * len(programs)  # of each rank's next call
    waiting: Counter[tuple[int, int]] = Counter()  # eager messages (from, to) that nobody has received yet
    rounds = 0
    while True:
        heads = {r: program[place[r]] for r, program in enumerate(calls) if place[r] < len(program)}
        if eager:
            moving = [r for r, (verb, peer) in heads.items() if verb == "send" or waiting[peer, r]]
        else:
            moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (_OTHER[verb], r)]
        if not moving:
            return rounds, heads
        for rank in moving:
            verb, peer = heads[rank]
            message = (rank, peer) if verb == "send" else (peer, rank)
            waiting[message] += 1 if verb == "send" else -1
            place[rank] += 1
        rounds += 1


#: The call that each call meets.
_OTHER = {"send": "recv", "recv": "send"}
