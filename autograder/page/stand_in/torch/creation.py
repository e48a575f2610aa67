"""Making tensors: from numbers, filled, unfilled, from memory. Unfilled memory looks unfilled: nan, or odd integers."""

import math

from . import shapes
from .dtypes import BOOL, FLOAT32, INT64, fitting, of_number, promoted, rounded
from .memory import MARKS, Storage
from .missing import missing
from .registry import NONE, of_tensors, operation, plain_function
from .tensor import Tensor, as_kind, check_device, is_number

UNFILLED = "its memory is nan, or an odd integer such as -777777777, where torch's may hold anything"


def _checked_options(function, device, layout=None, pin_memory=False, memory_format=None, out=None):
    check_device(device, f"torch.{function}")
    if layout not in (None, MARKS["strided"]) or pin_memory or out is not None:
        raise missing(f"torch.{function} with layout, pin_memory or out")


def filled(shape, value, kind, requires_grad=False):
    """A tensor with one number everywhere."""
    one = Tensor._of([value], (1,), kind)._storage.memory.obj
    made = Tensor._made(Storage(one * math.prod(shape)), shape, kind)
    return made.requires_grad_() if requires_grad else made


# From numbers


@plain_function("tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor from a number, from nested lists, or from another tensor."""
    _checked_options("tensor", device, pin_memory=pin_memory)
    if isinstance(data, Tensor):
        made = data.detach().clone().to(as_kind(dtype, data.dtype))
    else:
        flat, shape, found = _flat(data)
        kind = as_kind(dtype, found)
        made = Tensor._of([_element(value, kind) for value in flat], shape, kind)
    if requires_grad and not made.dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made.requires_grad_() if requires_grad else made


def _element(value, kind):
    if kind is INT64 and isinstance(value, int) and not INT64.smallest <= value <= INT64.largest:
        raise ValueError("Overflow when unpacking long long")
    if not kind.is_floating_point and kind is not BOOL:
        try:
            return fitting(value, kind)
        except RuntimeError:
            words = f"value cannot be converted to type {kind.name} without overflow"
            raise RuntimeError(words) from None
    return fitting(value, kind)


def _flat(data):
    """All numbers of nested lists, their shape, and the type that torch gives them."""
    shape, row = [], data
    while isinstance(row, (list, tuple, range)):
        shape.append(len(row))
        if not len(row):
            break
        row = row[0]
    flat, kinds = [], []
    _collect(data, tuple(shape), 0, flat, kinds)
    return flat, tuple(shape), _inferred(kinds)


def _collect(data, shape, depth, flat, kinds):
    if depth == len(shape):
        if isinstance(data, Tensor):
            if data.numel() != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            flat.append(data.item())
            kinds.append(data.dtype)
        elif is_number(data):
            flat.append(data)
            kinds.append(of_number(data))
        else:
            _refuse(data, depth)
        return
    if not isinstance(data, (list, tuple, range)):
        raise TypeError(f"expected sequence of length {shape[depth]} at dim {depth}, got {type(data).__name__}")
    if len(data) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})")
    for part in data:
        _collect(part, shape, depth + 1, flat, kinds)


def _refuse(data, depth):
    kind = type(data).__name__
    if isinstance(data, (list, tuple)):
        raise ValueError(f"expected a number at dim {depth}, got a {kind}")
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'") if depth else TypeError("new(): invalid data type 'str'")
    if data is None or depth == 0:
        raise RuntimeError(f"Could not infer dtype of {kind}")
    raise RuntimeError(f"Could not infer dtype of {kind}")


def _inferred(kinds):
    """Float before integer before Boolean; float64 among tensors stays float64."""
    if not kinds:
        return FLOAT32
    found = kinds[0]
    for kind in kinds[1:]:
        if kind is not found:
            found = promoted(found, kind)
    return found


