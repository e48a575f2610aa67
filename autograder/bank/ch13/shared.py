"""What several exercises of chapter 13 share."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch13.draws import Rows, rows, spoiled, tensor
from autograder.items import Case, Tensor

MASK = tensor([[1, 1, 1, 0], [1, 1, 1, 1]])


def distribution(rng: Random, size: int, zeros: int = 0) -> tuple[float, ...]:
    """A distribution; ``zeros`` of its entries are 0."""
    weights = [rng.randint(2, 40) for _ in range(size)]
    for index in rng.sample(range(size), zeros):
        weights[index] = 0
    return tuple(weight / sum(weights) for weight in weights)


def moved(rng: Random, mask: Rows, *rests: float, dtype: str = "float64", far: float = 0.7) -> Case:
    """Log-probabilities before and after a step of up to ``far`` nats, and advantages."""
    batch, length = len(mask), len(mask[0])
    old = rows(rng, batch, length, -4, -0.5)
    steps = rows(rng, batch, length, -far, far)
    new = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(old, steps, strict=True)]
    given = (new, old, rows(rng, batch, length))
    turned = [(*rests[index:], *rests[:index]) for index in range(3)]
    return Case(
        tuple(tensor(spoiled(one, mask, *rest), dtype) for one, rest in zip(given, turned, strict=True))
        + (tensor(mask, dtype),)
    )


def draw_tokens(given: list[list[int]], dtype: str = "int64") -> Tensor:
    return Tensor.of([token for row in given for token in row], dtype, (len(given), len(given[0])))


def batch(rng: Random, scale: float = 3.0, dtype: str = "float64", prompt: int | None = None) -> Case:
    batch, length, vocab = rng.randint(1, 3), rng.randint(4, 8), rng.randint(4, 9)
    size = (batch, length, vocab)
    logits = Tensor.of([round(rng.uniform(-scale, scale), 3) for _ in range(math.prod(size))], dtype, size)
    tokens = [[rng.randrange(vocab) for _ in range(length)] for _ in range(batch)]
    return Case((logits, draw_tokens(tokens), prompt or rng.randint(2, length - 2)))


def prompts(rng: Random) -> list[Case]:
    """A prompt of one token, and a response of one."""
    whole = batch(rng)
    return [batch(rng, prompt=1), Case((*whole.args[:2], whole.args[1].shape[1] - 1))]


SINES = Tensor.of([2 * math.sin(index) for index in range(24)], "float64", (1, 4, 6))

#: Parameters of Llama-2 7B, of InstructGPT's policy, and of its critic and reward model.
LLAMA2_7B, INSTRUCT, INSTRUCT_SMALL = 6_738_415_616, 175e9, 6e9


def parameters_of(rng: Random) -> int:
    return round(10 ** rng.uniform(8, 11.6))


def log_probs_by_logsumexp(logits, tokens, prompt_length):
    import torch

    logits = logits[:, prompt_length - 1 : -1]
    chosen = logits.gather(-1, tokens[:, prompt_length:, None])[..., 0]
    return chosen - torch.logsumexp(logits, -1)


def log_probs_by_loss(logits, tokens, prompt_length):
    from torch.nn import functional

    flat = logits[:, :-1].transpose(1, 2)
    return -functional.cross_entropy(flat, tokens[:, 1:], reduction="none")[:, prompt_length - 1 :]


PADDING = "where it is 0, the others may hold anything, nan and infinities too"
