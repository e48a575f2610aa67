"""Drivers of chapter 7: a pipeline whose graphs are counted, a router, a loss and a mixture layer with gradients.

Losses and gradients are values, and so is whether a loss has kept its graph. How many graphs were alive after each
forward pass is counted in the child, and the grader has to believe it. A lie could hide graphs that are kept too long,
but saves no work: a rank that runs ahead of its order is exposed by its messages, which the grader carries itself.
"""

import functools
from weakref import WeakSet

import torch
from torch.autograd.graph import saved_tensors_hooks


class Graph:
    """An object that every saved tensor of one forward pass refers to, so that it lives as long as the graph."""


def pipelined(program, module, order, inputs, targets, loss, hidden_shape, dtype=None, start=0.0):
    """Called once, with torch's loss function of that name; the answer also has the gradients and the live graphs.

    With ``start``, the parameters already have gradients, filled with this value. A graph is alive as long as what it
    has saved for its backward pass.
    """
    for parameter in module.parameters():
        if start and parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, start)
    alive, counts, plain = WeakSet(), [0], module.forward

    def watched(x):
        graph = Graph()
        alive.add(graph)
        keep = functools.partial(lambda mine, tensor: (mine, tensor.detach()), graph)
        with saved_tensors_hooks(keep, lambda kept: kept[1]):
            result = plain(x)
        del graph, keep
        counts.append(len(alive))
        return result

    module.forward = watched
    measure = getattr(torch.nn.functional, loss)
    given = (getattr(torch, dtype),) if dtype else ()
    value = program(module, order, inputs, targets, measure, tuple(hidden_shape), *given)
    module.forward = plain
    gradients = {name: parameter.grad for name, parameter in module.named_parameters()}
    graph = getattr(value, "requires_grad", False)
    return {"loss": value, "loss.requires_grad": graph, "gradients": gradients, "alive": counts}


def routed(program, logits, top_k, renormalize=None, upstream=None, dtype=None):
    """Called on logits of the given type; with an upstream gradient, the answer includes the gradient of the logits."""
    logits = logits.to(getattr(torch, dtype)) if dtype else logits
    logits.requires_grad_()
    weights, experts = program(logits, top_k) if renormalize is None else program(logits, top_k, renormalize)
    answer = {"weights": weights.detach().double(), "type": str(weights.dtype), "experts": experts}
    if upstream is not None:
        if getattr(weights, "requires_grad", False):
            weights.backward(upstream.to(weights.dtype))
        answer["logits.grad"] = logits.grad
    return answer


def balanced(program, probabilities, experts_chosen, experts):
    """One call and one backward pass: the loss, and its gradient with respect to the probabilities."""
    probabilities.requires_grad_()
    loss = program(probabilities, experts_chosen, experts)
    if getattr(loss, "requires_grad", False):
        loss.backward()
    return {"loss": loss, "probabilities.grad": probabilities.grad}


def expert_parallel(program, x, weights, chosen, upstream, experts, *local_experts):
    """One call and one backward pass on every rank: the output, and gradients of tokens, weights and local experts."""
    x.requires_grad_()
    weights.requires_grad_()
    y = program(x, weights, chosen, list(local_experts), experts)
    if getattr(y, "requires_grad", False):
        y.backward(upstream)
    gradients = [parameter.grad for expert in local_experts for parameter in expert.parameters()]
    return {"value": y, "x.grad": x.grad, "weights.grad": weights.grad, "experts.grad": gradients}
