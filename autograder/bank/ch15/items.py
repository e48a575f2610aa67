"""The capstone: plan, run and keep alive a large training job."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15 import (
    checkpoints,
    cost_questions,
    decisions,
    designs,
    failure_questions,
    flops,
    interval_questions,
    layout,
    layout_questions,
    parameters,
    repairs,
    runs,
    scale_questions,
    sheet,
    traffic_questions,
)
from autograder.bank.ch15.wrong_checkpointing import OPTIMAL_CHECKPOINT_INTERVAL
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Item

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


INTERVAL = Build(
    id="cap-optimal-checkpoint-interval",
    module="checkpointing",
    function="optimal_checkpoint_interval",
    grade="call",
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
    slips=OPTIMAL_CHECKPOINT_INTERVAL,
    section="15.6",
    topic="checkpoint interval",
)

EXERCISES = (
    *parameters.ITEMS,
    *flops.ITEMS,
    layout.PARTITION,
    layout.MEMORY,
    layout.TRAFFIC,
    repairs.DEBUG_SHARES,
    checkpoints.WRITE,
    INTERVAL,
    checkpoints.WASTE,
    checkpoints.DEBUG_INTERVAL,
    *runs.ITEMS,
    checkpoints.COST,
    repairs.DEBUG_ATOMIC,
    repairs.DEBUG_RESUME,
    sheet.BILL,
    sheet.REPORT,
)

QUESTIONS = (
    *decisions.ESTIMATES,
    *decisions.CHOICES,
    *designs.DESIGNS,
    *scale_questions.COUNTS,
    *scale_questions.TIMES,
    *layout_questions.LAYOUTS,
    *traffic_questions.TRAFFIC,
    *failure_questions.FAILURES,
    *failure_questions.WRITING,
    *interval_questions.INTERVALS,
    *cost_questions.COSTS,
    *cost_questions.BILL,
)


#: The items in the order of the page and then of the deeper page: a line for each section that has any.
PAGE = """
    pfdays split training-flops
    days-40 54-days
    tp-traffic traffic-per-gpu
    fullest memory-per-stage
    70b-size 405b-write
    mtbf young optimal-checkpoint-interval double design
    debug-atomic weights-alone
    params gqa-layer parameter-count
    attention-share long-context
    chinchilla gpt3-ratio exponent
    utilization hfu 70b-a100 mfu-hours
    dp tokens steps stages partition-layers
    weights fits
    bubble infer-v
    order dp-traffic
    table5 debug-shares
    70b-write checkpoint-write-time async
    daly regime checkpoint-waste half waste every-1000 100k debug-interval
    simulate-run 90 crash failure-cost month
    debug-resume
    kwh mfu-point run-bill run-report
"""
ORDER = [f"cap-{name}" for name in PAGE.split()]


def _place(item: Item) -> int:
    return ORDER.index(item.id)


ITEMS: tuple[Item, ...] = tuple(sorted((*EXERCISES, *QUESTIONS), key=_place))
