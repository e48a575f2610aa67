"""Chapter 13: what a token earns, and how much better than expected that is."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.draws import REST, Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.wrong_advantages import GAE, GROUPS, REWARDS, WHITEN
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Tensor

# --- token_rewards


def _rewarded(rng: Random, mask: Rows, beta: float, dtype: str = "float64", *rests: float) -> Case:
    """The padding holds ``rests`` in turn, or log-probabilities like any other."""
    batch, length = len(mask), len(mask[0])
    padding = (rests, rests[1:]) if rests else ((-9.0, -30.0), (-1.0, -20.0))
    given = [spoiled(rows(rng, batch, length, -4, 0), mask, *held) for held in padding]
    scores = Tensor.of([round(rng.uniform(-3, 3), 3) for _ in range(batch)], dtype)
    return Case((scores, *(tensor(one, dtype) for one in (*given, mask)), beta))


def _paid(rng: Random) -> Case:
    length = rng.randint(3, 7)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _rewarded(rng, mask, round(rng.uniform(0.02, 0.6), 3), rng.choice(("float64", "float32")))


def _paid_with_holes(rng: Random) -> Case:
    return _rewarded(rng, holes(rng, 2, rng.randint(4, 8)), 0.1)


def _paid_beside_anything(rng: Random) -> list[Case]:
    return [
        _rewarded(rng, ending([1, 5, 3], 5), 0.1, "float64", *REST),
        _rewarded(rng, holes(rng, 2, 6), 0.2, "float32", *REST),
    ]


def _paid_ends(rng: Random) -> list[Case]:
    """No price; all real; one token."""
    mask = ending([3, 1], 4)
    return [_rewarded(rng, mask, 0.0), _rewarded(rng, ending([4, 4], 4), 1.5), _rewarded(rng, [[1.0], [1.0]], 0.3)]


MASK = tensor([[1, 1, 1, 0], [1, 1, 1, 1]])

TOKEN_REWARDS = Build(
    id="13-token-rewards",
    module="rlhf",
    function="token_rewards",
    grade="tensor",
    section="13.5",
    topic="rewards of tokens",
    tolerance=1e-5,
    cases=(
        Case(
            (
                Tensor.of([1, -0.5], "float64"),
                tensor([[-1, -0.5, -2, -9], [-1, -1, -1, -1]]),
                tensor([[-1.2, -0.5, -1, -1], [-1, -2, -1, -0.5]]),
                MASK,
                0.1,
            )
        ),
        _rewarded(Random("a gap"), [[1, 0, 0, 1, 0]], 0.2),
        _rewarded(Random("no price"), [[1, 1, 0], [1, 1, 1]], 0.0),
    ),
    groups=(
        Group("batches", _paid, 5, "-beta k1 on real tokens; the score once, at the last of them; 0 in the padding."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_paid_beside_anything(rng)),
            3,
            "Where the mask is 0 the reward is 0, whatever the tensors hold there: 0 times nan is nan.",
            _paid_beside_anything,
        ),
        Group("gaps", _paid_with_holes, 3, "The mask may have a gap: the last real token is not the count's."),
        listed("ends", _paid_ends, "beta may be 0; no padding; one token."),
    ),
    slips=REWARDS,
)

# --- masked_gae


def _estimated(
    rng: Random, mask: Rows, *factors: float, dtype: str = "float64", rests: tuple[float, ...] = (5.0, -7.0, 9.0, 6.0)
) -> Case:
    batch, length = len(mask), len(mask[0])
    rewards = spoiled(rows(rng, batch, length), mask, *rests[:2])
    values = spoiled(rows(rng, batch, length), mask, *rests[2:])
    return Case((*(tensor(given, dtype) for given in (rewards, values, mask)), *factors))


def _factors(rng: Random) -> tuple[float, float]:
    return rng.choice((0.9, 0.97, 1.0)), rng.choice((0.8, 0.9, 0.95))


def _ending_gae(rng: Random) -> Case:
    length = rng.randint(3, 8)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _estimated(rng, mask, *_factors(rng), dtype=rng.choice(("float64", "float32")))


def _gae_with_holes(rng: Random) -> Case:
    return _estimated(rng, holes(rng, rng.randint(1, 3), rng.randint(4, 8)), *_factors(rng))


def _gae_beside_anything(rng: Random) -> list[Case]:
    """Values that are not finite fill the padding of one, and the gaps of the other."""
    return [
        _estimated(rng, ending([2, 4, 1], 4), 0.9, 0.8, rests=REST),
        _estimated(rng, holes(rng, 2, 6), 0.9, 0.8, rests=REST[::-1]),
    ]


def _gae_ends(rng: Random) -> list[Case]:
    """The usual factors by default; a discount below 1; lambda 0 and 1; one token; no padding."""
    return [
        _estimated(rng, ending([2, 4], 4)),
        _estimated(rng, ending([3, 2], 4), 0.5, 0.9),
        _estimated(rng, ending([3, 2], 4), 0.9, 0.0),
        _estimated(rng, ending([3, 4], 4), 0.9, 1.0),
        _estimated(rng, [[1.0]]),
        _estimated(rng, [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    ]


MASKED_GAE = Build(
    id="13-masked-gae",
    module="rlhf",
    function="masked_gae",
    grade="tensor",
    section="13.8",
    topic="advantages with masks",
    tolerance=1e-5,
    cases=(
        Case(
            (tensor([[-0.02, 0, 1.1, 0], [0, -0.1, 0, -0.45]]), tensor([[0.2, 0.3, 0.4, 7], [0, 0.1, 0.2, 0.3]]), MASK)
        ),
        Case(
            (tensor([[0, 0, 5, 5, 0, 1]]), tensor([[0.1, 0.2, 9, 9, 0.3, 0.4]]), tensor([[1, 1, 0, 0, 1, 1]]), 1.0, 0.9)
        ),
        Case((tensor([[0, 0, 1]]), tensor([[0.2, 0.4, 0.6]]), tensor([[1, 1, 1]]), 0.9, 1.0)),
    ),
    groups=(
        Group(
            "padding at the end",
            _ending_gae,
            5,
            "After the last real token the value is 0, whatever the tensors hold there.",
        ),
        Group("gaps", _gae_with_holes, 4, "Masked tokens are skipped: the next real token is the next token."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_gae_beside_anything(rng)),
            3,
            "Where the mask is 0 both answers are 0, whatever the tensors hold there: 0 times nan is nan.",
            _gae_beside_anything,
        ),
        listed("ends", _gae_ends, "Any factors from 0 to 1; one token."),
    ),
    slips=GAE,
)

# --- masked_whiten


def _whitened(rng: Random, mask: Rows, dtype: str = "float64", shift: float = 0.0) -> Case:
    given = [[value + shift for value in row] for row in rows(rng, len(mask), len(mask[0]))]
    return Case((tensor(spoiled(given, mask, 40.0, -11.0), dtype), tensor(mask, dtype)))


def _any_white(rng: Random) -> Case:
    length = rng.randint(3, 8)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _whitened(rng, mask, rng.choice(("float64", "float32")), rng.choice((0.0, 3.0)))


def _good_and_bad(rng: Random) -> Case:
    """One response is far better than the other."""
    better = [[value + 4 * (1 - place) for value in row] for place, row in enumerate(rows(rng, 2, 4))]
    mask = ending([4, rng.randint(2, 3)], 4)
    return Case((tensor(spoiled(better, mask, 0.0)), tensor(mask)))


def _white_beside_anything(rng: Random) -> list[Case]:
    masks = ending([2, 4, 1], 5), holes(rng, 2, 6)
    return [Case((tensor(spoiled(rows(rng, len(mask), len(mask[0])), mask, *REST)), tensor(mask))) for mask in masks]


def _white_ends(rng: Random) -> list[Case]:
    """One real token alone; a gap; small numbers, where eps counts."""
    small = tensor([[round(rng.uniform(-1, 1), 3) * 1e-4 for _ in range(4)] for _ in range(2)])
    return [
        Case((tensor([[rng.uniform(-2, 2), 5.0]]), tensor([[1.0, 0.0]]))),
        _whitened(rng, holes(rng, 2, 6)),
        Case((small, tensor(ending([3, 4], 4)))),
        Case((small, tensor(ending([3, 4], 4)), 1e-6)),
    ]


MASKED_WHITEN = Build(
    id="13-masked-whiten",
    module="rlhf",
    function="masked_whiten",
    grade="tensor",
    section="13.8",
    topic="advantages with masks",
    tolerance=1e-5,
    cases=(
        Case((tensor([[0.80675, 0.765, 0.7, 0], [-0.45278125, -0.581875, -0.6125, -0.75]]), MASK)),
        Case((tensor([[0.857375, 0.9025, 0.95, 1], [0.0857375, 0.09025, 0.095, 0.1]]), tensor([[1] * 4] * 2))),
        Case((tensor([[3, 8]]), tensor([[1, 0]]))),
    ),
    groups=(
        Group("batches", _any_white, 5, "Mean and variance of all real tokens of the batch; 0 in the padding."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_white_beside_anything(rng)),
            3,
            "Where the mask is 0 the answer is 0, whatever the values are there: 0 times nan is nan.",
            _white_beside_anything,
        ),
        Group("good and bad", _good_and_bad, 3, "A response that is better than the others stays better."),
        listed("ends", _white_ends, "One token, gaps, tiny numbers."),
    ),
    slips=WHITEN,
)

# --- group_advantages


def _rewards(rng: Random, groups: int, size: int, dtype: str = "float64", scale: float = 2.0) -> Tensor:
    """Every group has a level and a spread of its own."""
    flat: list[float] = []
    for _ in range(groups):
        level, spread = rng.uniform(-scale, scale), rng.uniform(0.2, 1) * scale
        flat += [round(level + rng.uniform(-spread, spread), 4) for _ in range(size)]
    return Tensor.of(flat, dtype)


def _grouped(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((_rewards(rng, rng.randint(2, 5), size, rng.choice(("float64", "float32"))), size))


def _not_divided(rng: Random) -> Case:
    size = rng.randint(2, 8)
    return Case((_rewards(rng, rng.randint(2, 4), size), size), {"normalize": False})


def _group_ends(rng: Random) -> list[Case]:
    """Rules that say 0 or 1; all equal; small spreads, where eps counts; two answers; another eps."""
    size = rng.randint(4, 8)
    right = [float(rng.random() < 0.5) for _ in range(size)]
    return [
        Case((Tensor.of([*right[:-2], 1.0, 0.0, *[1.0] * size, *[0.0] * size], "float64"), size)),
        Case((_rewards(rng, 2, 4, scale=0.05), 4)),
        Case((_rewards(rng, 3, 4, scale=0.01), 4)),
        Case((_rewards(rng, 3, 2), 2)),
        Case((_rewards(rng, 2, 4), 4), {"eps": 0.1}),
    ]


def _zeros_and_ones(*rewards: float) -> Tensor:
    return Tensor.of(rewards, "float64")


GROUP_ADVANTAGES = Build(
    id="13-group-advantages",
    module="rlhf",
    function="group_advantages",
    grade="tensor",
    section="13.12",
    topic="advantages in groups",
    tolerance=1e-5,
    cases=(
        Case((_zeros_and_ones(1, 0, 0, 1), 4)),
        Case((_zeros_and_ones(1, 0, 0, 0, 1, 1, 1, 1), 4)),
        Case((_zeros_and_ones(1, 0, 0, 0), 4), {"normalize": False}),
        Case((_zeros_and_ones(1, 0, 0, 0, 0, 0, 0, 0), 8)),
    ),
    groups=(
        Group("groups", _grouped, 5, "Consecutive answers form a group, with a mean and a deviation of its own."),
        Group("not divided", _not_divided, 3, "With normalize=False the group's mean is subtracted, and no more."),
        listed("ends", _group_ends, "Equal rewards; tiny spreads; eps."),
    ),
    slips=GROUPS,
)
