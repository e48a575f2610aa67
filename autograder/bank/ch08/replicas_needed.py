"""Chapter 8: ``replicas_needed``, Little's law."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _fleet(rng: Random) -> Case:
    """Somewhere in the middle between two whole numbers of replicas, and no less than two."""
    slots, tokens = rng.choice((8, 16, 64, 256)), rng.randint(2, 30)
    itl = rng.uniform(0.005, 0.05)
    inside = rng.uniform(0.6, 2) * itl + (tokens - 1) * itl
    return Case(
        ((rng.randint(2, 40) + rng.uniform(0.1, 0.9)) * slots / inside, inside - (tokens - 1) * itl, itl, tokens, slots)
    )


def _whole(rng: Random, excess: float = 0.0) -> Case:
    """In flight is a multiple of the slots, but for a relative ``excess``; seconds are sixteenths."""
    slots, tokens, replicas = rng.choice((4, 8, 64)), rng.choice((5, 9, 17)), rng.randint(2, 9)
    itl = 1 / 16
    ttft = rng.choice((1, 2)) - (tokens - 1) * itl if tokens < 17 else 1.0
    return Case((replicas * slots / (ttft + (tokens - 1) * itl) * (1 + excess), ttft, itl, tokens, slots))


def _nearly_whole(rng: Random) -> list[Case]:
    """Further above a whole number than every order of rounding, and on either side of the limit."""
    return [_whole(rng, excess) for excess in (1e-10, rng.uniform(1e-12, 5e-10), rng.uniform(2e-9, 1e-8))]


def _small(rng: Random) -> list[Case]:
    return [
        Case((0, rng.uniform(0, 1), 0.03, 100, 64)),
        Case((0.0, 0.0, 0.0, 1, 1)),
        Case((rng.uniform(0.001, 0.1), 0.2, 0.02, 20, 64)),
        Case((rng.randint(20, 90), 1.0, 0.05, 1, 8)),
    ]


EXERCISE = Build(
    "08 serving.replicas_needed",
    section="8.16",
    topic="Little's law",
    bonus=True,
    cases=(
        Case((500, 0.01417, 0.0209, 50, 64)),
        Case((20, 0.5, 0.03, 300, 64)),
        Case((10, 1, 0.05, 1, 8)),
        Case((0, 0.5, 0.03, 300, 64)),
        Case((8, 0.1, 0.1, 10, 8)),
    ),
    groups=(
        Group("fleets", _fleet, 6, "Rate times time inside are in flight; each replica holds `slots` of them."),
        Group(
            "whole numbers",
            _whole,
            7,
            "What exceeds a whole number by less than 1e-9 of itself counts as that number; by more, round up.",
            _nearly_whole,
        ),
        one_of_each(
            "few requests",
            _small,
            "No requests, no replica; after an answer of one token there is no gap between tokens.",
        ),
    ),
    slips=(
        Slip(
            "That is one request per replica: a replica runs `slots` of them at once.",
            edit=("in_flight / slots", "in_flight"),
        ),
        Slip("Prefill gives the first token: n - 1 steps remain.", edit=("output_tokens - 1", "output_tokens")),
        Slip("Rounding down leaves requests without a slot.", edits=(("math.ceil", "int"), ("1 - 1e-9", "1 + 1e-9"))),
        Slip(
            "The time to the first token is spent inside, too.",
            edit=("in_flight / slots", "rate * (output_tokens - 1) * itl / slots"),
        ),
        Slip(
            "A plain `ceil` adds a replica for rounding errors: an excess of less than 1e-9 is none.",
            edit=(" * (1 - 1e-9)", ""),
        ),
        Slip(
            "Without requests no replica is needed.",
            edit=("math.ceil(in_flight / slots * (1 - 1e-9))", "max(1, math.ceil(in_flight / slots * (1 - 1e-9)))"),
        ),
    ),
    rights=(
        Right(
            "compared with the number below",
            edit=(
                "    return math.ceil(in_flight / slots * (1 - 1e-9))",
                "    below = math.floor(in_flight / slots)\n"
                "    return below + (in_flight > below * slots * (1 + 1e-9))",
            ),
        ),
        Right(
            "seconds per replica",
            edits=(
                ("in_flight / slots * (1 - 1e-9)", "rate / (slots / inside) - 1e-9 * rate * inside / slots"),
                (
                    "in_flight = rate * (ttft + (output_tokens - 1) * itl)",
                    "inside = ttft + output_tokens * itl - itl or 1e-300",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "if it exceeds a whole number by less than 1e-9 of itself, it counts as that number",
            edit=(" * (1 - 1e-9)", ""),
        ),
        Promise("The quotient is rounded up", edit=("(1 - 1e-9)", "(1 - 1e-7)")),
        Promise(
            "Without requests: 0.",
            edits=(("return math.ceil(", "return max(1, math.ceil("), ("(1 - 1e-9))", "(1 - 1e-9)))")),
        ),
    ),
)
