"""Many elements made one: sums, means, extremes, and comparisons of whole tensors.

A sum is rounded once, to float32 or float64, while torch adds in pairs: the last bits of a sum may differ from torch's.
"""

import itertools
import math
import operator

from . import shapes
from .autograd import record
from .copies import laid_out
from .dtypes import BOOL, FLOAT32, INT64, UINT8, rounded, wrapped
from .elementwise import LAST_BITS, in_their_order, numbers_of, shape_of
from .missing import missing
from .registry import NONE, RULE, operation
from .tensor import Tensor, as_kind, is_integral

ROUNDED_ONCE = "a sum of floats is rounded once, torch adds in pairs: the last bits may differ"


class _Pair(tuple):
    """Values and where they were found, as ``max`` along a dimension returns them."""

    __slots__ = ()
    name = "max"

    def __new__(cls, values, indices):
        return tuple.__new__(cls, (values, indices))

    values = property(operator.itemgetter(0))
    indices = property(operator.itemgetter(1))

    def __repr__(self):
        return f"torch.return_types.{self.name}(\nvalues={self.values!r},\nindices={self.indices!r})"


class _Least(_Pair):
    __slots__ = ()
    name = "min"


class _Sorted(_Pair):
    __slots__ = ()
    name = "sort"


def rows(self, dims, kind=None):
    """The elements that are reduced together, for each element of the result."""
    kept = [place for place in range(self.ndim) if place not in dims]
    order = self.permute([*kept, *dims]) if self.ndim else self
    values = order.detach()._sequence(kind)
    size = math.prod(self.shape[dim] for dim in dims)
    count = math.prod(self.shape[dim] for dim in kept)
    return [values[row * size : (row + 1) * size] for row in range(count)]


def reduced(self, dims, keepdim):
    """The shape of the result."""
    if not isinstance(keepdim, bool):
        raise TypeError(f"argument 'keepdim' must be bool, not {type(keepdim).__name__}")
    if keepdim:
        return tuple(1 if place in dims else size for place, size in enumerate(self.shape))
    return tuple(size for place, size in enumerate(self.shape) if place not in dims)


def _over(self, dim):
    """The dimensions that are reduced: one, several, or, with None, all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(self.ndim))
    return tuple(place for place in shapes.dimensions(dim, self.ndim) if place < self.ndim)


def total(values):
    """The sum of floats, rounded once."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return sum(values)


def _restored(gradient, dims, keepdim):
    """A gradient with the reduced dimensions back, of size 1."""
    if not keepdim:
        for dim in sorted(dims):
            gradient = gradient.unsqueeze(dim)
    return gradient


def _spread(self, dims, keepdim, scale=1):
    """The rule of a sum, or of a mean with its scale."""
    shape, kind = self.shape, self.dtype

    def rule(gradient):
        if self.ndim:
            gradient = _restored(gradient, dims, keepdim)
        whole = gradient.expand(shape).to(kind)
        return whole if scale == 1 else whole / scale

    return rule


# Sums


@operation("sum", gradient=RULE, differs=ROUNDED_ONCE)
def sum_(self, dim=None, keepdim=False, *, dtype=None):
    """The sum of all elements, or along dimensions; integers and Booleans are summed as int64."""
    kind = as_kind(dtype, INT64 if is_integral(self.dtype) else self.dtype)
    dims = _over(self, dim)
    add = total if kind.is_floating_point else sum
    made = Tensor._of([add(row) for row in rows(self, dims, kind)], reduced(self, dims, keepdim), kind)
    return record(made, f"SumBackward{int(dim is not None)}", [self], [_spread(self, dims, keepdim)])


