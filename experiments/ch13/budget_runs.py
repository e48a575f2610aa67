"""What an RLHF run is worth when the best of n answers is served: the judge of each policy of a sweep, for several n.

>>> for row in served(model, reference(), scorer(reference())):  # doctest: +SKIP
...     print(row.n, row.gold, row.ratio)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from rankzero import stored
from rankzero.tiny import GPT, one_thread
from solutions.ch13.best_served import BETAS, COUNTS, ITERATIONS, STORED, Row, Served

from ..ch12.toy_models import LENGTH, Score, generate, judged, prompt_rows, reference, scorer
from .rlhf_runs import SEEDS, ppo
from .rlhf_steps import DEFAULTS, assemble, look_again

#: Prompts to which each policy is asked, with a seed that no run uses.
PROMPTS, FRESH = 96, 777


@one_thread()
@torch.no_grad()
def served(
    actor: GPT, origin: GPT, reward: Score, counts: Sequence[int] = COUNTS, prompts: int = PROMPTS
) -> list[Served]:
    """What a policy is worth if the answer with the highest score out of n is served.

    It writes as many answers to each prompt as the largest n asks for. A smaller n uses all of them, in groups.

    Args:
        actor: the policy.
        origin: the reference.
        reward: scores the answers [B].
        counts: the values of n, each of which divides the largest.
        prompts: how many.
    """
    most = max(counts)
    rows = prompt_rows(prompts, FRESH).repeat_interleave(most, 0)
    rollout = generate(actor, rows, LENGTH, torch.Generator().manual_seed(FRESH))
    scores, gold = reward(rollout.tokens), judged(rollout.tokens)
    nats = (rollout.log_probs - look_again(origin, rollout)).sum(1)
    found = []
    for n in counts:
        best = scores.view(-1, n).argmax(1, keepdim=True)
        means = (values.view(-1, n).gather(1, best).mean().item() for values in (scores, gold, nats))
        found.append(Served(n, *means))
    return found


def swept(
    betas: Sequence[float] = BETAS, seeds: Sequence[int] = SEEDS, iterations: Sequence[int] = ITERATIONS
) -> Iterator[Row]:
    """Every policy of PPO on the learned reward at these iterations, at each price and with each seed."""
    model = reference()
    reward = scorer(model)
    for beta in betas:
        for seed in seeds:
            rows: list[Row] = []
            look = partial(_look, rows, (beta, seed), set(iterations), lambda actor: served(actor, model, reward))
            ppo(assemble(model, reward), replace(DEFAULTS, beta=beta), max(iterations), seed, seen=look)
            yield from rows


def _look(
    rows: list[Row], run: tuple[float, int], wanted: set[int], judge: Callable[[GPT], list[Served]], at: int, actor: GPT
) -> None:
    if at in wanted:
        rows += [(*run, at, one.n, one.score, one.gold, one.ratio) for one in judge(actor)]


def store(rows: Iterable[Row], file: Path = STORED) -> None:
    """Store rows where :mod:`solutions.ch13.best_served` finds them."""
    columns = (
        "beta",
        "seed",
        "iteration",
        "n",
        "score of the best of n (deviations of the reference)",
        "its judge",
        "its log-probability under the policy less that under the reference (nats)",
    )
    short = ((*which, *(round(value, 3) for value in values)) for *which, values in ((*r[:4], r[4:]) for r in rows))
    stored.write(file, "python -m demos reward_hacking --store", columns, short)
