"""Chapter 14, shared weights: slots with versions and pins, and what a reader may see."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch14.wrong_weight_slots import WEIGHT_SLOTS
from autograder.bank.groups import listed
from autograder.items import Build, Case, Choice, Group, Item, lazily

reference = lazily("solutions.ch14.weight_slots")

Call = tuple[str, tuple[Any, ...] | None]

_BEGIN: Call = ("begin_publish", ())
_ACQUIRE: Call = ("acquire", ())
_STATE: tuple[Call, ...] = (("latest", None), ("version", None))


def _commit(version: int) -> Call:
    return "commit", (version,)


def _release(slot: int) -> Call:
    return "release", (slot,)


def _schedule(rng: Random, slots: int, count: int, readers: int) -> Case:
    """A writer and some readers, each at its own pace; calls are chosen while they are made."""
    made, held, version, publishing = reference.WeightSlots(slots), list[int](), rng.randint(0, 3), False
    calls: list[Call] = []
    for _ in range(count):
        kinds = ["publish", "publish"] + ["acquire"] * (len(held) < readers) + ["release"] * bool(held)
        kind = rng.choice(kinds)
        if kind == "publish" and publishing:
            version += rng.randint(1, 3)
            calls.append(_commit(version))
            made.commit(version)
            publishing = False
        elif kind == "publish":
            calls.append(_BEGIN)
            publishing = made.begin_publish() is not None
        elif kind == "acquire":
            calls.append(_ACQUIRE)
            held += [got[0] for got in [made.acquire()] if got]
        else:
            slot = held.pop(rng.randrange(len(held)))
            calls.append(_release(slot))
            made.release(slot)
    return Case((slots,), calls=(*calls, *_STATE))


def _two_slots(rng: Random) -> Case:
    return _schedule(rng, 2, rng.randint(12, 25), 2)


def _more_slots(rng: Random) -> Case:
    return _schedule(rng, rng.randint(3, 5), rng.randint(20, 40), rng.randint(2, 5))


def _first_versions(rng: Random) -> tuple[int, int, int]:
    first = rng.randint(0, 5)
    return first, first + rng.randint(1, 4), first + rng.randint(5, 9)


def _while_written(rng: Random) -> Case:
    """What a reader gets between a begin and its commit, before and after the first version."""
    first, second, third = _first_versions(rng)
    calls = (
        _ACQUIRE,
        _BEGIN,
        _ACQUIRE,
        *_STATE,
        _commit(first),
        _BEGIN,
        *_STATE,
        _ACQUIRE,
        _ACQUIRE,
        _commit(second),
        _ACQUIRE,
        _BEGIN,
        _ACQUIRE,
        *([_commit(third)] if rng.random() < 0.5 else []),
        *_STATE,
    )
    return Case((rng.randint(3, 4),), calls=calls)


def _two_readers(rng: Random) -> Case:
    """Two pins on one slot: it is free after the second release."""
    first, second, third = _first_versions(rng)
    slots, readers = 2, rng.randint(2, 3)
    calls = (_BEGIN, _commit(first), *[_ACQUIRE] * readers, _BEGIN, _commit(second))
    waits = tuple(call for _ in range(readers - 1) for call in (_BEGIN, _release(0)))
    return Case((slots,), calls=(*calls, *waits, _BEGIN, _release(0), _BEGIN, _commit(third), _ACQUIRE, *_STATE))


def _refused(rng: Random) -> Case:
    """Versions that are not above the latest; the publish stays open."""
    first, second, third = _first_versions(rng)
    refused = rng.choice((first, max(0, first - 1)))
    calls = (
        _BEGIN,
        _commit(first),
        _BEGIN,
        _commit(refused),
        *_STATE,
        _commit(second),
        _BEGIN,
        _commit(first),
        _commit(second),
        _commit(third),
        *_STATE,
        _BEGIN,
    )
    return Case((rng.randint(2, 4),), calls=calls)


def _two_objects(rng: Random) -> Case:
    first, second, _ = _first_versions(rng)
    calls = (
        _BEGIN,
        _commit(first),
        _ACQUIRE,
        ("other.begin_publish", ()),
        ("other.acquire", ()),
        ("other.commit", (second,)),
        ("other.begin_publish", ()),
        ("other.commit", (second + 1,)),
        ("other.begin_publish", ()),
        _BEGIN,
        _commit(second),
        _BEGIN,
        _release(0),
    )
    return Case(calls=calls)


def _out_of_turn(rng: Random) -> list[Case]:
    slots = rng.randint(2, 4)
    out_of_order = (
        _commit(1),
        _release(0),
        _BEGIN,
        _BEGIN,
        _commit(1),
        _commit(2),
        _release(0),
        _ACQUIRE,
        _release(1),
        _release(0),
        _release(0),
        *_STATE,
    )
    return [Case((slots,), calls=out_of_order)]


SLOTS = Build(
    id="14-weight-slots",
    module="weight_slots",
    function="WeightSlots",
    grade="calls",
    section="14.6",
    topic="weights in shared memory",
    cases=(
        Case(
            (2,),
            calls=(
                _ACQUIRE,
                _BEGIN,
                _commit(1),
                _ACQUIRE,
                _BEGIN,
                _ACQUIRE,
                _commit(2),
                _BEGIN,
                _release(0),
                _BEGIN,
                _release(0),
                _BEGIN,
                _ACQUIRE,
            ),
        ),
        Case((3,), calls=(_BEGIN, _commit(1), _ACQUIRE, _BEGIN, _ACQUIRE, _commit(2), _BEGIN)),
        Case((2,), calls=(_BEGIN, *_STATE, _commit(0), *_STATE, _BEGIN, _commit(0), _commit(3), *_STATE)),
        Case((2,), calls=(_commit(1), _BEGIN, _BEGIN, _release(0))),
    ),
    groups=(
        Group("two slots", _two_slots, 8, "A slot may be written when it is neither the latest nor pinned."),
        Group("more slots", _more_slots, 6, "Of the slots that are free, the lowest."),
        Group("while it is written", _while_written, 3, "Readers get the latest committed slot until the next commit."),
        Group("several readers", _two_readers, 3, "A slot is free when all who pinned it have released it."),
        Group("versions", _refused, 3, "A version must be above the latest; a refused commit changes nothing."),
        Group("two objects", _two_objects, 2, "Two objects are independent, and have two slots each by default."),
        listed("out of turn", _out_of_turn, "Calls at the wrong time: ValueError, and nothing changes."),
    ),
    slips=WEIGHT_SLOTS,
)

ITEMS: tuple[Item, ...] = (
    Choice(
        id="14-torn",
        kind="trace",
        title="One buffer, two processes",
        section="14.6",
        options=(
            "the old version, the new one, or parts of both in one tensor",
            "the old version or the new one",
            "only the new version",
            "only the old version, until the writer has finished",
        ),
        correct=0,
        derivation="A copy of megabytes takes a while, and nothing stops the other side meanwhile. The reader's front "
        "has passed some places before the writer's, and others after it.",
        slips={
            1: "Then a copy of the whole buffer would be a single step. It is millions of steps, in both processes.",
            2: "Nothing makes the reader wait until the writer has finished.",
            3: "There is one buffer: what is written is there at once.",
        },
    ),
    SLOTS,
)
