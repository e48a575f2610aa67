"""Chapter 10: ``share_budget``, the tokens of a pass."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


def _streams(rng: Random) -> Case:
    """Streams that decode, and prompts in the queue that take what is left."""
    running = [1] * rng.randint(2, 6)
    waiting = [rng.randint(20, 90) for _ in range(rng.randint(1, 3))]
    return Case((running, waiting, rng.randint(9, 60), 16))


def _middle(rng: Random) -> Case:
    """A prompt that is computed in part stands before those who wait, and may take all that is left."""
    running = [1] * rng.randint(1, 4) + [rng.randint(30, 90)]
    waiting = [rng.randint(1, 20) for _ in range(rng.randint(1, 4))]
    return Case((running, waiting, rng.randint(10, 100), 16))


def _capped(rng: Random) -> Case:
    chunk = rng.randint(4, 12)
    running = [rng.choice((1, rng.randint(2, 40))) for _ in range(rng.randint(0, 4))]
    waiting = [rng.randint(chunk + 1, 60) for _ in range(rng.randint(2, 5))]
    return Case((running, waiting, chunk * rng.randint(2, 5) + rng.randint(1, chunk - 1), 16, chunk))


def _seats(rng: Random) -> Case:
    running = [rng.randint(1, 4) for _ in range(rng.randint(0, 4))]
    waiting = [rng.randint(1, 9) for _ in range(rng.randint(3, 6))]
    return Case((running, waiting, rng.randint(60, 99), max(1, len(running)) + rng.randint(0, 2)))


def _spent(rng: Random) -> Case:
    """A budget that ends among the running requests."""
    running = [rng.randint(1, 9) for _ in range(rng.randint(3, 7))]
    return Case((running, [rng.randint(1, 9)], rng.randint(1, sum(running) - 1), 16))


EXERCISE = Build(
    "10 scheduler.share_budget",
    section="10.2",
    topic="scheduling",
    cases=(
        Case(([1, 1], [20], 8, 4)),
        Case(([], [800, 800, 800], 1024, 16, 400)),  # vLLM, tests/v1/core/test_scheduler.py
        Case(([1, 1, 352], [], 1024, 16, 400)),
        Case(([1], [4000], 512, 16)),
        Case(([1, 1], [5, 5, 5], 64, 4)),
        Case(([3, 3, 3], [2], 4, 8)),
    ),
    groups=(
        Group("streams and prompts", _streams, 5, "Running requests first; the queue gets what is left."),
        Group("a prompt in the middle", _middle, 4, "A prompt that has begun goes on before those who wait."),
        Group("chunks", _capped, 4, "`max_chunk` bounds what one request gets in one pass."),
        Group("few slots", _seats, 4, "At most `slots` requests run, those that run already among them."),
        Group(
            "a budget that ends early",
            _spent,
            4,
            "The list ends with the last request that gets a token.",
            lambda rng: [Case(([], [], rng.randint(1, 9), 4))],
        ),
    ),
    slips=(
        Slip(
            "Running requests come first: with prompts first, streams wait while a prompt is computed.",
            edit=(
                "[*running, *waiting[: max(0, slots - len(running))]]",
                "[*waiting[: max(0, slots - len(running))], *running]",
            ),
        ),
        Slip(
            "The slots of those who run are taken: only the rest is left for the queue.",
            edit=("waiting[: max(0, slots - len(running))]", "waiting[:slots]"),
        ),
        Slip(
            "A prompt that does not fit whole gets what is left of the budget: that is its chunk.",
            edit=(
                "        if tokens == 0:\n",
                "        if tokens < min(missing, max_chunk or missing):\n",
            ),
        ),
        Slip(
            "A `max_chunk` of 0 sets no limit; here it left nobody a token.",
            edit=("max_chunk or missing", "max_chunk"),
        ),
        Slip("One request gets at most `max_chunk` tokens of a pass.", edit=("max_chunk or missing, ", "")),
        Slip(
            "The budget is that of the whole pass: what one request gets is gone for the next.",
            edit=("        budget -= tokens\n", ""),
        ),
    ),
    promises=(
        Promise("Running requests come first", edit=("[*running, *waiting", "[*running[::-1], *waiting")),
        Promise("as many as there are slots left", edit=("slots - len(running)", "slots")),
        Promise("0 sets no limit", edit=("max_chunk or missing", "max_chunk or 1")),
        Promise(
            "The list ends with the last request",
            edit=("        if tokens == 0:\n            break\n", ""),
        ),
    ),
)
