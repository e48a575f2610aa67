"""Bits, truth, comparisons, and choices between elements."""

import operator

from .dtypes import BOOL, IN_C, common, fitting
from .elementwise import (
    asks,
    checked,
    combined,
    in_their_order,
    kind_of,
    numbers_of,
    operator_of,
    shape_of,
    tensors_in,
)
from .missing import missing, no_gradient
from .registry import NONE, operation
from .tensor import Tensor, is_integral

# Bits and truth


def _bits(name, dunder, compute):
    def apply(self, other):
        kind, _ = kind_of(self, other), shape_of(self, other)
        if not is_integral(kind):
            raise NotImplementedError(f"\"bitwise_{name}_cpu\" not implemented for '{kind.kind}'")
        return combined(compute, self, other, kind=kind)

    @operation(f"bitwise_{name}", gradient=NONE)
    def function(self, other):
        return checked(f"bitwise_{name}", apply, self, other)

    function.__doc__ = f"{name.upper()} of the bits."
    setattr(Tensor, f"__{dunder}__", operator_of(apply, name, NONE))
    setattr(Tensor, f"__r{dunder}__", operator_of(apply, name, NONE))
    return apply


_bits("and", "and", operator.and_)
_bits("or", "or", operator.or_)
_bits("xor", "xor", operator.xor)


@operation("__invert__", gradient=NONE)
def inverted(self):
    """The bits inverted; of Booleans, the opposite."""
    if not is_integral(self.dtype):
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return combined(operator.not_ if self.dtype is BOOL else operator.invert, self)


@operation("logical_not", gradient=NONE)
def logical_not(self):
    """Whether each element is 0."""
    return combined(operator.not_, self, result=BOOL)


# Comparisons


def _comparison(name, compute):
    def compare(self, other):
        return combined(compute, self, other, result=BOOL)

    setattr(Tensor, f"__{name}__", operator_of(compare, name, NONE))


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(_name, getattr(operator, _name))


def _extreme(name, pick):
    def choose(a, b):
        return a if a != a else b if b != b else pick(a, b)

    @operation(name)
    def function(self, other):
        if not isinstance(other, Tensor):
            found = type(other).__name__
            raise TypeError(f"{name}(): argument 'other' (position 2) must be Tensor, not {found}")
        return combined(choose, self, other)

    function.__doc__ = f"The {name} of each pair of elements; nan where one of them is."
    return function


maximum, minimum = _extreme("maximum", max), _extreme("minimum", min)


@operation("where", function=True, method=False)
def where(condition, self, other):
    """Elements of ``self`` where the condition holds, else those of ``other``."""
    if condition.dtype is not BOOL:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.kind}"
        )
    if asks(self) or asks(other):
        raise no_gradient("torch.where")
    kind = kind_of(self, other)
    shape = shape_of(condition, *tensors_in(self, other))
    columns = [numbers_of(condition, shape, BOOL), numbers_of(self, shape, kind), numbers_of(other, shape, kind)]
    made = Tensor._of([a if chosen else b for chosen, a, b in zip(*columns, strict=True)], shape, kind)
    return in_their_order(made, condition, self, other)


@operation("masked_fill")
def masked_fill(self, mask, value):
    """A copy with one number where a mask is true."""
    if mask.dtype is not BOOL:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {IN_C[mask.dtype.name]}")
    if isinstance(value, Tensor) and value.shape:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    shape = shape_of(self, mask)
    value = value._values(self.dtype)[0] if isinstance(value, Tensor) else fitting(value, self.dtype)
    pairs = zip(numbers_of(mask, shape, BOOL), numbers_of(self, shape, self.dtype), strict=True)
    return in_their_order(Tensor._of([value if chosen else old for chosen, old in pairs], shape, self.dtype), self)


def _clamped(self, low, high):
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        raise missing("torch.clamp with tensors as limits")
    numbers = [limit for limit in (low, high) if limit is not None]
    kind = common([self], numbers)
    low, high = (None if limit is None else fitting(limit, kind) for limit in (low, high))

    def within(value):
        if value != value:
            return value
        value = value if low is None else max(value, low)
        return value if high is None else min(value, high)

    return combined(within, self, kind=kind)


@operation("clamp")
def clamp(self, min=None, max=None):  # noqa: A002  # as torch calls them
    """Numbers below a limit raised to it, numbers above one lowered."""
    return _clamped(self, min, max)


def _shift(self, other):
    raise missing("Shifting bits (<< and >>)")


for _name in ("lshift", "rshift", "rlshift", "rrshift", "ilshift", "irshift"):
    setattr(Tensor, f"__{_name}__", _shift)
