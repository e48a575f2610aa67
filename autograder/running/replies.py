"""Checks the replies of children and rewords them, so that nothing in a report can carry a hidden input."""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any

from autograder import syntax
from autograder.child.wire import REFUSALS, SIZES, not_plain
from autograder.marking import values
from autograder.marking.outcome import Outcome
from autograder.running.messages import Message
from autograder.submission import Submission

#: Names of types and exceptions that a report may contain even if they do not occur in the submission.
KNOWN = frozenset(
    ("ndarray", "Tensor", "Parameter", "Fraction", "Decimal", "deque", "array", "Work", "DistBackendError", "DistError")
    + ("JSONDecodeError", "generator", "function", "coroutine", "method", "list_iterator")
    + ("dict_keys", "dict_values", "dict_items")
)

#: Unsupported element types of tensors that a report may name.
TYPES = frozenset(
    ("float16", "bfloat16", "complex64", "complex128", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "object")
)


class Reader:
    """Reads the replies of a submission's children."""

    def __init__(self, submission: Submission) -> None:
        self.units = submission.units

    @functools.cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for unit in self.units for word in re.findall(r"\w+", unit.source))

    @functools.cached_property
    def _lines(self) -> tuple[int, ...]:
        return tuple(unit.source.count("\n") + 1 for unit in self.units)

    def outcome(self, reply: Message) -> Outcome | None:
        """What a final reply means; None if it breaks the rules."""
        try:
            if reply["kind"] == "value":
                return reply.outcome
            if reply["kind"] == "raised":
                return self._raised(reply)
            if reply["kind"] == "refused":
                return Outcome("refused", detail=f"returned {self._refusal(reply)}")
        except (values.Malformed, KeyError):
            pass
        return None

    def _raised(self, reply: dict[str, Any]) -> Outcome:
        unit, line = self.unit(reply["unit"]), self.line(reply["unit"], reply["line"])
        where = f"line {line}" if line else ""
        if line and unit is not None and len(self.units) > 1:
            where = f"line {line} of {self.units[unit].label}"
        name, text = self.name(reply["error"], "Exception"), one_line(reply["text"], 300)
        return Outcome("raised", error=name, line=line, detail=text, where=where)

    def _refusal(self, reply: dict[str, Any]) -> str:
        """Why a value was refused: one of the grader's own sentences, with at most a known type name from the child."""
        if reply["type"]:
            return not_plain(self.name(reply["type"], "object"))
        what = one_line(reply["what"], 200)
        of = re.fullmatch(r"(a tensor|a NumPy array) of (\w+); return one of .*", what)
        if of and of[2] in TYPES:
            return f"{of[1]} of {of[2]}; return one of {', '.join(SIZES)}"
        return what if what in REFUSALS else "a value that cannot travel"

    def problem(self, problem: Any) -> str:
        """One sentence about a unit that could not be run."""
        index, line, name, text = problem if type(problem) is list and len(problem) == 4 else (None,) * 4
        unit = self.unit(index)
        if unit is None:
            return "a part of the submission could not be run"
        at = f" at line {self.line(index, line)}" if self.line(index, line) else ""
        newer = syntax.newer(one_line(text, 200), self._text(unit, line)) if name == "SyntaxError" else ""
        return f"{self.units[unit].label}: {self.name(name, 'Exception')}{at}: {one_line(text, 200)}{newer}"

    def _text(self, unit: int, line: Any) -> str:
        """The text of a line of a unit; empty if there is no such line."""
        lines = self.units[unit].source.split("\n")
        return lines[line - 1] if type(line) is int and 0 < line <= len(lines) else ""

    def unit(self, index: Any) -> int | None:
        """The index of a unit, if it is one."""
        return index if type(index) is int and 0 <= index < len(self.units) else None

    def line(self, index: Any, line: Any) -> int | None:
        """The number of a line, if the unit has that line."""
        unit = self.unit(index)
        if unit is None or type(line) is not int:
            return None
        return line if 1 <= line <= self._lines[unit] else None

    def name(self, name: Any, otherwise: str) -> str:
        """A class name that is built in, well known or in the source; one made up at run time could reveal an input."""
        if type(name) is not str or not name.isidentifier() or len(name) > 60:
            return otherwise
        return name if hasattr(builtins, name) or name in KNOWN or name in self._words else otherwise


def one_line(text: Any, length: int) -> str:
    """Text from a child as one printable line."""
    if type(text) is not str:
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:length]).split())
