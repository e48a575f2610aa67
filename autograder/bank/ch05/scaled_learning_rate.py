"""Chapter 5: ``scaled_learning_rate``, batch size and learning rate."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

RULES = ("linear", "sqrt", "noise")


def _batches(rng: Random) -> tuple[float, float, float]:
    """A learning rate, a batch and another one, larger or smaller."""
    small = rng.choice((1, 3, 32, 256, 2e6))
    pair = rng.sample([small, small * rng.choice((2, 3.5, 8, 100))], 2)
    return float(f"{10 ** rng.uniform(-5, 0):.3g}"), pair[0], pair[1]


def _rule(rng: Random, rule: str | None = None, scale: bool = False) -> Case:
    """``scale``: a noise scale is given to the other rules too."""
    base, old, new = _batches(rng)
    rule = rule or rng.choice(RULES)
    given = {"noise_scale": old * rng.uniform(0.1, 30)} if scale or rule == "noise" else {}
    return Case((base, old, new, rule), given)


def _limits(rng: Random) -> Case:
    """A noise scale far above both batches, or far below them."""
    base, old, new = _batches(rng)
    return Case((base, old, new, "noise", old * rng.choice((1e-6, 1e6))))


def _same_batch(rng: Random) -> Case:
    base, old, _ = _batches(rng)
    return Case((base, old, old, rng.choice(RULES), rng.uniform(10, 1000)))


def rate_by_the_rule_alone(base, base_batch, batch, rule, noise_scale=None):
    """The noise scale is not looked at unless the rule is ``noise``."""
    used = [base, base_batch, batch]
    if rule == "noise" and noise_scale is not None:
        used.append(noise_scale)
    if rule == "noise":
        largest = base * (1 + noise_scale / base_batch)
        return largest / (1 + noise_scale / batch)
    return base * (batch / base_batch) ** (1 if rule == "linear" else 0.5)


EXERCISE = Build(
    "05 batching.scaled_learning_rate",
    section="5.12",
    topic="batch size and learning rate",
    bonus=True,
    cases=(
        Case((3e-4, 256, 2048, "linear")),
        Case((3e-4, 256, 2048, "sqrt")),
        Case((3e-4, 256, 2048, "noise", 256)),
        Case((3e-4, 256, 2048, "noise", 2048)),
        Case((0.1, 256, 8192, "linear")),  # Goyal et al. (2017): 3.2
    ),
    groups=(
        listed(
            "three rules",
            lambda rng: [_rule(rng, rule) for rule in RULES * 3] + [_rule(rng, rule, True) for rule in RULES[:2]],
            "Each rule is the base rate times a factor that is 1 for the base batch; only `noise` uses `noise_scale`.",
        ),
        Group("limits", _limits, 4, "For a large noise scale the rule is linear, for a small one it is constant."),
        Group("the same batch", _same_batch, 3, "For the base batch every rule gives the base rate."),
    ),
    slips=(
        Slip(
            "The ratio is upside down: a larger batch takes a larger rate.",
            edits=(
                ("return base * batch / base_batch", "return base * base_batch / batch"),
                ("math.sqrt(batch / base_batch)", "math.sqrt(base_batch / batch)"),
                (
                    "base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                    "base * (1 + noise_scale / batch) / (1 + noise_scale / base_batch)",
                ),
            ),
        ),
        Slip(
            "The root was taken of the learning rate too: it is for the ratio of the batches.",
            edit=("base * math.sqrt(batch / base_batch)", "math.sqrt(base * batch / base_batch)"),
        ),
        Slip(
            "`base` was used as the maximum of the curve: it is the rate at the base batch.",
            edit=("base * (1 + noise_scale / base_batch) / (1", "base / (1"),
        ),
        Slip(
            "The linear rule was used for all three.",
            edits=(
                ("base * math.sqrt(batch / base_batch)", "base * batch / base_batch"),
                ("base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)", "base * batch / base_batch"),
            ),
        ),
        Slip(
            "The noise scale is divided by the batch, not the batch by the noise scale.",
            edit=(
                "(1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                "(1 + base_batch / noise_scale) / (1 + batch / noise_scale)",
            ),
        ),
    ),
    rights=(
        Right("checks what a rule uses", program=rate_by_the_rule_alone),
        Right(
            "the ratio first, the harmonic form of the curve",
            edits=(
                ("return base * batch / base_batch", "return batch / base_batch * base"),
                ("base * math.sqrt(batch / base_batch)", "base * batch**0.5 / base_batch**0.5"),
                (
                    "base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                    "base * (batch / base_batch) * ((base_batch + noise_scale) / (batch + noise_scale))",
                ),
            ),
        ),
        Right(
            "the maximum of the curve",
            edits=(
                ("return base * batch / base_batch", "return base / (base_batch / batch)"),
                ("base * math.sqrt(batch / base_batch)", "base / math.sqrt(base_batch / batch)"),
                (
                    "return base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                    "most = base + base * noise_scale / base_batch\n    return most / (1 + noise_scale / batch)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "The other rules do not use it",
            edits=(
                ('    if rule == "linear":\n', '    if rule == "linear" and noise_scale is None:\n'),
                ('    if rule == "sqrt":\n', '    if rule == "sqrt" and noise_scale is None:\n'),
            ),
        ),
        Promise(
            "that passes through ``base`` at ``base_batch``",
            edit=("base * (1 + noise_scale / base_batch)", "base"),
        ),
    ),
)
