"""The plain twin of an RLHF loop: one process, whole passes, every version kept; and the same with one mistake.

>>> task = Task(dict(vocab=5, layers=1, heads=1, head_dim=2, context=4), 0, 0.5, dict(iterations=1, group_size=2),
...             [[[1], [1]]], [[[0.1, 0.9], [0.5, 0.5]]], [[[0, 1]]], [0.0, 1.0, 0.0, 0.0, 0.0])
>>> ran = ran_on(task)
>>> len(ran.versions), ran.batches[0].tokens[0][0]
(2, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rankzero.tiny import GPT, one_thread
from rankzero.tiny.align_jobs import Plan, model_of

#: Weights by name, each flat.
Weights = dict[str, list[float]]
Rows = Sequence[Sequence[Any]]
#: The number of the version that writes a batch, by the batch's number and the weights of all versions so far.
WriterOf = Callable[[int, Sequence[Mapping[str, Tensor]]], int]


class Batch(NamedTuple):
    """Rows of tokens, prompts included, and the log-probabilities of the responses."""

    tokens: Rows
    log_probs: Rows


@dataclass(frozen=True)
class Task:
    """A job as plain data.

    Attributes:
        shape: of the models.
        seed: of the writer's weights.
        rate: of SGD.
        plan: as :class:`Plan` takes it.
        prompts, uniforms, orders: for each batch, as a job has them, as lists.
        marks: what a token of a response is worth; a row's reward is their sum over its real tokens, divided by T.
        reference: the seed of the reference's weights; None without one.
        given: tokens, log-probabilities and scores of batch 0, if it is written already.
    """

    shape: Mapping[str, int]
    seed: int
    rate: float
    plan: Mapping[str, Any]
    prompts: Sequence[Rows]
    uniforms: Sequence[Rows]
    orders: Sequence[Rows]
    marks: Sequence[float]
    reference: int | None = None
    given: tuple[Rows, Rows, Sequence[float]] | None = None

    def score(self, row: Sequence[int]) -> float:
        """The reward of a row, prompt and response."""
        response = row[len(self.prompts[0][0]) :]
        return sum(self.marks[token] for token in response[: self.real(row)]) / len(response)

    def real(self, row: Sequence[int]) -> int:
        """Tokens of the response up to and including the first ``<eos>``."""
        response = list(row[len(self.prompts[0][0]) :])
        eos = self.plan.get("eos")
        return response.index(eos) + 1 if eos in response else len(response)


@dataclass(frozen=True)
class Rules:
    """How a loop is written; every field starts as it should be, and other values are mistakes that people make.

    Attributes:
        ends: whether the first ``<eos>`` counts as a token that was chosen, is left out, or one more counts after it.
        shifted: logits at a position judge the next token; else its own.
        old: the ratio is to the writer's log-probabilities, or to those of now, without or with their gradient.
        spread: what centred rewards are divided by.
        centre: what is subtracted from rewards.
        sign: of the advantages.
        mean: over the real tokens of a minibatch, over rows of their means, or over all cells.
        cleared: gradients are cleared before a backward pass.
        clip: the smaller of two terms, the clipped one always, or none.
        price: what is added to the loss for each token.
        log_probs: of the distribution that tokens are drawn from, or at temperature 1.
        prompts: of which batch a batch is written: its own, or so many further on.
        lag: by how many versions the writer is late; None: as planned.
        weight: what an old token's advantage is multiplied by.
    """

    ends: Literal["with", "without", "beyond"] = "with"
    shifted: bool = True
    old: Literal["writer", "now", "attached"] = "writer"
    spread: Literal["sample", "population", "nothing"] = "sample"
    centre: Literal["group", "batch", "nothing"] = "group"
    sign: int = 1
    mean: Literal["tokens", "rows", "cells"] = "tokens"
    cleared: bool = True
    clip: Literal["smaller", "always", "never"] = "smaller"
    price: Literal["k2", "k1", "k3", "negative", "sum", "nothing"] = "k2"
    log_probs: Literal["drawn", "raw"] = "drawn"
    prompts: int = 0
    lag: int | None = None
    weight: Literal["capped", "nothing", "uncapped", "attached"] = "capped"


@dataclass(frozen=True)
class Ran:
    """What a twin did.

    Attributes:
        versions: the weights after each number of updates, the first before any.
        between: for each update, the weights after each of its minibatches.
        batches: what was written.
        heavy: the share of old tokens whose weight was capped.
    """

    versions: list[dict[str, Tensor]]
    between: list[list[dict[str, Tensor]]]
    batches: list[Batch]
    heavy: float

    @property
    def weights(self) -> Weights:
        """Those of the last version."""
        return flat(self.versions[-1])


def flat(weights: Mapping[str, Tensor]) -> Weights:
    """Weights as plain lists."""
    return {name: weight.flatten().tolist() for name, weight in weights.items()}


def shapes(shape: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of a model's weights, by name."""
    return {name: tuple(weight.shape) for name, weight in model_of(shape, 0).state_dict().items()}


