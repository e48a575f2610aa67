"""Chapter 5: the exercise about the learning rate for another batch."""

from __future__ import annotations

from math import inf, nan
from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

RULES = ("linear", "sqrt", "noise")


def slip_inverse_ratio(base, base_batch, batch, rule, noise_scale=None):
    import math

    if not all(0 < x < 1e300 for x in (base, base_batch, batch)) or rule not in ("linear", "sqrt", "noise"):
        raise ValueError("out of range")
    if rule != "noise":
        return base * (base_batch / batch if rule == "linear" else math.sqrt(base_batch / batch))
    if noise_scale is None or not 0 < noise_scale < 1e300:
        raise ValueError("noise_scale")
    return base * (1 + noise_scale / batch) / (1 + noise_scale / base_batch)


def slip_root_of_all(base, base_batch, batch, rule, noise_scale=None):
    import math

    if not all(0 < x < 1e300 for x in (base, base_batch, batch)) or rule not in ("linear", "sqrt", "noise"):
        raise ValueError("out of range")
    if rule != "noise":
        return base * batch / base_batch if rule == "linear" else math.sqrt(base * batch / base_batch)
    if noise_scale is None or not 0 < noise_scale < 1e300:
        raise ValueError("noise_scale")
    return base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)


def slip_base_as_maximum(base, base_batch, batch, rule, noise_scale=None):
    import math

    if not all(0 < x < 1e300 for x in (base, base_batch, batch)) or rule not in ("linear", "sqrt", "noise"):
        raise ValueError("out of range")
    if rule != "noise":
        return base * (batch / base_batch if rule == "linear" else math.sqrt(batch / base_batch))
    if noise_scale is None or not 0 < noise_scale < 1e300:
        raise ValueError("noise_scale")
    return base / (1 + noise_scale / batch)


def slip_linear_for_all(base, base_batch, batch, rule, noise_scale=None):
    if not all(0 < x < 1e300 for x in (base, base_batch, batch)) or rule not in ("linear", "sqrt", "noise"):
        raise ValueError("out of range")
    if rule == "noise" and (noise_scale is None or not 0 < noise_scale < 1e300):
        raise ValueError("noise_scale")
    return base * batch / base_batch


def slip_noise_turned_round(base, base_batch, batch, rule, noise_scale=None):
    import math

    if not all(0 < x < 1e300 for x in (base, base_batch, batch)) or rule not in ("linear", "sqrt", "noise"):
        raise ValueError("out of range")
    if rule != "noise":
        return base * (batch / base_batch if rule == "linear" else math.sqrt(batch / base_batch))
    if noise_scale is None or not 0 < noise_scale < 1e300:
        raise ValueError("noise_scale")
    return base * (1 + base_batch / noise_scale) / (1 + batch / noise_scale)


def slip_rate_unchecked(base, base_batch, batch, rule, noise_scale=None):
    if rule == "linear":
        return base * batch / base_batch
    if rule == "sqrt":
        return base * abs(batch / base_batch) ** 0.5
    noise_scale = base_batch if noise_scale is None else noise_scale
    return base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)


def _batches(rng: Random) -> tuple[float, float, float]:
    """A learning rate, a batch and another one, larger or smaller."""
    small = rng.choice((1, 3, 32, 256, 2e6))
    pair = rng.sample([small, small * rng.choice((2, 3.5, 8, 100))], 2)
    return float(f"{10 ** rng.uniform(-5, 0):.3g}"), pair[0], pair[1]


def _rule(rng: Random, rule: str | None = None) -> Case:
    base, old, new = _batches(rng)
    rule = rule or rng.choice(RULES)
    return Case((base, old, new, rule), {"noise_scale": old * rng.uniform(0.1, 30)} if rule == "noise" else {})


def _limits(rng: Random) -> Case:
    """A noise scale far above both batches, or far below them."""
    base, old, new = _batches(rng)
    return Case((base, old, new, "noise", old * rng.choice((1e-6, 1e6))))


def _same_batch(rng: Random) -> Case:
    base, old, _ = _batches(rng)
    return Case((base, old, old, rng.choice(RULES), rng.uniform(10, 1000)))


def _bad_rates(rng: Random) -> list[Case]:
    base, old, new = _batches(rng)
    rule = rng.choice(RULES[:2])
    return [
        invalid(base, old, new, "cubic"),
        invalid(base, old, new, "cubic", old),
        invalid(base, old, new, "Linear"),
        invalid(base, old, new, "noise"),
        *(invalid(base, old, new, "noise", bad) for bad in (-old, 0.0)),
        *(invalid(bad, old, new, rule) for bad in (-base, 0.0, nan)),
        invalid(base, -old, new, rule),
        *(invalid(base, old, bad, rule) for bad in (-new, inf)),
    ]


SCALED = Build(
    id="05-scaled-learning-rate",
    module="batching",
    function="scaled_learning_rate",
    grade="call",
    bonus=True,
    cases=(
        Case((3e-4, 256, 2048, "linear")),
        Case((3e-4, 256, 2048, "sqrt")),
        Case((3e-4, 256, 2048, "noise", 256)),
        Case((3e-4, 256, 2048, "noise", 2048)),
        Case((0.1, 256, 8192, "linear")),  # Goyal et al. (2017): 3.2
        invalid(3e-4, 256, 2048, "noise"),
        invalid(3e-4, 256, 2048, "cube"),
    ),
    groups=(
        Group(
            "three rules",
            _rule,
            9,
            "Each rule is the base rate times a factor that is 1 for the base batch.",
            lambda rng: [_rule(rng, rule) for rule in RULES * 3],
        ),
        Group("limits", _limits, 4, "For a large noise scale the rule is linear, for a small one it is constant."),
        Group("the same batch", _same_batch, 3, "For the base batch every rule gives the base rate."),
        Group("bad input", lambda rng: rng.choice(_bad_rates(rng)), 12, "Bad input must raise ValueError.", _bad_rates),
    ),
    slips=(
        Slip("The ratio was turned round: a larger batch takes a larger rate.", slip_inverse_ratio),
        Slip("The root was taken of the learning rate too: it is for the ratio of the batches.", slip_root_of_all),
        Slip("`base` was taken for the maximum of the curve: it is the rate at the base batch.", slip_base_as_maximum),
        Slip("The linear rule was used for all three.", slip_linear_for_all),
        Slip("The noise scale is divided by the batch, not the batch by the noise scale.", slip_noise_turned_round),
        Slip("Impossible arguments were accepted: other rules, no noise scale, batches of 0.", slip_rate_unchecked),
    ),
    section="5.5",
    topic="batch size and learning rate",
)

ITEMS = (SCALED,)
