"""Arguments that a case can hold without importing torch: tensors, arrays, one-shot iterators, parts of a model."""

from __future__ import annotations

import array
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("the autograder's tensor encoding needs a little-endian machine")

#: Array type codes and item sizes of the tensor types that a case may hold.
DTYPES = {"float32": "f", "float64": "d", "int64": "q", "int32": "i", "bool": "b"}


@dataclass(frozen=True)
class Tensor:
    """A dense tensor as plain bytes (row-major, little-endian), as cases, replies and reports hold it."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, values: Sequence[float], dtype: str = "float32", shape: Sequence[int] | None = None) -> Tensor:
        """From a flat sequence: ``Tensor.of([1, 2, 3, 4], shape=(2, 2))``."""
        kind = DTYPES[dtype]
        plain = [float(v) for v in values] if kind in "fd" else [int(v) for v in values]
        data = array.array(kind, plain).tobytes()
        return cls(dtype, tuple(shape) if shape is not None else (len(values),), data)

    def tolist(self) -> list[float]:
        """The elements, flat."""
        values = array.array(DTYPES[self.dtype])
        values.frombytes(self.data)
        return [bool(v) for v in values] if self.dtype == "bool" else list(values)


@dataclass(frozen=True)
class Array(Tensor):
    """A NumPy array or scalar; never equal to a tensor."""


@dataclass(frozen=True)
class Iterator:
    """An argument that can be iterated only once: each call of the program receives a new ``iter(values)``."""

    values: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Stage:
    """A part of a model: each call of the program receives a new ``torch.nn.Sequential`` of ``layers``.

    A layer is ``("Linear", weight, bias)`` with a :class:`Tensor` for each (the bias may be None), or the name of a
    module of ``torch.nn`` without parameters, ``("Tanh",)``. The parameters of a ``frozen`` stage require no gradient.
    Gradients that a call leaves in it are part of the answer: a record ``Trained`` with ``value`` and ``gradients``.
    """

    layers: tuple[tuple[Any, ...], ...]
    frozen: bool = False

    def __repr__(self) -> str:
        made = [f"{name}({', '.join(map(str, reversed(own[0].shape))) if own else ''})" for name, *own in self.layers]
        return f"Sequential({', '.join(made)}){'.requires_grad_(False)' if self.frozen else ''}"
