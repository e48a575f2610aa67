"""Drivers of chapters 2 to 4: what is returned must not share memory with the arguments, and gradients accumulate.

All answers are values. If a program returns an argument or a part of it, overwriting that argument shows it.
"""

import torch
import torch.distributed as dist


def received_while(program, numbers, sends):
    """The work adds up the first tensor and tells rank 0 to send the second: who waits before working waits forever.

    ``numbers`` are the rank's own, and ``sends`` is what rank 0 sends to each of the others.
    """
    if dist.get_rank() == 0:
        for peer in range(1, dist.get_world_size()):
            dist.recv(torch.empty(1), peer)
            dist.send(sends, peer)
        return None
    begun = []

    def work():
        begun.append(1)
        dist.send(torch.ones(1), 0)
        return numbers.sum().item()

    buffer = torch.zeros_like(sends)
    made = program(work, buffer, 0)
    filled = buffer.tolist()  # at once: whoever has not waited has nothing here
    return {"returned": made, "buffer": filled, "calls of the work": len(begun)}


def written_over(program, *arguments, spread=False, history=False):
    """The arguments are overwritten before the answer is read: what is returned must not share their memory.

    With ``spread``, the first argument is not contiguous. With ``history``, it comes from a computation that autograd
    follows, and the answer tells whether what is returned is followed, too.
    """
    if history:
        first, *others = arguments
        with torch.enable_grad():
            given = first.requires_grad_() * 1
            value = program(given, *others)
        with torch.no_grad():
            write_over(given)
        return {"returned": value.detach().clone(), "followed by autograd": value.requires_grad}
    if spread:
        first, *others = arguments
        arguments = (torch.stack([first, first], -1)[..., 0], *others)
    value = program(*arguments)
    afterwards = [copied(argument) for argument in arguments]
    for argument in arguments:
        write_over(argument)
    return {"returned": value, "arguments afterwards": afterwards}


def copied(argument):
    """A copy of a tensor or of a list of tensors; anything else itself."""
    if isinstance(argument, torch.Tensor):
        return argument.clone()
    return [copied(part) for part in argument] if isinstance(argument, list) else argument


def write_over(argument):
    """Change every element of a tensor, or of a list of tensors."""
    if isinstance(argument, torch.Tensor):
        argument.copy_(argument.logical_not())
    elif isinstance(argument, list):
        for part in argument:
            write_over(part)


def stepped(program, stage, inputs, targets, shape, before=None):
    """The stage makes its step, and the answer holds the gradients of its parameters afterwards.

    ``before`` is the value of every element of the trained parameters' gradients when the step begins.
    """
    for parameter in stage.parameters() if before is not None else ():
        if parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, before)
    value = program(stage, inputs, targets, shape)
    gradients = {name: parameter.grad for name, parameter in stage.named_parameters()}
    batch = [None if part is None else part.detach().clone() for part in (inputs, targets)]
    return {"returned": value, "gradients": gradients, "inputs and targets afterwards": batch}
