"""Drivers of chapter 8: a batch of prompts on a small model, and logits in half types, which no case can hold.

The new tokens are values, which only the whole computation leads to. How many tokens of a row each pass was given is
recorded in the child, and the grader has to believe it: it tells a program that recomputes from one that does not. Both
have done the work, and to falsify the record through its closure takes more than the few lines of a cache.
"""

import torch


def batched(program, seed, prompts, max_new_tokens, eos=None):
    """Called with a small random model in float64; passes are counted: one for each new token of all rows together."""
    model, fed = small_model(seed)
    answer = program(model, prompts, max_new_tokens, eos)
    return {"new tokens": answer, "prompts afterwards": prompts, "tokens of a row in each pass": fed}


def of_type(program, logits, *options, dtype=None, **named):
    """Called with the logits, in `dtype` if one is given."""
    logits = logits.to(getattr(torch, dtype)) if dtype else logits
    value = program(logits, *options, **named)
    kind = str(getattr(value, "dtype", type(value).__name__))
    shown = value.double() if dtype and isinstance(value, torch.Tensor) else value
    return {"probabilities": shown, "type": kind, "logits afterwards": logits.double()}


def small_model(seed, vocab=11, width=8, layers=2):
    """A model of two attention layers with the tiny GPT's interface, and the tokens of a row in each pass."""
    generator = torch.Generator().manual_seed(seed)
    fed = []

    def matrix(rows, columns):
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64) * (2 / rows) ** 0.5

    class SmallModel(torch.nn.Module):
        def __init__(self):
            super().__init__()
            # Parameters, as a program may ask a model for its device and type.
            self.embedding = torch.nn.Parameter(matrix(vocab, width) * 2, requires_grad=False)
            self.head = torch.nn.Parameter(matrix(width, vocab), requires_grad=False)
            self.layers = [[matrix(width, width) for _ in range(5)] for _ in range(layers)]

        def forward(self, tokens, positions=None, cache=None, mask=None):
            rows, new = tokens.shape
            length = 0 if cache is None else cache.length
            fed.append(new)
            if mask is None:
                mask = torch.ones(rows, new, length + new, dtype=torch.bool).tril(length)
            if mask.dtype != torch.bool or tuple(mask.shape) != (rows, new, length + new):
                raise ValueError(f"mask must be bool of shape {(rows, new, length + new)}, got {tuple(mask.shape)}")
            if positions is None:
                positions = torch.arange(length, length + new).unsqueeze(0)
            angles = positions.unsqueeze(-1) * torch.tensor([1.0, 0.6, 0.3, 0.1], dtype=torch.float64)
            x = self.embedding[tokens] + torch.cat((angles.sin(), angles.cos()), dim=-1)
            for layer, (query, key, value, output, last) in enumerate(self.layers):
                keys, values = (x @ key).unsqueeze(1), (x @ value).unsqueeze(1)  # [B, 1, T, width]
                if cache is not None:
                    keys, values = cache.append(layer, keys, values)
                scores = ((x @ query).unsqueeze(1) @ keys.transpose(2, 3)).masked_fill(~mask.unsqueeze(1), -1e9)
                x = x + (scores.softmax(-1) @ values).squeeze(1) @ output
                x = x + (x @ last).tanh()
            if cache is not None:
                cache.length = length + new
            return x @ self.head

    return SmallModel(), fed
