"""Chapters 2 to 4: what was returned outlives the arguments, and gradients that were there before are kept.

All answers are values. That a program returned an argument itself, or a part of it, is seen when that argument is
written over.
"""

# mypy: no-check-untyped-defs

import torch


def written_over(program, *arguments, spread=False):
    """The arguments are written over before the answer is read: what is returned does not share their memory.

    With ``spread`` the elements of the first argument do not lie one after the other in memory.
    """
    if spread:
        first, *others = arguments
        arguments = (torch.stack([first, first], -1)[..., 0], *others)
    value = program(*arguments)
    afterwards = [copied(argument) for argument in arguments]
    for argument in arguments:
        write_over(argument)
    return {"returned": value, "arguments afterwards": afterwards}


def copied(argument):
    """A tensor, or a list of tensors, as it is now; anything else itself."""
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

    ``before`` is what every element of the gradients of trained parameters is when the step begins.
    """
    for parameter in stage.parameters() if before is not None else ():
        if parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, before)
    value = program(stage, inputs, targets, shape)
    gradients = {name: parameter.grad for name, parameter in stage.named_parameters()}
    batch = [None if part is None else part.detach().clone() for part in (inputs, targets)]
    return {"returned": value, "gradients": gradients, "inputs and targets afterwards": batch}
