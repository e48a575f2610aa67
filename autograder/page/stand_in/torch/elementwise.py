"""One operation on each element: what the modules of arithmetic, comparisons and functions are made of.

Numbers are worked on in float64 or as integers of any size and are then rounded, or wrapped, to the type of the result,
after each operation. For ``+ - * /`` that gives float32's own bits.
"""

import itertools
import math

from . import autograd, shapes
from .copies import laid_out
from .dtypes import BOOL, FLOAT32, FLOATING, common, computed, rounded, wrapped
from .memory import Storage
from .missing import no_gradient
from .registry import REFUSED
from .tensor import Tensor, is_number

LAST_BITS = "the last bits may differ"


def is_operand(value):
    return isinstance(value, Tensor) or is_number(value)


def tensors_in(*operands):
    return [one for one in operands if isinstance(one, Tensor)]


def kind_of(*operands):
    """The type in which an operation on tensors and Python numbers works."""
    numbers = [one for one in operands if not isinstance(one, Tensor)]
    return common(tensors_in(*operands), numbers)


def shape_of(*operands):
    """The shape to which tensors and numbers broadcast."""
    shape = ()
    for one in tensors_in(*operands):
        shape = shapes.broadcast(shape, one.shape) if shape else tuple(one.shape)
    return shape


def numbers_of(operand, shape, kind):
    """The elements of a tensor stretched to a shape, or one Python number as often as needed, as ``kind``."""
    if isinstance(operand, Tensor):
        whole = operand if tuple(operand.shape) == shape else operand._expanded(shape)
        return whole._sequence(kind)
    if kind is FLOAT32:
        operand = rounded(operand)
    elif kind.category == FLOATING:
        operand = float(operand)
    elif kind is not BOOL:
        operand = wrapped(int(operand), kind)
    return itertools.repeat(operand, math.prod(shape))


def combined(compute, *operands, kind=None, result=None):
    """A new tensor: ``compute`` of the elements at each place."""
    kind, shape = kind or kind_of(*operands), shape_of(*operands)

    def results():
        return map(compute, *(numbers_of(one, shape, kind) for one in operands))

    memory = computed(results, result or kind)
    return in_their_order(Tensor._made(Storage(memory), shape, result or kind), *operands)


def in_their_order(made, *operands):
    """A new tensor with its elements in memory in the order of the operands' elements."""
    tensors = tensors_in(*operands)
    if all(one.is_contiguous() for one in tensors):
        return made
    same = {one.stride() for one in tensors if one.shape == made.shape}
    if len(same) == 1 and all(one.shape == made.shape for one in operands if isinstance(one, Tensor)):
        (strides,) = same
        if len(tensors) == len(operands) and shapes.is_dense(made.shape, strides):
            return laid_out(made, strides)
    stretched = [shapes.stretched(one.shape, one.stride(), made.shape) for one in tensors]
    return laid_out(made, shapes.dense_strides(made.shape, stretched))


def asks(value):
    return isinstance(value, Tensor) and value.requires_grad


def no_booleans(kind, kernel):
    if kind is BOOL:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def over(a, b):
    """Division as processors do it."""
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def operator_of(compute, name, gradient):
    refuses = gradient == REFUSED

    def apply(self, other):
        if not is_operand(other):
            return NotImplemented
        if refuses and autograd.enabled() and (asks(self) or asks(other)):
            raise no_gradient(f"torch.{name}")
        return compute(self, other)

    return apply


def checked(name, function, self, other, **options):
    if not is_operand(other):
        kind = type(other).__name__
        raise TypeError(f"{name}(): argument 'other' (position 2) must be Tensor, not {kind}")
    return function(self, other, **options)
