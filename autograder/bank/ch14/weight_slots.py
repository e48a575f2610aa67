"""Chapter 14: ``WeightSlots``, weights in shared memory."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, lazily

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


_COMMIT = "        if self.version is not None and version <= self.version:\n"


EXERCISE = Build(
    "14 weight_slots.WeightSlots",
    section="14.6",
    topic="weights in shared memory",
    grade="calls",
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
    slips=(
        Slip(
            "A slot with a pin is being read: it must not be written, even when it is old.",
            edit=("slot != self.latest and not pins", "slot != self.latest"),
        ),
        Slip(
            "The latest slot must not be written: whoever acquires next reads it.",
            edit=("slot != self.latest and not pins", "not pins"),
        ),
        Slip(
            "A slot is the latest when it is committed, not when its writing begins.",
            edits=(
                (
                    "        return self._open\n",
                    "        self.latest = self.latest if self._open is None else self._open\n        return "
                    "self._open\n",
                ),
                (
                    "self.latest, self.version, self._open = self._open, version, None",
                    "self.version, self._open = version, None",
                ),
                ("if self.latest is None or self.version is None:", "if self.latest is None:"),
            ),
        ),
        Slip(
            "Count the pins: the first of two readers that releases a slot must not free it.",
            edit=("self._pins[self.latest] += 1", "self._pins[self.latest] = 1"),
        ),
        Slip(
            "`acquire` gives the latest slot, never the one that is being written.",
            edit=(
                "        self._pins[self.latest] += 1\n        return self.latest, self.version",
                "        slot = self.latest if self._open is None else self._open\n"
                "        self._pins[slot] += 1\n"
                "        return slot, self.version",
            ),
        ),
        Slip(
            "Any slot that is free will do, the lowest first: do not wait for the next one in turn.",
            edit=(
                "free = (slot for slot, pins in enumerate(self._pins) if slot != self.latest and not pins)",
                "turn = 0 if self.latest is None else (self.latest + 1) % len(self._pins)\n"
                "        free = (slot for slot in [turn] if not self._pins[slot])",
            ),
        ),
        Slip(
            "A version that is not above the latest must raise ValueError: weights never go back.",
            edit=("if self.version is not None and version <= self.version:", "if False:"),
        ),
        Slip(
            "A commit that is refused leaves the publish open: it can be committed under another version.",
            edits=(
                (
                    "        if self.version is not None and version <= self.version:\n",
                    "        slot, self._open = self._open, None\n"
                    "        if self.version is not None and version <= self.version:\n",
                ),
                (
                    "self.latest, self.version, self._open = self._open, version, None",
                    "self.latest, self.version = slot, version",
                ),
            ),
        ),
        Slip(
            "When `begin_publish` gives None, no publish is open: it may be called again.",
            edits=(
                ("if self._open is not None:", 'if getattr(self, "_publishing", False):'),
                ("        return self._open\n", "        self._publishing = True\n        return self._open\n"),
                (
                    "self.latest, self.version, self._open = self._open, version, None",
                    "self.latest, self.version, self._open, self._publishing = self._open, version, None, False",
                ),
            ),
        ),
        Slip(
            "Two objects share their pins: keep them in the instance, not in the class.",
            edits=(
                (
                    "    def __init__(self, slots: int = 2) -> None:",
                    "    _pins: list[int] = []\n\n    def __init__(self, slots: int = 2) -> None:",
                ),
                ("        self._pins = [0] * slots\n", "        self._pins[:] = [0] * slots\n"),
            ),
        ),
        Slip(
            "A call out of turn must raise ValueError: a second begin, a commit without one, a release without a pin.",
            edits=(
                (
                    "        if self._open is not None:\n"
                    '            raise ValueError(f"slot {self._open} is being written: commit it first")\n',
                    "",
                ),
                ('        if self._open is None:\n            raise ValueError("no publish is open")\n', ""),
                (
                    "        if not self._pins[slot]:\n"
                    '            raise ValueError(f"slot {slot!r} is not pinned")\n'
                    "        self._pins[slot] -= 1",
                    "        self._pins[slot] = max(0, self._pins[slot] - 1)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "Which of several copies of the weights is the latest, which are being read, and which may be written.",
            edit=("if slot != self.latest and not pins", "if not pins"),
        ),
        Promise(
            "A version that is refused leaves it open.",
            edits=(
                (_COMMIT, "        opened, self._open = self._open, None\n" + _COMMIT),
                (
                    "self.latest, self.version, self._open = self._open, version, None",
                    "self.latest, self.version = opened, version",
                ),
            ),
        ),
        Promise(
            "the lowest slot that is neither the latest nor pinned",
            edit=("enumerate(self._pins) if", "reversed(list(enumerate(self._pins))) if"),
        ),
        Promise("ValueError when it has none", edit=("if not self._pins[slot]:", "if False:")),
    ),
)
