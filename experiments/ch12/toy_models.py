"""The models of an RLHF job that fits one core: actor, reference, critic and reward model, all with a small body.

>>> model = reference()  # doctest: +SKIP
>>> rollout = generate(model, prompt_rows(4), 16, torch.Generator().manual_seed(0))  # doctest: +SKIP
>>> [show(row) for row in rollout.tokens.tolist()]  # doctest: +SKIP

Shapes: B responses, P tokens of a prompt, T of a response, S = P + T. Padding and <bos> cannot be chosen: every softmax
leaves them out, in training, in sampling and when log-probabilities are recomputed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import torch
from torch.nn import functional

from rankzero import stored
from rankzero.grammar.toy_language import BOS, EOS, LONGEST, PAD, PROMPT, VOCABULARY, judge, prompts, sentence
from rankzero.tiny import GPT, GPTConfig, KVCache, one_thread
from rankzero.tiny.weights import as_text, from_text

#: The body that all models share; critic and reward model have a head of one output.
CONFIG = GPTConfig(vocab=len(VOCABULARY), layers=2, heads=2, head_dim=16, context=24)
#: The most tokens of a response: the longest sentence minus its prompt.
LENGTH = LONGEST - PROMPT

#: Supervised training: steps of so many sentences each.
STEPS, SENTENCES = 200, 64
#: Training of the reward model: pairs that were compared once, steps of so many of them each.
PAIRS, REWARD_STEPS, COMPARED = 2000, 100, 128
#: Reference and scorer of seed 0, as ``python benchmarks/toy_models.py --store`` trains and writes them.
STORED = Path(__file__).parent / "data" / "toy_models.json"

Score = Callable[[torch.Tensor], torch.Tensor]

#: [V], True for tokens that cannot be part of a response.
_MARKS = torch.tensor([token in (PAD, BOS) for token in range(len(VOCABULARY))])


@dataclass(frozen=True)
class Rollout:
    """Sampled responses.

    Attributes:
        tokens: [B, S], int64: prompt, response, padding.
        mask: [B, T], 1.0 up to and including the first <eos>.
        log_probs: [B, T], of each token when it was drawn; 0 where the mask is 0.
    """

    tokens: torch.Tensor
    mask: torch.Tensor
    log_probs: torch.Tensor

    @property
    def prompt_length(self) -> int:
        """P."""
        return self.tokens.shape[1] - self.mask.shape[1]

    def rows(self, which: torch.Tensor) -> Rollout:
        """The responses with these indices."""
        return Rollout(self.tokens[which], self.mask[which], self.log_probs[which])


# Words.


def prompt_rows(count: int, seed: int = 0) -> torch.Tensor:
    """Beginnings of sentences, tokens [count, P]."""
    return torch.tensor(prompts(count, Random(f"prompts {seed}")))


def sentences(count: int, rng: Random) -> torch.Tensor:
    """Sentences that people say, padded at the end, tokens [count, LONGEST]."""
    rows = [sentence(rng) for _ in range(count)]
    return torch.tensor([row + [PAD] * (LONGEST - len(row)) for row in rows])


def judged(tokens: torch.Tensor) -> torch.Tensor:
    """The judge's verdict on each row [B] of tokens [B, S]: a reward that cannot be fooled."""
    return torch.tensor([judge(row) for row in tokens.tolist()])


