"""Chapter 5, the part on precision: the loss scale as a function and as a class."""

from __future__ import annotations

from math import inf, nan
from random import Random
from typing import Any

from autograder.bank.ch05.wrong_loss_scale import DYNAMIC_LOSS_SCALE
from autograder.bank.ch05.wrong_loss_scaler import LOSS_SCALER
from autograder.items import Build, Case, Group, Iterator

_BACKOFFS = (0.1, 0.25, 0.3, 0.5, 0.9)
_GROWTHS = (1.1, 1.5, 2.0, 3.0)
_INTERVALS = (1, 2, 3, 5, 7, 50)


def _flags(rng: Random, rates: tuple[float, ...] = (0.0, 0.02, 0.3, 0.9), most: int = 300) -> list[int]:
    rate, longest = rng.choice(rates), rng.choice((12, 40, most))
    return [int(rng.random() < rate) for _ in range(rng.randint(0, longest))]


def _start(rng: Random) -> float:
    return rng.choice((1e-3, 3.0, 12.5, 1000.0, 65536.0, float(f"{10 ** rng.uniform(-3, 30):.3g}")))


def _rules(rng: Random) -> tuple[int, float, float]:
    return rng.choice(_INTERVALS), rng.choice(_GROWTHS), rng.choice(_BACKOFFS)


def _steps(rng: Random) -> Case:
    return Case((_flags(rng), _start(rng), *_rules(rng)))


def _step_corners(rng: Random) -> list[Case]:
    k, start = rng.choice((3, 5, 7)), rng.choice((3.0, 1000.0))
    growth, backoff = rng.choice(_GROWTHS), rng.choice(_BACKOFFS)
    rows: tuple[list[int], ...] = (
        [0] * k,
        [0] * (k + 1),
        [0] * (k - 2) + [1] + [0] * (k - 1),
        [0] * (k - 1) + [1] + [0] * k,
        [1] + [0] * (k - 1),
        [1, 1, 1],
        [0] * (3 * k),
        [],
    )
    defaults = [Case(([1, 0, 1], 3.0)), Case(([0] * k, start, k)), Case(([True, False],))]
    return [Case((row, start, k, growth, backoff)) for row in rows] + defaults


def _floored(rng: Random) -> Case:
    start = rng.choice((1.0, 3.0, 12.5, 1000.0))
    floor = rng.choice((1.0, start, start / 4))
    return Case((_flags(rng, (0.3, 0.9), 40), start, *_rules(rng)), {"min_scale": min(floor, start)})


def _near_the_top(rng: Random) -> Case:
    return Case((_flags(rng, (0.0, 0.1), 30), rng.choice((1e37, 1e38, 3e38)), *_rules(rng)))


def _iterator(rng: Random) -> Case:
    return Case((Iterator(tuple(_flags(rng, (0.02, 0.3), 60))), _start(rng), *_rules(rng)))


LOSS_SCALE = Build(
    id="05-dynamic-loss-scale",
    module="precision",
    function="dynamic_loss_scale",
    grade="call",
    cases=(
        Case(([0, 1, 0, 1, 0],)),
        *(Case((flags,)) for flags in ([], [0] * 1999, [0] * 2000, [0] * 6000, [1] + [0] * 2000)),
        Case(([0] * 8,), {"growth_interval": 4}),
        Case(([0, 0, 1, 0, 0, 0], 3.0, 3)),
        Case(([0] * 6, 1000.0, 3, 1.5, 0.3)),
        Case(([0] * 3 + [1] + [0] * 3, 1000.0, 3, 1.5, 0.3)),
        Case(([1] * 5, 3.0, 10), {"min_scale": 1.0}),
        Case(([0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], 12.0, 2, 3.0, 0.25, 0.5)),
        Case(([0] * 4, 1e38, 1)),
        Case(([0, 1] * 6, 100.0, 2)),
        Case((Iterator((0, 1, 0)),)),
    ),
    groups=(
        Group(
            "runs of steps",
            _steps,
            15,
            "Go through a short run by hand: when does the count start again, and at which step does it grow?",
            corners=_step_corners,
        ),
        Group(
            "a floor",
            _floored,
            5,
            "No overflow takes the scale below `min_scale`.",
            corners=lambda rng: [Case(([1] * rng.randint(4, 9), 3.0, 10), {"min_scale": 1.0})],
        ),
        Group(
            "the top of float32",
            _near_the_top,
            5,
            "The scale does not grow beyond the largest finite float32.",
            corners=lambda rng: [Case(([0] * rng.randint(4, 9), 1e38, 1)), Case(([0] * rng.randint(2, 6), 3e38, 2))],
        ),
        Group("flags that come once", _iterator, 3, "`overflows` may be an iterator: walk through it once."),
    ),
    slips=DYNAMIC_LOSS_SCALE,
    section="5.16",
    bonus=True,
    topic="dynamic loss scaling",
    tolerance=1e-5,
)


