"""Sums, products, quotients, remainders and powers, as functions, methods and operators."""

import math
import operator

from .autograd import record
from .dtypes import BOOL, FLOAT32, of_number, rounded
from .elementwise import LAST_BITS, asks, checked, combined, kind_of, no_booleans, operator_of, over, tensors_in
from .missing import no_gradient
from .registry import REFUSED, RULE, operation
from .tensor import Tensor, is_integral, is_number
from .views import summed_to


def _remainder(a, b):
    if not isinstance(a, float):
        return a % b
    if b == 0 or not math.isfinite(a) or b != b:
        return math.nan
    rest = math.fmod(a, b)
    return rest + b if rest and (b < 0) != (rest < 0) else rest


def _floor_over(a, b):
    if not isinstance(a, float):
        return a // b
    if b == 0:
        return over(a, b)
    if not math.isfinite(a) or b != b:
        return math.nan
    rest = math.fmod(a, b)
    whole = (a - rest) / b
    if rest and (b < 0) != (rest < 0):
        whole -= 1
    if not whole:
        return math.copysign(0.0, a / b)
    return math.floor(whole) + (whole - math.floor(whole) > 0.5)


def _power(a, b):
    if isinstance(a, float):
        try:
            return math.pow(a, b)
        except ZeroDivisionError:
            return math.inf
        except OverflowError:
            return math.inf if a > 0 or b % 2 == 0 else -math.inf
        except ValueError:
            return math.inf if a == 0 else math.nan
    if b < 0:
        return a**-b if abs(a) == 1 else 0
    return a**b


def _checked_integers(compute):
    """A division of integers by zero is torch's own error."""

    def divide(a, b):
        try:
            return compute(a, b)
        except ZeroDivisionError:
            raise RuntimeError("ZeroDivisionError") from None

    return divide


def _with_multiple(a, b, alpha):
    """``a`` plus ``alpha`` times ``b``."""
    if alpha in (1, -1):
        return combined(operator.add if alpha == 1 else operator.sub, a, b)
    kind = kind_of(a, b)
    if isinstance(alpha, float) and is_integral(kind):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    alpha = rounded(alpha) if kind is FLOAT32 else alpha
    return combined(lambda x, y: x + alpha * y, a, b)


def _recorded(result, name, a, b, rules, saved=(), holds=False):
    """Give a result of two operands its history; the rules give gradients that still have the result's shape."""
    pairs = [(one, rule) for one, rule in zip((a, b), rules, strict=True) if isinstance(one, Tensor)]
    inputs = [one for one, _ in pairs]
    return record(result, name, inputs, [_to_shape(one, rule) for one, rule in pairs], saved, holds)


def _to_shape(tensor, rule):
    shape, kind = tensor.shape, tensor.dtype
    return lambda gradient: summed_to(rule(gradient), shape).to(kind)


def _still(value):
    """An operand as a rule keeps it: without a history."""
    return value.detach() if isinstance(value, Tensor) else value


def added(a, b, alpha=1):
    result = _with_multiple(a, b, alpha)
    return _recorded(result, "AddBackward0", a, b, (lambda g: g, lambda g: g if alpha == 1 else g * alpha))


def subtracted(a, b, alpha=1, name="SubBackward0"):
    kinds = [one.dtype if isinstance(one, Tensor) else of_number(one) for one in (a, b)]
    if BOOL in kinds:
        if kinds == [BOOL, BOOL]:
            words, instead = "two bool tensors", "Use the `^` or `logical_xor()` operator instead."
        else:
            words = "a bool tensor"
            instead = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        raise RuntimeError(f"Subtraction, the `-` operator, with {words} is not supported. {instead}")
    result = _with_multiple(a, b, -alpha)
    return _recorded(result, name, a, b, (lambda g: g, lambda g: g * -alpha))


def multiplied(a, b):
    x, y = _still(a), _still(b)
    saved = [one for one, other in ((x, b), (y, a)) if isinstance(one, Tensor) and asks(other)]
    result = combined(operator.mul, a, b)
    return _recorded(result, "MulBackward0", a, b, (lambda g: g * y, lambda g: g * x), saved, True)


