"""Chapter 2: ``simulate``, deadlock."""

from __future__ import annotations

from random import Random

from autograder.bank.ch02.shared import Program, chain, ring
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Slip, lazily

deadlock = lazily("solutions.ch02.deadlock")


def _messages(rng: Random) -> list[Program]:
    """Messages between random ranks, whose two calls are in one order on all ranks; then some calls change places."""
    ranks = rng.randint(4, 8)
    programs: list[Program] = [[] for _ in range(ranks)]
    for _ in range(rng.randint(ranks, 2 * ranks)):
        sender, receiver = rng.sample(range(ranks), 2)
        programs[sender].append(("send", receiver))
        programs[receiver].append(("recv", sender))
    for program in rng.sample(programs, rng.randint(1, 3)):
        if len(program) > 1:
            first = rng.randrange(len(program) - 1)
            program[first : first + 2] = program[first : first + 2][::-1]
    return programs


def _drawn(rng: Random, deadlocks: bool) -> Case:
    """Random programs that end as asked, after some rounds, and that end otherwise when sends are buffered."""
    while True:
        programs = _messages(rng)
        rounds, blocked = deadlock.simulate(programs)
        busy = sum(map(bool, programs))
        ends = 0 < len(blocked) < busy if deadlocks else not blocked
        if ends and rounds > 1 and deadlock.simulate(programs, eager=True) != (rounds, blocked):
            return Case(args=(programs,))


def _overtaken(rng: Random) -> Case:
    """One rank receives from a late sender first, while an early one waits for its turn."""
    ranks = rng.randint(4, 8)
    early, late, helper, receiver = rng.sample(range(ranks), 4)
    programs: list[Program] = [[] for _ in range(ranks)]
    programs[helper] = [("send", late)]
    programs[late] = [("recv", helper), ("send", receiver)]
    programs[early] = [("send", receiver)]
    programs[receiver] = [("recv", late), ("recv", early)]
    return Case(args=(programs,))


def _random_of_each(rng: Random) -> list[Case]:
    return [*(_drawn(rng, ends) for ends in (True, False) * 3), _overtaken(rng), _overtaken(rng)]


def _rings_and_chains(rng: Random) -> list[Case]:
    n, one = rng.randint(3, 9), rng.randint(0, 2)
    programs = [
        ring(n, lambda rank: True),
        ring(n, lambda rank: rank != one),
        ring(2 * rng.randint(2, 5), lambda rank: rank % 2 == 0),
        ring(2 * rng.randint(2, 4) + 1, lambda rank: rank % 2 == 0),
        chain(rng.randint(3, 6), rng.randint(1, 5)),
    ]
    return [Case(args=(each,)) for each in programs]


def _eager_of_each(rng: Random) -> list[Case]:
    """With buffers: random programs, a ring that all send into first, one that all receive from first."""
    n = rng.randint(3, 8)
    programs = [_messages(rng) for _ in range(3)]
    programs += [ring(n, lambda rank: True), ring(n, lambda rank: False), chain(rng.randint(3, 6), rng.randint(2, 5))]
    return [Case(args=(each,), kwargs={"eager": True}) for each in programs]


_BOTH_SEND: list[Program] = [[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]]
_BOTH_RECEIVE: list[Program] = [[("recv", 1), ("send", 1)], [("recv", 0), ("send", 0)]]
_ONE_LEFT: list[Program] = [[("send", 1)], [("recv", 0), ("recv", 2)], [("send", 0)]]


