"""The same memory in another shape, or a part of it: ``view``, ``transpose``, ``chunk`` and their relatives."""

from . import shapes
from .autograd import record
from .dtypes import DType
from .memory import MARKS
from .missing import missing
from .registry import RULE, of_tensors, operation
from .tensor import Tensor

NO_VIEW = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    "contiguous subspaces). Use .reshape(...) instead."
)


def _back_to(shape):
    """The rule of a view whose elements are in the same order."""
    return lambda gradient: gradient.reshape(shape)


def embedded(like, part_of):
    """The rule of a view of a part: zeros everywhere else. ``part_of`` finds the part in a tensor of that shape."""
    shape = like.shape

    def rule(gradient):
        whole = gradient.new_zeros(shape)
        part_of(whole).copy_(gradient)
        return whole

    return rule


def given_shape(arguments):
    return tuple(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)) else arguments


# Shapes


@operation("view", function=False, gradient=RULE)
def view(self, *shape, dtype=None):
    """The same elements in another shape, or the same bytes as another type."""
    if dtype is not None or (len(shape) == 1 and isinstance(shape[0], DType)):
        return _as_bytes_of(self, dtype or shape[0])
    target = shapes.completed(given_shape(shape), self.numel())
    strides = shapes.viewed(self.shape, self.stride(), target)
    if strides is None:
        raise RuntimeError(NO_VIEW)
    return record(self._alias(target, strides), "ViewBackward0", [self], [_back_to(self.shape)])


def _as_bytes_of(self, kind):
    if self.requires_grad:
        raise missing("Viewing a tensor that requires a gradient as another type")
    old, new = self.dtype.itemsize, kind.itemsize
    if old == new:
        return self._alias(self.shape, self.stride(), kind=kind)
    if not self.shape:
        raise RuntimeError(f"self.dim() cannot be 0 to view {self.dtype} as {kind} (different element sizes)")
    if self.stride()[-1] != 1:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {self.dtype.kind} as {kind.kind} (different element sizes), but got "
            f"{self.stride()[-1]}"
        )
    if not self.is_contiguous() or (self.shape[-1] * old) % new or (self._offset * old) % new:
        raise missing("Viewing these bytes as a type of another size")
    shape = (*self.shape[:-1], self.shape[-1] * old // new)
    return self._alias(shape, shapes.strides_of(shape), self._offset * old // new, kind)


def _sized(name, method):
    """The function of a method that takes sizes or dimensions one by one: it takes a tuple of them."""

    @operation(name, method=False, gradient=RULE)
    def function(self, shape):
        if not isinstance(shape, (tuple, list)):
            kind = type(shape).__name__
            raise TypeError(f"{name}(): argument 'shape' (position 2) must be tuple of ints, not {kind}")
        return method(self, shape)

    function.__doc__ = method.__doc__


@operation("reshape", function=False, gradient=RULE)
def reshape(self, *shape):
    """The same elements in another shape: a view if their places in memory allow it, else a copy."""
    target = shapes.completed(given_shape(shape), self.numel())
    if shapes.viewed(self.shape, self.stride(), target) is not None:
        return view(self, target)
    copy = self.clone(memory_format=MARKS["contiguous_format"])
    made = Tensor._made(copy._storage, target, self.dtype)
    return record(made, "UnsafeViewBackward0", [self], [_back_to(self.shape)])


_sized("reshape", reshape)


@operation("view_as", function=False, gradient=RULE)
def view_as(self, other):
    """The same elements in the shape of another tensor."""
    return reshape(self, other.shape)


@operation("flatten", gradient=RULE)
def flatten(self, start_dim=0, end_dim=-1):
    """One dimension in place of several; the tensor itself if there is nothing to join."""
    first, last = (shapes.dimension(dim, self.ndim) for dim in (start_dim, end_dim))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if self.ndim and first == last:
        return self
    joined = 1
    for size in self.shape[first : last + 1]:
        joined *= size
    return reshape(self, (*self.shape[:first], joined, *self.shape[last + 1 :]))


@operation("unsqueeze", gradient=RULE)
def unsqueeze(self, dim):
    """A further dimension of size 1."""
    dim = shapes.dimension(dim, self.ndim + 1)
    step = self.stride()[dim] * self.shape[dim] if dim < self.ndim else 1
    shape = (*self.shape[:dim], 1, *self.shape[dim:])
    strides = (*self.stride()[:dim], step, *self.stride()[dim:])
    return record(self._alias(shape, strides), "UnsqueezeBackward0", [self], [_back_to(self.shape)])


@operation("squeeze", gradient=RULE)
def squeeze(self, dim=None):
    """Without the dimensions of size 1, or without one of them."""
    dropped = range(self.ndim) if dim is None else shapes.dimensions(dim, self.ndim)
    kept = [place for place in range(self.ndim) if self.shape[place] != 1 or place not in dropped]
    made = self._alias([self.shape[place] for place in kept], [self.stride()[place] for place in kept])
    name = "SqueezeBackward0" if dim is None else "SqueezeBackward1" if isinstance(dim, int) else "SqueezeBackward2"
    return record(made, name, [self], [_back_to(self.shape)])


@operation("permute", function=False, gradient=RULE)
def permute(self, *dims):
    """The dimensions in another order."""
    if not dims:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    order = tuple(shapes.dimension(dim, self.ndim) for dim in given_shape(dims))
    if len(order) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(order)}"
        )
    if len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    back = sorted(range(self.ndim), key=lambda place: order[place])
    made = self._alias([self.shape[place] for place in order], [self.stride()[place] for place in order])
    return record(made, "PermuteBackward0", [self], [lambda gradient: gradient.permute(back)])


_sized("permute", permute)


