"""Tensors as torch prints them: the same columns, digits, line breaks and summaries."""

import math

from .dtypes import BOOL, FLOAT32, INT64
from .registry import of_tensors

THRESHOLD, EDGE, WIDTH, DIGITS = 1000, 3, 80, 4


class _Formatter:
    """How wide a number is and how it is written, from all numbers that are printed."""

    def __init__(self, values, kind):
        self.floating, self.whole, self.scientific, self.width = kind.is_floating_point, True, False, 1
        if not self.floating:
            self.width = max([1, *(len(str(value)) for value in values)])
            return
        found = [value for value in values if value and math.isfinite(value)]
        if not found:
            return
        smallest, largest = min(map(abs, found)), max(map(abs, found))
        self.whole = all(value == math.ceil(value) for value in found)
        self.scientific = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
        self.width = max([1, *(len(self._plain(value)) for value in found)])

    def _plain(self, value):
        if self.scientific:
            return f"{value:.{DIGITS}e}"
        if self.whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{DIGITS}f}"

    def __call__(self, value):
        text = self._plain(value) if self.floating else str(value)
        return text.rjust(self.width)


def _ends(values):
    """The first and last elements of a long list."""
    return [*values[:EDGE], *values[-EDGE:]] if len(values) > 2 * EDGE else values


def _shown(nested, depth):
    """The numbers of nested lists that a summary prints."""
    if depth == 0:
        return [nested]
    return [value for part in _ends(nested) for value in _shown(part, depth - 1)]


def _row(values, indent, summary, write):
    per_line = max(1, (WIDTH - indent) // (write.width + 2))
    if summary and len(values) > 2 * EDGE:
        words = [*map(write, values[:EDGE]), " ...", *map(write, values[-EDGE:])]
    else:
        words = list(map(write, values))
    lines = [", ".join(words[at : at + per_line]) for at in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(nested, depth, indent, summary, write):
    if depth == 0:
        return write(nested)
    if depth == 1:
        return _row(nested, indent, summary, write)
    parts = [_block(part, depth - 1, indent + 1, summary, write) for part in (_ends(nested) if summary else nested)]
    if summary and len(nested) > 2 * EDGE:
        parts.insert(EDGE, "...")
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(parts) + "]"


def _numbers(tensor, indent):
    if not tensor.numel():
        return "[]"
    nested, summary = tensor.tolist(), tensor.numel() > THRESHOLD
    values = _shown(nested, tensor.ndim) if summary else tensor._values()
    return _block(nested, tensor.ndim, indent, summary, _Formatter(values, tensor.dtype))


def _notes(tensor):
    """What is printed after the numbers."""
    notes = []
    if not tensor.numel() and tensor.ndim != 1:
        notes.append(f"size={tuple(tensor.shape)}")
    if tensor.dtype not in ((FLOAT32, INT64, BOOL) if tensor.numel() else (FLOAT32,)):
        notes.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn=<{tensor.grad_fn.title}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    return notes


def printed(tensor):
    """The tensor as text."""
    if tensor.device.type == "meta":
        return f"tensor(..., device='meta', size={tuple(tensor.shape)})"
    start = "tensor("
    text = start + _numbers(tensor, len(start))
    used = len(text) - text.rfind("\n") + 1
    for note in _notes(tensor):
        if used + len(note) + 2 > WIDTH:
            text += ",\n" + " " * len(start) + note
            used = len(start) + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"


of_tensors("__repr__", printed)
