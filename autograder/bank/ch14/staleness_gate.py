"""Chapter 14: ``StalenessGate``, admission by staleness."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, lazily

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


EXERCISE = Build(
    "14 weight_slots.StalenessGate",
    section="14.8",
    topic="admission by staleness",
    grade="calls",
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
    slips=(
        Slip(
            "Responses that are running will be accepted too: they have taken their places already.",
            edit=("wanted - self.accepted - self.running", "wanted - self.accepted"),
        ),
        Slip(
            "With a bound of 0 the first batch must be allowed to start: (max_staleness + version + 1) * batch.",
            edit=("(self._ahead + self.version + 1)", "(self._ahead + self.version)"),
        ),
        Slip(
            "A rejected response gives its place back; yours starves after enough of them.",
            edits=(
                ("wanted - self.accepted - self.running", "wanted - self._started"),
                (
                    "        self.version = self.running = self.accepted = 0\n",
                    "        self.version = self.running = self.accepted = self._started = 0\n",
                ),
                ("        self.running += 1\n", "        self.running += 1\n        self._started += 1\n"),
            ),
        ),
        Slip(
            "The bound is on all that has started since the beginning, not on whether the queue is short now.",
            edit=(
                "        wanted = (self._ahead + self.version + 1) * self._batch\n"
                "        return max(0, min(self._most - self.running, wanted - self.accepted - self.running))",
                "        queue = self.accepted - self.version * self._batch\n"
                "        return max(0, self._most - self.running) if queue <= self._ahead * self._batch else 0",
            ),
        ),
        Slip(
            "No more than max_concurrent responses run at once.",
            edit=(
                "min(self._most - self.running, wanted - self.accepted - self.running)",
                "wanted - self.accepted - self.running",
            ),
        ),
        Slip("Of max_concurrent, those that are running are taken.", edit=("self._most - self.running", "self._most")),
        Slip(
            "`accepted` counts from the beginning, as the version does: an update takes nothing away from it.",
            edit=(
                "        self.version += 1\n",
                "        self.version += 1\n        self.accepted = max(0, self.accepted - self._batch)\n",
            ),
        ),
        Slip(
            "A call at the wrong time must raise ValueError: a submit at capacity 0, an end with nothing running.",
            edits=(
                (
                    "        if not self.capacity():\n"
                    '            raise ValueError(f"no response may start: {self.running} are running, '
                    '{self.accepted} were accepted")\n',
                    "",
                ),
                ('        if not self.running:\n            raise ValueError("no response is running")\n', ""),
            ),
        ),
    ),
    promises=(
        Promise(
            "It is never refused: the gate does not see what the update was made from.",
            edit=(
                "        self.version += 1\n",
                "        if self.accepted < (self.version + 1) * self._batch:\n"
                "            raise ValueError('no batch')\n"
                "        self.version += 1\n",
            ),
        ),
        Promise(
            "so that production never runs far ahead of training",
            edit=("(self._ahead + self.version + 1)", "(self._ahead + 2 * self.version + 1)"),
        ),
        Promise(
            "A response that is accepted waits for a trainer's batch or was in one.",
            edit=("wanted - self.accepted - self.running", "wanted - self.running"),
        ),
    ),
)
