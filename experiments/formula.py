"""A formula of the course: a law in symbols, and the tested function that computes it. Standard library only."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: What a law may call.
NAMES = {
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log2": math.log2,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Formula:
    """A law, and the function that computes it.

    Attributes:
        section: where the book derives it: ``"3.8"``.
        name: what it gives.
        symbol: what stands left of the equals sign, in LaTeX.
        law: what stands right of it, a Python expression in the symbols; a test compares it with the function.
        function: module and name below ``solutions``: ``"ch03.collective_cost.ring_all_reduce_time"``.
        symbols: each symbol of the law and the argument that it stands for.
        example: the arguments of the worked value.
        unit: of the result; empty for a ratio.
        choice: arguments of the function that the law takes as settled (the name of an algorithm).
        place: which element of the result, where the function returns several.
    """

    section: str
    name: str
    symbol: str
    law: str
    function: str
    symbols: Mapping[str, str]
    example: Mapping[str, float]
    unit: str = ""
    choice: Mapping[str, Any] = field(default_factory=dict)
    place: int | None = None

    @property
    def call(self) -> Callable[..., Any]:
        """The function."""
        module, _, name = self.function.rpartition(".")
        return getattr(importlib.import_module(f"solutions.{module}"), name)

    @property
    def value(self) -> float:
        """The worked value, from the function."""
        found = self.call(**self.choice, **self.example)
        return found if self.place is None else found[self.place]

    @property
    def by_law(self) -> float:
        """The worked value, from the law."""
        values = {symbol: self.example[name] for symbol, name in self.symbols.items()}
        return eval(self.law, {"__builtins__": {}}, {**NAMES, **values})  # our own text

    def argument(self, name: str) -> str:
        """What the docstring says of an argument: its meaning, unit and range.

        Raises:
            KeyError: the docstring does not describe it.
        """
        found = dict(_ARGUMENT.findall(inspect.getdoc(self.call) or ""))
        return re.sub(r"\s+", " ", found[name])

    @property
    def source(self) -> str:
        """The source that the docstring names, or nothing."""
        match = re.search(r"^Source: (.*(?:\n\S.*)*)", inspect.getdoc(self.call) or "", re.MULTILINE)
        return re.sub(r"\s+", " ", match[1]) if match else ""