def divided(a, b, rounding_mode=None):
    if rounding_mode is not None:
        if asks(a) or asks(b):
            raise no_gradient("torch.div with a rounding mode")
        return _divided_and_rounded(a, b, rounding_mode)
    kind = kind_of(a, b)
    kind = kind if kind.is_floating_point else FLOAT32
    result = combined(over, a, b, kind=kind)
    x, y = _still(a), _still(b)
    rules = (lambda g: g / y, lambda g: -g * ((x / y) / y))
    return _recorded(result, "DivBackward0", a, b, rules, tensors_in(x, y) if asks(b) else tensors_in(y), True)


def _divided_and_rounded(a, b, mode):
    if mode == "floor":
        return floor_divided(a, b)
    if mode != "trunc":
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'")

    def cut(x, y):
        if isinstance(x, float):
            whole = over(x, y)
            return math.copysign(math.trunc(whole), whole) if math.isfinite(whole) else whole
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    return combined(_checked_integers(cut), a, b)


def floor_divided(a, b):
    no_booleans(kind_of(a, b), "div_floor_cpu")
    return combined(_checked_integers(_floor_over), a, b)


def remainder_of(a, b):
    no_booleans(kind_of(a, b), "remainder_cpu")
    return combined(_checked_integers(_remainder), a, b)


def powered(a, b):
    kind = kind_of(a, b)
    no_booleans(kind, "pow")
    if is_integral(kind) and not isinstance(b, Tensor) and b < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if b == 2 if is_number(b) else False:
        result = combined(operator.mul, a, a) if kind is a.dtype else combined(_power, a, b)
    else:
        result = combined(_power, a, b, kind=kind)
    if asks(b):
        raise no_gradient("torch.pow with respect to the exponent")
    if not asks(a):
        return result
    if not is_number(b):
        raise no_gradient("torch.pow with a tensor as exponent")
    x = a.detach()
    return record(result, "PowBackward0", [a], [lambda g: g * 0 if b == 0 else g * (b * x ** (b - 1))], [x])


@operation("add", gradient=RULE)
def add(self, other, *, alpha=1):
    """The sum; ``other`` times ``alpha`` if that is given."""
    return checked("add", added, self, other, alpha=alpha)


@operation("sub", gradient=RULE)
def sub(self, other, *, alpha=1):
    """The difference."""
    return checked("sub", subtracted, self, other, alpha=alpha)


@operation("mul", gradient=RULE)
def mul(self, other):
    """The product, element by element."""
    return checked("mul", multiplied, self, other)


@operation("div", gradient=RULE)
def div(self, other, *, rounding_mode=None):
    """The quotient; of integers, a float."""
    return checked("div", divided, self, other, rounding_mode=rounding_mode)


@operation("pow", gradient=RULE, differs=f"{LAST_BITS} unless the exponent is 2")
def power(self, exponent):
    """A power."""
    return checked("pow", powered, self, exponent)


def _one_less(a, b):
    """``b - a``, which has a name of its own in torch's histories."""
    return subtracted(b, a, name="RsubBackward1")


for _dunder, _forward, _reverse, _gradient in (
    ("add", added, lambda a, b: added(a, b), RULE),
    ("sub", subtracted, _one_less, RULE),
    ("mul", multiplied, lambda a, b: multiplied(a, b), RULE),
    ("truediv", divided, lambda a, b: multiplied(a.reciprocal(), b), RULE),
    ("floordiv", floor_divided, lambda a, b: floor_divided(b, a), REFUSED),
    ("mod", remainder_of, lambda a, b: remainder_of(b, a), REFUSED),
    ("pow", powered, lambda a, b: _power_of_number(b, a), RULE),
):
    _name = f"the operator {_dunder}"
    setattr(Tensor, f"__{_dunder}__", operator_of(_forward, _name, _gradient))
    setattr(Tensor, f"__r{_dunder}__", operator_of(_reverse, _name, _gradient))


def _power_of_number(base, exponent):
    if asks(exponent):
        raise no_gradient("torch.pow with respect to the exponent")
    kind = kind_of(base, exponent)
    no_booleans(kind, "pow")
    return combined(_power, base, exponent, kind=kind)
