"""Chapter 6: split layers are called, and a gradient is sent back through them."""

# mypy: no-check-untyped-defs

import functools

import torch
import torch.distributed as dist


def differentiated(program, *args, pairs=False):
    """The last argument is a gradient: the result for the others is sent back with it; nothing may be changed.

    In ``pairs``, ranks 0 and 1 are a group, 2 and 3 another one, and so on.
    """
    if pairs:
        groups = [dist.new_group([first, first + 1]) for first in range(0, dist.get_world_size(), 2)]
        program = functools.partial(program, group=groups[dist.get_rank() // 2])
    *given, upstream = args
    before = [arg.clone() for arg in args if isinstance(arg, torch.Tensor)]
    leaves = [arg.requires_grad_() for arg in given if isinstance(arg, torch.Tensor) and arg.is_floating_point()]
    value = program(*given)
    send_back(value, upstream)
    now = [arg.detach() for arg in args if isinstance(arg, torch.Tensor)]
    unchanged = all(torch.equal(old, new) for old, new in zip(before, now, strict=True))
    return {"value": value, "gradients": [leaf.grad for leaf in leaves], "unchanged": unchanged}


def operator(program, x, upstream, form="plain"):
    """The result for x is sent back with the gradient that is the second argument; neither may be changed."""
    if form in ("plain", "pairs"):
        return differentiated(program, x, upstream, pairs=form == "pairs")
    if form == "transposed":
        return differentiated(lambda given: program(given.t()), x, upstream)
    if form == "expanded":
        leaf = x.requires_grad_()
        value = program(leaf)
        send_back(value.sum(), None)
        return {"value": value, "gradients": [leaf.grad]}
    answer = differentiated(program, x.bfloat16(), upstream.bfloat16())
    kind = str(answer["value"].dtype)
    return {"type": kind, "value": answer["value"].float(), "gradients": [whole(g) for g in answer["gradients"]]}


def layer(program, weight, bias, x, upstream, **options):
    """The layer is made of weight and bias and called with x; its output is sent back with the last argument."""
    module = program(weight, bias, **options)
    value = module(x.requires_grad_())
    send_back(value, upstream)
    kept = {"weight": module.weight, "weight.grad": module.weight.grad, "x.grad": x.grad, "value": value}
    own = getattr(module, "bias", None)
    return kept if own is None else kept | {"bias": own, "bias.grad": own.grad}


def mlp(program, x, up, up_bias, down, down_bias, upstream):
    """The result is sent back with the last argument; of the full weights' gradients the rank's own block counts."""
    leaves = [tensor.requires_grad_() for tensor in (x, up, up_bias, down, down_bias)]
    value = program(*leaves)
    send_back(value, upstream)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    blocks = {"up": (up, 0), "up_bias": (up_bias, 0), "down": (down, 1)}
    grads = {f"{name}.grad": own_block(leaf.grad, dim, rank, ranks) for name, (leaf, dim) in blocks.items()}
    return {"value": value, "x.grad": x.grad, "down_bias.grad": down_bias.grad, **grads}


def attention(program, x, wq, wk, wv, wo, heads, kv_heads, upstream):
    """The result is sent back with the last argument; of a weight's gradient the rank's own heads count."""
    weights = [tensor.requires_grad_() for tensor in (wq, wk, wv, wo)]
    value = program(x.requires_grad_(), *weights, heads, kv_heads)
    send_back(value, upstream)
    rank, ranks, width = dist.get_rank(), dist.get_world_size(), wq.shape[0] // heads
    query = (rank * heads // ranks * width, heads // ranks * width)  # first row, number of rows
    key_value = (rank * kv_heads // ranks * width, max(1, kv_heads // ranks) * width)
    cuts = {"wq": (wq, 0, *query), "wk": (wk, 0, *key_value), "wv": (wv, 0, *key_value), "wo": (wo, 1, *query)}
    grads = {f"{name}.grad": None if w.grad is None else w.grad.narrow(*cut) for name, (w, *cut) in cuts.items()}
    return {"value": value, "x.grad": x.grad, **grads}


def send_back(value, upstream):
    """Backward, where there is a way back."""
    if value.requires_grad:
        value.backward(upstream)


def own_block(gradient, dim, rank, ranks):
    """One rank's block of a gradient, None where there is none."""
    return None if gradient is None else gradient.chunk(ranks, dim)[rank]


def whole(tensor):
    """In float32, None where there is none."""
    return None if tensor is None else tensor.float()
