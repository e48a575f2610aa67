"""Functions of models."""

import warnings

from ..autograd import record
from ..joining import cat
from ..matrices import mm
from ..missing import getter, missing, strict
from ..reductions import log_softmax as _log_softmax
from ..reductions import mean, sum_
from ..reductions import softmax as _softmax
from ..shapes import broadcast
from ..tensor import Tensor
from ..views import summed_to

__getattr__ = getter("torch.nn.functional")


@strict("torch.nn.functional.linear")
def linear(input, weight, bias=None):  # noqa: A002  # as torch calls it
    """``input @ weight.T + bias``."""
    if input.ndim > 2:
        flat = linear(input.reshape(-1, input.shape[-1]), weight, bias)
        return flat.view(*input.shape[:-1], weight.shape[0])
    if input.ndim == 1:
        return linear(input.unsqueeze(0), weight, bias).squeeze(0)
    product = mm(input, weight.t())
    if bias is None:
        return product
    made = product + bias
    if made._node is not None:
        made._node.title = "AddmmBackward0"
    return made


@strict("torch.nn.functional.mse_loss")
def mse_loss(input, target, reduction="mean", weight=None):  # noqa: A002  # as torch calls it
    """The mean, or the sum, of squared differences."""
    if weight is not None:
        raise missing("torch.nn.functional.mse_loss with weights")
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=2,
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _squared_error(input, target, reduction)


def _squared_error(x, y, reduction):
    shape = broadcast(x.shape, y.shape)
    a, b = x.detach()._expanded(shape), y.detach()._expanded(shape)
    squares = (a - b) * (a - b)
    reduce = {"mean": mean, "sum": sum_, "none": lambda same: same}[reduction]
    count = squares.numel() if reduction == "mean" else 1

    def rule(sign, shape, kind):
        return lambda g: summed_to(g * (a - b) * (2.0 * sign / count if count else 0.0), shape).to(kind)

    rules = [rule(1, x.shape, x.dtype), rule(-1, y.shape, y.dtype)]
    return record(reduce(squares), "MseLossBackward0", [x, y], rules, [a, b])


@strict("torch.nn.functional.relu")
def relu(input):  # noqa: A002  # as torch calls it
    """The larger of each element and 0."""
    return input.relu()


@strict("torch.nn.functional.softmax")
def softmax(input, dim, dtype=None):  # noqa: A002  # as torch calls it
    """Positive numbers along a dimension that sum to 1."""
    return _softmax(input, dim, dtype)


@strict("torch.nn.functional.log_softmax")
def log_softmax(input, dim, dtype=None):  # noqa: A002  # as torch calls it
    """Logarithms of the softmax along a dimension."""
    return _log_softmax(input, dim, dtype)


@strict("torch.nn.functional.one_hot")
def one_hot(tensor, num_classes=-1):
    """A row for each number, with a 1 at its place."""
    values = tensor._values()
    if values and min(values) < 0:
        raise RuntimeError("Class values must be non-negative.")
    count = max(values) + 1 if num_classes == -1 else num_classes
    if values and max(values) >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")
    found = [int(value == place) for value in values for place in range(count)]
    return Tensor._of(found, (*tensor.shape, count), tensor.dtype)


@strict("torch.nn.functional.pad")
def pad(input, pad, mode="constant", value=None):  # noqa: A002  # as torch calls it
    """A copy with further elements at both ends of the last dimension."""
    if mode != "constant" or len(pad) != 2 or min(pad) < 0 or input.requires_grad:
        raise missing("torch.nn.functional.pad other than at the ends of the last dimension, without a gradient")
    ends = [input.new_full((*input.shape[:-1], size), 0 if value is None else value) for size in pad]
    return cat([ends[0], input, ends[1]], -1)
