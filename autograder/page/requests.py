"""What the page asks of the broker's worker: to run a cell that runs worlds, and to check an item of several ranks."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from autograder import bank
from autograder.page import cells, checks
from autograder.page.workers import Port, Workers
from autograder.running import children

#: How the page's script is told something.
Tell = Callable[..., Any]


class Requests:
    """Answers the requests of a page's script on its workers."""

    def __init__(self) -> None:
        self._workers: Workers | None = None

    def answer(self, text: str, port: Port, began: Tell, say: Tell, playing: Tell) -> str:
        """Answer one request, JSON in and JSON out; ``port`` is that of the first one."""
        request = json.loads(text)
        workers = self._workers = self._workers or Workers(port)
        if "cell" in request:
            return json.dumps(cells.run(workers, request, began, say, playing))
        return json.dumps(checks.check(workers, request["id"], request["source"], request["others"], began, say))


def ready() -> None:
    """Called before a picture of Python's memory is taken: read and import what every check needs later."""
    for chapter in bank.CHAPTERS:
        bank.modules(chapter)
    children.offered()
    for name in ("groups", "rules", "vectors"):
        importlib.import_module(f"autograder.bank.{name}")
