"""Eleven ways to break a GRPO step with one line, each trained four times: what the curve of rewards shows of them.

    run = trained(broken(FAULTS[0]), seed=1)      # two seconds
    RIGHT, RUNS                                   # stored

A fault is a line of :func:`experiments.ch13.grpo_loop.step`, or of the function that it calls, and what is written in
its place.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankzero import stored

from . import grpo_loop
from .grpo_loop import Point, step, trained

STORED = Path(__file__).parent / "data" / "broken_loops.json"
#: Seeds of the stored runs, and the points from which the end of a run is averaged.
SEEDS, LAST = (1, 2, 3, 4), 5
#: The name of the loop as it should be.
RIGHT = "as it should be"


@dataclass(frozen=True)
class Fault:
    """A wrong line.

    Attributes:
        name: what is wrong, in a few words.
        right, wrong: the line as it should be, and as it is written here; empty where it is left out.
    """

    name: str
    right: str
    wrong: str


FAULTS = (
    Fault("<eos> not in the mask", "real = ends.cumsum(1) - ends == 0", "real = ends.cumsum(1) == 0"),
    Fault("logits not shifted", "(model, tokens)[:, start - 1 : -1]", "(model, tokens)[:, start:]"),
    Fault("old log-probs taken anew", "old = rollout.log_probs[rows]", "old = now.detach()"),
    Fault("rewards not centred", "centred = groups - groups.mean(1, keepdim=True)", "centred = groups"),
    Fault("batch in place of groups", "groups = rewards.view(-1, GROUP)", "groups = rewards.view(1, -1)"),
    Fault(
        "no clip",
        "smaller = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)",
        "smaller = ratio * gain",
    ),
    Fault("no zero_grad", "optimizer.zero_grad()", ""),
    Fault(
        "k3 as the price", "price = (now - ref[rows]) ** 2 / 2", "price = (ref[rows] - now).expm1() + now - ref[rows]"
    ),
    Fault("k1 as the price", "price = (now - ref[rows]) ** 2 / 2", "price = now - ref[rows]"),
    Fault("sign of the price", "(BETA * price - smaller)", "(-BETA * price - smaller)"),
    Fault("sign of the advantage", "(BETA * price - smaller)", "(BETA * price + smaller)"),
)


def broken(fault: Fault) -> Callable[..., list[float]]:
    """The step with one wrong line.

    Raises:
        ValueError: the line does not occur exactly once in the step.
    """
    source = "\n\n".join(inspect.getsource(one) for one in (grpo_loop.log_probs_of, step))
    if source.count(fault.right) != 1:
        raise ValueError(f"right must occur once in the step, got {fault.right!r}")
    names = dict(vars(grpo_loop))
    exec(compile(source.replace(fault.right, fault.wrong), f"<{fault.name}>", "exec"), names)
    return names["step"]


# What is stored.


@dataclass(frozen=True)
class Kept:
    """What is stored of a run; the first numbers are means of its last points.

    Attributes:
        name: of the fault, or :data:`RIGHT`.
        seed: of the run.
        reward, judge, kl, length, silent, first, last: as in :class:`experiments.ch13.grpo_loop.Point`.
        rewards, judges: of every batch.
    """

    name: str
    seed: int
    reward: float
    judge: float
    kl: float
    length: float
    silent: float
    first: float
    last: float
    rewards: tuple[float, ...]
    judges: tuple[float, ...]

    @property
    def rise(self) -> float:
        """From the first batch to the last ones, in deviations of the reference's rewards."""
        return self.reward - self.rewards[0]


#: The figures of a run, and what they are.
FIGURES = {
    "reward": "reward (deviations of the reference's)",
    "judge": "judge",
    "kl": "nats from the reference per response",
    "length": "tokens of a response",
    "silent": "share of groups with equal rewards",
    "first": "|ratio - 1| in the first minibatch",
    "last": "|ratio - 1| in the last minibatch",
}


def kept(name: str, seed: int, points: Sequence[Point]) -> Kept:
    """A run as it is stored; the ratios are those of the last batches that were learned from."""
    ends = [points[-LAST:]] * 5 + [points[-LAST - 1 : -1]] * 2
    means = [math.fsum(getattr(p, figure) for p in end) / LAST for figure, end in zip(FIGURES, ends, strict=True)]
    figures: dict[str, Any] = dict(zip(FIGURES, (float(f"{mean:.4g}") for mean in means), strict=True))
    rewards, judges = (tuple(round(getattr(p, figure), 3) for p in points) for figure in ("reward", "judge"))
    return Kept(name, seed, **figures, rewards=rewards, judges=judges)


def all_runs(seeds: Iterable[int] = SEEDS) -> Iterator[Kept]:
    """The right loop and all faults, each with every seed: two seconds a run."""
    for fault in (None, *FAULTS):
        for seed in seeds:
            yield kept(fault.name if fault else RIGHT, seed, trained(broken(fault) if fault else step, seed))


def store(runs: Iterable[Kept], made_on: str, file: Path = STORED) -> None:
    """Store runs where :func:`runs_of` finds them."""
    ends = (f"{what}, mean of {LAST} batches at the end" for what in FIGURES.values())
    columns = ("fault", "seed", *ends, "reward of each batch", "judge of each batch")
    rows = (tuple(vars(run).values()) for run in runs)
    stored.write(file, "python benchmarks/broken_loops.py --store", columns, rows, made_on)


@functools.cache
def _stored() -> tuple[Kept, ...]:
    return tuple(Kept(*row[:-2], *map(tuple, row[-2:])) for row in stored.read(STORED))


def runs_of(name: str = RIGHT) -> tuple[Kept, ...]:
    """The stored runs of a fault, or of the right loop, in order of their seeds.

    Raises:
        ValueError: no fault has this name.
    """
    found = tuple(run for run in _stored() if run.name == name)
    if not found:
        raise ValueError(f"name must be {RIGHT!r} or one of {[fault.name for fault in FAULTS]}, got {name!r}")
    return found


# What shows.

#: Watched besides the curve of rewards: how far from those of the right runs a figure has to be before it is noticed.
WATCHED = {"judge": 0.5, "kl": 2.0, "length": 3.0, "silent": 0.1, "first": 0.01, "last": 0.02}
#: What a curve of rewards does, by its rise as a share of the right runs' mean rise: below the first share it is flat,
#: above the second it climbs beyond all of them.
FLAT, BEYOND = 0.5, 1.5


def curve(run: Kept) -> str:
    """What the curve of rewards of a run does: "falls", "is flat", "rises" or "rises beyond"."""
    usual = math.fsum(one.rise for one in runs_of()) / len(SEEDS)
    if run.rise < -FLAT * usual:
        return "falls"
    if run.rise < FLAT * usual:
        return "is flat"
    return "rises" if run.rise <= BEYOND * usual else "rises beyond"


def noticed(name: str) -> list[str]:
    """The watched figures that lie outside those of the right runs in every run of a fault."""
    right, found = runs_of(), []
    for figure, margin in WATCHED.items():
        usual = [getattr(run, figure) for run in right]
        low, high = min(usual) - margin, max(usual) + margin
        if all(not low <= getattr(run, figure) <= high for run in runs_of(name)):
            found.append(figure)
    return found


def between(name: str, figure: str, digits: int = 1) -> str:
    """The least and the largest of a figure over the runs of a fault: ``"1.5 to 1.8"``."""
    values = sorted(getattr(run, figure) for run in runs_of(name))
    low, high = (f"{value:.{digits}f}".replace("-0.0", "0.0") for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"
