"""A deadline without signals, for Python in the browser: it is checked on every call and every iteration of a loop.

``sys.monitoring`` (Python 3.12) calls back on these events, and what the callback raises is raised in the program. A
single call into C that never ends has no such event: the page that waits for it has to end the worker.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from types import CodeType
from typing import Any

#: Files whose code runs while the block is left: nothing is raised there.
OWN = (__file__, contextlib.__file__)


@contextlib.contextmanager
def deadline(seconds: float, late: type[BaseException]) -> Iterator[None]:
    """Raise ``late`` in the block after ``seconds``, at every event until it ends. Deadlines do not nest."""
    monitoring: Any = vars(sys)["monitoring"]  # from Python 3.12 on
    tool = monitoring.DEBUGGER_ID
    until = time.monotonic() + seconds

    def look(code: CodeType, *_: object) -> None:
        if time.monotonic() > until and code.co_filename not in OWN:
            raise late

    events = monitoring.events.PY_START | monitoring.events.JUMP
    monitoring.use_tool_id(tool, "deadline")
    try:
        for event in (monitoring.events.PY_START, monitoring.events.JUMP):
            monitoring.register_callback(tool, event, look)
        monitoring.set_events(tool, events)
        yield
    finally:
        until = float("inf")
        monitoring.set_events(tool, monitoring.events.NO_EVENTS)
        monitoring.free_tool_id(tool)
