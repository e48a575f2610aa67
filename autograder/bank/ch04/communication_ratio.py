"""Chapter 4: ``communication_ratio``, communication against compute."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, TFLOP


def _work(rng: Random) -> tuple[float, float]:
    """FLOP of a step, and FLOP/s that are achieved."""
    return 10 ** rng.uniform(12, 16), rng.uniform(100, 900) * TFLOP


def _ratio(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(6, 11), rng.randint(3, 4096), 10 ** rng.uniform(9, 12), *_work(rng)))


def _silent(rng: Random) -> Case:
    """One rank, or no gradients."""
    size, ranks = rng.choice([(10 ** rng.uniform(6, 11), 1), (0.0, 8)])
    return Case(args=(size, ranks, 50 * GB, *_work(rng)))


RATIO = "return ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)"


EXERCISE = Build(
    "04 bandwidth.communication_ratio",
    section="4.15",
    topic="communication against compute",
    bonus=True,
    cases=(
        Case(args=(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 400 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 1, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
    ),
    groups=(
        Group("many ranks", _ratio, 6, "Time of a ring all-reduce over time of the work."),
        Group("nothing to send", _silent, 3, "One rank communicates nothing, and neither do zero bytes."),
    ),
    slips=(
        Slip(
            "The ratio is upside down: communication over compute.",
            edit=(
                "return ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)",
                (
                    "communicating = ring_all_reduce_time(gradient_bytes, ranks, bandwidth)\n"
                    "    return flops / rate / communicating if communicating else 0.0"
                ),
            ),
        ),
        Slip(
            "The ring's factor is missing: a rank sends 2(N-1)/N of the gradients.",
            edit=("ring_all_reduce_time(gradient_bytes, ranks, bandwidth)", "gradient_bytes / bandwidth"),
        ),
        Slip(
            "The rate is in FLOP/s already: do not multiply it by 1e12.", edit=("flops / rate", "flops / (rate * 1e12)")
        ),
        Slip(
            "A data sheet's peak was written in: divide by the rate that is achieved and given.",
            edit=(
                "ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)",
                "2 * (ranks - 1) / ranks * gradient_bytes / bandwidth / (flops / 989.4e12)",
            ),
        ),
    ),
    rights=(
        Right(
            "multiplied out",
            edit=(RATIO, "return 2 * (ranks - 1) * gradient_bytes * rate / (ranks * bandwidth * flops)"),
        ),
        Right(
            "the share that travels",
            edit=(RATIO, "return 2 * (gradient_bytes - gradient_bytes / ranks) / bandwidth * (rate / flops)"),
        ),
    ),
    promises=(
        Promise(
            "one rank communicates nothing: 0.0",
            edit=("(gradient_bytes, ranks, bandwidth) /", "(gradient_bytes, max(2, ranks), bandwidth) /"),
        ),
    ),
)
