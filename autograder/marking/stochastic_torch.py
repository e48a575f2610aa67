"""Stochastic arithmetic for tensors: the result of every operation that rounds is moved by a few rounding steps.

The inputs of such an operation are moved too, by one step, so that cancellation shows: a sum that is nearly zero
changes by as much as its terms. Numbers that are only copied, chosen or sent are never moved. Random directions depend
on the values alone, so that equal numbers move alike wherever they occur, on every rank. Elements with few significant
bits (small whole numbers, powers of two) count as exact and stay: a tie that a case sets up on purpose remains a tie
for every program.

:mod:`autograder.marking.stochastic` explains the purpose.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from autograder.marking import stochastic
from autograder.marking.stochastic import Rounding

#: How many trailing bits must be zero for an element to count as exact, and the integer type of the same size.
TRAILING: dict[torch.dtype, tuple[int, torch.dtype]] = {
    torch.float64: (16, torch.int64),
    torch.float32: (8, torch.int32),
    torch.bfloat16: (3, torch.int16),
    torch.float16: (4, torch.int16),
}
#: The bits of infinity, and so of the exponent of every number that is not finite.
INFINITE = {kind: torch.tensor(math.inf, dtype=kind).view(whole).item() for kind, (_, whole) in TRAILING.items()}
#: The most by which a result is moved, in rounding steps. One step is much in half precision, where two right programs
#: hardly differ.
STEPS = {torch.float64: stochastic.STEPS, torch.float32: stochastic.STEPS, torch.bfloat16: 1, torch.float16: 1}

_NAMES = """
add add_ addcdiv addcdiv_ addcmul addcmul_ addmm addmv baddbmm bmm convolution cos cumprod cumsum div div_ dot
embedding_dense_backward erf exp exp_ expm1 _foreach_add_ _foreach_addcdiv_ _foreach_addcmul_ _foreach_div_
_foreach_lerp_ _foreach_mul_ _foreach_norm _foreach_sqrt gelu gelu_backward index_add index_add_ index_reduce lerp
lerp_ linalg_vector_norm log log_ log1p log2 log_sigmoid_backward log_sigmoid_forward _log_softmax
_log_softmax_backward_data logsumexp mean mm mse_loss mse_loss_backward mul mul_ mv native_layer_norm
native_layer_norm_backward nll_loss_backward nll_loss_forward norm pow pow_ prod reciprocal rsqrt rsub
_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward scatter_add
scatter_add_ scatter_reduce sigmoid sigmoid_backward silu silu_backward sin smooth_l1_loss _softmax
_softmax_backward_data softplus sqrt sqrt_ square std sub sub_ sum tanh tanh_backward var var_mean
"""
#: Operations whose results are rounded. All others copy, choose, compare or create numbers.
ROUNDED = frozenset(_NAMES.split())


class _Moving(TorchDispatchMode):
    """While active, every operation of this thread rounds as ``rounding`` says."""

    def __init__(self, rounding: Rounding) -> None:
        super().__init__()
        self.rounding = rounding

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        library, _, name = func._schema.name.partition("::")
        if name in ("_to_copy", "copy_"):
            return self.converted(func, args, kwargs)
        if library != "aten" or name not in ROUNDED:
            return func(*args, **kwargs)
        if self.rounding.precise:
            return _precise(func, args, kwargs)
        if name == "_log_softmax":  # its kernel hides the difference of two large numbers
            result: Any = self.log_softmax(*args)
        else:
            result = func(*self.nudged(func, args), **kwargs)
        for tensor in (result,) if isinstance(result, torch.Tensor) else tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.dtype in TRAILING:
                move(tensor, self.rounding)
        return result

    def log_softmax(self, logits: torch.Tensor, dim: int, _half: bool) -> torch.Tensor:
        logits = move(logits.clone(), self.rounding, 1)
        return logits - move(torch.logsumexp(logits, dim, keepdim=True), self.rounding, 1)

    def nudged(self, func: Any, args: Any) -> list[Any]:
        """The arguments, with single- and double-precision inputs moved by one step, but not those changed in place."""

        def copy(arg: Any) -> Any:
            if isinstance(arg, list | tuple):
                return [copy(one) for one in arg]
            moving = isinstance(arg, torch.Tensor) and arg.dtype in (torch.float32, torch.float64)
            return move(arg.clone(), self.rounding, 1) if moving else arg

        return [
            arg if declared.alias_info is not None else copy(arg)
            for arg, declared in zip(args, func._schema.arguments, strict=False)
        ]

    def converted(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A conversion; to a shorter type, of moved elements, as only rounding decides which neighbor they become."""
        source = args[0] if func._schema.name == "aten::_to_copy" else args[1]
        target = kwargs.get("dtype", source.dtype) if func._schema.name == "aten::_to_copy" else args[0].dtype
        shorter = {source.dtype, target} <= set(TRAILING) and target.itemsize < source.itemsize
        if not shorter:
            return func(*args, **kwargs)
        nudged = move(source.clone(), self.rounding)
        return func(*((nudged, *args[1:]) if source is args[0] else (args[0], nudged, *args[2:])), **kwargs)


def _precise(func: Any, args: Any, kwargs: Any) -> Any:
    """The operation carried out in double precision, unless it changes arguments in place; the result in single."""
    single = any(_is_single(leaf) for leaf in tree_leaves(args))
    if not single or any(declared.alias_info is not None for declared in func._schema.arguments):
        return func(*args, **kwargs)
    wide = tree_map_only(torch.Tensor, lambda tensor: tensor.double() if _is_single(tensor) else tensor, args)
    result = func(*wide, **kwargs)
    return tree_map_only(torch.Tensor, lambda t: t.float() if t.dtype == torch.float64 else t, result)


def _is_single(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float32


def move(tensor: torch.Tensor, rounding: Rounding, most: int | None = None) -> torch.Tensor:
    """Move the elements of ``tensor`` in place by at most ``most`` rounding steps, and return it."""
    zeros, whole = TRAILING[tensor.dtype]
    most = most or STEPS[tensor.dtype]
    held = tensor.detach()
    bits = held.contiguous().view(whole).reshape(-1).numpy()  # a tenth of the time that torch takes for a few numbers
    steps = rounding.direction * most if rounding.direction else _drawn(bits, rounding.seed, most)
    # Adding to the bits of a float moves it away from zero, which is down for a negative number.
    nudged = np.where(bits < 0, bits - steps, bits + steps)
    infinite = INFINITE[tensor.dtype]
    exact = (bits & ((1 << zeros) - 1)) == 0
    kept = exact | ((bits & infinite) == infinite) | ((nudged & infinite) == infinite)
    np.copyto(bits, nudged, where=~kept)
    if not held.is_contiguous():
        held.copy_(torch.from_numpy(bits).view(tensor.dtype).view(tensor.shape))
    return tensor


def _drawn(bits: np.ndarray[Any, Any], seed: int, most: int) -> np.ndarray[Any, Any]:
    """A nonzero step from -most to most for each element, the same for equal elements."""
    mixed = (bits.astype(np.int64) ^ (seed * 0x9E3779B97F4A7C1)) * 0x2545F4914F6CDD1D
    mixed = (mixed ^ (mixed >> 29)) * 0x1B873593
    steps = (mixed >> 7) % (2 * most) - most
    return (steps + (steps >= 0)).astype(bits.dtype)


@contextlib.contextmanager
def rounded(rounding: Rounding | None) -> Iterator[None]:
    """Round this way in the block; None keeps ordinary rounding."""
    if rounding is None:
        yield
        return
    with _Moving(rounding):
        yield
