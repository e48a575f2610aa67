"""One iteration of PPO on the tiny models, timed phase by phase.

>>> profile(Settings(responses=8, length=4))  # doctest: +SKIP
{'generate': 0.006, 'score': 0.003, 'train': 0.05}
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeVar

import torch

from rankzero.tiny import GPT

from ..ch12.toy_models import CONFIG, Scorer, generate, prompt_rows, with_one_output
from ..ch13.rlhf_steps import Settings, assemble, optimizer_of, ppo_step, prepare

Result = TypeVar("Result")


def profile(settings: Settings, repeats: int = 3, seed: int = 0) -> dict[str, float]:
    """Seconds of generation, of scoring by all four models, and of training, each the median of several rounds.

    The models are untrained, which does not matter for the time.

    Args:
        settings: responses, their length, epochs and minibatches.
        repeats: rounds that are timed; one more goes before them.
        seed: of the weights and of the draws.
    """
    model = GPT(CONFIG, seed)
    team = assemble(model, Scorer(with_one_output(model), 0.0, 1.0))
    optimizers = optimizer_of(team.actor, settings), optimizer_of(team.critic, settings)
    generator = torch.Generator().manual_seed(seed)
    prompts = prompt_rows(settings.responses, seed)
    rounds: list[dict[str, float]] = []
    for _ in range(repeats + 1):
        spent: dict[str, float] = {}
        with torch.no_grad():
            rollout = _timed(spent, "generate", lambda: generate(team.actor, prompts, settings.length, generator))
        batch = _timed(spent, "score", partial(prepare, team, rollout, settings))
        _timed(spent, "train", partial(ppo_step, team, optimizers, batch, settings, generator=generator))
        rounds.append(spent)
    return {name: median(spent[name] for spent in rounds[1:]) for name in rounds[0]}


def _timed(spent: dict[str, float], name: str, work: Callable[[], Result]) -> Result:
    """Run ``work``, and record in ``spent`` how long it took."""
    start = time.perf_counter()
    done = work()
    spent[name] = time.perf_counter() - start
    return done
