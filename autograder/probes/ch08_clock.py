"""Driver of chapter 8: a virtual clock for waiting. Standard library only.

The child reports when a request on the virtual clock is done; a lie about it takes more code than the one ``await``
that makes it true.
"""

# mypy: no-check-untyped-defs

import asyncio
import heapq
import time


class Sleep:
    """What a coroutine that waits on the virtual clock yields: how long it waits, in seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __await__(self):
        yield self.seconds


def on_a_clock(program, latencies):
    """Requests start together on a virtual clock and each awaits one step; the answer is when each is done, seconds."""
    now = 0.0

    def block(seconds):
        nonlocal now
        now += seconds

    async def request(latency):
        await program(latency)

    real = asyncio.sleep, time.sleep
    names = getattr(program, "__globals__", {})
    own = {name: value for name, value in names.items() if any(value is one for one in real)}
    asyncio.sleep, time.sleep = lambda seconds, result=None: Sleep(seconds), block
    names.update({name: asyncio.sleep if value is real[0] else block for name, value in own.items()})
    ends = [0.0] * len(latencies)
    due = [(0.0, index, request(latency)) for index, latency in enumerate(latencies)]
    try:
        while due:
            when, index, coroutine = heapq.heappop(due)
            now = max(now, when)
            try:
                seconds = coroutine.send(None)
            except StopIteration:
                ends[index] = now
            else:
                heapq.heappush(due, (now + seconds, index, coroutine))
    finally:
        asyncio.sleep, time.sleep = real
        names.update(own)
        for _, _, coroutine in due:
            coroutine.close()
    return ends