@one_thread()
def ran_on(task: Task, rules: Rules | None = None, writer_of: WriterOf | None = None) -> Ran:
    """All iterations of a task, by these rules; None for the right ones.

    ``writer_of`` says which version writes a batch, by its number and all versions so far; None: as the lag says.
    """
    rules, plan = rules or Rules(), Plan(**task.plan)
    model = model_of(task.shape, task.seed)
    reference = None if task.reference is None else model_of(task.shape, task.reference)
    optimizer = torch.optim.SGD(model.parameters(), lr=task.rate)
    learner = _Learner(rules, plan, model, reference, optimizer, len(task.uniforms[0][0]))
    lag = plan.lag if rules.lag is None else rules.lag
    versions, between, batches, capped = [_copy(model)], [], [], []
    for i in range(plan.iterations):
        version = writer_of(i, versions) if writer_of else max(0, i - lag)
        batch = written(task, rules, versions[version], i) if task.given is None else Batch(*task.given[:2])
        scores = [task.score(row) for row in batch.tokens] if task.given is None else task.given[2]
        batches.append(batch)
        between.append(learner.learned(batch, scores, task.orders[i]))
        capped.append(learner.capped)
        versions.append(_copy(model))
    return Ran(versions, between, batches, sum(capped) / len(capped))


def written(task: Task, rules: Rules, weights: Mapping[str, Tensor], i: int) -> Batch:
    """Batch i as these weights write it; after ``<eos>`` come more of it."""
    plan, model = Plan(**task.plan), model_of(task.shape, weights)
    tokens = torch.tensor(task.prompts[(i + rules.prompts) % len(task.prompts)])
    uniforms = torch.tensor(task.uniforms[i], dtype=torch.float64)
    kept = []
    with torch.no_grad():
        for step in range(uniforms.shape[1]):
            logits = model(tokens)[:, -1]
            chances = (logits / plan.temperature).softmax(-1)
            below = (chances.cumsum(-1) <= uniforms[:, step, None]).sum(-1, keepdim=True)
            drawn = below.clamp(max=chances.shape[1] - 1)
            heat = plan.temperature if rules.log_probs == "drawn" else 1.0
            kept.append((logits / heat).log_softmax(-1).gather(1, drawn))
            tokens = torch.cat([tokens, drawn], 1)
    return Batch(tokens.tolist(), torch.cat(kept, 1).tolist())


def log_probs_of(task: Task, weights: Mapping[str, Tensor], tokens: Rows) -> list[list[float]]:
    """Of the responses in these rows, under the distribution that these weights draw from."""
    plan, rows = Plan(**task.plan), torch.tensor(tokens)
    with torch.no_grad():
        return _log_probs(
            model_of(task.shape, weights), rows, len(task.uniforms[0][0]), plan.temperature, True
        ).tolist()


