"""A cost model of the course beside what others published: each figure, the errors, and their median. Standard library.

>>> row = Compared("8 GPUs", 40.0, 38.0, "ms")
>>> round(row.error, 3)
-0.05
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

#: What a published figure is: measured by others, recorded on a machine by a program of the course, or computed by its
#: authors with the same formula, so that agreement proves nothing but the arithmetic.
Kind = Literal["measured", "recorded", "computed"]


@dataclass(frozen=True)
class Compared:
    """One published figure.

    Attributes:
        what: which, in a few words.
        published: in ``unit``.
        ours: what the model gives, in ``unit``.
        unit: short, as printed; empty for a plain number.
    """

    what: str
    published: float
    ours: float
    unit: str = ""

    @property
    def error(self) -> float:
        """Of the model, as a share of what is published; negative if it gives less."""
        return self.ours / self.published - 1


@dataclass(frozen=True)
class Comparison:
    """A model and all that it is held against.

    Attributes:
        section: of the book that builds or uses it: ``"3.8"``.
        model: what it gives, in words.
        function: module and name below ``solutions``; empty where the page counts in a line of its own.
        kind: what the published figures are.
        source: where they are printed.
        rows: the figures.
        cause: what the model leaves out, so why the errors have the sign that they have.
        trust: what it can be trusted for, and what not.
    """

    section: str
    model: str
    function: str
    kind: Kind
    source: str
    rows: tuple[Compared, ...]
    cause: str
    trust: str

    @property
    def call(self) -> Callable[..., Any] | None:
        """The function, where there is one."""
        if not self.function:
            return None
        module, _, name = self.function.rpartition(".")
        return getattr(importlib.import_module(f"solutions.{module}"), name)

    @property
    def median_error(self) -> float:
        """The median of the errors' sizes."""
        return statistics.median(abs(row.error) for row in self.rows)

    @property
    def worst(self) -> Compared:
        """The figure that the model misses by the largest share."""
        return max(self.rows, key=lambda row: abs(row.error))
