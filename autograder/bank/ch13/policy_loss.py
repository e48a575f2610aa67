"""Chapter 13: ``policy_loss``, losses with masks."""

from __future__ import annotations

from dataclasses import make_dataclass
from math import inf, log
from random import Random

from autograder.bank.ch13.draws import REST, ending, holes, lengths, tensor
from autograder.bank.ch13.shared import PADDING, moved
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _any_step(rng: Random) -> Case:
    length = rng.randint(3, 7)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return moved(rng, mask, 3.0, -2.0, 5.0, dtype=rng.choice(("float64", "float32")))


def _step_beside_anything(rng: Random) -> list[Case]:
    return [moved(rng, ending([1, 5, 2], 5), *rests) for rests in (REST, (-inf,), (-800.0, 0.0, 3.0))]


def _overflow(rng: Random, advantage: float) -> Case:
    """The ratio of a real token is too large for every type, and the clipped term counts."""
    new, old, gains, mask = moved(rng, ending([3, 2], 3), 1.0).args
    flat, index = [one.tolist() for one in (new, old, gains)], rng.choice((0, 1, 2, 3, 4))
    flat[0][index], flat[2][index] = flat[1][index] + rng.uniform(720, 1500), advantage
    return Case((*(Tensor.of(one, "float64", mask.shape) for one in flat), mask))


def _overflows(rng: Random) -> list[Case]:
    return [_overflow(rng, advantage) for advantage in (rng.uniform(0.5, 2), rng.uniform(0.5, 2), 0.0)]


def _step_ends(rng: Random) -> list[Case]:
    """No step at all; another clip; a gap; one token; a long step."""
    still = moved(rng, ending([2, 3], 3), 1.0, far=0.0)
    wide = moved(rng, ending([4, 3], 4), 1.0)
    narrow = moved(rng, ending([4, 3], 4), 1.0)
    return [
        still,
        Case((*wide.args, 0.5)),
        Case((*narrow.args, 0.05)),
        moved(rng, holes(rng, 2, 6), 2.0),
        moved(rng, [[1.0]], far=1.5),
        moved(rng, ending([4, 4], 4), far=3.0),
    ]


def policy_by_index(log_probs, old_log_probs, advantages, mask, clip=0.2):
    """The ratio is limited to e^60 before it is used, approx_kl is ``exp(d) - 1 - d``."""
    import torch

    real = mask.bool()
    step, gain = log_probs[real] - old_log_probs[real], advantages[real]
    ratio = step.clamp(max=60).exp()
    high = (gain > 0) & (ratio > 1 + clip)
    low = (gain < 0) & (ratio < 1 - clip)
    kept = torch.where(high, 1 + clip, torch.where(low, 1 - clip, ratio))
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    with torch.no_grad():
        parts = ((ratio - 1).abs() > clip).float(), (high | low).float(), step.exp() - 1 - step
        stats = kind(*(part.mean().item() for part in parts))
    return -(kept * gain).mean(), stats


_FACTOR = ("values.masked_fill(~real, 0).sum()", "(values * real).sum()")


EXERCISE = Build(
    "13 rlhf.policy_loss",
    section="13.8",
    topic="losses with masks",
    grade="tensor",
    probe="ch13.sent_back",
    tolerance=1e-5,
    cases=(
        Case(
            (tensor([[log(1.5), log(0.5), 0, 3]]), tensor([[0] * 4]), tensor([[1, -1, 2, 50]]), tensor([[1, 1, 1, 0]]))
        ),
        Case((tensor([[-1, -inf]]), tensor([[-1.1, -inf]]), tensor([[2, 0]]), tensor([[1, 0]]))),
        Case((tensor([[-1, -0.5]]), tensor([[-0.5, -1]]), tensor([[-2, -1]]), tensor([[1, 1]]), 0.1)),
    ),
    groups=(
        Group("batches", _any_step, 5, "The negative of PPO's objective, a mean over the real tokens."),
        listed(
            "anything in the padding",
            _step_beside_anything,
            "What the tensors hold where the mask is 0 reaches neither the loss nor the gradient.",
        ),
        listed(
            "ratios that overflow",
            _overflows,
            "A token whose clipped term counts, or whose advantage is 0, sends a gradient of 0; 0 times inf is nan.",
        ),
        listed("ends", _step_ends, "No step, a long one, another clip."),
    ),
    slips=(
        Slip("Divide by the real tokens: padding dilutes the mean.", edit=("/ real.sum()", "/ real.numel()")),
        Slip(
            "What the padding holds reached the loss as nan: mask the difference before exp.",
            edits=(
                (".masked_fill(~real, 0)  # before exp: infinity times 0 is nan", ""),
                ("gains = advantages.masked_fill(~real, 0)", "gains = advantages"),
                ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
            ),
        ),
        Slip("That is the objective: a loss is its negative.", edit=("return -_mean(", "return _mean(")),
        Slip(
            "The smaller of the free and the clipped term counts, not the clipped one always.",
            edit=("torch.minimum(free, clipped)", "clipped"),
        ),
        Slip(
            "That is a mean of means, in which a token of a long response weighs less.",
            edit=(
                "values.masked_fill(~real, 0).sum() / real.sum()",
                "(values.masked_fill(~real, 0).sum(1) / real.sum(1)).mean()",
            ),
        ),
        Slip("The ratio is new over old.", edit=("(log_probs - old_log_probs)", "(old_log_probs - log_probs)")),
        Slip(
            "A ratio outside may still send a gradient: count where the clipped term is smaller.",
            edit=("clipped < free", "(ratio - 1).abs() > clip"),
        ),
        Slip(
            "approx_kl is ratio - 1 - log ratio, which is never negative.",
            edit=("log_ratio.expm1() - log_ratio", "-log_ratio"),
        ),
        Slip(
            "Where a ratio overflows, the term that does not count still reaches the result: "
            "0 times infinity is nan. Limit the log-ratio before exp.",
            edit=(
                "torch.where(gains < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()",
                "log_ratio.exp()",
            ),
        ),
    ),
    rights=(
        Right("by index, exp(d) - 1 - d", program=policy_by_index),
        Right(
            "double precision inside",
            edits=(
                (
                    "    log_ratio = (log_probs - old_log_probs).masked_fill(~real, 0)",
                    "    kind, clipped_at = log_probs.dtype, 60\n"
                    "    log_ratio = (log_probs.double() - old_log_probs).masked_fill(~real, 0)",
                ),
                (".clamp(max=math.log1p(clip) + 1)", ".clamp(max=clipped_at)"),
                (
                    "-_mean(torch.minimum(free, clipped), real), stats",
                    "-_mean(torch.minimum(free, clipped), real).to(kind), stats",
                ),
            ),
        ),
    ),
    promises=(
        Promise(PADDING, edits=(("advantages.masked_fill(~real, 0)", "advantages * real"), _FACTOR)),
        Promise(
            PADDING,
            edits=(("(log_probs - old_log_probs).masked_fill(~real, 0)", "(log_probs - old_log_probs)"), _FACTOR),
        ),
        Promise("sends a gradient of 0, even where its ratio overflows", edit=(" + 1)).exp()", " + 1000)).exp()")),
        Promise("averaged over the real tokens of the batch", edit=("/ real.sum()", "/ real.numel()")),
    ),
)
