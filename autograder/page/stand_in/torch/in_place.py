"""Writes into a tensor's own memory: operations in place, copies and fillings."""

import functools

from . import autograd, shapes
from .arithmetic import add, div, floor_divided, mul, power, remainder_of, sub
from .autograd import record
from .comparisons import clamp
from .dtypes import can_cast, fitting
from .elementwise import is_operand
from .functions import neg
from .missing import no_gradient
from .registry import RULE, operation
from .tensor import Tensor, is_number
from .views import summed_to


def overwritten(self, result, name):
    """Write a result into the tensor from which it was computed, and give it the result's history."""
    if not can_cast(result.dtype, self.dtype):
        raise RuntimeError(
            f"result type {result.dtype.kind} can't be cast to the desired output type {self.dtype.kind}"
        )
    if result.shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if result.requires_grad and (self._base is not None or name not in LINEAR):
        raise no_gradient(f"Tensor.{name}")
    self._write_from(result)
    if result.requires_grad:
        self._node, self._written = result._node, self._storage.version
    return self


#: Operations in place through which a gradient can pass: their rules read no tensor that has been overwritten.
LINEAR = {"add_", "sub_", "neg_", "copy_"}


def in_place(compute, name="", dunder=""):
    """The method ``name`` of an operation, and its operator."""

    def method(self, *others, **options):
        self._check_writable(*others)
        return overwritten(self, compute(self, *others, **options), name)

    if name:
        operation(name, function=False, gradient=RULE)(_like(method, compute, name))
    if dunder:
        setattr(Tensor, f"__{dunder}__", lambda self, o: method(self, o) if is_operand(o) else NotImplemented)


def _like(method, compute, name):
    """``method`` with the arguments of ``compute``, so that unknown ones are refused."""
    wrapped_method = functools.wraps(compute)(method)
    wrapped_method.__doc__ = f"``{name.strip('_')}`` in place."
    return wrapped_method


in_place(add, "add_", "iadd")
in_place(sub, "sub_", "isub")
in_place(mul, "mul_", "imul")
in_place(div, "div_", "itruediv")
in_place(power, "pow_", "ipow")
in_place(neg, "neg_")
in_place(clamp, "clamp_")
for _dunder, _compute in {"ifloordiv": floor_divided, "imod": remainder_of}.items():
    in_place(_compute, dunder=_dunder)
for _name in ("and", "or", "xor"):
    in_place(getattr(Tensor, f"bitwise_{_name}"), dunder=f"i{_name}")


@operation("copy_", function=False, gradient=RULE)
def copy_(self, src, non_blocking=False):
    """Write another tensor's elements into this one, converted to its type."""
    if is_number(src):
        return fill_(self, src)
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    self._check_writable(src)
    if src is self and not self.requires_grad:
        return self
    if shapes.broadcast(self.shape, src.shape) != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape "
            f"{list(shapes.broadcast(self.shape, src.shape))}"
        )
    asks = autograd.enabled() and (self.requires_grad or src.requires_grad)
    if asks and (self.requires_grad or self._base is not None or not self.dtype.is_floating_point):
        raise no_gradient("Tensor.copy_")
    whole = src if src.shape == self.shape else src._expanded(tuple(self.shape))
    self._write_from(whole)
    if asks:
        shape, kind = src.shape, src.dtype
        record(self, "CopyBackwards", [src], [lambda g: summed_to(g, shape).to(kind)])
    return self


@operation("fill_", function=False, gradient=RULE)
def fill_(self, value):
    """Write one number everywhere."""
    if isinstance(value, Tensor):
        if value.shape:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
            )
        return copy_(self, value)
    return _filled_in_place(self, fitting(value, self.dtype), "fill_")


def _filled_in_place(self, value, name):
    self._check_writable(folded=True)
    if autograd.enabled() and self.requires_grad:
        raise no_gradient(f"Tensor.{name}")
    return self._write([value] * self.numel())


@operation("zero_", function=False, gradient=RULE)
def zero_(self):
    """Write 0 everywhere."""
    return _filled_in_place(self, 0, "zero_")
