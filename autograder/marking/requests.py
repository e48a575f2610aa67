"""The requests that children get: one for each call, the same for every submission."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from autograder.items import Build, Case
from autograder.marking import values

#: Types of arguments that no call can change.
FIXED = (type(None), bool, int, float, str)


def request(item: Build, args: Sequence[Any], kwargs: Any, calls: Sequence[Any]) -> dict[str, Any]:
    """The request for one call. A child cannot tell public and hidden calls apart."""
    message: dict[str, Any] = {
        "do": {"calls": "calls", "world": "world"}.get(item.grade, "call"),
        "module": item.module,
        "function": item.function,
        "args": values.encode(tuple(args)),
        "kwargs": values.encode(dict(kwargs)),
        "report": item.unchanged and not item.probe and any(type(arg) not in FIXED for arg in args),
    }
    if item.probe:
        message["probe"] = item.probe
    if item.grade == "calls":
        message["calls"] = [[name, None if given is None else values.encode(tuple(given))] for name, given in calls]
    return message


class _Same:
    """Makes an unhashable object a key that equals only itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@functools.lru_cache(maxsize=4096)
def _prepared(item: _Same, case: _Same) -> str:
    message = request(item.value, case.value.args, case.value.kwargs, case.value.calls)
    return json.dumps(message, separators=(",", ":"))


def prepared(item: Build, case: Case) -> str:
    """The request for a case as text, computed once for all submissions."""
    return _prepared(_Same(item), _Same(case))
