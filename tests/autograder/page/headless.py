"""The page's broker and ranks without a browser: processes in place of workers, pipes in place of shared memory.

``python -m tests.autograder.page.headless broker PLACES`` answers requests of the page's script, one JSON object on a
line, and ``... rank`` is a rank. The module's own :class:`Page` starts a broker and asks it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from tools.common import ROOT

COMMAND = (sys.executable, "-m", "tests.autograder.page.headless")


class RankPort:
    """The way of a rank to the broker."""

    def __init__(self) -> None:
        self.lines, self.out = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")

    def put(self, line: str) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # nothing interrupts JavaScript, either
        print(json.dumps(line), file=self.out, flush=True)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def get(self) -> str:
        line = self.lines.readline()
        if not line:
            os._exit(0)
        return json.loads(line)


class BrokerPort:
    """The ranks, as the broker uses them."""

    def __init__(self, places: int) -> None:
        self.places, self.heard = places, queue.Queue()
        self.ranks = [self._start(place) for place in range(places)]

    def _start(self, place: int) -> subprocess.Popen[str]:
        rank = subprocess.Popen(
            [*COMMAND, "rank"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, args=(place, rank), daemon=True).start()
        return rank

    def _listen(self, place: int, rank: subprocess.Popen[str]) -> None:
        for line in rank.stdout:
            self.heard.put((rank, f"{place}{json.loads(line)}"))
        status = rank.wait()
        self.heard.put((rank, f"{place}!{status if status > 0 else 1}"))

    def put(self, place: int, line: str) -> None:
        print(json.dumps(line), file=self.ranks[place].stdin, flush=True)

    def next(self, milliseconds: float) -> str | None:
        until = time.monotonic() + milliseconds / 1000
        while True:
            try:
                rank, line = self.heard.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if rank in self.ranks:  # others have been ended
                return line

    def end(self, place: int) -> None:
        self.ranks[place].kill()
        self.ranks[place].wait()
        self.ranks[place] = self._start(place)

    def interrupt(self, place: int) -> None:
        self.ranks[place].send_signal(2)

    def close(self) -> None:
        for rank in self.ranks:
            rank.kill()
            rank.wait()


def broker(places: int) -> None:
    """Answer the requests that arrive, until there are no more."""
    from autograder.page import start

    answer, port, out = start.broker(), BrokerPort(places), os.fdopen(os.dup(1), "w")

    def tell(name: str):
        return lambda *values: print(json.dumps({name: values}), file=out, flush=True)

    try:
        for line in sys.stdin:
            reply = answer(line, port, tell("began"), tell("say"), tell("playing"))
            print(json.dumps({"reply": json.loads(reply)}), file=out, flush=True)
    finally:
        port.close()


class Page:
    """A broker with so many ranks; a context manager."""

    def __init__(self, places: int = 4) -> None:
        self.broker = subprocess.Popen(
            [*COMMAND, "broker", str(places)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.told: dict[str, list[Any]] = {}

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.broker.stdin.close()
        self.broker.wait()
        self.broker.stdout.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """The reply to a request; what was told meanwhile is in ``told``, by its name."""
        self.told = {"began": [], "say": [], "playing": []}
        print(json.dumps(request), file=self.broker.stdin, flush=True)
        for line in self.broker.stdout:
            ((name, value),) = json.loads(line).items()
            if name == "reply":
                return value
            self.told[name].append(value)
        raise RuntimeError("the broker has ended")

    def run(self, code: str, *, before: str = "", ranks: int | None = None, **more: Any) -> dict[str, Any]:
        """Run a cell; ``before`` is the program of earlier cells."""
        cell = {"functions": {}, "before": before, "code": code, **more}
        return self.ask(cell=cell, own={}, others={}, ranks=ranks)

    @property
    def printed(self) -> list[str]:
        """What the cell itself printed."""
        return [said[0] for said in self.told["say"] if len(said) == 1]


if __name__ == "__main__":
    if sys.argv[1] == "broker":
        broker(int(sys.argv[2]))
    else:
        from autograder.page import start

        start.rank()(RankPort())