Call = tuple[str, tuple[Any, ...] | None]


def _updates(flags: str) -> tuple[Call, ...]:
    """One ``update`` for each letter: T found an overflow, F did not."""
    return tuple(("update", (flag == "T",)) for flag in flags)


_READ: tuple[Call, ...] = (("scale", None), ("growth_tracker", None))
_BEYOND = {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 5}


def _settings(rng: Random) -> dict[str, Any]:
    start = rng.choice((3.0, 8.0, 1000.0, 65536.0))
    rules = dict(zip(("growth_interval", "growth_factor", "backoff_factor"), _rules(rng), strict=True))
    return {"init_scale": start, "min_scale": rng.choice((0.0, 0.0, 1.0, start)), **rules}


def _gradients(rng: Random) -> list[float]:
    special = (inf, -inf, nan, 5e-324, 1e-310, 1e30, -0.0)
    plain = [rng.choice((1.0, -1.0)) * 10 ** rng.uniform(-8, 6) for _ in range(rng.randint(0, 4))]
    return plain + [rng.choice(special)] * (rng.random() < 0.5)


def _saved(rng: Random) -> dict[str, Any]:
    settings = _settings(rng)
    floor = settings.pop("min_scale")
    state = {"scale": settings.pop("init_scale"), **settings}
    state["_growth_tracker"] = rng.randrange(2 * state["growth_interval"])
    return state | ({"min_scale": floor} if rng.random() < 0.5 else {})


def _one_call(rng: Random) -> Call:
    name = rng.choice(("update", "update", "update", "update", "unscale", "scale_loss", "scale", "growth_tracker"))
    if name in ("scale", "growth_tracker"):
        return name, None
    argument = {"update": rng.random() < 0.2, "unscale": _gradients(rng), "scale_loss": rng.uniform(-5, 5)}
    return name, (argument[name],)


def _driven(rng: Random) -> Case:
    calls = tuple(_one_call(rng) for _ in range(rng.randint(1, 38)))
    return Case((), _settings(rng), calls=calls + _READ)


def _updated(rng: Random) -> Case:
    rate = rng.choice((0.0, 0.1, 0.5))
    flags = "".join("T" if rng.random() < rate else "F" for _ in range(rng.randint(1, 36)))
    return Case((), _settings(rng), calls=_updates(flags) + _READ)


def _looked_at(rng: Random) -> Case:
    calls: tuple[Call, ...] = tuple(("unscale", (_gradients(rng),)) for _ in range(3))
    return Case((rng.choice((3.0, 8.0, 1024.0)),), calls=(*calls, *_READ, ("scale_loss", (rng.uniform(0.1, 9),))))


def _gradient_corners(rng: Random) -> list[Case]:
    rows: tuple[list[float], ...] = (
        [rng.uniform(1, 9), nan],
        [nan],
        [inf, 1.0],
        [-inf],
        [1e30, rng.uniform(1, 9)],
        [5e-324],
        [],
    )
    overflowing = ([1e307, rng.uniform(1, 9)], [-1e306])  # finite as they come in; the quotients are not
    counting = {**_BEYOND, "growth_interval": rng.choice((9, 10)), "min_scale": 0.0}  # so that a count can be lost
    return [
        Case((8.0,), calls=(("load_state_dict", (counting,)), ("unscale", ([inf, 1.0],)), *_READ)),
        *(Case((8.0,), {"growth_interval": 2}, calls=(("unscale", (row,)), *_READ)) for row in rows),
        *(Case((1e-3,), calls=(("unscale", (row,)), *_READ)) for row in overflowing),
    ]