@dataclass
class _Learner:
    """Updates a model by its rules. ``capped``: the share of the last batch's tokens whose weight was capped."""

    rules: Rules
    plan: Plan
    model: GPT
    reference: GPT | None
    optimizer: torch.optim.Optimizer
    length: int
    capped: float = 0.0

    def learned(self, batch: Batch, scores: Sequence[float], order: Rows) -> list[dict[str, Tensor]]:
        """Learn from a batch; the weights after each minibatch."""
        tokens, behaviour = torch.tensor(batch.tokens), torch.tensor(batch.log_probs, dtype=torch.float64)
        real = self._real(tokens[:, -behaviour.shape[1] :])
        behaviour = torch.where(real, behaviour, 0.0)  # whatever stands behind <eos>
        gain = self._advantages(torch.tensor(scores, dtype=torch.float64))
        with torch.no_grad():
            before = self._now(self.model, tokens)
            price = None if self.reference is None else self._now(self.reference, tokens)
        weight = (before - behaviour).exp()
        self.capped = (weight > self.plan.cap).double().mean().item()
        states = []
        for which in order:
            rows = torch.tensor(which)
            now = self._now(self.model, tokens[rows])
            mine, old = gain[rows, None], behaviour[rows]
            if self.plan.lag or self.plan.bound:
                if self.rules.weight in ("capped", "uncapped"):
                    cap = self.plan.cap if self.rules.weight == "capped" else math.inf
                    mine, old = mine * weight[rows].clamp(max=cap), before[rows]
                elif self.rules.weight == "attached":
                    mine, old = mine * (now - old).exp().clamp(max=self.plan.cap), before[rows]
            loss = self._loss(now, old, mine, None if price is None else price[rows], real[rows])
            if self.rules.cleared:
                self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            states.append(_copy(self.model))
        return states

    def _real(self, responses: Tensor) -> Tensor:
        rows = []
        for row in responses.tolist():
            end = row.index(self.plan.eos) + 1 if self.plan.eos in row else len(row)
            ended = self.plan.eos in row
            last = {"with": end, "without": end - ended, "beyond": end + ended}[self.rules.ends]
            rows.append([place < last for place in range(len(row))])
        return torch.tensor(rows)

    def _advantages(self, scores: Tensor) -> Tensor:
        size = len(scores) if self.rules.centre == "batch" else self.plan.group_size
        groups = scores.view(-1, size)
        middle = 0.0 if self.rules.centre == "nothing" else groups.mean(1, keepdim=True)
        spread = groups.std(1, keepdim=True, correction=int(self.rules.spread == "sample")) + 1e-4
        centred = self.rules.sign * (groups - middle)
        return (centred if self.rules.spread == "nothing" else centred / spread).flatten()

    def _now(self, model: GPT, tokens: Tensor) -> Tensor:
        heat = self.plan.temperature if self.rules.log_probs == "drawn" else 1.0
        length = self.length
        return _log_probs(model, tokens, length, heat, self.rules.shifted)

    def _loss(self, now: Tensor, old: Tensor, gain: Tensor, reference: Tensor | None, real: Tensor) -> Tensor:
        if self.rules.old != "writer":
            old = now if self.rules.old == "attached" else now.detach()
        ratio = torch.where(real, now - old, 0.0).exp()
        near = ratio.clamp(1 - self.plan.clip, 1 + self.plan.clip) * gain
        terms = {"smaller": torch.minimum(ratio * gain, near), "always": near, "never": ratio * gain}
        loss = -terms[self.rules.clip]
        added = torch.zeros(())
        if reference is not None and self.rules.price != "nothing":
            far = torch.where(real, now - reference, 0.0)
            k2 = far**2 / 2
            prices = {"k1": far, "k3": (-far).exp() - 1 + far, "negative": -k2}
            price = self.plan.beta * prices.get(self.rules.price, k2)
            if self.rules.price == "sum":
                added = (price * real).sum() / len(real)
            else:
                loss = loss + price
        if self.rules.mean == "rows":
            return ((loss * real).sum(1) / real.sum(1)).mean() + added
        return (loss * real).sum() / (real.numel() if self.rules.mean == "cells" else real.sum()) + added


def _log_probs(model: GPT, tokens: Tensor, length: int, heat: float, shifted: bool) -> Tensor:
    """Of the last ``length`` tokens of each row."""
    start = tokens.shape[1] - length - int(shifted)
    logits = model(tokens)[:, start : start + length] / heat
    return -functional.cross_entropy(logits.transpose(1, 2), tokens[:, -length:], reduction="none")


def _copy(model: GPT) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in model.state_dict().items()}
