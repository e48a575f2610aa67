"""Drivers of chapter 7: a pipeline whose graphs are counted, a router, a loss and a mixture layer with gradients."""

# mypy: no-check-untyped-defs

import functools
import weakref

import torch


class Graph:
    """What every saved tensor of one forward pass holds on to: it lives as long as the graph."""


def pipelined(program, module, order, inputs, targets, loss, hidden_shape, dtype=None, start=0.0):
    """One call; the loss is the named function of torch, and the answer holds the gradients and the peak of graphs.

    Gradients may stand in the parameters already: ``start``. A graph is alive as long as what it has saved for its
    backward pass.
    """
    for parameter in module.parameters():
        if start and parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, start)
    alive, counts, plain = weakref.WeakSet(), [0], module.forward

    def watched(x):
        graph = Graph()
        alive.add(graph)
        keep = functools.partial(lambda mine, tensor: (mine, tensor.detach()), graph)
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept[1]):
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
    return {"loss": value, "gradients": gradients, "peak": max(counts)}


def routed(program, logits, top_k, renormalize=None, upstream=None, dtype=None):
    """One call on logits of the given type; with an upstream gradient, the gradient of the logits is an answer too."""
    logits = logits.to(getattr(torch, dtype)) if dtype else logits
    logits.requires_grad_()
    weights, experts = program(logits, top_k) if renormalize is None else program(logits, top_k, renormalize)
    answer = {"weights": weights.detach().double(), "experts": experts}
    if upstream is not None:
        if getattr(weights, "requires_grad", False):
            weights.backward(upstream.to(weights.dtype))
        answer["logits.grad"] = logits.grad
    return answer


def balanced(program, probabilities, experts_chosen, experts):
    """One call and a backward pass: the loss, and its gradient with respect to the probabilities."""
    probabilities.requires_grad_()
    loss = program(probabilities, experts_chosen, experts)
    if getattr(loss, "requires_grad", False):
        loss.backward()
    return {"loss": loss, "probabilities.grad": probabilities.grad}


def expert_parallel(program, x, weights, chosen, upstream, experts, *local_experts):
    """One call and a backward pass on every rank: the output, and gradients of tokens, weights and local experts."""
    x.requires_grad_()
    weights.requires_grad_()
    y = program(x, weights, chosen, list(local_experts), experts)
    if getattr(y, "requires_grad", False):
        y.backward(upstream)
    gradients = [parameter.grad for expert in local_experts for parameter in expert.parameters()]
    return {"value": y, "x.grad": x.grad, "weights.grad": weights.grad, "experts.grad": gradients}
