"""Drivers of chapter 13: the gradient of a loss, and small networks that learn from one batch.

All answers are values.
"""

import torch

clone = torch.Tensor.clone


def sent_back(program, first, *others, **options):
    """Backward runs from the result (from the loss, if statistics come with it) to the first argument."""
    leaf = clone(first).requires_grad_()
    result = program(leaf, *others, **options)
    loss = result[0] if isinstance(result, tuple) else result
    if loss.requires_grad:
        loss.sum().backward()
    return {"result": result, "gradient of the first argument": leaf.grad}


def sent_to_all(program, *tensors_and_rest):
    """Backward runs from the loss: the answer holds it and the gradient of each tensor that was passed."""
    leaves = [part.requires_grad_() if isinstance(part, torch.Tensor) else part for part in tensors_and_rest]
    loss = program(*leaves)
    loss.backward()
    return {"loss": loss, "gradients": [leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor)]}


class Descent:
    """Plain gradient descent: the library's optimizers take seconds to import at their first use."""

    def __init__(self, parameters, rate):
        self.parameters, self.rate = list(parameters), rate

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        with torch.no_grad():
            for parameter in self.parameters:
                if parameter.grad is not None:
                    parameter -= self.rate * parameter.grad


def learned(program, seed, tokens, prompt_length, mask, scores, reference, rate=0.5, **options):
    """A small policy and a critic learn from one batch by gradient descent; their weights afterwards count."""
    generator = torch.Generator().manual_seed(seed)
    vocab, width = int(tokens.max()) + 1, 4

    def made(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def network(outputs):
        table, head = torch.nn.Embedding(vocab, width), torch.nn.Linear(width, outputs, bias=False)
        table.weight, head.weight = (torch.nn.Parameter(made(*m.weight.shape)) for m in (table, head))
        return torch.nn.Sequential(table, head)

    policy, critic = network(vocab), torch.nn.Sequential(*network(1), torch.nn.Flatten(1))
    parameters = [*policy.parameters(), *critic.parameters()]
    program(policy, critic, Descent(parameters, rate), tokens, prompt_length, mask, scores, reference, **options)
    return [parameter.detach() for parameter in parameters]


def stepped(program, seed, tokens, *others, rate=0.5, **options):
    """A small policy learns from one batch by gradient descent; its weights afterwards and the statistics count."""
    generator = torch.Generator().manual_seed(seed)
    vocab, width = max(int(tokens.max()) + 1, 5), 4

    def made(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    table, head = torch.nn.Embedding(vocab, width), torch.nn.Linear(width, vocab, bias=False)
    table.weight, head.weight = (torch.nn.Parameter(made(*m.weight.shape)) for m in (table, head))
    policy = torch.nn.Sequential(table, head)
    told = program(policy, Descent(policy.parameters(), rate), tokens, *others, **options)
    return [parameter.detach() for parameter in policy.parameters()], told
