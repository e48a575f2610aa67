"""Chapter 12: the losses of REINFORCE and PPO, and what an update does with them."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch12.wrong_policy_losses import PPO, REINFORCE
from autograder.bank.ch12.wrong_policy_updates import UPDATE
from autograder.items import Build, Case, Group, Tensor


def _numbers(rng: Random, count: int, low: float, high: float) -> Tensor:
    return Tensor.of([rng.uniform(low, high) for _ in range(count)], "float64")


def _table(rows: list[list[float]]) -> Tensor:
    return Tensor.of([value for row in rows for value in row], "float64", (len(rows), len(rows[0])))


def _episodes(lengths: list[int], rng: Random, booleans: bool = False) -> Case:
    """Episodes of these lengths; the places after their ends hold ordinary numbers."""
    longest, size = max(1, *lengths), len(lengths)
    log_probs, weights = (
        Tensor.of([rng.uniform(*ends) for _ in range(size * longest)], "float64", (size, longest))
        for ends in ((-3.0, -0.05), (-4.0, 6.0))
    )
    kept = [float(place < length) for length in lengths for place in range(longest)]
    return Case((log_probs, weights, Tensor.of(kept, "bool" if booleans else "float64", (size, longest))))


def _unequal(rng: Random) -> Case:
    lengths = [rng.randint(1, 9) for _ in range(rng.randint(2, 6))]
    return _episodes([10, *lengths], rng, rng.random() < 0.5)


def _ends(rng: Random) -> list[Case]:
    """One step, one episode, and one that has no step at all."""
    return [_episodes(lengths, rng) for lengths in ([1], [rng.randint(3, 8)], [3, 0, 2])]


REINFORCE_LOSS = Build(
    id="12-reinforce-loss",
    module="policy",
    function="reinforce_loss",
    grade="tensor",
    probe="ch12.reinforced",
    tolerance=1e-6,
    section="12.6",
    topic="policy gradient",
    cases=(
        Case((_table([[-0.7] * 3, [-0.5, -1, 0]]), _table([[3, 2, 1], [2, 1, 0]]), _table([[1, 1, 1], [1, 1, 0]]))),
        Case((_table([[-0.7] * 3, [-0.5, -1, 0]]), _table([[1, 0, -1], [0, -1, -2]]), _table([[1, 1, 1], [1, 1, 0]]))),
        _episodes([2, 4], Random("padded"), True),
    ),
    groups=(
        Group("episodes", _unequal, 6, "Sum over the real steps, and divide by the number of episodes."),
        Group("ends", lambda rng: rng.choice(_ends(rng)), 3, "One step, one episode, an episode without steps.", _ends),
    ),
    slips=REINFORCE,
)


def _steps(rng: Random, count: int, actions: int, far: float = 0.6, **options: object) -> Case:
    """Steps of a policy from which this one has moved, by 0.01 to ``far`` in each log-probability."""
    logits = [[rng.uniform(-1.5, 1.5) for _ in range(actions)] for _ in range(count)]
    chosen = [rng.randrange(actions) for _ in range(count)]
    logs = [row[one] - math.log(math.fsum(map(math.exp, row))) for row, one in zip(logits, chosen, strict=True)]
    old = [log + rng.choice((-1, 1)) * rng.uniform(0.01, far) for log in logs]
    return Case(
        (
            _table(logits),
            _numbers(rng, count, -3, 3),
            Tensor.of(chosen, "int64"),
            Tensor.of(old, "float64"),
            _numbers(rng, count, -3, 3),
            _numbers(rng, count, -3, 3),
        ),
        options,
    )


def _page(**options: object) -> Case:
    """Four steps that can be followed by hand; the old policy chose either action with probability one half."""
    return Case(
        (
            _table([[0.2, -0.1], [0, 0], [1, -1], [0.5, 0.5]]),
            Tensor.of([0.5, 1, 0, 2], "float64"),
            Tensor.of([0, 1, 0, 1], "int64"),
            Tensor.of([math.log(0.5)] * 4, "float64"),
            Tensor.of([1, -1, 2, -0.5], "float64"),
            Tensor.of([1, 1, 1, 1], "float64"),
        ),
        {"entropy_weight": 0.01, **options},
    )


def _normalized(rng: Random) -> Case:
    return _steps(
        rng,
        rng.randint(3, 32),
        rng.randint(2, 6),
        value_weight=rng.uniform(0.1, 2),
        entropy_weight=rng.uniform(0.05, 1),
    )


def _plain(rng: Random) -> Case:
    clip = rng.choice((0.1, 0.2, 0.3))
    return _steps(rng, rng.randint(2, 32), rng.randint(2, 6), clip=clip, entropy_weight=0.1, normalize=False)


def _one_step(rng: Random) -> Case:
    return _steps(rng, 1, rng.randint(2, 6), 2.0, entropy_weight=rng.uniform(0.05, 1), normalize=False)


def _all_equal(rng: Random) -> Case:
    """Equal advantages, in numbers whose mean is exact."""
    logits, values, actions, old, _, returns = _steps(rng, 4, 3).args
    advantages = Tensor.of([rng.choice((-1.5, 0.25, 2.0))] * 4, "float64")
    return Case((logits, values, actions, old, advantages, returns))


def _nearly_equal(rng: Random) -> Case:
    """Advantages that differ by some 1e-8."""
    logits, values, actions, old, _, returns = _steps(rng, 4, 3).args
    advantages = Tensor.of([step * 2.0**-27 for step in rng.sample(range(-4, 5), 4)], "float64")
    return Case((logits, values, actions, old, advantages, returns))


def _loss_ends(rng: Random) -> list[Case]:
    return [_one_step(rng), _one_step(rng), _all_equal(rng), _nearly_equal(rng)]


PPO_LOSS = Build(
    id="12-ppo-loss",
    module="policy",
    function="ppo_loss",
    grade="tensor",
    probe="ch12.lost",
    tolerance=1e-6,
    section="12.10",
    topic="clipped objective",
    cases=(
        _page(normalize=False),
        _page(),
        _steps(Random("three actions"), 5, 3, entropy_weight=0.1, value_weight=1.0),
    ),
    groups=(
        Group(
            "batches", _normalized, 6, "Normalised advantages, a clipped objective, the critic's error, the entropy."
        ),
        Group("as they are", _plain, 5, "With `normalize=False` the advantages stay as they are."),
        Group(
            "ends",
            lambda rng: rng.choice(_loss_ends(rng)),
            4,
            "One step is enough where nothing is normalised; the standard deviation may be 0, or as small as 1e-8.",
            _loss_ends,
        ),
    ),
    slips=PPO,
)


def _rounds(rng: Random, steps: int, size: int, epochs: int) -> list[list[int]]:
    """The rows of each minibatch, reshuffled in each epoch."""
    found = []
    for _ in range(epochs):
        rows = rng.sample(range(steps), steps)
        found += [rows[first : first + size] for first in range(0, steps, size)]
    return found


def _updates(rng: Random, epochs: int = 2, parts: int = 3, size: int = 5, **options: object) -> Case:
    steps = parts * size
    return Case((steps, rng.randint(2, 4), _rounds(rng, steps, size, epochs), rng.randrange(10**6), 0.2), options)


def _six(rng: Random) -> Case:
    """Six steps."""
    size, value_weight, entropy_weight = rng.randint(3, 7), rng.uniform(0.1, 1), rng.uniform(0.05, 0.5)
    return _updates(rng, size=size, value_weight=value_weight, entropy_weight=entropy_weight)


def _limited(rng: Random) -> Case:
    return _updates(rng, size=rng.randint(3, 7), max_grad_norm=rng.uniform(0.2, 0.5))


def _corners(rng: Random) -> list[Case]:
    """No minibatch at all; gradients that are left from before; a critic whose values are [n]."""
    empty = Case((4, 2, [], rng.randrange(10**6), 0.2))
    return [empty, _updates(rng, stale=True), _updates(rng, 1, 2, stale=True), _updates(rng, flat=True)]


PPO_UPDATE = Build(
    id="12-ppo-update",
    module="policy",
    function="ppo_update",
    grade="tensor",
    probe="ch12.updated",
    tolerance=1e-6,
    section="12.10",
    topic="training loops",
    cases=(
        Case((4, 2, [[0, 1, 2, 3]] * 2, 1, 0.2)),
        Case((6, 2, [[5, 0, 3], [1, 4, 2]], 2, 0.2), {"entropy_weight": 0.1}),
        Case((6, 3, [[0, 2, 4], [1, 3, 5]], 3, 0.2), {"max_grad_norm": 0.5}),
    ),
    groups=(
        Group("six steps", _six, 5, "One step of the optimizer for each minibatch, from the loss of its rows."),
        Group("limited gradients", _limited, 4, "The limit is on the norm of all gradients together, after backward."),
        Group(
            "ends",
            lambda rng: rng.choice(_corners(rng)),
            4,
            "No minibatch, no step; gradients that are left from before do not count; the critic's values are [n] or "
            "[n, 1].",
            _corners,
        ),
    ),
    slips=UPDATE,
)

POLICY: tuple[Build, ...] = (REINFORCE_LOSS, PPO_LOSS, PPO_UPDATE)
