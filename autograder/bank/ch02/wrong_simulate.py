"""Players of ``simulate`` that get one rule wrong. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_any_receive(programs, eager=False):
    ranks = range(len(programs))
    for rank in ranks:
        for verb, peer in programs[rank]:
            if verb not in ("send", "recv") or peer not in ranks or peer == rank:
                raise ValueError("impossible call")
    place, boxes, rounds = [0] * len(programs), [0] * len(programs), 0
    while True:
        heads = {r: programs[r][place[r]] for r in ranks if place[r] < len(programs[r])}
        moving = set()
        for rank, (verb, peer) in heads.items():
            if eager and (verb == "send" or boxes[rank]):
                moving.add(rank)
            elif not eager and verb == "send" and peer not in moving and heads.get(peer, ("", 0))[0] == "recv":
                moving |= {rank, peer}
        if not moving:
            return rounds, heads
        for rank in moving:
            verb, peer = heads[rank]
            boxes[peer if verb == "send" else rank] += 1 if verb == "send" else -1
            place[rank] += 1
        rounds += 1


def slip_two_calls_in_one_round(programs, eager=False):
    ranks = range(len(programs))
    for rank in ranks:
        for verb, peer in programs[rank]:
            if verb not in ("send", "recv") or peer not in ranks or peer == rank:
                raise ValueError("impossible call")
    left, sent, rounds = [list(program) for program in programs], [], 0
    while True:
        moved, sending = False, []
        for rank in ranks:
            verb, peer = left[rank][0] if left[rank] else ("nothing", rank)
            if eager and verb == "send":
                sending.append((rank, peer))
            elif eager and (peer, rank) in sent:
                sent.remove((peer, rank))
            elif not eager and verb == "send" and left[peer][:1] == [("recv", rank)]:
                left[peer].pop(0)
            else:
                continue
            left[rank].pop(0)
            moved = True
        if not moved:
            return rounds, {rank: left[rank][0] for rank in ranks if left[rank]}
        sent += sending
        rounds += 1


def slip_any_call(programs, eager=False):
    ranks = range(len(programs))
    place, sent, rounds = [0] * len(programs), [], 0
    meets = {"send": "recv", "recv": "send"}
    while True:
        heads = {r: programs[r][place[r]] for r in ranks if place[r] < len(programs[r])}
        if eager:
            moving = [r for r, (verb, peer) in heads.items() if verb == "send" or (peer, r) in sent]
        else:
            moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (meets.get(verb), r)]
        if not moving:
            return rounds, heads
        for rank in moving:
            verb, peer = heads[rank]
            if verb == "send":
                sent.append((rank, peer))
            elif (peer, rank) in sent:
                sent.remove((peer, rank))
            place[rank] += 1
        rounds += 1
