"""An RLHF loop for one rank or several, from an empty function: the milestone of Part IV, graded level by level.

    python -m autograder milestone labs --only 14-rlhf

Begin with one update of a batch that is written already: each level counts without the others. One loop can serve every
plan, because a rank that is alone writes what it learns from.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def align(job: Any) -> dict[str, Tensor]:
    """Train ``job.model`` by GRPO on what it writes; every rank calls this function with its own job.

    A rank that is alone writes and learns. Of several ranks, rank 0 learns, and the others share the rows of each batch
    equally, write them and ask for their scores. All ranks begin with the same weights, version 0; update i makes
    version i + 1. Batch i is written by version ``max(0, i - plan.lag)``.

    *Write*: token t of row b is the first one whose cumulative probability under ``softmax(logits / temperature)`` is
    larger than ``job.uniforms[i][b, t]``. A response ends with ``plan.eos``, or after T tokens. Log-probabilities are
    those of the distribution that tokens are drawn from, the reference's at the same temperature.
    ``job.score(i, rows, tokens, log_probs)`` gives the rewards of finished rows; each may be asked for once.

    *Learn*: advantages are ``(reward - mean) / (deviation + 1e-4)`` over the ``group_size`` rows of a prompt, with the
    sample's standard deviation. Each minibatch of ``job.orders[i]`` is one step of ``job.optimizer``. Its loss is a
    mean over all real tokens of the minibatch, a row's first ``<eos>`` included: minus the smaller of ``ratio *
    advantage`` and ``clamp(ratio, 1 - clip, 1 + clip) * advantage``, plus ``beta * (log p - log p_reference)**2 / 2``.
    The ratio is to the writer's log-probabilities. With a lag it is to those of version i, taken before update i, and
    each token's advantage is multiplied by ``min(p_version_i / p_writer, cap)``, without gradient.

    *Ahead*: with a lag of 1, the writers write batch i + 1 while rank 0 learns from batch i. Send weights to all
    writers at once, by a broadcast, and none that nobody writes with.

    *At their own speed* (a bonus): with ``plan.bound``, each batch is written by one writer, whichever is free, and
    some take long. Batch i is begun with version v, the newest, if ``i - v <= bound``, and no writer waits while it may
    begin one. Batches are learned from in their order, weighted as with a lag.

    Args:
        job: a :class:`rankzero.tiny.align_jobs.Job`, all of it in float64: ``model``, ``reference`` (None without a
            price), ``optimizer`` (on rank 0), ``prompts[i]`` [B, P], ``uniforms[i]`` [B, T], ``orders[i]``, ``score``,
            ``cache(rows)`` for passes over new tokens only, ``plan`` (``iterations, group_size, clip, beta,
            temperature, eos, lag, cap, bound``), and ``rollout``: batch 0 (``tokens``, ``log_probs``, ``scores``), if
            it is written already, else None. What stands behind ``<eos>`` in it means nothing. Levels you leave out may
            raise NotImplementedError.

    Returns:
        On rank 0 the trained weights by name, as ``job.model.state_dict()`` has them; on the others ``{}``.
    """
    if dist.get_rank():
        (_write_what_is_asked if job.plan.bound else _write_for_the_trainer)(job)
        return {}
    (_learn_as_batches_come if job.plan.bound else _learn_in_step)(job)
    return dict(job.model.state_dict())


def _learn_in_step(job: Any) -> None:
    """All updates; the writers write what the lag says."""
    plan, alone = job.plan, dist.get_world_size() == 1
    for i in range(plan.iterations):
        needed = not alone and i > 0 and i + plan.lag < plan.iterations  # somebody writes with version i
        if needed and not plan.lag:
            _share(job.model)
        if alone:
            rows = torch.arange(len(job.prompts[i]))
            batch = (
                (job.rollout.tokens, job.rollout.log_probs, job.rollout.scores) if job.rollout else _write(job, i, rows)
            )
        else:
            batch = _collect(job, i)
        if needed and plan.lag:  # before the update: the writers write while this rank learns
            _share(job.model)
        _update(job, i, *batch)


# Writing.


@torch.no_grad()
def _write(job: Any, i: int, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """These rows of batch i, written and scored: tokens [b, P + T], log-probabilities [b, T], scores [b]."""
    plan, prompts, uniforms = job.plan, job.prompts[i][rows], job.uniforms[i][rows]
    cache, tokens = job.cache(len(rows)), [prompts]
    log_probs = torch.zeros_like(uniforms)
    over = torch.zeros(len(rows), 1, dtype=torch.bool)
    for t in range(uniforms.shape[1]):
        logits = job.model(tokens[-1], cache=cache)[:, -1] / plan.temperature
        log_p = logits.log_softmax(-1)
        drawn = torch.searchsorted(log_p.exp().cumsum(-1), uniforms[:, t : t + 1].contiguous(), right=True)
        drawn = drawn.clamp(max=log_p.shape[1] - 1)  # the sum of all may be a little below 1
        log_probs[:, t : t + 1] = log_p.gather(1, drawn)
        tokens.append(drawn)
        over = over | (drawn == plan.eos) if plan.eos is not None else over
        if over.all():
            break
    written = torch.cat(tokens, 1)
    missing = prompts.shape[1] + uniforms.shape[1] - written.shape[1]
    written = torch.cat([written, written.new_full((len(rows), missing), plan.eos or 0)], 1)
    return written, log_probs, job.score(i, rows, written, log_probs)


# Learning.


def _update(job: Any, i: int, tokens: Tensor, written: Tensor, scores: Tensor) -> None:
    """All minibatches of batch i."""
    plan, length = job.plan, written.shape[1]
    mask = _real(tokens[:, -length:], plan.eos)
    groups = scores.view(-1, plan.group_size)
    advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1).expand_as(mask)
    old = written
    with torch.no_grad():
        if plan.lag or plan.bound:
            old = _log_probs(job, job.model, tokens, length)
            advantages = advantages * (old - written).exp().clamp(max=plan.cap)
        reference = _log_probs(job, job.reference, tokens, length) if plan.beta else old
    for rows in job.orders[i]:
        now, real, gain = _log_probs(job, job.model, tokens[rows], length), mask[rows], advantages[rows]
        ratio = torch.where(real, now - old[rows], 0.0).exp()
        smaller = torch.minimum(ratio * gain, ratio.clamp(1 - plan.clip, 1 + plan.clip) * gain)
        distance = torch.where(real, now - reference[rows], 0.0) ** 2 / 2
        loss = (plan.beta * distance - smaller)[real].mean()
        job.optimizer.zero_grad()
        loss.backward()
        job.optimizer.step()


def _real(responses: Tensor, eos: int | None) -> Tensor:
    """True up to and including the first ``<eos>`` of each row."""
    if eos is None:
        return torch.ones_like(responses, dtype=torch.bool)
    ends = (responses == eos).long()
    return ends.cumsum(1) - ends == 0


def _log_probs(job: Any, model: Any, tokens: Tensor, length: int) -> Tensor:
    """Of the last ``length`` tokens of each row, under the distribution that they are drawn from."""
    logits = model(tokens[:, :-1])[:, -length:] / job.plan.temperature
    return logits.log_softmax(-1).gather(-1, tokens[:, -length:, None]).squeeze(-1)


# Several ranks.


def _parts(job: Any, i: int) -> tuple[Tensor, ...]:
    """The rows of batch i that each writer writes, in the order of the ranks."""
    return torch.arange(len(job.prompts[i])).tensor_split(dist.get_world_size() - 1)


def _write_for_the_trainer(job: Any) -> None:
    for i in range(job.plan.iterations):
        if i > job.plan.lag:
            _share(job.model)
        tokens, log_probs, scores = _write(job, i, _parts(job, i)[dist.get_rank() - 1])
        responses = tokens[:, job.prompts[i].shape[1] :]
        dist.send(torch.cat([responses.double(), log_probs, scores[:, None]], 1), 0)


def _collect(job: Any, i: int) -> tuple[Tensor, Tensor, Tensor]:
    """Batch i, from all writers."""
    length, received = job.uniforms[i].shape[1], []
    for writer, rows in enumerate(_parts(job, i), start=1):
        received.append(torch.empty(len(rows), 2 * length + 1, dtype=torch.float64))
        dist.recv(received[-1], writer)
    whole = torch.cat(received)
    tokens = torch.cat([job.prompts[i], whole[:, :length].long()], 1)
    return tokens, whole[:, length:-1], whole[:, -1]


def _share(model: Any) -> None:
    """Rank 0's weights on every rank. The call returns when they have been taken: they may change afterwards."""
    flat = _flat(model)
    dist.broadcast(flat, 0)
    _load(model, flat)


