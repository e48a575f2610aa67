"""Chapter 5: ``learning_rate_at``, learning-rate schedule."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _schedule(rng: Random) -> tuple[float, int, int, float]:
    """A peak, steps of warm-up, all steps, and a minimum that is not 0."""
    warmup = rng.randint(5, 400)
    peak = float(f"{10 ** rng.uniform(-5, -1):.3g}")
    return peak, warmup, warmup * rng.randint(4, 20) + rng.randint(1, 99), peak * rng.choice((0.01, 0.1, 0.25))


def _along(rng: Random, where: str | None = None) -> Case:
    peak, warmup, total, minimum = _schedule(rng)
    where = where or rng.choice(("warm-up", "cosine"))
    quarter = (total - warmup) // 4
    step = rng.randint(2, warmup - 1) if where == "warm-up" else warmup + rng.randint(quarter // 2, quarter)
    return Case((step, peak, warmup, total, minimum))


def _edges(rng: Random) -> list[Case]:
    peak, warmup, total, minimum = _schedule(rng)
    return [Case((step, peak, warmup, total, minimum)) for step in (1, warmup, warmup + 1, total - 1, total)]


def _after(rng: Random) -> Case:
    peak, warmup, total, minimum = _schedule(rng)
    return Case((total + rng.randint(total // 3, total // 2), peak, warmup, total, minimum))


def _plain(rng: Random) -> Case:
    """No warm-up, or no minimum, or a warm-up to the end."""
    peak, warmup, total, minimum = _schedule(rng)
    step = rng.randint(2, total - 1)
    return rng.choice(
        (
            Case((step, peak, 0, total, minimum)),
            Case((step, peak, warmup, total)),
            Case((rng.randint(1, total), peak, total, total)),
        )
    )


EXERCISE = Build(
    "05 batching.learning_rate_at",
    section="5.12",
    topic="learning-rate schedule",
    bonus=True,
    cases=(
        # The schedule of Llama 3 405B: arXiv:2407.21783, section 3.4.
        *(Case((step, 8e-5, 8000, 1_200_000, 8e-7)) for step in (1, 4000, 8000, 604_000, 1_200_000)),
        Case((5, 1.0, 0, 10)),
        Case((25, 1.0, 4, 10, 0.1)),
    ),
    groups=(
        listed(
            "along the run",
            lambda rng: [_along(rng, where) for where in ("warm-up", "cosine") * 4],
            "A straight line up to `peak` at step `warmup`, then half a cosine over the steps that are left.",
        ),
        listed("at the edges", _edges, "Steps count from 1."),
        Group("after the end", _after, 3, "From `total` on the rate is `minimum`."),
        Group("without warm-up or minimum", _plain, 4, "There may be no warm-up, and the minimum may be 0."),
    ),
    slips=(
        Slip(
            "The cosine begins when the warm-up ends: it goes over `total - warmup` steps.",
            edit=("math.pi * progress", "math.pi * step / total"),
        ),
        Slip(
            "Steps count from 1: step `warmup` has the peak.",
            edit=("if step <= warmup:", "step -= 1\n    if step < warmup:"),
        ),
        Slip("After `total` the cosine would rise again: keep the minimum.", edit=("step >= total", "total == warmup")),
        Slip(
            "The cosine ends at the minimum; yours goes to 0 and is cut off.",
            edit=(
                "minimum + (peak - minimum) * (1 + math.cos(math.pi * progress)) / 2",
                "max(minimum, peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2)",
            ),
        ),
        Slip(
            "The rate falls along half a cosine, not along a straight line.",
            edit=(
                "minimum + (peak - minimum) * (1 + math.cos(math.pi * progress)) / 2",
                "peak + (minimum - peak) * (step - warmup) / (total - warmup)",
            ),
        ),
        Slip(
            "The warm-up starts from 0: its rate is `peak * step / warmup`.",
            edit=("return peak * step / warmup", "return minimum + (peak - minimum) * step / warmup"),
        ),
    ),
    rights=(
        Right(
            "the square of a cosine",
            edits=(
                ("return peak * step / warmup", "return step / warmup * peak"),
                (
                    "(peak - minimum) * (1 + math.cos(math.pi * progress)) / 2",
                    "(peak - minimum) * math.cos(math.pi / 2 * progress) ** 2",
                ),
            ),
        ),
        Right(
            "a mean of peak and minimum",
            edit=(
                "    return minimum + (peak - minimum) * (1 + math.cos(math.pi * progress)) / 2\n",
                "    wave = math.sin(math.pi * (0.5 - progress))\n"
                "    return peak * (0.5 + 0.5 * wave) + minimum * (0.5 - 0.5 * wave)\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "later steps keep it",
            edit=("    if step >= total:\n", "    if step == total:\n"),
        ),
        Promise(
            "it may lie beyond ``total``",
            edit=("    if step >= total:\n", "    assert step <= total\n    if step == total:\n"),
        ),
        Promise(
            "from 0 (no warm-up)",
            edit=("    if step <= warmup:\n", "    if step <= warmup or not warmup:\n"),
        ),
    ),
)
