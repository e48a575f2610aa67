"""Chapter 5: gradients that are averaged, an optimizer that steps, a slice whose gradient comes back."""

# mypy: no-check-untyped-defs

import torch


def synchronized(program, gradients, count, missing=(), order=None, frozen=(), dtype="float64", **options):
    """Parameters get these gradients and are handed over with the count; the answer holds what their gradients became.

    Of the parameters in ``missing`` the gradient is None, those in ``frozen`` need none. ``order`` says in which order
    they are named, and may name one twice. As ``model.parameters()`` does, they come one by one.
    """
    parameters = [torch.nn.Parameter(torch.zeros_like(g, dtype=getattr(torch, dtype))) for g in gradients]
    for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        parameter.requires_grad_(place not in frozen)
        if place not in missing and place not in frozen:
            parameter.grad = gradient.to(parameter.dtype)
    before = [parameter.grad for parameter in parameters]
    named = (parameters[place] for place in (order or range(len(parameters))))
    reductions = program(named, count, **options)
    now = [parameter.grad for parameter in parameters]
    return {
        "reductions": reductions,
        "gradients": [gradient if gradient is None else gradient.double() for gradient in now],
        "types": [str(gradient if gradient is None else gradient.dtype) for gradient in now],
        "in place": all(new is old for new, old in zip(now, before, strict=True) if old is not None),
    }


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