@plain_function("frombuffer", differs="read-only memory is copied, without torch's warning")
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor over memory that somebody else holds."""
    memory, size = memoryview(buffer).cast("B"), dtype.itemsize
    if not len(memory) or not count:
        raise ValueError(f"both buffer length ({len(memory)}) and count ({count}) must not be 0")
    left = len(memory) - offset
    if left <= 0 or offset < 0:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({len(memory)} bytes) "
            "minus 1"
        )
    if count < 0 and left % size:
        raise ValueError(
            f"buffer length ({left} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
        )
    count = left // size if count < 0 else count
    if count * size > left:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({len(memory)} bytes)"
        )
    memory = memory[offset : offset + count * size]
    made = Tensor._made(Storage(bytearray(memory) if memory.readonly else memory), (count,), dtype)
    return made.requires_grad_() if requires_grad else made


# Filled and unfilled


def _maker(name, value, differs=""):
    def make(
        *shape,
        size=None,
        dtype=None,
        device=None,
        requires_grad=False,
        layout=None,
        pin_memory=False,
        memory_format=None,
        out=None,
    ):
        _checked_options(name, device, layout, pin_memory, out=out)
        kind = as_kind(dtype, FLOAT32)
        shape = shape if size is None else (size,)
        return filled(shapes.sizes(shape, name), kind.unfilled if value is None else value, kind, requires_grad)

    def like(self, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
        _checked_options(name + "_like", device, layout, pin_memory)
        kind = as_kind(dtype, self.dtype)
        return _as_laid_out(self, filled(self.shape, kind.unfilled if value is None else value, kind, requires_grad))

    def new(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        _checked_options("Tensor.new_" + name, device, layout, pin_memory)
        kind = as_kind(dtype, self.dtype)
        shape = shapes.sizes(size, "new_" + name)
        return filled(shape, kind.unfilled if value is None else value, kind, requires_grad)

    plain_function(name, differs=differs)(make)
    operation(name + "_like", method=False, gradient=NONE, differs=differs)(like)
    operation("new_" + name, function=False, gradient=NONE, differs=differs)(new)
    return make


def _as_laid_out(pattern, made):
    """``made``, which has one number everywhere, with the order of dimensions that ``pattern`` has in memory."""
    if not pattern.is_contiguous():
        made._strides = shapes.dense_strides(pattern.shape, [pattern.stride()])
    return made


zeros, ones, empty = _maker("zeros", 0), _maker("ones", 1), _maker("empty", None, UNFILLED)


@plain_function("full")
def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """A tensor with one number everywhere."""
    _checked_options("full", device, layout, pin_memory, out=out)
    return filled(*_filling("full", size, fill_value, dtype), requires_grad)


def _filling(function, size, value, dtype):
    """Shape, number and type of a tensor that is filled with one number."""
    if not isinstance(size, (tuple, list)):
        kind = type(size).__name__
        raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
    inferred = value.dtype if isinstance(value, Tensor) else of_number(value)
    kind = as_kind(dtype, inferred)
    value = value.item() if isinstance(value, Tensor) else value
    return shapes.sizes(size, function), fitting(value, kind), kind


@operation("full_like", method=False, gradient=NONE)
def full_like(self, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the shape and type of another one, with one number everywhere."""
    _checked_options("full_like", device, layout, pin_memory)
    made = filled(*_filling("full_like", self.shape, fill_value, as_kind(dtype, self.dtype)), requires_grad)
    return _as_laid_out(self, made)


@operation("new_full", function=False, gradient=NONE)
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of this one's type, with one number everywhere."""
    _checked_options("Tensor.new_full", device, layout, pin_memory)
    return filled(*_filling("new_full", size, fill_value, as_kind(dtype, self.dtype)), requires_grad)


@operation("new_tensor", function=False, gradient=NONE)
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor of this one's type from numbers."""
    check_device(device, "Tensor.new_tensor")
    return tensor(data, dtype=as_kind(dtype, self.dtype), requires_grad=requires_grad)


@plain_function("arange")
def arange(
    *bounds,
    start=None,
    end=None,
    step=None,
    dtype=None,
    device=None,
    requires_grad=False,
    layout=None,
    pin_memory=False,
    out=None,
):
    """Numbers from a start, 0 unless given, up to but not including an end."""
    _checked_options("arange", device, layout, pin_memory, out=out)
    if end is not None:
        bounds = (*bounds, 0 if start is None else start, end) if not bounds else (*bounds, end)
    bounds = bounds if step is None else (*((0,) * (2 - len(bounds))), *bounds, step)
    bounds = [bound.item() if isinstance(bound, Tensor) else bound for bound in bounds]
    if not 1 <= len(bounds) <= 3 or not all(map(is_number, bounds)):
        raise TypeError(f"arange() takes one to three numbers, got {bounds}")
    kind = as_kind(dtype, INT64 if all(isinstance(bound, int) for bound in bounds) else FLOAT32)
    start, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = max(0, math.ceil((end - start) / step))
    made = Tensor._of([start + place * step for place in range(count)], (count,), kind)
    return made.requires_grad_() if requires_grad else made


@plain_function("linspace", differs="the last bit may differ")
def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Evenly spaced numbers from a start to an end, both included."""
    check_device(device, "torch.linspace")
    kind = as_kind(dtype, FLOAT32)
    if not kind.is_floating_point:
        raise missing("torch.linspace of integers")
    steps = shapes.integer(steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    limit = rounded if kind is FLOAT32 else float
    step = limit((limit(end) - limit(start)) / (steps - 1)) if steps > 1 else 0.0
    half = steps // 2
    values = [start + step * place if place < half else end - step * (steps - 1 - place) for place in range(steps)]
    made = Tensor._of([start] if steps == 1 else values, (steps,), kind)
    return made.requires_grad_() if requires_grad else made


@plain_function("eye")
def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """A matrix with ones on its diagonal."""
    check_device(device, "torch.eye")
    n, m = (shapes.integer(size) for size in (n, n if m is None else m))
    kind = as_kind(dtype, FLOAT32)
    values = [int(row == column) for row in range(n) for column in range(m)]
    made = Tensor._of(values, (n, m), kind)
    return made.requires_grad_() if requires_grad else made


def _constructed(cls, *arguments):
    """The old constructor: ``Tensor([1, 2])`` is a float32 with these numbers, ``Tensor(2, 3)`` an unfilled one."""
    if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
        return tensor(arguments[0], dtype=FLOAT32)
    if len(arguments) == 1 and isinstance(arguments[0], Tensor):
        return arguments[0].detach()
    return empty(*arguments or (0,))


of_tensors("__new__", _constructed)
