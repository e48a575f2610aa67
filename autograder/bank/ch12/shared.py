"""What several exercises of chapter 12 share."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.items import Case, Tensor


def floats(rng: Random, count: int) -> list[float]:
    return [round(rng.uniform(-3, 3), 3) for _ in range(count)]


def flags(rng: Random, count: int) -> list[bool]:
    return [rng.random() < 0.2 for _ in range(count)]


def decays(rng: Random) -> tuple[float, float]:
    """A discount and a lambda, apart from each other, from 0 and from 1."""
    return round(rng.uniform(0.85, 0.98), 3), round(rng.uniform(0.3, 0.8), 3)


def episode(rng: Random, last: Sequence[bool]) -> Case:
    """One episode; ``last`` are the flags of its last step."""
    count = rng.randint(4, 15)
    rewards, values = floats(rng, count), floats(rng, count)
    ends = [[*[False] * (count - 1), flag] for flag in last]
    return Case((rewards, values, [*values[1:], round(rng.uniform(1, 3), 3)], *ends, *decays(rng)))


def has_ended(rng: Random, values: Sequence[float], *flags: Sequence[bool]) -> list[float]:
    """V of the states that the steps reached: within an episode that of the next step, at its ends any number."""
    ends = [any(pair) for pair in zip(*flags, strict=True)]
    after = zip(values[1:], ends[:-1], strict=True)
    return [*(round(rng.uniform(-3, 3), 3) if end else value for value, end in after), round(rng.uniform(-3, 3), 3)]


def several(rng: Random) -> Case:
    """Episodes one after the other, with an end of each kind among them."""
    count = rng.randint(8, 40)
    terminated, truncated = flags(rng, count), flags(rng, count)
    terminated[1], truncated[1] = True, False
    terminated[4], truncated[4] = False, True
    rewards, values = floats(rng, count), floats(rng, count)
    reached = has_ended(rng, values, terminated, truncated)
    return Case((rewards, values, reached, terminated, truncated, *decays(rng)))


def both(rng: Random) -> Case:
    count = rng.randint(3, 9)
    both = [index == 1 or rng.random() < 0.3 for index in range(count)]
    rewards, values = floats(rng, count), floats(rng, count)
    return Case((rewards, values, has_ended(rng, values, both), both, list(both), *decays(rng)))


def draw_pi(rng: Random, size: int, zero: bool = False) -> tuple[float, ...]:
    """Probabilities that differ; with ``zero`` one arm is never drawn."""
    weights = rng.sample(range(1, 30), size)
    if zero:
        weights[rng.randrange(size)] = 0
    return tuple(weight / sum(weights) for weight in weights)


def draw_rewards(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-10, 10), 2) for _ in range(size))


def rewards_for(rng: Random, pi: tuple[float, ...], baseline: float = 0.0) -> tuple[float, ...]:
    """Drawn again where the arms' estimates are so alike that their variance is lost in rounding, or in a sum off 1."""
    while True:
        rewards = draw_rewards(rng, len(pi))
        rows = [[(r - baseline) * ((i == a) - p) for i, p in enumerate(pi)] for a, r in enumerate(rewards)]
        square = sum(p * part**2 for p, row in zip(pi, rows, strict=True) for part in row)
        mean = [sum(p * row[i] for p, row in zip(pi, rows, strict=True)) for i in range(len(pi))]
        if square - sum(part**2 for part in mean) > 0.05 * square:
            return rewards


def arms(rng: Random) -> tuple[tuple[float, ...], tuple[float, ...]]:
    pi = draw_pi(rng, rng.randint(3, 8))
    return pi, rewards_for(rng, pi)


def one_is_never_drawn(rng: Random) -> Case:
    pi = draw_pi(rng, rng.randint(3, 6), zero=True)
    return Case((pi, rewards_for(rng, pi)))


def nearly_one(rng: Random) -> Case:
    """A sum that is off 1, by less than the docstring allows and too little to matter in any formula."""
    return Case(((0.25, 0.75 - 4e-12), rewards_for(rng, (0.25, 0.75))))


PI, Q = (0.5, 0.3, 0.2), (0, 1, 5)


def table(rows: list[list[float]]) -> Tensor:
    return Tensor.of([value for row in rows for value in row], "float64", (len(rows), len(rows[0])))
