"""Chapter 10: a loop that never yields, and a scheduler that lets streams starve."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip


def wrong_yield(step):
    count = 0

    async def loop():
        nonlocal count
        more = True
        while more:
            more = step()
            count += 1
        return count

    return loop()


def _loops(rng: Random) -> Case:
    return Case((rng.randint(6, 12),))


YIELD = Debug(
    id="10-debug-yield",
    module="scheduling",
    function="debug_yield",
    grade="call",
    section="10.5",
    topic="event loops",
    probe="ch10.beside",
    cases=(Case((4,)), Case((1,))),
    groups=(
        Group("loops", _loops, 4, "Others in the event loop run while this one awaits something that makes it wait."),
    ),
    slips=(
        Slip("A loop that awaits nothing that waits keeps the event loop to itself, `async` or not.", wrong_yield),
        Slip(
            "`time.sleep(0)` gives the core to other threads; the event loop stays where it is.",
            edits=(
                ("async def loop() -> int:", "import time\n    async def loop() -> int:"),
                ("await asyncio.sleep(0)", "time.sleep(0)"),
            ),
        ),
        Slip(
            "Others get a turn now and then; they need one after every step.",
            edit=("await asyncio.sleep(0)", "if count % 4 == 0:\n                await asyncio.sleep(0)"),
        ),
    ),
    wrong=wrong_yield,
)


def wrong_budget(arrivals, prompts, outputs, budget):
    missing, unsaid = list(prompts), list(outputs)
    steps: list[list[int]] = []
    while any(unsaid):
        left, step = budget, [0] * len(prompts)
        here = [i for i, arrival in enumerate(arrivals) if arrival <= len(steps) and unsaid[i]]
        filling = [i for i in here if missing[i]]
        for i in filling + [i for i in here if not missing[i]]:
            step[i] = min(missing[i] or 1, left)
            left -= step[i]
            missing[i] -= min(missing[i], step[i])
            unsaid[i] -= step[i] > 0 and not missing[i]
        steps.append(step)
    return steps


def _stream_first(rng: Random) -> Case:
    """Streams that decode when long prompts arrive; the later ones have smaller numbers half of the time."""
    budget, streams = rng.randint(6, 16), rng.randint(1, 3)
    arrivals = [0] * streams + [rng.randint(1, 3) for _ in range(2)]
    prompts = [rng.randint(1, 4) for _ in range(streams)] + [rng.randint(2, 4) * budget for _ in range(2)]
    outputs = [rng.randint(8, 16) for _ in range(streams)] + [rng.randint(1, 4) for _ in range(2)]
    order = rng.sample(range(streams + 2), streams + 2) if rng.random() < 0.6 else range(streams + 2)
    return Case(([arrivals[i] for i in order], [prompts[i] for i in order], [outputs[i] for i in order], budget))


def _prompt_first(rng: Random) -> Case:
    """A long prompt that comes later and has the smaller number."""
    budget = rng.randint(6, 12)
    return Case(([2, 0], [rng.randint(3, 5) * budget, rng.randint(1, 4)], [2, rng.randint(12, 20)], budget))


def _late(rng: Random) -> Case:
    """A prompt before a stream: its last chunk leaves room, and the stream is admitted beside it."""
    budget = rng.randint(5, 12)
    return Case(
        ([0, 1, rng.randint(6, 20)], [3 * budget, 2, budget], [rng.randint(3, 9), rng.randint(3, 9), 2], budget)
    )


def _many(rng: Random) -> Case:
    """More streams than budget: the first in order get their tokens."""
    count = rng.randint(4, 7)
    return Case(([0] * count, [1] * count, [rng.randint(2, 6) for _ in range(count)], rng.randint(1, 3)))


BUDGET = Debug(
    id="10-debug-budget",
    module="scheduling",
    function="debug_budget",
    grade="call",
    section="10.7",
    topic="scheduling",
    cases=(
        Case(([0, 0, 3], [3, 5, 20], [6, 8, 3], 8)),
        Case(([0, 2], [4, 30], [9, 2], 10)),
        Case(([], [], [], 4)),
    ),
    groups=(
        Group(
            "long prompts beside streams",
            _stream_first,
            6,
            "Who decodes comes first; prompts get what is left.",
            lambda rng: [_prompt_first(rng) for _ in range(3)],
        ),
        Group("prompts that came before", _late, 4, "The order is by phase, and only then by number."),
        Group("many streams", _many, 3, "A budget smaller than the number of streams serves the first ones."),
    ),
    slips=(
        Slip("Prompts come first there: a long one takes the whole budget, and every stream waits.", wrong_budget),
        Slip(
            "Two fixed halves waste what one of them leaves: decodes first, prompts get all the rest.",
            edits=(
                (
                    "        for i in decoding + [i for i in here if missing[i]]:\n",
                    (
                        "        for i in decoding + [i for i in here if missing[i]]:\n"
                        "            if i in here and missing[i] and not any(step[j] for j in here if j "
                        "not in decoding):\n"
                        "                left = max(1, budget - budget // 2)\n"
                    ),
                ),
                ("left, step = budget, [0]", "left, step = max(1, budget // 2), [0]"),
            ),
        ),
        Slip(
            "The order is by number alone: a prompt with a small number still goes before the streams.",
            edit=("decoding + [i for i in here if missing[i]]", "here"),
        ),
        Slip(
            "Prompts are computed beside the decodes, in the same step; yours wait until nobody decodes.",
            edit=("decoding + [i for i in here if missing[i]]", "decoding or here"),
        ),
        Slip(
            "Every prompt gets of what is left while there is some; yours computes one prompt a step.",
            edit=("[i for i in here if missing[i]]", "[i for i in here if missing[i]][:1]"),
        ),
    ),
    wrong=wrong_budget,
)

ITEMS = (YIELD, BUDGET)
