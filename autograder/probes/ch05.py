"""Drivers of chapter 5: gradients that are averaged, an optimizer that steps, a shard that gets a gradient, equal
starts, a step of several micro-batches.

All answers are values. Whether gradients are averaged in place shows in the tensors that held them before. Types are
reported by the child, and the values would give a lie away: another type rounds differently.
"""

import torch


def synchronized(program, gradients, count, missing=(), order=None, frozen=(), dtype="float64", **options):
    """Parameters with these gradients are passed with the count; the answer holds their gradients afterwards.

    Parameters in ``missing`` have no gradient; those in ``frozen`` do not require one, though they hold one. ``order``
    is the order in which they are passed, and may repeat one. They come as an iterator, as from ``model.parameters()``.
    """
    parameters = [torch.nn.Parameter(torch.zeros_like(g, dtype=getattr(torch, dtype))) for g in gradients]
    for index, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        parameter.requires_grad_(index not in frozen)
        if index not in missing:
            parameter.grad = gradient.to(parameter.dtype)
    held = [parameter.grad for parameter in parameters]
    named = (parameters[index] for index in (order or range(len(parameters))))
    reductions = program(named, count, **options)
    now = [parameter.grad for parameter in parameters]
    return {
        "reductions": reductions,
        "gradients": [in_float64(gradient) for gradient in now],
        "types": [str(gradient if gradient is None else gradient.dtype) for gradient in now],
        "tensors that were the gradients before": [in_float64(gradient) for gradient in held],
    }


def in_float64(gradient):
    """A tensor in float64; None stays None."""
    return None if gradient is None else gradient.double()


def stepped(program, shapes, steps, seed, missing=(), frozen=(), dtype="float32", **options):
    """The optimizer is made for weights of these shapes and steps with gradients drawn from the seed.

    The weights are the same on every rank. Parameters in ``missing`` keep the gradient None; those in ``frozen`` do not
    require one.
    """
    kind, same, own = getattr(torch, dtype), torch.Generator().manual_seed(0), torch.Generator().manual_seed(seed)
    parameters = [torch.nn.Parameter(torch.randn(shape, generator=same).to(kind)) for shape in shapes]
    for index in frozen:
        parameters[index].requires_grad_(False)
    optimizer = program(iter(parameters), **options)
    for _ in range(steps):
        for index, parameter in enumerate(parameters):
            gradient = torch.randn(parameter.shape, generator=own).to(kind)
            if index not in missing and index not in frozen:
                parameter.grad = gradient
        optimizer.step()
    return {"weights": [p.detach().float() for p in parameters], "state_bytes": optimizer.state_bytes()}


def gathered(program, shard, numel, upstream):
    """The shard requires a gradient; backward runs from the whole parameter with a different gradient on every rank."""
    value = program(shard.requires_grad_(), numel)
    if value.requires_grad:
        value.backward(upstream)
    return {"value": value.detach(), "gradient": shard.grad}


def started(program, values, buffer):
    """A model has these parameters, the last of them frozen, and this buffer; the answer holds them afterwards."""
    model = torch.nn.Module()
    for index, value in enumerate(values):
        model.register_parameter(f"weight_{index}", torch.nn.Parameter(value, index < len(values) - 1))
    model.register_buffer("running", buffer)
    held = [*model.parameters(), *model.buffers()]
    program(model)
    now = [*model.parameters(), *model.buffers()]
    return {
        "values": [tensor.detach() for tensor in held],
        "the same tensors": [new is old for new, old in zip(now, held, strict=True)],
    }


def accumulated(program, weight, inputs, targets, pieces, steps=1, max_norm=1.0):
    """A linear model in DDP takes steps of so many micro-batches, all from these rows; SGD has momentum."""
    model = torch.nn.Linear(*reversed(weight.shape), bias=False, dtype=weight.dtype)
    with torch.no_grad():
        model.weight.copy_(weight)
    replica = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(replica.parameters(), lr=0.1, momentum=0.5)
    batches = [*zip(inputs.chunk(pieces), targets.chunk(pieces), strict=True)]
    norms = [program(replica, optimizer, batches, torch.nn.functional.mse_loss, max_norm) for _ in range(steps)]
    return {"norms": norms, "weight": model.weight.detach()}