def _resumed(rng: Random) -> Case:
    state = _saved(rng)
    flags = "F" * (state["growth_interval"] % 20) + rng.choice(("", "T")) + "F" * rng.randint(1, 9)
    return Case(
        (rng.choice((1.0, 2.0)),), calls=(("load_state_dict", (state,)), *_READ, *_updates(flags), ("state_dict", ()))
    )


def _handed_out(rng: Random) -> Case:
    """A saved state that a caller holds while the scaler goes on, and then empties; no rule is left to its default."""
    start = 2.0 ** rng.randint(4, 12)
    rules = {"growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000}
    looks = (("#0.get", ("scale",)), ("#0.get", ("_growth_tracker",)), ("#0.clear", ()))
    return Case((start,), rules, calls=(("state_dict", ()), *_updates("FT"), *looks, *_READ, ("state_dict", ())))


def _resume_corners(rng: Random) -> list[Case]:
    beyond = _BEYOND | {"_growth_tracker": rng.randint(3, 9)}
    within = _BEYOND | {"_growth_tracker": 2, "min_scale": rng.choice((0.0, 1.0, 4.0))}
    return [
        Case(calls=(("load_state_dict", (beyond,)), *_updates("FFFFTFFF"), *_READ)),
        Case(calls=(("load_state_dict", (within,)), ("update", (False,)), *_READ, ("state_dict", ()))),
        Case((16.0,), {"growth_interval": 4}, calls=(*_updates("FFF"), ("state_dict", ()))),
        Case((8.0,), {"min_scale": 2.0}, calls=(("load_state_dict", (_BEYOND,)), *_updates("FTTT"))),
        _handed_out(rng),
    ]


def _two(rng: Random) -> Case:
    flags = rng.choices("FT", (4, 1), k=rng.randint(4, 20))
    calls = tuple((rng.choice(("", "other.")) + "update", (flag == "T",)) for flag in flags)
    return Case((), _settings(rng), calls=calls + _READ + (("other.scale", None), ("other.growth_tracker", None)))


def _two_corners(rng: Random) -> list[Case]:
    start = rng.choice((8.0, 1000.0))
    calls = (("update", (True,)), ("other.scale", None), ("scale", None), ("other.update", (False,)), *_READ)
    return [Case((start,), {"growth_interval": 3}, calls=calls)]


SCALER = Build(
    id="05-loss-scaler",
    module="precision",
    function="LossScaler",
    grade="calls",
    cases=(
        Case((1024.0,), {"growth_interval": 2}, calls=(*_updates("FFTFF"), ("growth_tracker", None))),
        Case((8.0,), calls=(("unscale", ([16.0, -4.0, inf],)), ("scale", None), ("unscale", ([],)))),
        Case((3.0,), {"backoff_factor": 0.5, "min_scale": 2.0}, calls=_updates("TT")),
        Case(calls=(("load_state_dict", (_BEYOND,)), *_updates("FFFF"), ("growth_tracker", None), *_updates("TFFF"))),
        Case((4.0,), calls=(("scale_loss", (2.5,)), ("state_dict", ()))),
        Case((8.0,), calls=(("update", (True,)), ("other.update", (False,)), ("scale", None), ("other.scale", None))),
        Case(calls=(("scale", None), *_updates("T"))),
    ),
    groups=(
        Group(
            "updates",
            _updated,
            6,
            "Drive it by hand: an overflow restarts the count, and so does growth, which ends at the largest float32.",
            corners=lambda rng: [
                Case((start,), {"growth_interval": k}, calls=_updates("F" * 2 * k + "T"))
                for k, start in ((1, 3.0), (2, 3.0), (3, 3.0), (1, 3e38))
            ],
        ),
        Group(
            "gradients",
            _looked_at,
            11,
            "`scale_loss` multiplies. `unscale` divides, reports inf and nan in what comes in, and changes nothing.",
            corners=_gradient_corners,
        ),
        Group(
            "save and resume",
            _resumed,
            7,
            "A scaler that loads a state goes on exactly where the saved one stopped, also with a state of torch; a "
            "saved state is a dict of its own.",
            corners=_resume_corners,
        ),
        Group("everything mixed", _driven, 4, "All methods of one scaler, in any order."),
        Group("two scalers", _two, 3, "Two scalers are independent.", corners=_two_corners),
    ),
    slips=LOSS_SCALER,
    section="5.16",
    bonus=True,
    topic="dynamic loss scaling",
    tolerance=1e-5,
)

ITEMS = (LOSS_SCALE, SCALER)
