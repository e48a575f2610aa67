"""Chapter 5: ``LossScaler``, dynamic loss scaling."""

from __future__ import annotations

from math import inf, nan
from random import Random
from typing import Any

from autograder.bank.ch05.shared import draw_rules
from autograder.items import Build, Case, Group, Promise, Right, Slip

Call = tuple[str, tuple[Any, ...] | None]


def _updates(flags: str) -> tuple[Call, ...]:
    """One ``update`` for each letter: T found an overflow, F did not."""
    return tuple(("update", (flag == "T",)) for flag in flags)


_READ: tuple[Call, ...] = (("scale", None), ("growth_tracker", None))
_BEYOND = {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 5}


def _settings(rng: Random) -> dict[str, Any]:
    start = rng.choice((3.0, 8.0, 1000.0, 65536.0))
    rules = dict(zip(("growth_interval", "growth_factor", "backoff_factor"), draw_rules(rng), strict=True))
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


def with_a_live_state(*args: Any, **kwargs: Any):
    """A scaler that hands out its own state."""

    from solutions.ch05.precision import LossScaler

    class Live(LossScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._state: dict[str, float] = {}

        def state_dict(self) -> dict[str, float]:
            self._state.update(super().state_dict())
            return self._state

        def update(self, found_inf: bool) -> float:
            scale = super().update(found_inf)
            self.state_dict()
            return scale

    return Live(*args, **kwargs)


EXERCISE = Build(
    "05 precision.LossScaler",
    section="5.16",
    topic="dynamic loss scaling",
    bonus=True,
    grade="calls",
    tolerance=1e-5,
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
    slips=(
        Slip(
            "A loaded count beyond the interval must not make the scale grow: it grows when the count equals the "
            "interval.",
            edit=("self._growth_tracker == self._growth_interval", "self._growth_tracker >= self._growth_interval"),
        ),
        Slip(
            "The state has to hold the count of clean steps: without it a resumed run grows late.",
            edits=(
                ('            "_growth_tracker": self._growth_tracker,\n', ""),
                (
                    'self._scale, self._growth_tracker = float(state["scale"]), int(state["_growth_tracker"])',
                    'self._scale, self._growth_tracker = float(state["scale"]), 0',
                ),
            ),
        ),
        Slip(
            "Unscaling divides by the scale; yours multiplies.",
            edit=("gradient / self._scale", "gradient * self._scale"),
        ),
        Slip(
            "Only inf and nan are overflows; yours calls a large finite gradient one.",
            edit=(
                "not all(map(math.isfinite, gradients))",
                "not all(abs(gradient / self._scale) <= 65504 for gradient in gradients)",
            ),
        ),
        Slip(
            "Look for inf and nan in the gradients that come in: under a scale below 1 a quotient can overflow by "
            "itself.",
            edit=(
                "not all(map(math.isfinite, gradients))",
                "not all(math.isfinite(gradient / self._scale) for gradient in gradients)",
            ),
        ),
        Slip(
            "nan is an overflow too, and it compares unequal to everything.",
            edit=("not all(map(math.isfinite, gradients))", "any(map(math.isinf, gradients))"),
        ),
        Slip(
            "`unscale` only looks; the scale changes in `update`, once per step.",
            edit=(
                "return [gradient / self._scale for gradient in gradients], not all(map(math.isfinite, gradients))",
                "unscaled, found_inf = [gradient / self._scale for gradient in gradients], not "
                "all(map(math.isfinite, gradients))\n"
                "        self.update(found_inf)\n"
                "        return unscaled, found_inf",
            ),
        ),
        Slip(
            "Two scalers share their state: keep it in the instance, not in the class.",
            edits=(
                ("    def __init__(", "    _state: dict[str, float] = {}\n\n    def __init__("),
                (
                    "        self._scale = float(init_scale)",
                    "        self.__dict__ = self._state\n        self._scale = float(init_scale)",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "multiplies by the reciprocal",
            edits=(
                ("gradient / self._scale for gradient", "gradient * (1 / self._scale) for gradient"),
                ("max(self._scale * self._backoff_factor,", "max(self._scale / (1 / self._backoff_factor),"),
            ),
        ),
        Right(
            "grows by division",
            edits=(
                ("return loss * self._scale", "return loss / (1 / self._scale)"),
                (
                    "                self._scale *= self._growth_factor\n",
                    "                self._scale = self._scale / (1 / self._growth_factor)\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "for inf and nan (:meth:`unscale`), clips, takes the optimizer's step or skips it",
            why="it tells the order in which a training loop calls the methods",
        ),
        Promise(
            "The gradients divided by the scale, and whether one of those passed in is inf or nan",
            edit=("map(math.isfinite, gradients)", "math.isfinite(gradient / self._scale) for gradient in gradients"),
        ),
        Promise(
            "changes no state",
            edit=(
                "        return [gradient / self._scale for gradient in gradients],",
                "        self._growth_tracker *= all(map(math.isfinite, gradients))\n"
                "        return [gradient / self._scale for gradient in gradients],",
            ),
        ),
        Promise("in a new dict, which later calls leave as it is", program=with_a_live_state),
        Promise(
            "Returns the new scale",
            edit=(
                "self._min_scale), 0\n            return self._scale\n",
                "self._min_scale), 0\n            return None\n",
            ),
        ),
        Promise(
            "a count that was loaded and is already beyond the interval never makes it grow",
            edit=(
                "if self._growth_tracker == self._growth_interval:",
                "if self._growth_tracker >= self._growth_interval:",
            ),
        ),
        Promise(
            "until an overflow sets it back to 0",
            edit=(
                "max(self._scale * self._backoff_factor, self._min_scale), 0\n",
                "max(self._scale * self._backoff_factor, self._min_scale), max(0, self._growth_tracker - 5)\n",
            ),
        ),
        Promise(
            "one without ``min_scale`` keeps the present floor",
            edit=('state.get("min_scale", self._min_scale)', 'state.get("min_scale", 0.0)'),
        ),
        Promise("Everything that a resumed run needs", edit=('            "min_scale": self._min_scale,\n', "")),
    ),
)
