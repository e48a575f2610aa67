"""Thousands of runs with failures at once, as arrays: their mean, to compare with a closed form, and their spread.

>>> runs = simulate_many(54 * 86_400, 1116, 60, 300, 11_135, trials=200)
>>> runs["wall"].shape
(200,)

Each step of the loop handles one failure of every unfinished run, however many segments lie between two failures.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from rankzero import checks


def simulate_many(
    work: float,
    interval: float,
    checkpoint_time: float,
    restart_time: float,
    mtbf: float,
    trials: int,
    shape: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Many runs by the rules of ``simulate_run``, with random gaps between failures.

    Gaps are Weibull with mean ``mtbf``: exponential for ``shape`` 1; below it, failures cluster soon after a failure.
    A failure exactly at the end of a checkpoint has probability 0 and is not treated separately.

    Args:
        work: useful compute of each run, seconds; positive, finite.
        interval: useful compute between two checkpoints, seconds; positive, finite.
        checkpoint_time: seconds that the job pauses for a checkpoint; not negative, finite.
        restart_time: seconds; not negative, finite.
        mtbf: mean seconds between failures; positive, finite, and not so short that a run would never end.
        trials: runs, an integer >= 1.
        shape: of the Weibull distribution; positive, finite.
        seed: of the random generator.

    Returns:
        ``wall``, ``useful``, ``checkpoint``, ``lost``, ``restart`` (seconds) and ``failures``, each a NumPy array of
        ``trials`` numbers. The four parts in the middle sum to ``wall``.
    """
    checks.positive(work=work, interval=interval, mtbf=mtbf, shape=shape)
    checks.amount(checkpoint_time=checkpoint_time, restart_time=restart_time)
    checks.count(trials=trials)
    least = max(min(interval, work) + checkpoint_time, restart_time) / 10
    checks.require(mtbf >= least, f"be at least a tenth of a segment and of a restart, {least}", mtbf=mtbf)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the work is too small to be shared: threads would only wait for each other
    try:
        runs = _simulated(work, interval, checkpoint_time, restart_time, mtbf, trials, shape, seed)
    finally:
        torch.set_num_threads(threads)
    return {name: values.numpy() for name, values in runs.items()}


def _simulated(
    work: float,
    interval: float,
    checkpoint_time: float,
    restart_time: float,
    mtbf: float,
    trials: int,
    shape: float,
    seed: int,
) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    scale = mtbf / math.gamma(1 + 1 / shape)
    segment = interval + checkpoint_time
    segments = math.ceil(work / interval - 1e-9)
    lost, restart, failures = (torch.zeros(trials, dtype=torch.float64) for _ in range(3))
    running = torch.arange(trials)
    ahead = torch.full(
        (trials,), work + segments * checkpoint_time, dtype=torch.float64
    )  # still to do, without failures
    pause = 0.0  # the first gap follows no failure
    while running.numel():
        gaps = torch.rand(running.numel(), generator=random, dtype=torch.float64).neg_().log1p_().neg_()  # exponential
        gaps = (gaps if shape == 1 else gaps.pow_(1 / shape)).mul_(scale)
        usable = (gaps - pause).clamp_(min=0.0)
        restart.index_add_(0, running, gaps.clamp_(max=pause))
        fails = (usable < ahead).nonzero().squeeze(1)
        running, usable, ahead = (values.index_select(0, fails) for values in (running, usable, ahead))
        kept = (usable / segment).floor_().mul_(segment)
        lost.index_add_(0, running, usable.sub_(kept))
        failures.index_add_(0, running, torch.ones_like(kept))
        ahead, pause = ahead.sub_(kept), restart_time
    useful, written = torch.full_like(lost, work), torch.full_like(lost, segments * checkpoint_time)
    parts = {"useful": useful, "checkpoint": written, "lost": lost, "restart": restart}
    return {"wall": useful + written + lost + restart, **parts, "failures": failures.long()}
