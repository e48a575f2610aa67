"""The capstone: ``optimal_checkpoint_interval``, checkpoint interval."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

METHODS = ("young", "daly", "exact")

#: Checkpoint time and MTBF, seconds: Daly's published cases (117, 57 and 9.1 min), an MTBF of a day, a 60 s stall on
#: the 16,384 GPUs of Llama 3.1 405B, then checkpoints as long as half an MTBF, one and two.
TABLE = (
    *((300, 86_400), (300, 21_600), (300, 900), (98, 86_400)),
    *((60, 11_135.0835), (1800, 3600), (600, 600), (3600, 1800)),
)


def _log_uniform(rng: Random, low: float, high: float) -> float:
    return low * (high / low) ** rng.random()


def _short_checkpoint(rng: Random, method: str | None = None) -> Case:
    """C from a ten-thousandth to a fifth of M."""
    mtbf = _log_uniform(rng, 600, 5e6)
    return Case((mtbf * _log_uniform(rng, 1e-4, 0.2), mtbf, method or rng.choice(METHODS)))


def _any_lengths(rng: Random) -> Case:
    return Case((_log_uniform(rng, 0.1, 7200), _log_uniform(rng, 60, 5e6)), {"method": rng.choice(METHODS)})


def _long_checkpoint(rng: Random) -> Case:
    mtbf = _log_uniform(rng, 60, 7200)
    return Case((mtbf * rng.uniform(0.2, 5), mtbf, rng.choice(METHODS)))


def _around_the_guard(rng: Random) -> list[Case]:
    """C at and around M/2, M, 2M and 3M, for every method."""
    mtbf = float(rng.randint(60, 7200))
    ratios = (0.5, 1.0, rng.uniform(1.05, 1.95), 2 * (1 - 1e-12), 2.0, 3.0, rng.uniform(40, 100))
    return [Case((ratio * mtbf, mtbf, method)) for ratio in ratios for method in METHODS]


def _in_another_unit(rng: Random) -> list[Case]:
    """The same job in seconds and in a unit of its own: the answers differ by the unit alone."""
    mtbf, unit = _log_uniform(rng, 3600, 1e6), rng.choice((60.0, 3600.0, 86_400.0))
    stall = mtbf * _log_uniform(rng, 1e-4, 0.5)
    return [Case((stall / k, mtbf / k, method)) for method in METHODS for k in (1, unit)]


def interval_by_bisection(checkpoint_time, mtbf, method="daly"):
    """The exact root by bisection of the stable form; Young and Daly from square roots of each factor."""
    from solutions.ch15.checkpointing import optimal_checkpoint_interval

    optimal_checkpoint_interval(checkpoint_time, mtbf, method)
    young = math.sqrt(2 * checkpoint_time) * math.sqrt(mtbf)
    if method == "young":
        return young
    x = checkpoint_time / mtbf / 2
    if method == "daly":
        return mtbf if checkpoint_time >= 2 * mtbf else young + young * (math.sqrt(x) / 3 + x / 9) - checkpoint_time
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _left(middle) < 2 * x else (low, middle)
    return mtbf * low


def _left(u):
    """``-u - ln(1 - u)``, as a series where that cancels."""
    if u < 0.1:
        return math.fsum(u**n / n for n in range(2, 20))
    return -u - math.log1p(-u)


EXERCISE = Build(
    "cap checkpointing.optimal_checkpoint_interval",
    section="15.6",
    topic="checkpoint interval",
    cases=(
        *(Case((*times, method)) for times in TABLE for method in METHODS),
        Case((98.0, 86_400.0)),
    ),
    groups=(
        listed(
            "short checkpoints",
            lambda rng: [_short_checkpoint(rng, method) for method in METHODS * 2],
            "Each method by itself, for checkpoints that are short against the MTBF.",
        ),
        Group(
            "long checkpoints",
            _long_checkpoint,
            22,
            "Checkpoints about as long as the MTBF: Daly's formula ends at C = 2M, and the exact root nears M.",
            corners=_around_the_guard,
        ),
        Group("any lengths", _any_lengths, 4, "Times from a tenth of a second to months."),
        listed("another unit", _in_another_unit, "Whatever unit goes in comes out."),
    ),
    slips=(
        Slip(
            "Young's 2 is missing under the root: your interval is 0.71 of it.",
            edits=(
                ("2 * checkpoint_time * mtbf)\n", "checkpoint_time * mtbf)\n"),
                ("2 * checkpoint_time * mtbf) * (1", "checkpoint_time * mtbf) * (1"),
            ),
        ),
        Slip(
            "One unit for both: seconds with an MTBF in hours make Young's interval 60 times too small.",
            edit=("method](checkpoint_time, mtbf)", "method](checkpoint_time, mtbf / 3600)"),
        ),
        Slip(
            "The result comes in the unit of the arguments, seconds; you return minutes.",
            edit=("method](checkpoint_time, mtbf)", "method](checkpoint_time, mtbf) / 60"),
        ),
        Slip(
            "Daly's root is the period from start to start; subtract the checkpoint to get the compute between.",
            edit=("x / 9) - checkpoint_time", "x / 9)"),
        ),
        Slip("Daly's x is C/(2M), not C/M.", edit=("x = checkpoint_time / (2 * mtbf)", "x = checkpoint_time / mtbf")),
        Slip(
            "Young's formula has no `- C`; only Daly's has.",
            edit=("2 * checkpoint_time * mtbf)\n", "2 * checkpoint_time * mtbf) - checkpoint_time\n"),
        ),
        Slip(
            "Daly's series ends at C = 2M: from there on the interval is M.",
            edit=("    if checkpoint_time >= 2 * mtbf:\n        return float(mtbf)\n", ""),
        ),
        Slip(
            "Daly's guard is C < 2M, not C < M: between the two the series still holds.",
            edit=("checkpoint_time >= 2 * mtbf", "checkpoint_time >= mtbf"),
        ),
        Slip("`method` is ignored: Daly's formula answers whatever is asked.", edit=("formulas[method](", "_daly(")),
        Slip(
            "Young answers for every method: his formula is the first order of the other two.",
            edit=("formulas[method](", "_young("),
        ),
        Slip(
            "That is the other branch of Lambert's W, W-1, and its interval is negative. Take W0.",
            edits=(
                (
                    "    while True:\n"
                    "        closer = period - (period + math.expm1(-period) - ratio) / -math.expm1(-period)\n"
                    "        if not closer < period:\n"
                    "            return -math.expm1(-period) * mtbf\n"
                    "        period = closer",
                    "    for _ in range(100):\n"
                    "        period -= (period - math.log1p(period) - ratio) * (1 + period) / period\n"
                    "    return -period * mtbf",
                ),
                ("min(1.0, math.sqrt(2 * ratio))", "math.sqrt(2 * ratio)"),
                (
                    "    if ratio < 1e-6:  # the equation loses its digits to cancellation, where Daly's series is "
                    "right to 1e-11\n"
                    "        return _daly(checkpoint_time, mtbf)\n",
                    "",
                ),
            ),
        ),
        Slip(
            "The first-order waste C/t + t/(2M) has Young's minimum; the exact wall-clock has exponentials.",
            edit=('"exact": _exact', '"exact": _young'),
        ),
        Slip(
            "`sqrt(2 C M) - C` breaks Daly's series off after its first term. (With M + R in place of M it is another "
            "formula of his; restarts do not move the optimum.)",
            edit=(" * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint_time", " - checkpoint_time"),
        ),
    ),
    rights=(
        Right("bisection", program=interval_by_bisection),
        Right(
            "the series from its powers",
            edits=(
                (
                    "math.sqrt(2 * checkpoint_time * mtbf) * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint_time",
                    "2 * mtbf * math.sqrt(x) * (1 + math.sqrt(x) / 3 * (1 + math.sqrt(x) / 3)) - checkpoint_time",
                ),
                (
                    "    return math.sqrt(2 * checkpoint_time * mtbf)\n",
                    "    return mtbf * math.sqrt(2 * checkpoint_time / mtbf)\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "(exponential), also during a checkpoint or a restart.",
            why="the model from which the three formulas follow, and those are given",
        ),
        Promise(
            "while C < 2M, else M", edit=(("    if checkpoint_time >= 2 * mtbf:\n        return float(mtbf)\n"), "")
        ),
        Promise("while C < 2M, else M", edit=("checkpoint_time >= 2 * mtbf", "checkpoint_time >= mtbf")),
        Promise("while C < 2M, else M", edit=("checkpoint_time >= 2 * mtbf", "checkpoint_time > 2 * mtbf")),
        Promise(
            "It has no guard",
            edit=(
                "    return math.sqrt(2 * checkpoint_time * mtbf)\n",
                "    return min(mtbf, math.sqrt(2 * checkpoint_time * mtbf))\n",
            ),
        ),
        Promise(
            "The interval in the unit of the arguments",
            edit=(
                "    return formulas[method](checkpoint_time, mtbf)",
                "    return formulas[method](checkpoint_time, mtbf) / 60",
            ),
        ),
        Promise(
            "and 0 < u < 1",
            edits=(
                (
                    (
                        "    while True:\n"
                        "        closer = period - (period + math.expm1(-period) - ratio) / "
                        "-math.expm1(-period)\n"
                        "        if not closer < period:\n"
                        "            return -math.expm1(-period) * mtbf\n"
                        "        period = closer"
                    ),
                    (
                        "    for _ in range(100):\n"
                        "        period -= (period - math.log1p(period) - ratio) * (1 + period) / period\n"
                        "    return -period * mtbf"
                    ),
                ),
                ("min(1.0, math.sqrt(2 * ratio))", "math.sqrt(2 * ratio)"),
                (
                    (
                        "    if ratio < 1e-6:  # the equation loses its digits to cancellation, where "
                        "Daly's series is right to 1e-11\n"
                        "        return _daly(checkpoint_time, mtbf)\n"
                    ),
                    "",
                ),
            ),
        ),
    ),
)
