"""Several tensors made one: ``cat`` and ``stack``."""

import math

from . import shapes
from .autograd import record
from .dtypes import common
from .memory import Storage
from .missing import missing
from .registry import plain_function
from .tensor import Tensor
from .views import sliced, unsqueeze


def _all_tensors(tensors, function):
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        found = type(tensors).__name__
        raise TypeError(f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not {found}")
    for place, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(one).__name__}")
    return list(tensors)


def _check_sizes(kept, dim):
    first = kept[0]
    for place, one in enumerate(kept):
        if one.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {one.ndim}")
        for other, (want, size) in enumerate(zip(first.shape, one.shape, strict=True)):
            if other != dim and want != size:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {size} "
                    f"for tensor number {place} in the list."
                )


@plain_function("cat")
def cat(tensors, dim=0, *, out=None):
    """Tensors one after the other along a dimension."""
    if out is not None:
        raise missing("torch.cat with out")
    given = _all_tensors(tensors, "cat")
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, one in enumerate(given):
        if not one.shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    kept = [one for one in given if tuple(one.shape) != (0,)] or given[:1]
    dim = shapes.dimension(dim, kept[0].ndim)
    _check_sizes(kept, dim)
    return _joined(given, kept, dim)


def _joined(given, kept, dim):
    kind = common(given, [])
    shape = list(kept[0].shape)
    shape[dim] = sum(one.shape[dim] for one in kept)
    if dim == 0 and all(one.dtype is kind and one.is_contiguous() for one in kept):
        made = Tensor._made(Storage(bytearray(b"".join(one._content() for one in kept))), shape, kind)
    else:
        made = Tensor._of(_woven(kept, dim, kind), shape, kind)
    return record(made, "CatBackward0", kept, _cuts(kept, dim))


def _woven(kept, dim, kind):
    """The elements of tensors that are joined along any dimension, in order."""
    before = math.prod(kept[0].shape[:dim])
    columns = [(one._values(kind), math.prod(one.shape[dim:])) for one in kept]
    return [v for row in range(before) for found, size in columns for v in found[row * size : (row + 1) * size]]


def _cuts(kept, dim):
    """The rules: each tensor's gradient is its part of the whole one."""
    rules, at = [], 0
    for one in kept:
        rules.append(_cut(dim, at, one.shape[dim], one.dtype))
        at += one.shape[dim]
    return rules


def _cut(dim, start, count, kind):
    return lambda gradient: sliced(gradient, dim, start, count).to(kind)


@plain_function("stack")
def stack(tensors, dim=0, *, out=None):
    """Tensors of one shape along a new dimension."""
    if out is not None:
        raise missing("torch.stack with out")
    given = _all_tensors(tensors, "stack")
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    for place, one in enumerate(given):
        if one.shape != given[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(given[0].shape)} at entry 0 and "
                f"{list(one.shape)} at entry {place}"
            )
    dim = shapes.dimension(dim, given[0].ndim + 1)
    made = cat([unsqueeze(one, dim) for one in given], dim)
    if made._node is not None:
        made._node.title = "StackBackward0"
    return made