EXERCISE = Build(
    "02 deadlock.simulate",
    section="2.12",
    topic="deadlock",
    bonus=True,
    cases=(
        Case(args=(_BOTH_SEND,)),
        Case(args=(_BOTH_SEND,), kwargs={"eager": True}),
        Case(args=([[("send", 1), ("recv", 1)], [("recv", 0), ("send", 0)]],)),
        Case(args=(_BOTH_RECEIVE,)),
        Case(args=(_BOTH_RECEIVE,), kwargs={"eager": True}),
        Case(args=([[("send", 1)], [("recv", 2)], []],)),
        Case(args=(_ONE_LEFT,)),
        Case(args=(_ONE_LEFT,), kwargs={"eager": True}),
        Case(args=(ring(4, lambda rank: rank % 2 == 0),)),
        Case(args=(ring(5, lambda rank: rank % 2 == 0),)),
        Case(args=(ring(8, lambda rank: rank != 0),)),
    ),
    groups=(
        listed(
            "random programs",
            _random_of_each,
            "In a round every pair of calls that meet is done; who has not finished at the end is blocked.",
            8,
        ),
        listed("rings and chains", _rings_and_chains, "Count the rounds of rings and chains.", 5),
        listed(
            "buffered sends",
            _eager_of_each,
            "With `eager` a send never waits, and a receive waits for a message of an earlier round.",
            6,
        ),
    ),
    slips=(
        Slip(
            "A send went on without its receiver: unbuffered, the two go on together.",
            edit=("if eager:", "if True:"),
        ),
        Slip(
            "A message went to a receive that names another source.",
            edits=(
                ("waiting[peer, r]]", "waiting[r]]"),
                (
                    "moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (_OTHER[verb], r)]",
                    (
                        'sends = [(r, peer) for r, (verb, peer) in reversed(heads.items()) if verb == "send"]\n'
                        '            taken = {peer: r for r, peer in sends if heads.get(peer, ("",))[0] == "recv"}\n'
                        "            moving = [*taken, *taken.values()]"
                    ),
                ),
                (
                    'message = (rank, peer) if verb == "send" else (peer, rank)',
                    'message = peer if verb == "send" else rank',
                ),
            ),
        ),
        Slip(
            "Every rank was reported: only those that have not finished are blocked.",
            edit=(
                "return rounds, heads",
                (
                    "return rounds, heads and {r: program[min(place[r], len(program) - 1)] for r, "
                    "program in enumerate(calls) if program}"
                ),
            ),
        ),
        Slip(
            "That ends when one rank waits: go on until nothing moves at all.",
            edit=("if not moving:", "if not moving or len(moving) < len(heads):"),
        ),
        Slip(
            "A rank made two calls in one round: see who can go on before anybody does.",
            edit=(
                "moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (_OTHER[verb], r)]",
                (
                    "moving, now = [], list(place)\n"
                    "            for r, program in enumerate(calls):\n"
                    '                verb, peer = program[now[r]] if now[r] < len(program) else ("", r)\n'
                    '                if verb == "send" and calls[peer][now[peer] :][:1] == [("recv", r)]:\n'
                    "                    moving += [r, peer]\n"
                    "                    now[r], now[peer] = now[r] + 1, now[peer] + 1"
                ),
            ),
        ),
        Slip(
            "A buffered message arrived in the round in which it was sent.",
            edit=("waiting[peer, r]]", 'waiting[peer, r] or heads.get(peer) == ("send", r)]'),
        ),
    ),
    promises=(
        Promise(
            "looks only at the first unfinished one",
            edit=("heads.get(peer) == (_OTHER[verb], r)]", "(_OTHER[verb], r) in calls[peer][place[peer] :]]"),
        ),
        Promise(
            "With ``eager``, a send goes on at once, whatever the receiver does",
            edit=('verb == "send" or', 'verb == "send" and heads.get(peer) == ("recv", r) or'),
        ),
        Promise("has not been received yet", edit=('+= 1 if verb == "send" else -1', '+= verb == "send"')),
        Promise(
            "was sent in an earlier round",
            edit=(
                (
                    "        if eager:\n"
                    '            moving = [r for r, (verb, peer) in heads.items() if verb == "send" or '
                    "waiting[peer, r]]"
                ),
                (
                    "        if eager:\n"
                    "            moving = [\n"
                    '                r for r, (verb, peer) in heads.items() if verb == "send" or '
                    'waiting[peer, r] or heads.get(peer) == ("send", r)\n'
                    "            ]"
                ),
            ),
        ),
        Promise(
            "no rank carries out two calls in one round",
            edit=(
                "moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (_OTHER[verb], r)]",
                (
                    "moving, now = [], list(place)\n"
                    "            for r, program in enumerate(calls):\n"
                    '                verb, peer = program[now[r]] if now[r] < len(program) else ("", r)\n'
                    '                if verb == "send" and calls[peer][now[peer] :][:1] == [("recv", r)]:\n'
                    "                    moving += [r, peer]\n"
                    "                    now[r], now[peer] = now[r] + 1, now[peer] + 1"
                ),
            ),
        ),
        Promise(
            "``blocked`` is empty when all finish.",
            edit=(
                "return rounds, heads",
                (
                    "return rounds, heads and {r: program[min(place[r], len(program) - 1)] for r, "
                    "program in enumerate(calls) if program}"
                ),
            ),
        ),
    ),
)
