"""The plain twin of a trainer: one process with all rows, and what it would give with a mistake in the averaging.

>>> plain_weights(dict(vocab=7, layers=1, heads=1, head_dim=2, ffn=4, context=4), 0, [], (0.1, 0.9))["norm.weight"]
[1.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from rankzero.tiny import one_thread
from rankzero.tiny.jobs import Job, Plan, made

#: The rows of one step: for each replica and micro-batch, sequences of tokens, each one longer than the inputs.
Rows = Sequence[Sequence[Sequence[Sequence[int]]]]
#: The weight of a micro-batch's mean loss, from the rows of every replica's micro-batches, the replica and the place.
Weigh = Callable[[Sequence[Sequence[int]], int, int], float]


def fair(counts: Sequence[Sequence[int]], replica: int, place: int) -> float:
    """The rows of a micro-batch over those of all: so weighted, mean losses add up to the mean over all rows."""
    return counts[replica][place] / sum(map(sum, counts))


def plain_weights(
    shape: Mapping[str, int],
    seed: int,
    steps: Sequence[Rows],
    rates: tuple[float, float],
    weigh: Weigh = fair,
    restart: int | None = None,
) -> dict[str, list[float]]:
    """The weights after all steps of SGD with momentum in one process, by name; each is a flat list.

    Args:
        shape: of the model, as :class:`rankzero.tiny.GPTConfig` takes it.
        seed: of the starting weights.
        steps: the rows of each step.
        rates: learning rate and momentum.
        weigh: what a micro-batch counts; another weight than :func:`fair` is a mistake that people make.
        restart: the step before which the optimizer forgets its state, which is another one.
    """
    job = made(shape, seed, {}, [], rates)
    with one_thread():
        for number, step in enumerate(steps):
            if number in (0, restart):
                optimizer = torch.optim.SGD(job.model.parameters(), lr=job.learning_rate, momentum=job.momentum)
            optimizer.zero_grad()
            _loss(job, step, weigh).backward()
            optimizer.step()
    return {name: weight.flatten().tolist() for name, weight in job.model.named_parameters()}


def plain_shapes(shape: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of the model's parameters, by name and in order."""
    model = made(shape, 0, {}, [], (0.1, 0.0)).model
    return {name: tuple(weight.shape) for name, weight in model.named_parameters()}


def shard(name: str, size: tuple[int, ...], plan: Plan, layers: int, rank: int) -> list[slice] | None:
    """The part of a parameter that a rank of the plan holds, as one slice for each dimension; None if it has none.

    Blocks go to stages in order, the embedding to the first, norm and head to the last. Tensor-parallel ranks divide
    the rows of query, key, value, gate and up, and the columns of output and down.
    """
    stage, place = rank // (plan.dp * plan.tp), rank % plan.tp
    parts = name.split(".")
    home = int(parts[1]) * plan.pp // layers if parts[0] == "blocks" else 0 if parts[0] == "embedding" else plan.pp - 1
    if home != stage:
        return None
    found = [slice(0, length) for length in size]
    split = {"query": 0, "key": 0, "value": 0, "gate": 0, "up": 0, "output": 1, "down": 1}.get(parts[-2])
    if split is not None:
        own = size[split] // plan.tp
        found[split] = slice(place * own, (place + 1) * own)
    return found


def _loss(job: Job, step: Rows, weigh: Weigh) -> torch.Tensor:
    """The sum of the micro-batches' mean losses, each times its weight."""
    counts = [[len(rows) for rows in replica] for replica in step]
    total = torch.zeros((), dtype=torch.float64)
    for r, replica in enumerate(step):
        for m, rows in enumerate(replica):
            if rows and (weight := weigh(counts, r, m)):
                tokens = torch.tensor(rows)
                total = total + weight * job.loss(job.model(tokens[:, :-1]), tokens[:, 1:])
    return total + 0 * torch.stack([weight.sum() for weight in job.model.parameters()]).sum()
