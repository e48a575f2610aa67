"""Products of vectors and matrices of at most two dimensions, and Kronecker's relatives that learners try."""

import operator

from .autograd import record
from .dtypes import BOOL, IN_C
from .missing import missing
from .reductions import ROUNDED_ONCE, total
from .registry import RULE, of_tensors, operation
from .tensor import Tensor


def _same_type(a, b, function):
    if not isinstance(b, Tensor):
        raise TypeError(f"{function}(): argument 'other' (position 2) must be Tensor, not {type(b).__name__}")
    if a.dtype is not b.dtype:
        names = (IN_C[a.dtype.name], IN_C[b.dtype.name])
        if a.ndim == b.ndim == 1:
            kinds = (a.dtype.kind, b.dtype.kind)
            raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {kinds[0]} and {kinds[1]}")
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")


def _no_booleans(tensor, kernel):
    if tensor.dtype is BOOL:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _product(rows, columns, kind):
    add = total if kind.is_floating_point else sum
    return [add(list(map(operator.mul, row, column))) for row in rows for column in columns]


def _rows(tensor):
    values, size = tensor.detach()._values(), tensor.shape[1]
    return [values[row * size : (row + 1) * size] for row in range(tensor.shape[0])]


@operation("mm", gradient=RULE, differs=ROUNDED_ONCE)
def mm(self, mat2):
    """The product of two matrices."""
    _same_type(self, mat2, "mm")
    if self.ndim != 2 or mat2.ndim != 2:
        which = "self" if self.ndim != 2 else "mat2"
        raise RuntimeError(f"{which} must be a matrix")
    _check_inner(self.shape, mat2.shape)
    _no_booleans(self, "addmm_impl_cpu_")
    found = _product(_rows(self), _rows(mat2.detach().t()), self.dtype)
    made = Tensor._of(found, (self.shape[0], mat2.shape[1]), self.dtype)
    x, y = self.detach(), mat2.detach()
    rules = [lambda g: mm(g, y.t()), lambda g: mm(x.t(), g)]
    saved = [one for one, other in ((x, mat2), (y, self)) if other.requires_grad]
    return record(made, "MmBackward0", [self, mat2], rules, saved)


def _check_inner(a, b):
    if a[-1] != b[0]:
        shapes = " and ".join("x".join(map(str, shape)) for shape in (a, b))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes})")


@operation("mv", gradient=RULE, differs=ROUNDED_ONCE)
def mv(self, vec):
    """The product of a matrix and a vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"mv(): argument 'vec' (position 2) must be Tensor, not {type(vec).__name__}")
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        )
    if self.dtype is not vec.dtype:
        kinds = (vec.dtype.kind, self.dtype.kind, vec.dtype.kind)
        raise RuntimeError("addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*kinds))
    _no_booleans(self, "addmv_impl_cpu")
    made = Tensor._of(_product(_rows(self), [vec.detach()._values()], self.dtype), self.shape[:1], self.dtype)
    x, y = self.detach(), vec.detach()
    rules = [lambda g: g.unsqueeze(1) * y.unsqueeze(0), lambda g: mv(x.t(), g)]
    saved = [one for one, other in ((x, vec), (y, self)) if other.requires_grad]
    return record(made, "MvBackward0", [self, vec], rules, saved)


@operation("dot", gradient=RULE, differs=ROUNDED_ONCE)
def dot(self, tensor):
    """The product of two vectors: one number."""
    _same_type(self, tensor, "dot")
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        a, b = self.numel(), tensor.numel()
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but "
            f"got {a} and {b} elements respectively"
        )
    _no_booleans(self, "dot")
    made = Tensor._of(_product([self.detach()._values()], [tensor.detach()._values()], self.dtype), (), self.dtype)
    x, y = self.detach(), tensor.detach()
    saved = [one for one, other in ((x, tensor), (y, self)) if other.requires_grad]
    return record(made, "DotBackward0", [self, tensor], [lambda g: g * y, lambda g: g * x], saved)


@operation("matmul", gradient=RULE, differs=ROUNDED_ONCE)
def matmul(self, other):
    """The product of vectors and matrices."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if not self.ndim or not other.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {self.ndim}D and {other.ndim}D"
        )
    if self.ndim > 2 or other.ndim > 2:
        raise missing("The product of tensors with more than two dimensions")
    if self.ndim == 1 and other.ndim == 1:
        return dot(self, other)
    if other.ndim == 1:
        return mv(self, other)
    return mm(self.unsqueeze(0), other).squeeze(0) if self.ndim == 1 else mm(self, other)


def _at(self, other):
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


of_tensors("__matmul__", _at)
