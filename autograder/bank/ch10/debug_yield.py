"""Chapter 10: ``debug_yield``, event loops."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from autograder.items import Case, Debug, Group, Promise, Slip


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


def beside(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether another coroutine had a turn between any two steps, and whether nothing blocked the loop by sleeping."""
    turns = answer["turns of the neighbour before each step"]
    return {
        "value": answer["value"],
        "steps that ran": len(turns),
        "a turn after every step but the last": [later > earlier for earlier, later in pairwise(turns)],
        "the loop never stood still": not answer["seconds slept in place"],
    }


EXERCISE = Debug(
    "10 scheduling.debug_yield",
    section="10.17",
    bonus=True,
    topic="event loops",
    probe="ch10.beside",
    concludes=beside,
    wrong=wrong_yield,
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
    promises=(
        Promise(
            "after every step, all others that are ready get a turn",
            edit=(
                "            await asyncio.sleep(0)\n",
                "            if count % 2:\n                await asyncio.sleep(0)\n",
            ),
        ),
        Promise("it gives how often it ran", edit=("        return count\n", "        return count - 1\n")),
    ),
)
