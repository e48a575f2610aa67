"""Copies: in memory of their own, as another type, repeated, or turned around."""

from . import shapes
from .autograd import record
from .dtypes import BOOL, OTHER_NAMES, DType
from .memory import MARKS, Device, Storage
from .registry import NONE, RULE, operation
from .tensor import Tensor, as_kind, check_device
from .views import given_shape, reshape


def _copied(self, memory_format):
    if self._storage is not None and self.is_contiguous():
        return Tensor._made(Storage(bytearray(self._content())), self.shape, self.dtype)
    made = Tensor._of(self._values(), self.shape, self.dtype)
    return _laid_out_as(self, made) if memory_format is MARKS["preserve_format"] else made


def _laid_out_as(pattern, made):
    """``made`` with its elements in the order in which those of ``pattern``, of the same shape, are in memory."""
    if pattern.is_contiguous():
        return made
    return laid_out(made, shapes.dense_strides(pattern.shape, [pattern.stride()]))


def laid_out(made, strides):
    """A new tensor with its elements moved in memory to where these strides have them."""
    if strides != made.stride():
        values, made._strides = made._values(), strides
        made._write(values)
        made._storage.version = 0
    return made


@operation("clone", gradient=RULE)
def clone(self, *, memory_format=MARKS["preserve_format"]):
    """A copy in memory of its own."""
    return record(_copied(self, memory_format), "CloneBackward0", [self], [lambda gradient: gradient])


@operation("contiguous", function=False, gradient=RULE)
def contiguous(self, memory_format=MARKS["contiguous_format"]):
    """The tensor itself if its elements are in order in memory, else a copy in which they are."""
    return self if self.is_contiguous() else clone(self, memory_format=memory_format)


@operation("cpu", "resolve_conj", "resolve_neg", function=False, gradient=RULE)
def cpu(self):
    """The tensor itself: it is on the processor, and nothing is put off."""
    return self


def as_type(self, kind, copy=False):
    """The tensor itself if it is of this type, else a copy that is."""
    if kind is self.dtype:
        return clone(self) if copy else self
    made = _laid_out_as(self, Tensor._of(self._values(kind), self.shape, kind))
    if not kind.is_floating_point:
        return made
    before = self.dtype
    return record(made, "ToCopyBackward0", [self], [lambda gradient: as_type(gradient, before)])


@operation("to", function=False, gradient=RULE)
def to(self, *target, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """The tensor as another type; there is one device only."""
    for one in target:
        if isinstance(one, Tensor):
            dtype = one.dtype
        elif isinstance(one, DType) or one in (bool, int, float):
            dtype = one
        elif isinstance(one, (str, Device)):
            device = one
        elif not isinstance(one, bool):
            raise TypeError(f"to() received an invalid argument: {one!r}")
    check_device(device, "Tensor.to")
    return as_type(self, as_kind(dtype, self.dtype), copy)


@operation("type", function=False, gradient=RULE)
def type_of(self, dtype=None, non_blocking=False):
    """The name of the type, or the tensor as another type."""
    return f"torch.{self.dtype.kind}Tensor" if dtype is None else as_type(self, as_kind(dtype, None))


def _cast(name, kind):
    @operation(name, function=False, gradient=RULE)
    def cast(self, memory_format=MARKS["preserve_format"]):
        """The tensor as another type."""
        return as_type(self, kind)

    return cast


for _name, _kind in {**OTHER_NAMES, "bool": BOOL}.items():
    _cast(_name, _kind)


@operation("numel", method=False, gradient=NONE)
def numel(self):
    """The number of elements."""
    return self.numel()


@operation("is_floating_point", method=False, gradient=NONE)
def is_floating_point(self):
    """Whether the elements are floating-point numbers."""
    return self.is_floating_point()


@operation("repeat", function=False)
def repeat(self, *repeats):
    """A copy in which the tensor is repeated along its dimensions."""
    counts = tuple(given_shape(repeats))
    if len(counts) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(counts) - self.ndim) + tuple(self.shape)
    wide = [part for count, size in zip(counts, shape, strict=True) for part in (count, size)]
    spread = reshape(self, [part for size in shape for part in (1, size)])
    target = [count * size for count, size in zip(counts, shape, strict=True)]
    return Tensor._of(spread._expanded(tuple(wide))._values(), target, self.dtype)


@operation("flip", method=False)
def flip_along(self, dims):
    """A copy with some dimensions in the opposite order."""
    if not isinstance(dims, (tuple, list)):
        kind = type(dims).__name__
        raise TypeError(f"flip(): argument 'dims' (position 2) must be tuple of ints, not {kind}")
    return flip(self, dims)


@operation("flip", function=False)
def flip(self, *dims):
    """A copy with some dimensions in the opposite order."""
    if not self.ndim and dims:
        return clone(self)
    if not dims:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    turned = shapes.dimensions(given_shape(dims), self.ndim)
    offset, strides = self._offset, list(self.stride())
    for dim in turned:
        offset += (self.shape[dim] - 1) * strides[dim] if self.shape[dim] else 0
        strides[dim] = -strides[dim]
    cells = self._storage.cells(self.dtype)
    found = [cells[place] for place in shapes.places(offset, self.shape, strides)]
    return _laid_out_as(self, Tensor._of(found, self.shape, self.dtype))