def word_logits(model: GPT, tokens: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
    """Logits [B, T, V] after each token; those of padding and <bos> are minus infinity."""
    return model(tokens, cache=cache).masked_fill(_MARKS, -torch.inf)


# Supervised training: the reference.


def reference(seed: int = 0, steps: int = STEPS) -> GPT:
    """The model that speaks the language, frozen. That of seed 0 is stored; another is trained, once in a process."""
    return _read()[0] if (seed, steps) == (0, STEPS) else trained(seed, steps)


@functools.cache
@one_thread()
def trained(seed: int, steps: int) -> GPT:
    model, rng = GPT(CONFIG, seed), Random(f"sentences {seed}")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, fused=True)
    for _ in range(steps):
        tokens = sentences(SENTENCES, rng)
        loss = functional.cross_entropy(
            word_logits(model, tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval().requires_grad_(False)


def copied(model: GPT) -> GPT:
    """A trainable copy of this model: the actor."""
    fresh = GPT(model.config)
    fresh.load_state_dict(model.state_dict())
    return fresh


def with_one_output(model: GPT, seed: int = 0, zero: bool = False) -> GPT:
    """A model with the same body and a head of one output, drawn from ``seed`` or ``zero``: reward model, critic."""
    fresh = GPT(replace(model.config, outputs=1), seed)
    body = {name: value for name, value in model.state_dict().items() if not name.startswith("head.")}
    fresh.load_state_dict(body, strict=False)
    if zero:
        torch.nn.init.zeros_(fresh.head.weight)
    return fresh


# Rollout.


@one_thread()
def generate(
    model: GPT,
    prompts: torch.Tensor,
    length: int = LENGTH,
    generator: torch.Generator | None = None,
    temperature: float = 1.0,
) -> Rollout:
    """Let the model finish prompts of equal length [B, P]: at most ``length`` tokens each, padding after <eos>.

    The log-probabilities are those of the distribution that the tokens were drawn from, so at a temperature other than
    1 they are not the model's.
    """
    tokens, kept = [prompts], []
    with torch.inference_mode():
        cache, over = KVCache(model, len(prompts)), torch.zeros(len(prompts), 1, dtype=torch.bool)
        for _ in range(length):
            law = (word_logits(model, tokens[-1], cache)[:, -1] / temperature).log_softmax(-1)
            drawn = torch.multinomial(law.exp(), 1, generator=generator)
            tokens.append(drawn.masked_fill(over, PAD))
            kept.append(law.gather(1, drawn).masked_fill(over, 0.0))
            over = over | (drawn == EOS)
    ends = (torch.cat(tokens[1:], 1) == EOS).long()
    mask = (ends.cumsum(1) - ends == 0).float()  # until an <eos> has come before
    return Rollout(torch.cat(tokens, 1), mask, torch.cat(kept, 1))


def shuffled(rollout: Rollout, parts: int, generator: torch.Generator | None) -> Iterator[torch.Tensor]:
    """The indices of the responses, shuffled, in ``parts`` pieces."""
    return iter(torch.randperm(len(rollout.tokens), generator=generator).chunk(parts))


# The reward model.


def raw_scores(model: GPT, tokens: torch.Tensor) -> torch.Tensor:
    """The model's output at the last real token of each row: [B] from tokens [B, S]. The zero is arbitrary."""
    ended = (tokens == EOS).int()
    last = torch.where(ended.any(1), ended.argmax(1), tokens.shape[1] - 1)
    return model(tokens)[:, :, 0].gather(1, last.unsqueeze(1)).squeeze(1)


def samples(model: GPT, count: int, seed: int) -> torch.Tensor:
    """Finished prompts, tokens [count, S]."""
    generator = torch.Generator().manual_seed(seed)
    return generate(model, prompt_rows(count, seed), LENGTH, generator).tokens


def compared(tokens: torch.Tensor, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of rows as an unreliable annotator sorts them: (chosen, rejected), each [B / 2, S].

    The first of two is chosen with probability ``sigmoid(judge(first) - judge(second))``.
    """
    first, second = tokens.chunk(2)
    chance = torch.sigmoid(judged(first) - judged(second))
    liked = torch.rand(len(chance), generator=torch.Generator().manual_seed(seed)) < chance
    return torch.where(liked[:, None], first, second), torch.where(liked[:, None], second, first)


def reward_model(model: GPT, seed: int = 0, steps: int = REWARD_STEPS, loss: Callable | None = None) -> GPT:
    """A reward model with the body of ``model``, taught by noisy comparisons of its samples; frozen.

    That of the stored reference, of seed 0 and with all steps, is stored as well.

    Args:
        model: the reference.
        seed: of samples, labels and the head.
        steps: of training; a few seconds for a hundred.
        loss: of the scores of chosen and rejected [B]; None takes :func:`comparison_loss`.
    """
    return scorer(model).model if _is_stored(model, seed, steps, loss) else _reward_model(model, seed, steps, loss)


def comparison_loss(chosen: torch.Tensor, rejected: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of comparisons, by the scores of the preferred and the other answers [B]."""
    return -functional.logsigmoid(chosen - rejected).mean()


@functools.cache
@one_thread()
def _reward_model(model: GPT, seed: int, steps: int, loss: Callable | None) -> GPT:
    fresh = with_one_output(model, seed)
    pairs = min(PAIRS, steps * COMPARED)  # a short training run sees no more than this
    chosen, rejected = compared(samples(model, 2 * pairs, seed + 1), seed)
    optimizer = torch.optim.AdamW(fresh.parameters(), lr=1e-3, fused=True)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        rows = torch.randint(pairs, (COMPARED,), generator=generator)
        error = (loss or comparison_loss)(raw_scores(fresh, chosen[rows]), raw_scores(fresh, rejected[rows]))
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    return fresh.eval().requires_grad_(False)


@dataclass(frozen=True)
class Scorer:
    """A reward model with scores of mean 0 and deviation 1 on the reference's samples. Call it with tokens [B, S]."""

    model: GPT
    mean: float
    deviation: float

    @torch.no_grad()
    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores [B], in deviations of the reference's."""
        return (raw_scores(self.model, tokens) - self.mean) / self.deviation


def scorer(model: GPT, seed: int = 0, steps: int = REWARD_STEPS, loss: Callable | None = None) -> Scorer:
    """The :func:`reward_model` of this reference with its scale set: stored, or trained once in a process."""
    return _read()[1] if _is_stored(model, seed, steps, loss) else trained_scorer(model, seed, steps, loss)


@functools.cache
@one_thread()
def trained_scorer(model: GPT, seed: int, steps: int, loss: Callable | None = None) -> Scorer:
    """A :func:`scorer` that is trained now, for some seconds for a hundred steps."""
    rewards = _reward_model(model, seed, steps, loss)
    with torch.no_grad():
        scores = raw_scores(rewards, samples(model, 1024, seed + 2))
    return Scorer(rewards, scores.mean().item(), scores.std().item())


@one_thread()
def pair_accuracy(model: GPT, score: Score, count: int = 1000, seed: int = 99) -> float:
    """How often the score ranks two fresh samples as the judge does, over the pairs that the judge tells apart."""
    first, second = samples(model, 2 * count, seed).chunk(2)
    gold, found = judged(first) - judged(second), score(first) - score(second)
    return (gold.sign() == found.sign())[gold != 0].float().mean().item()


# Once, and kept on disk.


def _is_stored(model: GPT, seed: int, steps: int, loss: Callable | None) -> bool:
    return (seed, steps, loss) == (0, REWARD_STEPS, None) and model is _read()[0]


def store(model: GPT, score: Scorer, file: Path = STORED, made_on: str = "") -> None:
    """Store reference and scorer of seed 0 where :func:`reference` and :func:`scorer` find them."""
    parts = {"reference": model.state_dict(), "reward model": score.model.state_dict()}
    parts["scale"] = {"mean and deviation": torch.tensor([score.mean, score.deviation])}
    rows = [
        (part, name, list(weight.shape), as_text(weight))
        for part, weights in parts.items()
        for name, weight in weights.items()
    ]
    columns = ("model", "parameter", "shape", "float32 in base64")
    stored.write(file, "python benchmarks/toy_models.py --store", columns, rows, made_on)


@functools.cache
def _read() -> tuple[GPT, Scorer]:
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for part, name, shape, text in stored.read(STORED):
        parts.setdefault(part, {})[name] = from_text(text, shape)
    scale = parts["scale"]["mean and deviation"].tolist()
    return _unpacked((parts["reference"], parts["reward model"], *scale))


def kept(folder: Path, seed: int = 0) -> tuple[GPT, Scorer]:
    """Reference and scorer from ``folder``; if they are missing, they are trained and stored there."""
    file = folder / f"opinion-{seed}-{STEPS}-{REWARD_STEPS}.pt"
    if file.is_file():
        return _unpacked(torch.load(file, weights_only=True))
    model = reference(seed)
    score = scorer(model, seed)
    draft = file.with_suffix(".part")
    torch.save((model.state_dict(), score.model.state_dict(), score.mean, score.deviation), draft)
    draft.replace(file)
    return model, score


def _unpacked(saved: tuple) -> tuple[GPT, Scorer]:
    model, rewards = GPT(CONFIG), GPT(replace(CONFIG, outputs=1))
    for fresh, state in zip((model, rewards), saved, strict=False):
        fresh.load_state_dict(state)
        fresh.eval().requires_grad_(False)
    return model, Scorer(rewards, *saved[2:])
