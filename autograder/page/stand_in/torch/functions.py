"""Functions of one number, applied to each element."""

import math
import operator

from .arithmetic import powered
from .autograd import record
from .dtypes import BOOL, FLOAT32
from .elementwise import LAST_BITS, combined, no_booleans, over
from .missing import missing
from .registry import NONE, REFUSED, RULE, operation


def _guarded(function):
    """A function of ``math`` that gives nan or infinity where it would raise."""

    def compute(value):
        if value != value:
            return value
        try:
            return function(value)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return compute


def _unary(name, compute, rule=None, saves="input", differs="", title=""):
    """A function whose result is a float. ``rule`` gives the gradient from (gradient, input, result)."""

    @operation(name, gradient=RULE if rule else REFUSED, differs=differs)
    def function(self):
        result = combined(compute, self, kind=self.dtype if self.dtype.is_floating_point else FLOAT32)
        if rule is None:
            return result
        x, y = self.detach(), result.detach()
        return record(
            result,
            f"{title or name.capitalize()}Backward0",
            [self],
            [lambda g: rule(g, x, y)],
            [y if saves == "result" else x],
        )

    function.__doc__ = f"``{name}`` of each element."
    return function


def _log(function):
    return lambda value: -math.inf if value == 0 else function(value) if value > 0 else math.nan


def _sigmoid(value):
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


exp = _unary("exp", _guarded(math.exp), lambda g, x, y: g * y, "result", LAST_BITS)
log = _unary("log", _guarded(_log(math.log)), lambda g, x, y: g / x, differs=LAST_BITS)
_unary("sqrt", _guarded(math.sqrt), lambda g, x, y: g / (y * 2), "result", LAST_BITS)
_unary("tanh", _guarded(math.tanh), lambda g, x, y: g * (1 - y * y), "result", LAST_BITS)
_unary("sigmoid", _guarded(_sigmoid), lambda g, x, y: g * (1 - y) * y, "result", LAST_BITS)
_unary("reciprocal", lambda value: over(1.0, value), lambda g, x, y: -g * (y * y), "result")


def _same_kind(name, compute, rule=None, title=""):
    """A function whose result has the type of its input."""

    @operation(name, gradient=RULE if rule else REFUSED)
    def function(self):
        if name in ("floor", "ceil"):
            no_booleans(self.dtype, f"{name}_vml_cpu")
        if name == "relu" and self.dtype is BOOL:
            raise RuntimeError("Boolean inputs not supported for relu")
        result = combined(compute, self)
        if rule is None:
            return result
        x, y = self.detach(), result.detach()
        return record(result, f"{title}Backward0", [self], [lambda g: rule(g, x, y)], [y])

    function.__doc__ = f"``{name}`` of each element."
    return function


def _where_positive(gradient, value):
    return gradient if value > 0 else 0.0


def _sign(value):
    return value if value != value else (value > 0) - (value < 0)


def _whole(function):
    return lambda value: float(function(value)) if isinstance(value, float) and math.isfinite(value) else value


def _signed(function):
    """A rounding that keeps the sign of zero."""
    whole = _whole(function)
    return lambda value: math.copysign(whole(value), value) if isinstance(value, float) else value


def _positive_part(value):
    return value if value > 0 or value != value else type(value)(0)


_same_kind("relu", _positive_part, lambda g, x, y: combined(_where_positive, g, y), "Relu")
_same_kind("floor", _signed(math.floor))
_same_kind("ceil", _signed(math.ceil))


@operation("square", gradient=RULE)
def square(self):
    """The square."""
    return powered(self, 2)


@operation("round")
def round_(self, *, decimals=0):
    """The nearest whole number, of two equally near ones the even one."""
    if decimals:
        raise missing("torch.round with decimals")
    no_booleans(self.dtype, "round_vml_cpu")
    return combined(_signed(round), self)


@operation("sign")
def sign(self):
    """-1, 0 or 1."""
    return combined(_sign, self)


@operation("abs", "__abs__", gradient=RULE)
def absolute(self):
    """The absolute value."""
    no_booleans(self.dtype, "abs_cpu")
    x = self.detach()
    return record(combined(abs, self), "AbsBackward0", [self], [lambda g: g * x.sign()], [x])


@operation("neg", "__neg__", gradient=RULE)
def neg(self):
    """The opposite number."""
    if self.dtype is BOOL:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    return record(combined(operator.neg, self), "NegBackward0", [self], [lambda g: -g])


@operation("__pos__", gradient=RULE)
def positive(self):
    """The tensor itself."""
    if self.dtype is BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


def _test(name, compute):
    @operation(name, gradient=NONE)
    def function(self):
        return combined(compute, self, result=BOOL)

    function.__doc__ = f"``{name}`` of each element."


_test("isnan", lambda value: value != value)
_test("isinf", lambda value: value in (math.inf, -math.inf))
_test("isfinite", lambda value: math.isfinite(value))
