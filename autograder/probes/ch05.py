"""Chapter 5: gradients that are averaged, an optimizer that steps, a slice whose gradient comes back.

All that is handed back are values. That gradients are averaged in place is seen in the tensors that held them before.
Types are words of the child, which the values would betray: another type rounds otherwise.
"""

# mypy: no-check-untyped-defs

import torch


def synchronized(program, gradients, count, missing=(), order=None, frozen=(), dtype="float64", **options):
    """Parameters get these gradients and are handed over with the count; the answer holds what their gradients became.

    Of the parameters in ``missing`` the gradient is None, those in ``frozen`` need none, though they hold one.
    ``order`` says in which order they are named, and may name one twice. As ``model.parameters()`` does, they come one
    by one.
    """
    parameters = [torch.nn.Parameter(torch.zeros_like(g, dtype=getattr(torch, dtype))) for g in gradients]
    for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        parameter.requires_grad_(place not in frozen)
        if place not in missing:
            parameter.grad = gradient.to(parameter.dtype)
    held = [parameter.grad for parameter in parameters]
    named = (parameters[place] for place in (order or range(len(parameters))))
    reductions = program(named, count, **options)
    now = [parameter.grad for parameter in parameters]
    return {
        "reductions": reductions,
        "gradients": [in_float64(gradient) for gradient in now],
        "types": [str(gradient if gradient is None else gradient.dtype) for gradient in now],
        "tensors that were the gradients before": [in_float64(gradient) for gradient in held],
    }


def in_float64(gradient):
    """A tensor in the widest type, None where there is none."""
    return None if gradient is None else gradient.double()


def stepped(program, shapes, steps, seed, missing=(), frozen=(), dtype="float32", **options):
    """The optimizer is made for weights of these shapes and steps with gradients drawn from the seed.

    The weights are the same on every rank. Of the parameters in ``missing`` the gradient stays None, those in
    ``frozen`` need none.
    """
    kind, same, own = getattr(torch, dtype), torch.Generator().manual_seed(0), torch.Generator().manual_seed(seed)
    parameters = [torch.nn.Parameter(torch.randn(shape, generator=same).to(kind)) for shape in shapes]
    for place in frozen:
        parameters[place].requires_grad_(False)
    optimizer = program(iter(parameters), **options)
    for _ in range(steps):
        for place, parameter in enumerate(parameters):
            gradient = torch.randn(parameter.shape, generator=own).to(kind)
            if place not in missing and place not in frozen:
                parameter.grad = gradient
        optimizer.step()
    return {"weights": [p.detach().float() for p in parameters], "state_bytes": optimizer.state_bytes()}


def gathered(program, shard, numel, upstream):
    """The slice asks for a gradient, and the whole parameter is sent back with a gradient of its own on every rank."""
    value = program(shard.requires_grad_(), numel)
    if value.requires_grad:
        value.backward(upstream)
    return {"value": value.detach(), "gradient": shard.grad}
