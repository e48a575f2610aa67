"""Shapes and strides: sizes, dimensions counted from the end, broadcasting, and where elements are in memory."""

import itertools
import math
import operator


class Size(tuple):
    """The shape of a tensor."""

    __slots__ = ()

    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, index):
        part = super().__getitem__(index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other):
        return Size(super().__add__(other))


Size.__module__ = "torch"


def strides_of(shape):
    """Steps, in elements, of a contiguous tensor of this shape."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def is_contiguous(shape, strides):
    if 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def integer(value):
    """A size or a position: an integer, or a tensor of one integer. A Boolean is none."""
    if isinstance(value, bool):
        raise TypeError("an argument must be int, not bool")
    return operator.index(value)


def _is_integer(value):
    try:
        integer(value)
    except TypeError:
        return False
    return True


def sizes(arguments, function):
    """The shape in ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros([2, 3])``."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        arguments = arguments[0]
    try:
        shape = tuple(map(integer, arguments))
    except TypeError:
        kind = next(type(one).__name__ for one in arguments if not _is_integer(one))
        words = f"{function}(): argument 'size' (position 1) must be tuple of ints, not {kind}"
        raise TypeError(words) from None
    if any(size < 0 for size in shape):
        least = next(size for size in shape if size < 0)
        if function == "zeros":
            raise RuntimeError(f"{function}: Dimension size must be non-negative.")
        raise RuntimeError(f"Trying to create tensor with negative dimension {least}: {list(shape)}")
    return shape


def dimension(dim, count):
    """A dimension counted from the start, of a tensor that has ``count``; one without dimensions counts as having 1."""
    dim, count = integer(dim), max(count, 1)
    if not -count <= dim < count:
        limits = f"[{-count}, {count - 1}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {limits}, but got {dim})")
    return dim % count


def dimensions(dims, count):
    """Several dimensions, counted from the start."""
    if not isinstance(dims, (tuple, list)):
        return (dimension(dims, count),)
    found = tuple(dimension(dim, count) for dim in dims)
    if len(set(found)) < len(found):
        twice = next(dim for dim in found if found.count(dim) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return found


def broadcast(a, b):
    """The shape of an operation on two tensors of these shapes."""
    if a == b:
        return a
    count = max(len(a), len(b))
    pairs = zip((1,) * (count - len(a)) + a, (1,) * (count - len(b)) + b, strict=True)
    out = []
    for place, (m, n) in enumerate(pairs):
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {place}"
            )
        out.append(n if m == 1 else m)
    return tuple(out)


def stretches(shape, target):
    """Whether a tensor of a shape broadcasts to another shape."""
    ends = target[len(target) - len(shape) :]
    return len(shape) <= len(target) and all(size in (1, want) for size, want in zip(shape, ends, strict=True))


def stretched(shape, strides, target):
    """The strides with which a tensor looks as if it had the shape ``target``, which it broadcasts to."""
    lead = len(target) - len(shape)
    kept = (stride if size == want else 0 for size, stride, want in zip(shape, strides, target[lead:], strict=True))
    return (0,) * lead + tuple(kept)


def viewed(shape, strides, target):
    """The strides of the same elements in the shape ``target``; None if they need a copy."""
    if is_contiguous(shape, strides):
        return strides_of(target)
    runs = _runs(shape, strides)
    steps, place = [], len(runs) - 1
    left, step = runs[place] if runs else (1, 1)
    for size in reversed(target):
        if size != 1 and left == 1 and place > 0:
            place -= 1
            left, step = runs[place]
        if left % size:
            return None
        steps.append(step)
        left, step = left // size, step * size
    return tuple(reversed(steps)) if left == 1 and place <= 0 else None


def _runs(shape, strides):
    """Neighbouring dimensions that are evenly spaced in memory, joined: ``(elements, step)`` of each run."""
    runs = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs


def completed(shape, elements):
    """A shape whose one -1 is worked out from the number of elements."""
    shape = tuple(map(integer, shape))
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = math.prod(size for size in shape if size != -1)
    wrong = RuntimeError(f"shape '{list(shape)}' is invalid for input of size {elements}")
    if any(size < -1 for size in shape):
        place = next(place for place, size in enumerate(shape) if size < -1)
        raise RuntimeError(f"invalid shape dimension {shape[place]} at index {place} of shape {list(shape)}")
    if -1 not in shape:
        if known != elements:
            raise wrong
        return shape
    if known == 0 and elements == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    if known == 0 or elements % known:
        raise wrong
    return tuple(elements // known if size == -1 else size for size in shape)


def places(offset, shape, strides):
    """Where the elements are, in order."""
    found = [offset]
    for size, stride in zip(shape, strides, strict=True):
        steps = range(0, size * stride, stride) if stride else [0] * size
        found = [place + step for place in found for step in steps]
    return found


def span(offset, shape, strides):
    """The first place in memory that a tensor uses and the one after its last."""
    if 0 in shape:
        return offset, offset
    return offset, offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1


def is_dense(shape, strides):
    """Whether the elements, in some order of the dimensions, fill a stretch of memory without gap or overlap."""
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def dense_strides(shape, operands):
    """The strides of a new tensor of this shape, which keeps the order of dimensions of tensors with these strides.

    The dimension with the smallest steps comes last in memory; one in which a tensor is stretched does not count.
    """
    order = list(range(len(shape)))[::-1]
    for later in range(1, len(order)):
        place = later
        for earlier in range(later - 1, -1, -1):
            turn = _compared(order[earlier], order[place], shape, operands)
            if turn < 0:
                break
            if turn > 0:
                order[earlier], order[place] = order[place], order[earlier]
                place = earlier
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def _compared(a, b, shape, operands):
    """Negative if dimension ``a`` has the smaller steps, positive if ``b`` has, 0 if nothing tells them apart."""
    for strides in operands:
        if strides[a] == 0 or strides[b] == 0:
            continue
        if strides[a] != strides[b]:
            return strides[a] - strides[b]
        if shape[a] > shape[b]:
            return 1
    return 0


def cuts(size, parts):
    """Where ``tensor_split`` cuts: bounds of each part."""
    if isinstance(parts, (list, tuple)):
        parts = map(integer, parts)
        ends = [0, *parts, size]
        return [(a, max(a, b)) for a, b in itertools.pairwise(slice(None, e).indices(size)[1] for e in ends)]
    least, longer = divmod(size, parts)
    starts = [place * least + min(place, longer) for place in range(parts + 1)]
    return list(itertools.pairwise(starts))
