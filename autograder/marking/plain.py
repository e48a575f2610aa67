"""Plain copies of what a trusted program returned and did to its arguments, and the line in which it raised."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from autograder.child import encoding, wire
from autograder.items import Iterator as OneShot
from autograder.items import Stage, Tensor
from autograder.marking import probing, values

#: Types of arguments that a call is meant to change.
CHANGED = (OneShot, Stage)


def after(sent: Sequence[Any], left: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments after a call, or None if they cannot be copied; iterators and stages count as unchanged."""
    try:
        return tuple(old if isinstance(old, CHANGED) else plain(new) for old, new in zip(sent, left, strict=True))
    except wire.Refused:
        return None


def plain(value: Any) -> Any:
    """A copy of ``value`` in plain types, with tensors and arrays as :class:`Tensor`.

    Raises:
        wire.Refused: it contains anything else.
    """
    return values.decode(encoding.encode(value, _special))


def _special(value: Any) -> Any:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if isinstance(value, Tensor):
        return values.encode(value)
    if torch is not None and isinstance(value, torch.Tensor):
        from autograder.child.main import tensor_parts

        return encoding.tensor(*tensor_parts(torch, value))
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        from autograder.child.main import array_parts

        dtype, shape, data = array_parts(value)
        return encoding.tensor(dtype, shape, data, "N")
    return None


def line_of(error: BaseException) -> int | None:
    """The innermost line of ``error`` in the file of the called program; lines of a probe do not count."""
    step = error.__traceback__
    step = step.tb_next if step else None
    while step is not None and step.tb_next is not None and probing.is_probe(step.tb_frame.f_code.co_filename):
        step = step.tb_next
    file = step.tb_frame.f_code.co_filename if step else ""
    if probing.is_probe(file) or "site-packages" in file:
        return None  # raised after the program returned, while its result was used
    line = None
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line
