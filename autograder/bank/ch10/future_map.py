"""Chapter 10: ``FutureMap``, placeholders."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip

Call = tuple[str, tuple[Any, ...] | None]


class _Ring:
    """Which placeholders the next reservation gives: what a driver needs in order to store and resolve."""

    def __init__(self, most: int) -> None:
        self.most, self.cursor = most, 0

    def next(self, count: int) -> list[int]:
        reserved = [-(self.cursor + index + 1) for index in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        return reserved


def _steps(rng: Random, most: int, steps: int, kept: float = 1.0) -> tuple[Call, ...]:
    """Steps of an engine: reserve, then resolve the inputs of the step before, then store what it sampled.

    With ``kept`` below 1 some steps never store, and their placeholders are asked for all the same.
    """
    ring, before = _Ring(most), list[int]()
    calls: list[Call] = []
    for _ in range(steps):
        count = rng.randint(1, most)
        own = ring.next(count)
        calls.append(("reserve", (count,)))
        asked = [*before, *(rng.randint(0, 300) for _ in range(rng.randint(0, 2)))]
        calls.append(("resolve", (rng.sample(asked, len(asked)),)))
        if rng.random() < kept:
            calls.append(("store", (own, [rng.randint(0, 300) for _ in own])))
        before = own
    return tuple(calls)


def _engine(rng: Random) -> Case:
    most = rng.randint(2, 16)
    return Case((most,), calls=_steps(rng, most, rng.randint(3, 18)))


def _full(rng: Random) -> Case:
    """Reservations that end one or more slots before the limit, so that the next one goes beyond it."""
    most = rng.randint(3, 12)
    calls: list[Call] = [("reserve", (most,)), ("reserve", (most,)), ("reserve", (rng.randint(1, most - 1),))]
    calls += [("reserve", (rng.randint(most // 2 + 1, most),)) for _ in range(6)]
    return Case((most,), calls=tuple(calls))


def _again(rng: Random) -> Case:
    """Round after round; in the last one a slot is asked for before it is filled."""
    most = rng.randint(1, 4)
    ring, calls = _Ring(most), []
    for _ in range(rng.randint(4, 9)):
        own = ring.next(most)
        calls += [("reserve", (most,)), ("store", (own, [rng.randint(0, 300) for _ in own])), ("resolve", (own,))]
    own = ring.next(most)
    calls += [("reserve", (most,)), ("resolve", ([3, *own],)), ("resolve", ([7],))]
    return Case((most,), calls=tuple(calls))


def _unsaved(rng: Random) -> Case:
    most = rng.randint(1, 5)
    return Case((most,), calls=_steps(rng, most, rng.randint(4, 16), 0.6))


def _two_maps(rng: Random) -> Case:
    tokens = [rng.randint(1, 300) for _ in range(2)]
    calls = (
        ("reserve", (2,)),
        ("other.reserve", (2,)),
        ("store", ([-1, -2], tokens)),
        ("other.resolve", ([-1],)),
        ("resolve", ([-2, -1],)),
        ("other.reserve", (1,)),
    )
    return Case((rng.randint(2, 5),), calls=calls)


def _unreserved(rng: Random) -> Case:
    """One of the placeholders was never reserved: then the other one is not filled either."""
    most = rng.randint(2, 6)
    calls = (
        ("reserve", (2,)),
        ("store", ([-1, -most - 9], [4, 5])),
        ("resolve", ([-1],)),
        ("store", ([-1, -2], [rng.randint(0, 9), 5])),
        ("resolve", ([-2, -1],)),
    )
    return Case((most,), calls=calls)


EXERCISE = Build(
    "10 future_map.FutureMap",
    section="10.18",
    bonus=True,
    topic="placeholders",
    grade="calls",
    cases=(
        Case(
            (2,),
            calls=(
                *(("reserve", (count,)) for count in (2, 2, 1, 2, 2)),
                ("store", ([-1, -2], [7, 9])),
                ("resolve", ([5, -1, -2, 3],)),
            ),
        ),  # three times max_running slots, as in SGLang v0.4
        Case((1,), calls=(("reserve", (1,)), ("resolve", ([-1],)), ("store", ([-1], [0])), ("resolve", ([-1, 0],)))),
        Case(
            (1,),
            calls=(
                *((("reserve", (1,)), ("store", ([-place], [place])))[half] for place in (1, 2, 3) for half in (0, 1)),
                ("reserve", (1,)),
                ("resolve", ([-1],)),
            ),
        ),
        Case((3,), calls=(("reserve", (3,)), ("store", ([-4], [1])))),
    ),
    groups=(
        Group("steps of an engine", _engine, 6, "Follow the cursor: where does the next reservation begin?"),
        Group(
            "the end of the ring",
            _full,
            4,
            "A reservation is never torn: it goes beyond the limit, and only then the cursor wraps.",
        ),
        Group(
            "empty slots",
            _unsaved,
            10,
            "A slot that is reserved again holds nothing until something is stored; asking for it raises RuntimeError.",
            lambda rng: [_again(rng) for _ in range(5)],
        ),
        Group("two maps", _two_maps, 2, "Two maps are independent."),
        Group(
            "never reserved",
            _unreserved,
            3,
            "A placeholder that was never reserved must raise ValueError, and then nothing is stored.",
        ),
    ),
    slips=(
        Slip("`-0` is token 0: the first placeholder is -1.", edit=("range(1, count + 1)", "range(count)")),
        Slip(
            "A reservation does not wrap in its middle: the last one goes on beyond the limit.",
            edit=(
                "-(self._cursor + place) for place in range(1, count + 1)",
                "-((self._cursor + place) % (3 * self.max_running) + 1) for place in range(count)",
            ),
        ),
        Slip(
            "A slot that is reserved again is empty: yours still gives the token of an earlier round.",
            edit=("self._slots |= dict.fromkeys(reserved)", "self._slots = dict.fromkeys(reserved) | self._slots"),
        ),
        Slip(
            "The cursor starts again after 3 * max_running slots; yours grows without bound.",
            edit=("(self._cursor + count) % (3 * self.max_running)", "self._cursor + count"),
        ),
        Slip(
            "A ring of max_running slots hands out placeholders that are still in use: the limit is three times that.",
            edit=("% (3 * self.max_running)", "% self.max_running"),
        ),
        Slip(
            "An empty slot must raise RuntimeError: a placeholder that is handed on becomes a token of the model.",
            edit=(
                '            raise RuntimeError(f"the slot of placeholder {placeholder} is empty")',
                "            return placeholder",
            ),
        ),
        Slip(
            "Two maps share their slots: keep them in the instance, not in the class.",
            edits=(
                (
                    "    def __init__(self, max_running: int) -> None:",
                    "    _slots: dict[int, int | None] = {}\n\n    def __init__(self, max_running: int) -> None:",
                ),
                ("        self._slots: dict[int, int | None] = {}  # of reserved placeholders; None is empty\n", ""),
                (
                    "        self._slots |= dict.fromkeys(reserved)\n",
                    "        self._slots.update(dict.fromkeys(reserved))\n",
                ),
                (
                    "self._slots |= zip(placeholders, tokens, strict=True)",
                    "self._slots.update(zip(placeholders, tokens, strict=True))",
                ),
            ),
        ),
        Slip(
            "A placeholder that nobody reserved must raise ValueError; yours is filled.",
            edit=(
                "        for placeholder in placeholders:\n"
                "            if placeholder not in self._slots:\n"
                '                raise ValueError(f"placeholders must be reserved, got {placeholder}")\n',
                "",
            ),
        ),
    ),
    promises=(
        Promise(
            "their slots are empty now.",
            edit=(
                "        self._slots |= dict.fromkeys(reserved)\n",
                "        for one in reserved:\n            self._slots.setdefault(one)\n",
            ),
        ),
        Promise(
            "The cursor then moves to ``(k + count) % (3 * max_running)``: a reservation never wraps in its middle, "
            "the last",
            edit=(
                "-(self._cursor + place) for place in range(1, count + 1)",
                "-((self._cursor + place) % (3 * self.max_running) + 1) for place in range(count)",
            ),
        ),
        Promise(
            "The cursor then moves to ``(k + count) % (3 * max_running)``",
            edit=(" % (3 * self.max_running)", " % (2 * self.max_running)"),
        ),
        Promise(
            "nothing is stored then",
            edits=(
                (
                    "        for placeholder in placeholders:\n",
                    "        for placeholder, token in zip(placeholders, tokens, strict=True):\n",
                ),
                (
                    "        self._slots |= zip(placeholders, tokens, strict=True)\n",
                    "            self._slots[placeholder] = token\n",
                ),
            ),
        ),
        Promise("what is not negative stays", edit=("token if token >= 0 else", "token if token > 0 else")),
    ),
)
