"""Drivers of chapter 6: split layers are called, and a gradient is sent back through them.

All answers are values: results, gradients, and the input tensors after the call. A program that changes its inputs and
then restores them counts as leaving them unchanged. The type of a result in bfloat16 is reported by the child, and the
values show whether they were rounded to it.
"""

import functools

import torch
import torch.distributed as dist

Tensor = torch.Tensor
detach, requires_grad_, chunk, narrow = Tensor.detach, Tensor.requires_grad_, Tensor.chunk, Tensor.narrow
zero_, bfloat16 = Tensor.zero_, Tensor.bfloat16


def differentiated(program, *args, pairs=False, half=False):
    """The last argument is a gradient: backward runs with it from the result for the others; none may be changed.

    With ``pairs``, ranks 0 and 1 form a group, 2 and 3 another, and so on. With ``half``, floats are bfloat16.
    """
    if half:
        answer = differentiated(program, *(bfloat16(arg) if is_number(arg) else arg for arg in args), pairs=pairs)
        kind = str(answer["value"].dtype)
        wide = {name: [whole(tensor) for tensor in tensors] for name, tensors in answer.items() if name != "value"}
        return {"type": kind, "value": answer["value"].float(), **wide}
    if pairs:
        groups = [dist.new_group([first, first + 1]) for first in range(0, dist.get_world_size(), 2)]
        program = functools.partial(program, group=groups[dist.get_rank() // 2])
    *given, upstream = args
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    leaves = [requires_grad_(arg) for arg in given if is_number(arg)]
    value = program(*given)
    send_back(value, upstream)
    after = [detach(tensor) for tensor in tensors]
    return {"value": value, "gradients": [leaf.grad for leaf in leaves], "arguments after the call": after}


def operator(program, x, upstream, form="plain"):
    """Backward runs from the result for x with the second argument as its gradient; neither may be changed."""
    if form in ("plain", "pairs"):
        return differentiated(program, x, upstream, pairs=form == "pairs")
    if form == "transposed":
        return differentiated(lambda given: program(given.t()), x, upstream)
    if form == "expanded":
        leaf = requires_grad_(x)
        value = program(leaf)
        send_back(value.sum(), None)
        return {"value": value, "gradients": [leaf.grad], "arguments after the call": [detach(leaf), upstream]}
    return differentiated(program, x, upstream, half=True)


def layer(program, weight, bias, x, upstream, **options):
    """The layer is made from weight and bias and called with x; backward runs from its output with the last argument.

    The full weight and bias are overwritten before the call: the layer must hold copies.
    """
    module = program(weight, bias, **options)
    for full in (weight, bias):
        if full is not None:
            zero_(full)
    value = module(requires_grad_(x))
    send_back(value, upstream)
    kept = {"weight": module.weight, "weight.grad": module.weight.grad, "x.grad": x.grad, "value": value}
    own = getattr(module, "bias", None)
    return kept if own is None else kept | {"bias": own, "bias.grad": own.grad}


def mlp(program, x, up, up_bias, down, down_bias, upstream):
    """Backward runs from the result with the last argument; of a full weight's gradient the rank's block counts."""
    leaves = [requires_grad_(tensor) for tensor in (x, up, up_bias, down, down_bias)]
    value = program(*leaves)
    send_back(value, upstream)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    blocks = {"up": (up, 0), "up_bias": (up_bias, 0), "down": (down, 1)}
    grads = {f"{name}.grad": own_block(leaf.grad, dim, rank, ranks) for name, (leaf, dim) in blocks.items()}
    return {"value": value, "x.grad": x.grad, "down_bias.grad": down_bias.grad, **grads}


def attention(program, x, wq, wk, wv, wo, heads, kv_heads, upstream):
    """Backward runs from the result with the last argument; of a weight's gradient the rank's heads count."""
    weights = [requires_grad_(tensor) for tensor in (wq, wk, wv, wo)]
    value = program(requires_grad_(x), *weights, heads, kv_heads)
    send_back(value, upstream)
    rank, ranks, width = dist.get_rank(), dist.get_world_size(), wq.shape[0] // heads
    query = (rank * heads // ranks * width, heads // ranks * width)  # first row, number of rows
    key_value = (rank * kv_heads // ranks * width, max(1, kv_heads // ranks) * width)
    cuts = {"wq": (wq, 0, *query), "wk": (wk, 0, *key_value), "wv": (wv, 0, *key_value), "wo": (wo, 1, *query)}
    grads = {f"{name}.grad": None if w.grad is None else narrow(w.grad, *cut) for name, (w, *cut) in cuts.items()}
    return {"value": value, "x.grad": x.grad, **grads}


def send_back(value, upstream):
    """Run backward if ``value`` requires a gradient."""
    if value.requires_grad:
        value.backward(upstream)


def is_number(arg):
    """Whether an argument is a tensor of floating-point numbers."""
    return isinstance(arg, Tensor) and arg.is_floating_point()


def own_block(gradient, dim, rank, ranks):
    """One rank's block of a gradient; None stays None."""
    return None if gradient is None else chunk(gradient, ranks, dim)[rank]


def whole(tensor):
    """A tensor of floats in float32; anything else itself."""
    return None if tensor is None else tensor.float() if is_number(tensor) else tensor
