"""Driver of chapter 8: an event loop whose clock is virtual. Standard library only.

The loop is asyncio's own, so that whatever a program asks of it works: sleeping, timers, futures, tasks. When nothing
is ready, the clock jumps to the next timer. The child reports when a request is done; a lie about it takes more code
than the one ``await`` that makes it true.
"""

import asyncio
import time
from asyncio import events

all_tasks, gather, task_of = asyncio.all_tasks, asyncio.gather, asyncio.Task


class Clock(asyncio.BaseEventLoop):
    """An event loop without files and sockets, in which time passes only by waiting."""

    def __init__(self):
        super().__init__()
        self.now, self._selector = 0.0, self

    def time(self):
        return self.now

    def select(self, timeout):
        """Wait, as a selector does: until the next timer, which is then due. There is nothing else to wait for."""
        if timeout is None:
            raise RuntimeError("the request waits for something that never comes: nothing is left to do")
        if timeout > 0:
            self.now = self._scheduled[0]._when
        return []

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass


def on_a_clock(program, latencies):
    """Requests start together in an event loop and each awaits one step; the answer is when each is done, seconds."""
    loop, ends, outer = Clock(), [0.0] * len(latencies), events._get_running_loop()

    def block(seconds):
        loop.now += seconds

    async def request(place, latency):
        await program(latency)
        ends[place] = loop.now

    async def all_requests():
        await gather(*(request(index, latency) for index, latency in enumerate(latencies)))

    real, names = time.sleep, getattr(program, "__globals__", {})
    own = [name for name, value in names.items() if value is real]
    events._set_running_loop(None)  # a notebook and a page are inside a loop of their own
    time.sleep = block
    names.update(dict.fromkeys(own, block))
    try:
        loop.run_until_complete(task_of(all_requests(), loop=loop))
    finally:
        time.sleep = real
        names.update(dict.fromkeys(own, real))
        events._set_running_loop(outer)
        for task in all_tasks(loop):
            task._log_destroy_pending = False  # what is left of a request that failed
        loop.close()
    return ends