@operation("mean", gradient=RULE, differs=ROUNDED_ONCE)
def mean(self, dim=None, keepdim=False, *, dtype=None):
    """The mean of all elements, or along dimensions."""
    kind = as_kind(dtype, self.dtype)
    if not kind.is_floating_point:
        words = "Input dtype" if dtype is None else "Optional dtype"
        found = kind.kind
        raise RuntimeError(
            f"mean(): could not infer output dtype. {words} must be either a floating point or complex dtype. Got: "
            f"{found}"
        )
    dims = _over(self, dim)
    limit = rounded if kind is FLOAT32 else float
    size = math.prod(self.shape[place] for place in dims)
    found = [limit(total(row)) / size if size else math.nan for row in rows(self, dims, kind)]
    made = Tensor._of(found, reduced(self, dims, keepdim), kind)
    return record(made, f"MeanBackward{int(dim is not None)}", [self], [_spread(self, dims, keepdim, size)])


@operation("prod", differs="the last bits may differ")
def prod(self, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along a dimension."""
    if isinstance(dim, (tuple, list)):
        raise missing("torch.prod along several dimensions")
    kind = as_kind(dtype, INT64 if is_integral(self.dtype) else self.dtype)
    dims = _over(self, dim)
    return Tensor._of([_product(row, kind) for row in rows(self, dims, kind)], reduced(self, dims, keepdim), kind)


def _product(row, kind):
    limit = rounded if kind is FLOAT32 else float if kind.is_floating_point else lambda value: wrapped(value, kind)
    result = 1
    for value in row:
        result = limit(result * value)
    return result


@operation("cumsum", differs=LAST_BITS)
def cumsum(self, dim, *, dtype=None):
    """Running sums along a dimension."""
    kind = as_kind(dtype, INT64 if is_integral(self.dtype) else self.dtype)
    if not self.shape:
        return self.to(kind).clone()
    dim = shapes.dimension(dim, self.ndim)
    running = [list(itertools.accumulate(row)) for row in rows(self, (dim,), kind)]
    kept = [place for place in range(self.ndim) if place != dim]
    shape = [self.shape[place] for place in (*kept, dim)]
    back = sorted(range(self.ndim), key=lambda place: (*kept, dim)[place])
    return Tensor._of([value for row in running for value in row], shape, kind).permute(back).contiguous()


def _spreads(name, finish):
    @operation(name, differs=LAST_BITS)
    def function(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if not self.dtype.is_floating_point:
            raise RuntimeError("std and var only support floating point and complex dtypes")
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        less = correction if correction is not None else 1 if unbiased in (None, True) else 0
        dims = _over(self, dim)
        found = [finish(_variance(row, less)) for row in rows(self, dims)]
        return Tensor._of(found, reduced(self, dims, keepdim), self.dtype)

    function.__doc__ = f"``{name}`` of all elements, or along dimensions."


def _variance(row, less):
    if len(row) <= less:
        return math.nan
    middle = total(row) / len(row)
    return total([(value - middle) ** 2 for value in row]) / (len(row) - less)


_spreads("std", math.sqrt)
_spreads("var", float)


@operation("norm", differs=LAST_BITS)
def norm(self, p=2):
    """The square root of the sum of squares of all elements."""
    if p not in (2, "fro"):
        raise missing("torch.norm other than the Euclidean one")
    if not self.dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {self.dtype.kind}"
        )
    return Tensor._of([math.sqrt(total([value * value for value in self._values()]))], (), self.dtype)


# Extremes


def _first(row, better):
    """The place of the largest, or smallest, element: the first of equals, or the first nan."""
    best = 0
    for place, value in enumerate(row):
        if value != value:
            return place
        if better(value, row[best]):
            best = place
    return best


def _extreme(name, better, pair, pairwise):
    def of_all(self):
        if not self.numel():
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        values = self._values()
        return Tensor._of([values[_first(values, better)]], (), self.dtype)

    def along(self, dim, keepdim, name=name):
        dims = (shapes.dimension(dim, self.ndim),) if self.ndim else ()
        if dims and not self.shape[dims[0]]:
            raise IndexError(f"{name}(): Expected reduction dim {dims[0]} to have non-zero size.")
        shape, found = reduced(self, dims, keepdim), rows(self, dims)
        places = [_first(row, better) for row in found]
        values = [row[place] for row, place in zip(found, places, strict=True)]
        return pair(Tensor._of(values, shape, self.dtype), Tensor._of(places, shape, INT64))

    @operation(name)
    def function(self, dim=None, keepdim=False, *, other=None):
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return getattr(self, pairwise)(other)
        return of_all(self) if dim is None else along(self, dim, keepdim)

    function.__doc__ = f"The {name} of all elements, of each row along a dimension, or of pairs."

    @operation(f"a{name}")
    def by_dimensions(self, dim=(), keepdim=False):
        dims = _over(self, dim)
        if dim == () and not self.numel():
            raise RuntimeError(
                f"a{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        if any(not self.shape[place] for place in dims):
            raise IndexError(f"a{name}(): Expected reduction dim {dims[0]} to have non-zero size.")
        found = [row[_first(row, better)] for row in rows(self, dims)]
        return Tensor._of(found, reduced(self, dims, keepdim), self.dtype)

    by_dimensions.__doc__ = f"The {name} along dimensions."

    @operation(f"arg{name}", gradient=NONE)
    def place(self, dim=None, keepdim=False):
        if self.dtype is BOOL:
            raise RuntimeError(f"arg{name}(): does not support bool input")
        if dim is None and not self.numel():
            raise IndexError(f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if dim is None:
            shape = (1,) * self.ndim if keepdim else ()
            return Tensor._of([_first(self._values(), better)], shape, INT64)
        return along(self.detach(), dim, keepdim, f"arg{name}").indices

    place.__doc__ = f"Where the {name} is; the first place of several."


_extreme("max", operator.gt, _Pair, "maximum")
_extreme("min", operator.lt, _Least, "minimum")


@operation("sort", differs="equal elements keep their order, as with stable=True")
def sort(self, dim=-1, descending=False, stable=False):
    """The elements along a dimension in order, and where they were."""
    if not self.ndim:
        return _Sorted(self.clone(), self.new_zeros((), dtype=INT64))
    dim = shapes.dimension(dim, self.ndim)
    if dim != self.ndim - 1:
        turned = sort(self.transpose(dim, -1), -1, descending)
        return _Sorted(*(in_their_order(one.transpose(dim, -1).contiguous(), self) for one in turned))
    values, places = [], []
    for row in rows(self, (dim,)):
        order = sorted(range(len(row)), key=lambda place: (row[place] != row[place], row[place]), reverse=descending)
        if descending:
            order = sorted(range(len(row)), key=lambda place: (row[place] == row[place], -row[place]))
        values += [row[place] for place in order]
        places += order
    made = Tensor._of(values, self.shape, self.dtype), Tensor._of(places, self.shape, INT64)
    return _Sorted(*(in_their_order(one, self) for one in made))


@operation("argsort", gradient=NONE)
def argsort(self, dim=-1, descending=False, stable=False):
    """The order of the elements along a dimension."""
    return sort(self.detach(), dim, descending).indices


# Truth


def _truth(name, test):
    @operation(name, gradient=NONE)
    def function(self, dim=None, keepdim=False):
        kind = UINT8 if self.dtype is UINT8 else BOOL
        dims = _over(self, dim)
        return Tensor._of([test(row) for row in rows(self, dims)], reduced(self, dims, keepdim), kind)

    function.__doc__ = f"Whether {name} of the elements are other than 0."


_truth("all", all)
_truth("any", any)


@operation("nonzero", gradient=NONE)
def nonzero(self, *, as_tuple=False):
    """The places of elements other than 0, a row for each."""
    if as_tuple:
        raise missing("torch.nonzero with as_tuple")
    ranges = itertools.product(*map(range, self.shape))
    found = [place for place, value in zip(ranges, self._values(), strict=True) if value != 0]
    made = Tensor._of([index for place in found for index in place], (len(found), self.ndim), INT64)
    return laid_out(made, (1, len(found))) if self.ndim else made


@operation("equal", gradient=NONE)
def equal(self, other):
    """Whether two tensors have the same shape and elements."""
    if not isinstance(other, Tensor):
        found = type(other).__name__
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {found}")
    return self.shape == other.shape and bool((self.detach() == other.detach()).all())


def _near(a, b, rtol, atol, equal_nan):
    if a == b:
        return True
    if a != a or b != b:
        return equal_nan and a != a and b != b
    return math.isfinite(b) and abs(a - b) <= atol + rtol * abs(b)


def _closeness(self, other, rtol, atol, equal_nan):
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype.kind} did not match {other.dtype.kind}")
    shape = shape_of(self, other)
    pairs = zip(numbers_of(self, shape, self.dtype), numbers_of(other, shape, self.dtype), strict=True)
    return [_near(a, b, rtol, atol, equal_nan) for a, b in pairs], shape


@operation("allclose", gradient=NONE)
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all pairs of elements differ by at most ``atol + rtol * abs(other)``."""
    return all(_closeness(self, other, rtol, atol, equal_nan)[0])


@operation("isclose", gradient=NONE)
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Which pairs of elements differ by at most ``atol + rtol * abs(other)``."""
    return in_their_order(Tensor._of(*_closeness(self, other, rtol, atol, equal_nan), BOOL), self, other)


# Distributions


def _softmax_of(row, limit):
    if not row:
        return row
    largest = row[_first(row, operator.gt)]
    weights = [limit(_exp(limit(value - largest))) for value in row]
    whole = limit(total(weights))
    return [value / whole if whole else math.nan for value in weights]


def _exp(value):
    return math.nan if value != value else math.exp(value)


@operation("softmax", gradient=RULE, differs=LAST_BITS)
def softmax(self, dim, dtype=None):
    """Positive numbers along a dimension that sum to 1, in proportion to the exponentials."""
    return _normalized(
        self, dim, dtype, _softmax_of, "softmax", "SoftmaxBackward0", lambda g, y, d: _softmax_rule(g, y, d)
    )


def _softmax_rule(gradient, result, dim):
    return (gradient - (gradient * result).sum(dim, keepdim=True)) * result


@operation("log_softmax", gradient=RULE, differs=LAST_BITS)
def log_softmax(self, dim, dtype=None):
    """Logarithms of the softmax along a dimension."""
    rule = lambda g, y, d: g - y.exp() * g.sum(d, keepdim=True)  # noqa: E731
    return _normalized(self, dim, dtype, _log_softmax_of, "log_softmax", "LogSoftmaxBackward0", rule)


def _log_softmax_of(row, limit):
    if not row:
        return row
    largest = row[_first(row, operator.gt)]
    scale = math.log(total([_exp(value - largest) for value in row]) or math.nan)
    return [value - largest - scale for value in row]


def _normalized(self, dim, dtype, of_row, name, node, rule):
    if dtype is not None:
        return _normalized(self.to(as_kind(dtype, None)), dim, None, of_row, name, node, rule)
    if not self.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{self.dtype.kind}'")
    if not self.ndim:
        return _normalized(self.reshape(1), 0, None, of_row, name, node, rule).reshape(())
    dim = shapes.dimension(dim, self.ndim)
    limit = rounded if self.dtype is FLOAT32 else float
    turned = self.detach().transpose(dim, -1)
    found = [value for row in rows(turned, (self.ndim - 1,)) for value in of_row(row, limit)]
    made = Tensor._of(found, turned.shape, self.dtype).transpose(dim, -1).contiguous().detach()
    result = made.detach()
    return record(made, node, [self], [lambda gradient: rule(gradient, result, dim)], [result])


@operation("logsumexp", differs=LAST_BITS)
def logsumexp(self, dim, keepdim=False):
    """The logarithm of the sum of exponentials along dimensions."""
    dims = _over(self, dim)
    kind = self.dtype if self.dtype.is_floating_point else FLOAT32
    found = [_log_of_sum(row) for row in rows(self, dims, kind)]
    return Tensor._of(found, reduced(self, dims, keepdim), kind)


def _log_of_sum(row):
    largest = row[_first(row, operator.gt)] if len(row) else -math.inf
    if math.isinf(largest):
        return largest
    return largest + math.log(total([_exp(value - largest) for value in row]))
