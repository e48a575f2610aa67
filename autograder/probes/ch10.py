"""Drivers of chapter 10: an event loop with a neighbour. Standard library only.

How many turns the neighbour has had before each step is counted in the child, and the grader has to believe it. A lie
about it takes more code than the one ``await`` that makes it true.
"""

import asyncio
import selectors
import time
from time import sleep as doze


class Polling(selectors.SelectSelector):
    """Waits a millisecond at most, and for nothing else."""

    def select(self, timeout=None):
        if timeout is None or timeout > 0:
            doze(0.001)
        return []


class Loop(asyncio.SelectorEventLoop):
    """An event loop without the socket that wakes it from outside, which graded code may not open."""

    def _make_self_pipe(self):
        self._internal_fds = 0

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, func, *args):
        """In place of a thread, which graded code may not start: the function runs as a turn of its own."""
        future = self.create_future()

        def turn():
            try:
                future.set_result(func(*args))
            except Exception as error:
                future.set_exception(error)

        self.call_soon(turn)
        return future


def beside(program, steps):
    """The loop runs in an event loop beside a second coroutine; the answer shows whether that one got its turns."""
    turns, left, before, together, slept = [0], [steps], [], [False], []

    def step():
        before.append(turns[0])
        left[0] -= 1
        return left[0] > 0

    async def neighbour():
        while not together[0]:
            turns[0] += 1
            await asyncio.sleep(0)

    async def both():
        other = asyncio.ensure_future(neighbour())
        try:
            return await program(step)
        finally:
            together[0] = True
            await other

    outer = asyncio._get_running_loop()  # a notebook's, if there is one
    asyncio._set_running_loop(None)
    loop, real, time.sleep = Loop(Polling()), time.sleep, slept.append
    try:
        count = loop.run_until_complete(both())
    finally:
        time.sleep = real
        loop.close()
        asyncio._set_running_loop(outer)
    return {"value": count, "turns of the neighbour before each step": before, "seconds slept in place": slept}
