"""Chapter 12: ``ppo_loss``, clipped objective."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch12.shared import table
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _numbers(rng: Random, count: int, low: float, high: float) -> Tensor:
    return Tensor.of([rng.uniform(low, high) for _ in range(count)], "float64")


def _steps(rng: Random, count: int, actions: int, far: float = 0.6, **options: object) -> Case:
    """Steps of a policy from which this one has moved, by 0.01 to ``far`` in each log-probability."""
    logits = [[rng.uniform(-1.5, 1.5) for _ in range(actions)] for _ in range(count)]
    chosen = [rng.randrange(actions) for _ in range(count)]
    logs = [row[one] - math.log(math.fsum(map(math.exp, row))) for row, one in zip(logits, chosen, strict=True)]
    old = [log + rng.choice((-1, 1)) * rng.uniform(0.01, far) for log in logs]
    return Case(
        (
            table(logits),
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
            table([[0.2, -0.1], [0, 0], [1, -1], [0.5, 0.5]]),
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


#: The reference limits ratios that clipping makes irrelevant; programs that do not clip need them as they are.
_EVERY_RATIO = (
    "torch.where(advantages < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()",
    "log_ratio.exp()",
)

_NORMALIZED = "advantages = (advantages - advantages.mean()) / (advantages.std() + TINY)"
_LOG_RATIO = "log_probs.gather(1, batch.actions.unsqueeze(1)).squeeze(1) - batch.old_log_probs.detach()"

_PPO_TERMS = """    ratio = torch.where(advantages < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()
    plain, clipped = ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages
    policy = -torch.minimum(plain, clipped).mean()
"""

_PPO_KL = "(log_ratio.expm1() - log_ratio).mean()"
_NOTHING_ELSE = "Gradients flow into ``logits`` and ``values`` and into nothing else"


EXERCISE = Build(
    "12 policy.ppo_loss",
    section="12.17",
    bonus=True,
    topic="clipped objective",
    grade="tensor",
    probe="ch12.lost",
    tolerance=1e-6,
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
        listed(
            "ends",
            _loss_ends,
            "One step is enough where nothing is normalized; the standard deviation may be 0, or as small as 1e-8.",
        ),
    ),
    slips=(
        Slip(
            "The entropy is subtracted from the loss, not added: the loss falls where the entropy is large.",
            edit=("loss = policy + value_weight * value - entropy", "loss = policy + value_weight * value + entropy"),
        ),
        Slip(
            "A gradient flows into the batch: everything in it is data, so detach it.",
            edits=(
                ("batch.advantages.detach()", "batch.advantages"),
                ("batch.old_log_probs.detach()", "batch.old_log_probs"),
                ("batch.returns.detach()", "batch.returns"),
            ),
        ),
        Slip(
            "A gradient flows into the old log-probabilities: they are data, detach them.",
            edit=("batch.old_log_probs.detach()", "batch.old_log_probs"),
        ),
        Slip(
            "A gradient flows into the advantages: they are data, detach them.",
            edit=("batch.advantages.detach()", "batch.advantages"),
        ),
        Slip(
            "A gradient flows into the returns: they are the critic's target, detach them.",
            edit=("batch.returns.detach()", "batch.returns"),
        ),
        Slip(
            "The sign of the policy term is wrong: the loss is minus the objective.",
            edit=("policy = -torch.minimum", "policy = torch.minimum"),
        ),
        Slip(
            "The sample standard deviation divides by N - 1.", edit=("advantages.std()", "advantages.std(correction=0)")
        ),
        Slip("The advantages were centred and not scaled.", edit=(" / (advantages.std() + TINY)", "")),
        Slip(
            "The advantages were not normalized, though `normalize` asks for it.",
            edit=(f"    if normalize:\n        {_NORMALIZED}\n", ""),
        ),
        Slip(
            "The advantages were normalized with `normalize=False` too.",
            edits=(
                ("    if normalize:\n        advantages = ", "    advantages = "),
                ("advantages.std()", "advantages.std(correction=len(advantages) > 1)"),
            ),
        ),
        Slip(
            "Clipped without the minimum: where a ratio moved against its advantage, nothing may be clipped.",
            edit=("torch.minimum(plain, clipped)", "clipped"),
        ),
        Slip(
            "The larger of the two terms was taken: the bound has to be pessimistic.",
            edits=(_EVERY_RATIO, ("torch.minimum", "torch.maximum")),
        ),
        Slip(
            "Nothing was clipped: that is the ratio times the advantage.",
            edits=(_EVERY_RATIO, ("torch.minimum(plain, clipped)", "plain")),
        ),
        Slip(
            "The ratio is the exponential of the difference of log-probabilities.",
            edits=((_EVERY_RATIO[0], "log_ratio"), ("log_ratio.expm1()", "(log_ratio - 1)")),
        ),
        Slip(
            "A clipped sample must have no policy gradient: your value is right, and its gradient is not 0.",
            edits=(
                _EVERY_RATIO,
                ("torch.minimum(plain, clipped)", "(plain + (torch.minimum(plain, clipped) - plain).detach())"),
            ),
        ),
        Slip(
            "The critic's error has a weight, `value_weight`.",
            edit=("loss = policy + value_weight * value", "loss = policy + value"),
        ),
        Slip("The critic's error is squared.", edit=(".square()", ".abs()")),
        Slip(
            "The entropy weighs all actions by their probabilities; yours looks only at those that were taken.",
            edit=(
                "-(log_probs.exp() * log_probs).sum(1).mean()",
                "-log_probs.gather(1, batch.actions.unsqueeze(1)).mean()",
            ),
        ),
        Slip(
            "`clipped_fraction` counts samples whose clipped term is the smaller one, not every ratio outside it.",
            edit=("(clipped < plain)", "((ratio - 1).abs() > clip)"),
        ),
        Slip(
            "`approx_kl` is the mean of ratio - 1 - ln ratio; minus the mean of ln ratio can be negative.",
            edit=("(log_ratio.expm1() - log_ratio).mean()", "-log_ratio.mean()"),
        ),
        Slip(
            "The statistic `policy` is the part of the loss, minus the objective.",
            edit=("for part in (policy, value,", "for part in (-policy, value,"),
        ),
    ),
    rights=(
        Right(
            "a library's distribution, the larger of two losses, exp(d) - 1 - d",
            edits=(
                (
                    f"    log_ratio = {_LOG_RATIO}\n",
                    "    drawn = torch.distributions.Categorical(logits=logits)\n"
                    "    log_ratio = drawn.log_prob(batch.actions) - batch.old_log_probs.detach()\n",
                ),
                (
                    _PPO_TERMS,
                    """    ratio = log_ratio.exp()
    plain, clipped = ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages
    policy = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
""",
                ),
                ("-(log_probs.exp() * log_probs).sum(1).mean()", "drawn.entropy().mean()"),
                (_PPO_KL, "(log_ratio.exp() - 1 - log_ratio).mean()"),
            ),
        ),
        Right(
            "a quotient of probabilities, case by case",
            edits=(
                (
                    _PPO_TERMS,
                    """    chosen = logits.softmax(-1)[range(len(logits)), batch.actions]
    ratio = chosen / batch.old_log_probs.detach().exp()
    over, under = ratio > 1 + clip, ratio < 1 - clip
    stops = (over & (advantages > 0)) | (under & (advantages < 0))
    bound = 1 + clip * (over.to(ratio.dtype) - under.to(ratio.dtype))
    policy = -(torch.where(stops, bound, ratio) * advantages).sum() / len(ratio)
""",
                ),
                ("((ratio - 1).abs() > clip).double().mean()", "(over | under).double().mean()"),
                ("(clipped < plain).double().mean()", "stops.double().mean()"),
                (_PPO_KL, "(ratio - 1 - ratio.log()).mean()"),
                (
                    "(values - batch.returns.detach()).square().mean()",
                    "nn.functional.mse_loss(values, batch.returns.detach())",
                ),
                ("advantages.std()", "(advantages - advantages.mean()).square().sum().div(len(advantages) - 1).sqrt()"),
            ),
        ),
    ),
    promises=(
        Promise(_NOTHING_ELSE, edit=("batch.old_log_probs.detach()", "batch.old_log_probs")),
        Promise(_NOTHING_ELSE, edit=("batch.advantages.detach()", "batch.advantages")),
        Promise(_NOTHING_ELSE, edit=("batch.returns.detach()", "batch.returns")),
        Promise(
            "its observations are not used",
            edit=("batch.advantages.detach()", "batch.advantages.detach() + 0 * batch.observations.sum()"),
        ),
        Promise("equal advantages become 0", edit=("(advantages.std() + TINY)", "advantages.std()")),
        Promise("plus 1e-8", edit=("TINY = 1e-8", "TINY = 2e-8")),
        Promise("sample standard deviation", edit=("advantages.std()", "advantages.std(correction=0)")),
    ),
)
