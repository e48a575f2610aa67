"""Chapter 14, admission: how many responses may start, as a class, and what that bounds."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch14.wrong_gates import STALENESS_GATE
from autograder.bank.groups import listed
from autograder.items import Build, Case, Choice, Group, Item, Part, Question, Slip, lazily

reference = lazily("solutions.ch14.weight_slots")

Call = tuple[str, tuple[Any, ...] | None]

_ROOM: Call = ("capacity", ())
_STATE: tuple[Call, ...] = (("version", None), ("running", None), ("accepted", None))


def _some(name: str, count: int) -> tuple[Call, ...]:
    return ((name, ()),) * count


def _run(rng: Random, batch: int, ahead: int, most: int, count: int, dropped: float) -> Case:
    """Responses that start while they may and end in any order; the trainer takes a batch when there is one."""
    gate, calls = reference.StalenessGate(batch, ahead, most), list[Call]()
    for _ in range(count):
        kinds = ["submit"] * 2 * bool(gate.capacity()) + ["end"] * bool(gate.running)
        kinds += ["advance"] * 2 * (gate.accepted >= (gate.version + 1) * batch)
        kind = rng.choice(kinds)
        name = kind if kind != "end" else "reject" if rng.random() < dropped else "accept"
        getattr(gate, name)()
        calls += [(name, ()), _ROOM]
    return Case((batch, ahead, most), calls=(*calls, *_STATE))


def _ordinary(rng: Random) -> Case:
    batch, ahead = rng.randint(1, 5), rng.randint(0, 3)
    return _run(rng, batch, ahead, rng.randint(batch, 3 * batch + 2), rng.randint(20, 40), 0.1)


def _on_policy(rng: Random) -> Case:
    batch = rng.randint(2, 6)
    return _run(rng, batch, 0, rng.randint(1, 2 * batch), rng.randint(20, 40), 0.0)


def _dropped(rng: Random) -> Case:
    batch = rng.randint(2, 4)
    return _run(rng, batch, rng.randint(0, 1), 3 * batch, rng.randint(25, 40), 0.5)


def _filled(rng: Random) -> Case:
    """Fill it to the brim, accept all, fill again, update."""
    batch, ahead = rng.randint(2, 4), rng.randint(0, 2)
    most = (ahead + 1) * batch + rng.randint(1, 3)
    calls = [_ROOM]
    for _ in range(2):
        calls += [*_some("submit", (ahead + 1) * batch), _ROOM] if len(calls) == 1 else [*_some("submit", batch), _ROOM]
        calls += [*_some("accept", batch), _ROOM, ("advance", ()), _ROOM]
    return Case((batch, ahead, most), calls=(*calls, *_STATE))


def _few_at_once(rng: Random) -> Case:
    batch, most = rng.randint(4, 9), rng.randint(1, 3)
    ahead, first = rng.randint(1, 3), rng.randint(1, most)
    calls = (_ROOM, *_some("submit", first), _ROOM, *_some("submit", most - first), _ROOM, ("accept", ()), _ROOM)
    return Case((batch, ahead, most), calls=(*calls, *_some("advance", rng.randint(1, 3)), _ROOM, *_STATE))


def _wrong_time(rng: Random) -> list[Case]:
    batch = rng.randint(1, 3)
    closed = (*_some("submit", batch), ("submit", ()), *_some("accept", batch), ("submit", ()), *_STATE)
    return [
        Case((batch, 0, 9), calls=closed),
        Case((batch, 1, 9), calls=(("accept", ()), ("reject", ()), _ROOM, ("submit", ()), ("reject", ()), *_STATE)),
    ]


GATE = Build(
    id="14-staleness-gate",
    module="weight_slots",
    function="StalenessGate",
    grade="calls",
    section="14.9",
    topic="admission by staleness",
    cases=(
        Case(
            (4, 1, 6),
            calls=(
                _ROOM,
                *_some("submit", 6),
                _ROOM,
                *_some("accept", 4),
                _ROOM,
                *_some("submit", 2),
                _ROOM,
                ("reject", ()),
                _ROOM,
                ("advance", ()),
                _ROOM,
            ),
        ),
        Case((2, 0, 8), calls=(_ROOM, *_some("submit", 2), _ROOM, *_some("accept", 2), _ROOM, ("advance", ()), _ROOM)),
        Case((3, 2, 2), calls=(_ROOM, ("submit", ()), _ROOM, *_STATE)),
        Case((1, 0, 1), calls=(("accept", ()), ("submit", ()), ("submit", ()))),
    ),
    groups=(
        Group("responses that start and end", _ordinary, 6, "What has started counts: running and accepted."),
        Group("a bound of 0", _on_policy, 4, "With a bound of 0 a batch starts after the update before it."),
        Group("dropped responses", _dropped, 4, "A rejected response makes room for another."),
        Group("filled to the brim", _filled, 3, "Count everything from the beginning, on both sides."),
        Group("few at once", _few_at_once, 3, "At most max_concurrent run at the same time."),
        listed("at the wrong time", _wrong_time, "Calls at the wrong time: ValueError, and nothing changes."),
    ),
    slips=STALENESS_GATE,
)


def _free() -> float:
    gate = reference.StalenessGate(64, 4, 256)
    gate.version, gate.accepted, gate.running = 10, 900, 32
    return gate.capacity()


ITEMS: tuple[Item, ...] = (
    Question(
        id="14-gate",
        kind="derive",
        title="How many may start",
        section="14.9",
        parts=(
            Part(
                "responses",
                "responses",
                _free,
                tolerance=0,
                slips=(
                    Slip("Those that are running have started, too.", value=60),
                    Slip("That is the room under the limit alone; the bound on staleness is tighter.", value=224),
                    Slip("The batch that is trained next counts as well: version + 1.", value=0),
                ),
            ),
        ),
        derivation="Two limits hold: on what runs at once, $256 - 32$, and on what has ever started, "
        "$(4 + 10 + 1) \\cdot 64 - 900 - 32$. The smaller one decides.",
    ),
    GATE,
    Choice(
        id="14-gate-bound",
        kind="trace",
        title="What the gate bounds",
        section="14.9",
        options=(
            "no: it bounds how far production runs ahead; one slow response can still arrive many versions late",
            "yes: no sample is older than the bound when it is trained on",
            "yes, as long as no response is rejected",
            "no: it bounds nothing once the trainer is faster than the rollout",
        ),
        correct=0,
        derivation="The gate counts what has started. While a long response runs, shorter ones that started after it "
        "finish, are trained on, and raise the version. The long one joins whatever batch is next when it ends.",
        slips={
            1: "It would be so if responses were trained on in the order in which they started.",
            2: "A rejected response is replaced by a fresh one; the slow one is the trouble.",
            3: "It bounds what may start at any time, whoever is faster.",
        },
    ),
)