def _flat(model: Any) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def _load(model: Any, flat: Tensor) -> None:
    start = 0
    for weight in model.parameters():
        weight.data.copy_(flat[start : start + weight.numel()].view_as(weight))
        start += weight.numel()


# Writers of different speed.


def _learn_as_batches_come(job: Any) -> None:
    """All updates; whoever is free gets the next batch to write as soon as the bound allows it."""
    plan, begun, arrived = job.plan, 0, {}
    free = list(range(1, dist.get_world_size()))
    for i in range(plan.iterations):
        while True:
            while free and begun < plan.iterations and begun - i <= plan.bound:
                _ask(job, free.pop(0), begun)
                begun += 1
            if i in arrived:
                break
            writer, number, batch = _next(job)
            free.append(writer)
            arrived[number] = batch
        _update(job, i, *arrived.pop(i))
    for writer in range(1, dist.get_world_size()):
        _ask(job, writer, -1)


def _ask(job: Any, writer: int, i: int) -> None:
    """Have batch i written by the weights of now; -1 for no more."""
    dist.send(torch.tensor([i]), writer)
    if i >= 0:
        dist.send(_flat(job.model), writer)


def _write_what_is_asked(job: Any) -> None:
    number, flat = torch.zeros(1, dtype=torch.int64), _flat(job.model)
    while True:
        dist.recv(number, 0)
        i = int(number)
        if i < 0:
            return
        dist.recv(flat, 0)
        _load(job.model, flat)
        tokens, log_probs, scores = _write(job, i, torch.arange(len(job.prompts[i])))
        responses, numbers = tokens[:, job.prompts[i].shape[1] :].double(), torch.full_like(scores, i)
        dist.send(torch.cat([numbers[:, None], responses, log_probs, scores[:, None]], dim=1), 0)


def _next(job: Any) -> tuple[int, int, tuple[Tensor, Tensor, Tensor]]:
    """A writer that is ready, and the number of its batch with what it has written."""
    rows, length = job.uniforms[0].shape
    whole = torch.empty(rows, 2 * length + 2, dtype=torch.float64)
    writer = dist.recv(whole)
    i = int(whole[0, 0])
    tokens = torch.cat([job.prompts[i], whole[:, 1 : length + 1].long()], 1)
    return writer, i, (tokens, whole[:, length + 1 : -1], whole[:, -1])
