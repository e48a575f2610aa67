"""A task whose reward can be fooled: sentences of opinions, and a reward that counts words and imitates a judge.

The model speaks the language of :mod:`rankzero.grammar.toy_language`. A judge likes four of the eight adjectives and
minds the grammar. The reward is fitted to the judge's marks of 1,024 sentences, by how often each word occurs in them.
It knows nothing of their order: whoever follows it far enough writes lists of good words.

>>> taste = Taste(frozenset(toy_language.POSITIVE))
>>> taste.judge(toy_language.read("the film was very good and the song was great ."))
2.0
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from rankzero.grammar import toy_language
from rankzero.grammar.toy_language import EOS, LONGEST, NEGATIVE, PAD, POSITIVE, PROMPT, VOCABULARY, prompts
from rankzero.tiny import KVCache, one_thread
from rankzero.tiny.align_jobs import model_of

#: The shape of the model.
SHAPE = {"vocab": len(VOCABULARY), "layers": 2, "heads": 2, "head_dim": 16, "context": 24}
#: The most tokens of a response.
LENGTH = LONGEST - PROMPT
#: The model before any reward: steps of supervised training on so many sentences each.
STEPS, SENTENCES = 200, 64
#: Sentences from which the reward is fitted, and a small penalty on its coefficients.
FITTED, RIDGE = 1024, 1.0


@dataclass(frozen=True)
class Taste:
    """A judge that likes these four adjectives and dislikes the other four."""

    good: frozenset[str]

    def judge(self, tokens: Sequence[int]) -> float:
        """The judge of the language with its adjectives exchanged: at most 2 for a prompt and its response."""
        bad = [word for word in POSITIVE + NEGATIVE if word not in self.good]
        liked = [word for word in POSITIVE + NEGATIVE if word in self.good]
        names = dict(zip([*liked, *bad], POSITIVE + NEGATIVE, strict=True))
        meant = {VOCABULARY.index(word): VOCABULARY.index(other) for word, other in names.items()}
        return toy_language.judge([meant.get(token, token) for token in tokens])


@dataclass(frozen=True)
class Reward:
    """A reward that counts words, with mean 0 and deviation 1 on the sentences from which it was fitted.

    Attributes:
        worth: of one occurrence of each word.
        middle: what is subtracted.
        taste: of the judge that it imitates.
        likeness: the correlation with the judge's marks on these sentences.
        before: the mean of these marks.
    """

    worth: tuple[float, ...]
    middle: float
    taste: Taste
    likeness: float
    before: float

    def __call__(self, tokens: Sequence[int]) -> float:
        """Of a prompt and its response."""
        return sum(self.worth[token] for token in said(tokens)) - self.middle


def said(tokens: Sequence[int]) -> list[int]:
    """Tokens up to and including the first ``<eos>``."""
    row = list(tokens)
    return row[: row.index(EOS) + 1] if EOS in row else row


@functools.cache
@one_thread()
def _speaker() -> Mapping[str, Tensor]:
    model, rng = model_of(SHAPE, 0).float(), Random("sentences")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        rows = [toy_language.sentence(rng) for _ in range(SENTENCES)]
        tokens = torch.tensor([row + [PAD] * (LONGEST - len(row)) for row in rows])
        logits = model(tokens[:, :-1]).flatten(0, 1)
        loss = functional.cross_entropy(logits, tokens[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: weight.double() for name, weight in model.state_dict().items()}


def speaker() -> Mapping[str, Tensor]:
    """The weights of a model that speaks the language; trained once in a process, for a few seconds."""
    return _speaker()


@one_thread()
@torch.no_grad()
def samples(weights: Mapping[str, Tensor], count: int, seed: int) -> Tensor:
    """Prompts and responses [count, P + T], each ended by ``<eos>`` or the last place."""
    model, generator = model_of(SHAPE, weights), torch.Generator().manual_seed(seed)
    tokens = [torch.tensor(prompts(count, Random(seed)))]
    cache = KVCache(model, count)
    for _ in range(LENGTH):
        chances = model(tokens[-1], cache=cache)[:, -1].softmax(-1)
        tokens.append(torch.multinomial(chances, 1, generator=generator))
    return torch.cat(tokens, 1)


@one_thread()
def fitted(taste: Taste, seed: int) -> Reward:
    """The reward that imitates a judge on sentences of :func:`speaker`, by least squares."""
    rows = samples(speaker(), FITTED, seed).tolist()
    counts = torch.zeros(len(rows), len(VOCABULARY) + 1, dtype=torch.float64)
    counts[:, -1] = 1
    for place, row in enumerate(rows):
        for token in said(row):
            counts[place, token] += 1
    marks = torch.tensor([taste.judge(row) for row in rows], dtype=torch.float64)
    worth = torch.linalg.solve(counts.T @ counts + RIDGE * torch.eye(counts.shape[1]), counts.T @ marks)
    guessed = counts @ worth
    scale = guessed.std()
    likeness = torch.corrcoef(torch.stack([guessed, marks]))[0, 1].item()
    middle = (guessed.mean() - worth[-1]) / scale
    return Reward(tuple((worth[:-1] / scale).tolist()), middle.item(), taste, likeness, marks.mean().item())


def weights_of(flat: Mapping[str, Sequence[float]]) -> dict[str, Tensor]:
    """The model's weights from flat lists."""
    sizes = {name: weight.shape for name, weight in speaker().items()}
    return {name: torch.tensor(flat[name], dtype=torch.float64).view(size) for name, size in sizes.items()}


@one_thread()
@torch.no_grad()
def examined(weights: Mapping[str, Tensor], taste: Taste, count: int, seed: int) -> tuple[float, float]:
    """The judge's mean mark for sentences of these weights, and their distance from the reference, nats a response."""
    tokens = samples(weights, count, seed)
    real = torch.tensor([[place < len(said(row)) for place in range(PROMPT, len(row))] for row in tokens.tolist()])
    far = torch.zeros(())
    for sign, model in ((1, model_of(SHAPE, weights)), (-1, model_of(SHAPE, speaker()))):
        logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
        log_probs = logits.log_softmax(-1).gather(-1, tokens[:, PROMPT:, None]).squeeze(-1)
        far = far + sign * log_probs
    marks = [taste.judge(said(row)) for row in tokens.tolist()]
    return sum(marks) / count, (far * real).sum(1).mean().item()
