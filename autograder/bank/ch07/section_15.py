"""Section 7.15, Playing a schedule: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import overhead, share
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import ms

split = lazily("solutions.ch02.model_parallel")


def _naive(index: int, backward_ratio: float = 2.0) -> float:
    """Of 12 layers on 3 devices with one batch: the step's time in ms, and the busy share in percent."""
    time, busy = split.naive_step(12, 3, 10 * ms, 5 * ms, backward_ratio)
    return time / ms if index == 0 else 100 * busy


QUESTIONS = (
    Question(
        id="07-naive-split",
        kind="derive",
        title="One batch through three stages",
        section="7.15",
        bonus=True,
        parts=(
            Part(
                "step time",
                "ms",
                lambda: _naive(0),
                slips=(
                    Slip("A backward takes twice a forward: two products for each.", value=lambda: _naive(0, 1.0)),
                    Slip("That leaves out the hops: two boundaries, both ways.", value=360),
                    Slip("That is compute shared by three: one stage works at a time.", value=120),
                ),
            ),
            Part(
                "busy share",
                "%",
                lambda: _naive(1),
                slips=(
                    Slip("A backward takes twice a forward: two products for each.", value=lambda: _naive(1, 1.0)),
                    Slip("That leaves out the hops.", value=100 / 3),
                    Slip("Only one of three stages works at a time: at most a third.", value=40),
                ),
            ),
        ),
        derivation="One stage works at a time, so all layers add up: $12 \\cdot (10 + 20)$ ms. Each of the two "
        "boundaries is crossed twice, 5 ms each. The busy share is the compute over three times the step.",
    ),
    Question(
        id="07-4p-rule",
        kind="derive",
        title="Four micro-batches per stage",
        section="7.15",
        bonus=True,
        parts=(
            Part(
                "idle share, p = 4",
                "%",
                share(4, 16),
                slips=(
                    Slip("That is (p - 1)/m, an overhead.", value=overhead(4, 16)),
                    Slip("Only p - 1 slots are empty, not p.", value=20),
                    Slip("That is p/m.", value=25),
                ),
            ),
            Part(
                "limit for large p",
                "%",
                share(10**9, 4 * 10**9),
                slips=(Slip("That is the limit of the overhead, (p - 1)/(4 p).", value=25),),
            ),
        ),
        derivation="With $m = 4p$ the fraction is $\\frac{p-1}{5p-1}$, which grows with $p$ towards the ratio of its "
        "leading terms.",
    ),
)
