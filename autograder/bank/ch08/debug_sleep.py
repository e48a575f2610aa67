"""Chapter 8: ``debug_sleep``, event loops."""

from __future__ import annotations

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_sleep(latency_ms):
    import asyncio

    return asyncio.sleep(latency_ms)


async def sleep_in_two_parts(latency_ms):
    import asyncio

    seconds, rest = divmod(latency_ms, 1000)
    await asyncio.sleep(seconds)
    await asyncio.sleep(rest / 1000)


def sleep_by_a_timer(latency_ms):
    import asyncio

    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_later(latency_ms / 1000, done.set_result, None)
    return done


EXERCISE = Debug(
    "08 serving_repairs.debug_sleep",
    section="8.11",
    topic="event loops",
    bonus=True,
    probe="ch08_clock.on_a_clock",
    wrong=wrong_sleep,
    cases=(Case(([10],)), Case(([10, 20, 5],)), Case(([0],))),
    groups=(
        Group(
            "one request", lambda rng: Case(([round(rng.uniform(1, 500), 1)],)), 3, "A second has 1,000 milliseconds."
        ),
        Group(
            "several at once",
            lambda rng: Case(([round(rng.uniform(1, 500), 1) for _ in range(rng.randint(2, 9))],)),
            4,
            "While one request waits, the others go on: nothing may block the event loop.",
        ),
    ),
    slips=(
        Slip("`asyncio.sleep` takes seconds: 10 ms became 10 s.", wrong_sleep),
        Slip(
            "`time.sleep` blocks the event loop, and with it every other request.",
            edits=(
                ("    return", "    import time\n\n    time.sleep(latency_ms / 1000)\n    return"),
                ("latency_ms / 1000", "0"),
            ),
        ),
        Slip("A second has 1,000 milliseconds, not a million.", edit=("latency_ms / 1000", "latency_ms / 1_000_000")),
        Slip(
            "Milliseconds divided by 1,000 are seconds; yours are multiplied by 1,000.",
            edit=("latency_ms / 1000", "latency_ms * 1000"),
        ),
        Slip("Nobody waited: what is awaited must take as long as the latency says.", edit=("latency_ms / 1000", "0")),
    ),
    rights=(
        Right("multiplied by a thousandth", edit=("latency_ms / 1000", "latency_ms * 1e-3")),
        Right("whole seconds, then the rest", program=sleep_in_two_parts),
        Right("a timer of the running loop", program=sleep_by_a_timer),
    ),
)
