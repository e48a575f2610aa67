"""Chapter 13: ``masked_gae``, advantages with masks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.draws import REST, Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.shared import MASK, PADDING
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


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


def slip_state_shared(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    advantages, running, after = torch.zeros_like(rewards), 0.0, 0.0
    for row in range(len(rewards)):
        for t in reversed(range(rewards.shape[1])):
            if mask[row, t]:
                delta = rewards[row, t] + discount * after - values[row, t]
                running, after = delta + discount * gae_lambda * running, values[row, t]
                advantages[row, t] = running
    return advantages, (advantages + values) * mask


def gae_by_rows(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    advantages, returns = torch.zeros_like(rewards), torch.zeros_like(rewards)
    for row in range(len(mask)):
        real = mask[row].nonzero().flatten().tolist()
        following, after = 0.0, 0.0
        for place in reversed(real):
            following = rewards[row, place] + discount * after - values[row, place] + discount * gae_lambda * following
            after = values[row, place]
            advantages[row, place], returns[row, place] = following, following + after
    return advantages, returns


def gae_by_lambda_returns(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    """The lambda-returns first, in double precision; the advantages are what they exceed the values by."""
    import torch

    advantages, returns = torch.zeros_like(rewards), torch.zeros_like(rewards)
    for row, real in enumerate(mask.bool()):
        paid, valued = rewards[row, real].tolist(), [*values[row, real].tolist(), 0.0]
        found = [0.0]
        for t in reversed(range(len(paid))):
            ahead = (1 - gae_lambda) * valued[t + 1] + gae_lambda * found[0]
            found.insert(0, paid[t] + discount * ahead)
        returns[row, real] = torch.tensor(found[:-1], dtype=torch.float64).to(returns.dtype)
        gains = [one - value for one, value in zip(found[:-1], valued[:-1], strict=True)]
        advantages[row, real] = torch.tensor(gains, dtype=torch.float64).to(returns.dtype)
    return advantages, returns


EXERCISE = Build(
    "13 rlhf.masked_gae",
    section="13.17",
    topic="advantages with masks",
    bonus=True,
    grade="tensor",
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
    slips=(
        Slip(
            "After the last real token the value is 0; that of the padding was taken.",
            edit=("torch.where(real[:, t], values[:, t], next_value)", "values[:, t]"),
        ),
        Slip(
            "Masked tokens inside a response are skipped; here they break the chain.",
            edits=(
                ("gae_lambda * running, running)", "gae_lambda * running, 0.0)"),
                ("values[:, t], next_value)", "values[:, t], 0.0)"),
            ),
        ),
        Slip(
            "The next value of a token before a gap is that of the next real token, not 0.",
            edit=("values[:, t], next_value)", "values[:, t], 0.0)"),
        ),
        Slip(
            "A return is the advantage plus the value.",
            edit=("(advantages + values).masked_fill(~real, 0)", "advantages"),
        ),
        Slip(
            "A return holds all that is still to come: the reward of the token alone is not the target.",
            edit=("(advantages + values)", "rewards"),
        ),
        Slip("Each response starts anew: the sum of one row ran into the next.", slip_state_shared),
        Slip(
            "The running sum shrinks by discount times lambda.",
            edit=("discount * gae_lambda * running", "gae_lambda * running"),
        ),
        Slip(
            "Returns of padding are 0, too.",
            edit=("(advantages + values).masked_fill(~real, 0)", "advantages + values"),
        ),
        Slip(
            "The returns are multiplied by the mask: 0 times nan is nan. Replace what is masked.",
            edit=("(advantages + values).masked_fill(~real, 0)", "(advantages + values) * real"),
        ),
    ),
    rights=(
        Right("row by row", program=gae_by_rows),
        Right("lambda-returns, in double precision", program=gae_by_lambda_returns),
    ),
    promises=(
        Promise(
            "Masked tokens, also those inside a response, are skipped",
            edit=("values[:, t], next_value)", "values[:, t], torch.zeros_like(next_value))"),
        ),
        Promise(
            "Masked tokens, also those inside a response, are skipped",
            edit=("* running, running)", "* running, torch.zeros_like(running))"),
        ),
        Promise("After the last one the value is 0.", edit=("torch.zeros_like(values[:, 0])", "values[:, -1]")),
        Promise(PADDING, edit=("(advantages + values).masked_fill(~real, 0)", "(advantages + values) * real")),
        Promise("a return is advantage plus value", edit=("(advantages + values)", "(advantages - values)")),
    ),
)
