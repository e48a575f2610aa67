"""Chapter 13: ``token_rewards``, rewards of tokens."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.draws import REST, Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.shared import MASK, PADDING
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


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


def rewards_by_loop(scores, log_probs, ref_log_probs, mask, beta):
    import torch

    made = torch.zeros_like(log_probs)
    for row in range(len(mask)):
        real = mask[row].nonzero().flatten()
        made[row, real] = -beta * (log_probs[row, real] - ref_log_probs[row, real])
        made[row, real[-1]] += scores[row]
    return made


EXERCISE = Build(
    "13 rlhf.token_rewards",
    section="13.14",
    topic="rewards of tokens",
    bonus=True,
    grade="tensor",
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
    slips=(
        Slip(
            "The score is paid once, at the last real token: that pays it at every token.",
            edit=(
                "rewards.scatter_add(1, last, scores.unsqueeze(1).to(rewards.dtype))",
                "(rewards + scores.unsqueeze(1)).masked_fill(~real, 0)",
            ),
        ),
        Slip(
            "The last column is padding in a short response: pay at the last real token.",
            edit=("(places * real).max(1, keepdim=True).values", "places[-1:].expand(len(mask), 1)"),
        ),
        Slip("Leaving the reference is charged, not paid: the sign of beta is wrong.", edit=("-beta *", "beta *")),
        Slip(
            "Padding was never written: it costs nothing.",
            edit=("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs))"),
        ),
        Slip(
            "With a gap in the mask the number of real tokens is not the place of the last one.",
            edit=("(places * real).max(1, keepdim=True).values", "real.sum(1, keepdim=True) - 1"),
        ),
        Slip(
            "That is k3. The reward takes k1, whose sum is the log-ratio of the response.",
            edit=(
                "rewards = (-beta * (log_probs - ref_log_probs))",
                "gap = log_probs - ref_log_probs\n    rewards = (-beta * ((-gap).expm1() + gap))",
            ),
        ),
        Slip(
            "k1 of a token may be negative, and must stay so: only its mean is a KL divergence.",
            edit=("(log_probs - ref_log_probs)", "(log_probs - ref_log_probs).clamp(min=0)"),
        ),
        Slip(
            "The mask is a factor: 0 times nan is nan. Replace what is masked.",
            edit=("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real"),
        ),
    ),
    rights=(
        Right("a loop", program=rewards_by_loop),
        Right(
            "double precision inside, the price of each log-probability for itself",
            edits=(
                (
                    "(-beta * (log_probs - ref_log_probs))",
                    "(beta * ref_log_probs.double() - beta * log_probs.double())",
                ),
                (
                    "rewards.scatter_add(1, last, scores.unsqueeze(1).to(rewards.dtype))",
                    "rewards.scatter_add(1, last, scores.double().unsqueeze(1)).to(log_probs.dtype)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            PADDING,
            edit=("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real"),
        ),
        Promise("the score on the last real token", edit=("last = (places * real)", "last = (places + 0 * real)")),
        Promise("[B, T], 0 where masked", edit=(".masked_fill(~real, 0)", ".masked_fill(~real, 1e-3)")),
    ),
)