@operation("transpose", gradient=RULE)
def transpose(self, dim0, dim1):
    """Two dimensions exchanged."""
    a, b = (shapes.dimension(dim, self.ndim) for dim in (dim0, dim1))
    order = list(range(self.ndim))
    if order:
        order[a], order[b] = order[b], order[a]
    made = self._alias([self.shape[place] for place in order], [self.stride()[place] for place in order])
    return record(made, "TransposeBackward0", [self], [lambda gradient: gradient.transpose(a, b)])


@operation("t", gradient=RULE)
def t(self):
    """A matrix transposed; a vector as it is."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    made = self._alias(self.shape[::-1], self.stride()[::-1])
    return record(made, "TBackward0", [self], [lambda gradient: gradient.t()])


def _turned(self):
    if self.ndim > 2:
        raise missing("Tensor.T of more than two dimensions")
    return permute(self, tuple(range(self.ndim))[::-1])


of_tensors("T", property(_turned))


@operation("expand", function=False, gradient=RULE)
def expand(self, *shape):
    """A view in which dimensions of size 1 look larger."""
    target = list(map(shapes.integer, given_shape(shape)))
    lead = len(target) - self.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({self.type()}{{{list(self.shape)}}}, size={target}): the number of sizes provided ({len(target)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    for place, size in enumerate(target):
        own = self.shape[place - lead] if place >= lead else None
        if own is None and size < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {place}"
            )
        target[place] = own if size == -1 and own is not None else size
        if own not in (None, 1, target[place]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[place]}) must match the existing size ({own}) at "
                f"non-singleton dimension {place}.  Target sizes: {list(given_shape(shape))}.  "
                f"Tensor sizes: {list(self.shape)}"
            )
    own = self.shape
    return record(self._expanded(tuple(target)), "ExpandBackward0", [self], [lambda g: summed_to(g, own)])


@operation("expand_as", function=False, gradient=RULE)
def expand_as(self, other):
    """A view of the shape of another tensor."""
    return expand(self, other.shape)


def summed_to(gradient, shape):
    """The gradient of something that was broadcast: summed over the dimensions that were stretched."""
    lead = gradient.ndim - len(shape)
    if lead:
        gradient = gradient.sum(tuple(range(lead)))
    stretched = tuple(p for p, size in enumerate(shape) if size == 1 and gradient.shape[p] != 1)
    return gradient.sum(stretched, keepdim=True) if stretched else gradient


# Parts


def select(self, dim, index):
    """One position along a dimension, which goes away."""
    shape, strides = list(self.shape), list(self.stride())
    place = self._offset + index * strides[dim]
    del shape[dim], strides[dim]
    made = self._alias(shape, strides, place)
    return record(made, "SelectBackward0", [self], [embedded(self, lambda whole: select(whole, dim, index))])


def sliced(self, dim, start, count, step=1, name="SliceBackward0"):
    """``count`` positions along a dimension."""
    shape, strides = list(self.shape), list(self.stride())
    place = self._offset + start * strides[dim]
    shape[dim], strides[dim] = count, strides[dim] * step
    made = self._alias(shape, strides, place)
    return record(made, name, [self], [embedded(self, lambda whole: sliced(whole, dim, start, count, step))])


@operation("unbind", gradient=RULE)
def unbind(self, dim=0):
    """All positions along a dimension, one by one."""
    dim = shapes.dimension(dim, self.ndim)
    if not self.shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return tuple(select(self, dim, place) for place in range(self.shape[dim]))


def _has_dimensions(self, function):
    if not self.shape:
        words = "expects at least a 1-dimensional tensor"
        if function == "tensor_split":
            words = "expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        raise RuntimeError(f"{function} {words}")


@operation("split", gradient=RULE)
def split(self, split_size_or_sections, dim=0):
    """Parts of a size, the last one perhaps shorter, or parts of several sizes."""
    _has_dimensions(self, "split")
    dim = shapes.dimension(dim, self.ndim)
    whole = self.shape[dim]
    if isinstance(split_size_or_sections, (list, tuple)):
        return _split_to(self, list(map(shapes.integer, split_size_or_sections)), dim)
    size = shapes.integer(split_size_or_sections)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and whole:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {whole}")
    starts = range(0, whole, size) if whole else [0]
    return tuple(sliced(self, dim, at, min(size, whole - at), name="SplitBackward0") for at in starts)


def _split_to(self, lengths, dim):
    whole = self.shape[dim]
    if any(length < 0 for length in lengths):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={lengths}"
        )
    if sum(lengths) != whole:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {whole} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={lengths}"
        )
    parts, at = [], 0
    for length in lengths:
        parts.append(sliced(self, dim, at, length, name="SplitWithSizesBackward0"))
        at += length
    return tuple(parts)


@operation("chunk", gradient=RULE)
def chunk(self, chunks, dim=0):
    """Parts of one size, as many as asked for or fewer; the last may be shorter."""
    _has_dimensions(self, "chunk")
    chunks = shapes.integer(chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    whole = self.shape[shapes.dimension(dim, self.ndim)]
    if not whole:
        return _split_to(self, [0] * chunks, shapes.dimension(dim, self.ndim))
    return split(self, -(-whole // chunks), dim)


@operation("tensor_split", gradient=RULE)
def tensor_split(self, indices_or_sections, dim=0):
    """As many parts as asked for, whose sizes differ by at most one, or the parts between positions."""
    _has_dimensions(self, "tensor_split")
    dim, parts = shapes.dimension(dim, self.ndim), indices_or_sections
    if isinstance(parts, Tensor):
        parts = parts.tolist()
    if not isinstance(parts, (list, tuple)):
        parts = shapes.integer(parts)
        if parts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {parts}")
    return tuple(sliced(self, dim, a, b - a) for a, b in shapes.cuts(self.shape[dim], parts))
