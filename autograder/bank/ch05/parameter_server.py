"""Chapter 5: ``ParameterServer``, weights without a barrier."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

Call = tuple[str, tuple[Any, ...] | None]
_PULL: Call = ("pull", ())


def _vector(rng: Random, size: int) -> list[float]:
    return [rng.choice((1.0, -1.0)) * rng.uniform(0.1, 3) for _ in range(size)]


def _run(rng: Random, workers: int, most: int | None, updates: int) -> Case:
    """Workers pull, and push in any order; each gradient is of the version that its worker pulled last."""
    size, rate = rng.randint(1, 3), rng.uniform(0.05, 0.5)
    held, version = [0] * workers, 0
    calls: list[Call] = [_PULL]
    for _ in range(updates):
        worker = rng.randrange(workers)
        calls += [("push", (held[worker], _vector(rng, size))), _PULL]
        version += most is None or version - held[worker] <= most
        held[worker] = version
    return Case((_vector(rng, size), rate, *(() if most is None else (most,))), calls=tuple(calls))


def _late(rng: Random) -> Case:
    return _run(rng, rng.randint(2, 5), None, rng.randint(8, 14))


def _alone(rng: Random) -> Case:
    return _run(rng, 1, None, rng.randint(3, 6))


def _too_late(rng: Random) -> list[Case]:
    """Gradients at the limit, beyond it, and again of a version that was refused; and many workers under a limit."""
    most, rate = rng.randint(1, 3), rng.uniform(0.1, 0.5)

    def pushes(*versions: int) -> tuple[Call, ...]:
        return tuple(call for version in versions for call in (("push", (version, _vector(rng, 2))), _PULL))

    fresh = tuple(range(most + 1))
    return [
        Case((_vector(rng, 2), rate, most), calls=pushes(*fresh, 1, 0, 0, most + 2)),
        Case((_vector(rng, 2), rate, 0), calls=pushes(0, 0, 1, 0, 1, 2)),
        _run(rng, 5, 2, 14),
    ]


def _handed_out(rng: Random) -> list[Case]:
    """What a worker pulled, looked at after more updates; and two servers."""

    def started() -> tuple[list[float], float]:
        return _vector(rng, 2), rng.uniform(0.1, 0.5)

    def later(pushes: int) -> tuple[Call, ...]:
        made = tuple(("push", (0, _vector(rng, 2))) for _ in range(pushes))
        return (_PULL, *made, ("#0.__getitem__", (1,)), (f"#{pushes + 1}.clear", ()), _PULL)

    both: tuple[Call, ...] = (("push", (0, _vector(rng, 2))), ("other.pull", ()), ("other.push", (0, _vector(rng, 2))))
    return [
        Case(started(), calls=later(1)),
        Case(started(), calls=later(2)),
        Case(started(), calls=(*both, _PULL, ("other.pull", ()))),
    ]


_MOVE = "[w - self._rate * g for w, g in zip(self._weights, gradient, strict=True)]"

#: The server goes on with the list that it hands out.
_LIVE = (
    ("return self._version, list(self._weights)", "return self._version, self._weights"),
    (f"self._weights = {_MOVE}", f"self._weights[:] = {_MOVE}"),
)

EXERCISE = Build(
    "05 parameter_server.ParameterServer",
    section="5.17",
    topic="stale gradients",
    bonus=True,
    grade="calls",
    cases=(
        Case(([1.0, 2.0], 0.5), calls=(_PULL, ("push", (0, [1.0, 0.0])), _PULL)),
        Case(([8.0], 0.25), calls=(("push", (0, [4.0])), ("push", (0, [8.0])), ("push", (1, [2.0])), _PULL)),
        Case(([8.0], 0.25, 0), calls=(("push", (0, [4.0])), ("push", (0, [8.0])), ("push", (1, [2.0])), _PULL)),
    ),
    groups=(
        Group("late gradients", _late, 5, "A gradient moves the newest weights, whatever it was computed with."),
        Group("one worker", _alone, 2, "A worker that is alone is never late."),
        listed("too late", _too_late, "A gradient beyond the limit changes nothing; one at the limit counts."),
        listed("copies", _handed_out, "A worker keeps what it pulled; two servers share nothing."),
    ),
    slips=(
        Slip("A step of SGD goes against the gradient.", edit=("w - self._rate * g", "w + self._rate * g")),
        Slip("The learning rate was left out.", edit=("w - self._rate * g", "w - g")),
        Slip(
            "A gradient that is not used makes no new version.",
            edit=("            self._version += 1\n", "        self._version += 1\n"),
        ),
        Slip("One as late as the limit is still used.", edit=("staleness <= self._most", "staleness < self._most")),
        Slip(
            "The limit was left out: a gradient that is too late changes nothing.",
            edit=("if staleness <= self._most", "if staleness >= 0"),
        ),
        Slip(
            "Staleness counts the updates between pull and push, without the new one.",
            edit=("        return staleness\n", "        return self._version - version\n"),
        ),
        Slip(
            "Late gradients were weakened: every one that is used has the same learning rate.",
            edit=("self._rate * g", "self._rate / (1 + staleness) * g"),
        ),
        Slip(
            "The list that was handed out changes with later updates: a worker would compute with two versions mixed.",
            edits=_LIVE,
        ),
    ),
    rights=(
        Right(
            "in place, the rate first",
            edit=(
                f"self._weights = {_MOVE}",
                "for place, g in enumerate(gradient):\n                self._weights[place] += -g * self._rate",
            ),
        ),
        Right(
            "steps are added up apart from the start",
            edits=(
                (
                    "self._weights, self._version = list(weights), 0",
                    "self._start, self._moved, self._version = list(weights), [0.0] * len(weights), 0",
                ),
                (
                    "return self._version, list(self._weights)",
                    "return self._version, [w - self._rate * m for w, m in zip(self._start, self._moved)]",
                ),
                (f"self._weights = {_MOVE}", "self._moved = [m + g for m, g in zip(self._moved, gradient)]"),
            ),
        ),
    ),
    promises=(
        Promise("in a new list, which later calls leave as it is", edits=_LIVE),
        Promise(
            "changes nothing, neither the weights nor the version",
            edit=("            self._version += 1\n", "        self._version += 1\n"),
        ),
    ),
)
