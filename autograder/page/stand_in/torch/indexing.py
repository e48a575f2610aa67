"""``x[...]`` and ``x[...] = ...``: integers, slices, None and ``...`` give views; tensors and lists give copies."""

import math
import operator

from . import autograd, shapes
from .autograd import record
from .creation import tensor
from .dtypes import BOOL, INT64, UINT8, fitting
from .missing import missing, no_gradient
from .registry import of_tensors
from .tensor import Tensor, is_integral, is_number
from .views import embedded, select, sliced, unsqueeze

NO_DIMENSIONS = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)


class Places:
    """The one part of an index that is a tensor or a list: which places along which dimensions.

    Attributes:
        dim: the first dimension that it takes.
        count: how many it takes: one, or those of a mask.
        shape: of the dimensions that come in their stead.
        found: the places, in order, as if the taken dimensions were one.
    """

    def __init__(self, tensor, index, dim):
        self.dim = dim
        if index.dtype is BOOL:
            self._of_mask(tensor, index)
        else:
            self._of_numbers(tensor, index)

    def _of_mask(self, tensor, mask):
        self.count = mask.ndim
        sizes = tensor.shape[self.dim : self.dim + mask.ndim]
        if sizes != mask.shape:
            place = next((p for p, (a, b) in enumerate(zip(mask.shape, sizes, strict=False)) if a != b), len(sizes))
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {place} does not match the shape of the indexed "
                f"tensor {list(tensor.shape)} at index {self.dim + place}"
            )
        self.found = [place for place, kept in enumerate(mask._values()) if kept]
        self.shape = (len(self.found),)

    def _of_numbers(self, tensor, index):
        if not is_integral(index.dtype):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        self.count, size = 1, tensor.shape[self.dim]
        self.found, self.shape = [], tuple(index.shape)
        for place in index._values():
            if not -size <= place < size:
                raise IndexError(f"index {place} is out of bounds for dimension {self.dim} with size {size}")
            self.found.append(place % size)

    def split(self, tensor):
        """The shape of the result, and where its elements are in memory."""
        before, taken, after = self.dim, self.dim + self.count, tensor.shape[self.dim + self.count :]
        steps = shapes.places(0, tensor.shape[before:taken], tensor.stride()[before:taken])
        outer = shapes.places(tensor._offset, tensor.shape[:before], tensor.stride()[:before])
        inner = shapes.places(0, after, tensor.stride()[taken:])
        found = [a + steps[place] + b for a in outer for place in self.found for b in inner]
        return (*tensor.shape[:before], *self.shape, *after), found


def _normal(index):
    """The parts of an index; lists and ranges as tensors."""
    parts = list(index) if isinstance(index, tuple) else [index]
    for place, part in enumerate(parts):
        if isinstance(part, bool):
            raise missing("Indexing with a Boolean")
        if isinstance(part, (list, range)) and not (isinstance(index, list) and any(map(_is_slice, part))):
            parts[place] = tensor(list(part)) if len(part) else tensor([], dtype=INT64)
        if isinstance(part, Tensor) and part.dtype is UINT8:
            raise missing("Indexing with a tensor of uint8, which torch takes for a mask,")
        if isinstance(part, Tensor) and not part.shape and part.dtype is not BOOL and is_integral(part.dtype):
            parts[place] = part.item()
    return parts


def _is_slice(part):
    return isinstance(part, (slice, type(None), type(...)))


def _width(part):
    """How many dimensions a part of an index takes."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, Tensor) and part.dtype is BOOL else 1


def _filled_out(tensor, parts):
    """The parts of an index without ``...``."""
    taken = sum(map(_width, parts))
    if not tensor.shape and any(isinstance(part, slice) for part in parts):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not tensor.shape and any(isinstance(part, Tensor) and _width(part) for part in parts):
        raise IndexError("too many indices for tensor of dimension 0")
    if taken > tensor.ndim:
        raise IndexError(
            NO_DIMENSIONS if not tensor.shape else f"too many indices for tensor of dimension {tensor.ndim}"
        )
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise missing("Indexing with more than one ...")
    for place in dots:
        parts[place : place + 1] = [slice(None)] * (tensor.ndim - taken)
    return parts


def _bounds(part, size):
    """Start, number of positions and step of a slice."""
    if part.step is not None and operator.index(part.step) <= 0:
        raise ValueError("slice step cannot be zero" if part.step == 0 else "step must be greater than zero")
    ends = [None if end is None else operator.index(end) for end in (part.start, part.stop, part.step)]
    start, stop, step = slice(*ends).indices(size)
    return start, len(range(start, stop, step)), step


def taken(tensor, index):
    """The view that the plain parts of an index give, and the :class:`Places` that remain, if any."""
    dim, places = 0, None
    for part in _filled_out(tensor, _normal(index)):
        if isinstance(part, slice):
            start, count, step = _bounds(part, tensor.shape[dim])
            if (count, step) != (tensor.shape[dim], 1):
                tensor = sliced(tensor, dim, start, count, step)
            dim += 1
        elif part is None:
            tensor, dim = unsqueeze(tensor, dim), dim + 1
        elif isinstance(part, Tensor):
            if places is not None:
                raise missing("Indexing with more than one tensor or list")
            places, dim = (part, dim), dim + _width(part)
        else:
            tensor = _selected(tensor, dim, part)
    return tensor, None if places is None else Places(tensor, *places)


def _selected(tensor, dim, part):
    if not hasattr(part, "__index__"):
        if isinstance(part, str):
            raise TypeError("new(): invalid data type 'str'")
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(part).__name__})"
        )
    place, size = operator.index(part), tensor.shape[dim]
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of bounds for dimension {dim} with size {size}")
    return select(tensor, dim, place % size)


def get_item(self, index):
    """``self[index]``."""
    part, places = taken(self, index)
    if places is None:
        if part is not self:
            return part
        whole = self._alias(self.shape, self.stride())
        return record(whole, "AliasBackward0", [self], [embedded(self, lambda same: same)])
    if autograd.enabled() and self.requires_grad:
        raise no_gradient("indexing with a tensor or a list")
    shape, found = places.split(part)
    cells = self._storage.cells(self.dtype)
    return Tensor._of([cells[place] for place in found], shape, self.dtype)


def set_item(self, index, value):
    """``self[index] = value``."""
    if not isinstance(value, Tensor) and not is_number(value):
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
    if autograd.enabled() and isinstance(value, Tensor) and value.requires_grad:
        raise no_gradient("an assignment to a part of a tensor")
    with autograd.no_grad():
        part, places = taken(self, index)
    if autograd.enabled() and self.requires_grad:
        part._check_writable() if self._node is None else None
        raise no_gradient("an assignment to a part of a tensor")
    if places is None:
        _assign(part, value)
        return
    shape, found = places.split(part)
    part._put(found, _assigned(value, shape, self.dtype))
    self._storage.version += 1


def _assign(part, value):
    if not isinstance(value, Tensor):
        part._check_writable()
        part.fill_(value)
        return
    lead = value.ndim - part.ndim
    if lead > 0 and value.shape[:lead] == (1,) * lead:
        value = value.reshape(value.shape[lead:])
    part.copy_(value.expand(part.shape))


def _assigned(value, shape, kind):
    """The numbers that an assignment writes."""
    if not isinstance(value, Tensor):
        return [fitting(value, kind)] * math.prod(shape)
    if not shapes.stretches(value.shape, shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    return value._expanded(tuple(shape))._values(kind)


of_tensors("__getitem__", get_item)
of_tensors("__setitem__", set_item)
