"""Further right programs for the items of chapter 13."""

from __future__ import annotations

import math
from dataclasses import make_dataclass

import numpy
import torch
from torch.nn import functional

from solutions.ch13 import kl
from solutions.ch13.kl import KLEstimates, kl_estimates
from tools.luck import Right

# Tensors: by index, by loop, by another function of the library.


def mask_by_loop(tokens, eos):
    made = torch.zeros(tokens.shape)
    for row, line in enumerate(tokens.tolist()):
        for place, token in enumerate(line):
            made[row, place] = 1
            if token == eos:
                break
    return made


def log_probs_by_logsumexp(logits, tokens, prompt_length):
    logits = logits[:, prompt_length - 1 : -1]
    chosen = logits.gather(-1, tokens[:, prompt_length:, None])[..., 0]
    return chosen - torch.logsumexp(logits, -1)


def log_probs_by_loss(logits, tokens, prompt_length):
    flat = logits[:, :-1].transpose(1, 2)
    return -functional.cross_entropy(flat, tokens[:, 1:], reduction="none")[:, prompt_length - 1 :]


def rewards_by_loop(scores, log_probs, ref_log_probs, mask, beta):
    made = torch.zeros_like(log_probs)
    for row in range(len(mask)):
        real = mask[row].nonzero().flatten()
        made[row, real] = -beta * (log_probs[row, real] - ref_log_probs[row, real])
        made[row, real[-1]] += scores[row]
    return made


def gae_by_rows(rewards, values, mask, discount=1.0, gae_lambda=0.95):
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


def whiten_by_index(values, mask, eps=1e-8):
    real, made = values[mask.bool()], torch.zeros_like(values)
    made[mask.bool()] = (real - real.mean()) / (real.var(correction=0) + eps).sqrt()
    return made


def policy_by_index(log_probs, old_log_probs, advantages, mask, clip=0.2):
    """The ratio is limited to e^60 before it is used, approx_kl is ``exp(d) - 1 - d``."""
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


def value_by_index(values, old_values, returns, mask, clip=0.2):
    real = mask.bool()
    new, old, meant = values[real], old_values[real], returns[real]
    held = new.clamp(old - clip, old + clip)
    return torch.stack([(new - meant) ** 2, (held - meant) ** 2]).amax(0).mean() / 2


def preference_by_softplus(chosen, rejected):
    return functional.softplus(rejected - chosen).mean()


def groups_by_loop(rewards, group_size, normalize=True, eps=1e-4):
    made = []
    for group in rewards.split(group_size):
        made.append((group - group.mean()) / (group.std() + eps if normalize else 1))
    return torch.cat(made)


def nan_by_index(log_probs, old_log_probs, advantages, mask):
    real = mask.bool()
    return ((log_probs[real] - old_log_probs[real]).exp() * advantages[real]).sum()


# Closed forms.


def moments_by_a_library(p, q, estimator):
    kl.estimator_moments(p, q, estimator)  # refuses what must be refused
    weights, others = (numpy.array(row, dtype=float) for row in (p, q))
    weights, others = weights[weights > 0], others[weights > 0]
    gaps = numpy.log(weights / others)
    values = {"k1": gaps, "k2": gaps**2 / 2, "k3": others / weights - 1 + gaps}[estimator]
    mean = numpy.average(values, weights=weights)
    return float(mean), float(numpy.average((values - mean) ** 2, weights=weights))


def gradient_by_autograd(logits, reference_logits, estimator, placement):
    """A surrogate loss over all outcomes, differentiated by a library."""
    kl.expected_kl_gradient(logits, reference_logits, estimator, placement)  # refuses what must be refused
    policy = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    log_p = policy.log_softmax(0)
    gaps = log_p - torch.tensor(reference_logits, dtype=torch.float64).log_softmax(0)
    estimates = {"k1": gaps, "k2": gaps.square() / 2, "k3": (-gaps).expm1() + gaps}[estimator]
    terms = estimates.detach() * log_p if placement == "reward" else estimates
    (log_p.detach().exp() * terms).sum().backward()
    return policy.grad.tolist()


def gradient_by_the_score(logits, reference_logits, estimator, placement):
    """The sum over outcomes of probability, weight and score."""
    kl.expected_kl_gradient(logits, reference_logits, estimator, placement)  # refuses what must be refused
    policy, reference = ([math.exp(x) / sum(map(math.exp, row)) for x in row] for row in (logits, reference_logits))
    found = [0.0] * len(policy)
    for i, (a, b) in enumerate(zip(policy, reference, strict=True)):
        d = math.log(a / b)
        values = {"k1": (d, 1.0), "k2": (d * d / 2, d), "k3": (b / a - 1 + d, 1 - b / a)}
        weight = values[estimator][placement == "loss"]
        for j, other in enumerate(policy):
            found[j] += a * weight * ((i == j) - other)
    return found


def tilt_by_softmax(reference, rewards, beta):
    kl.tilted_policy(reference, rewards, beta)  # refuses what must be refused
    logs = torch.tensor(reference, dtype=torch.float64).log()
    return (logs + torch.tensor(rewards, dtype=torch.float64) / beta).softmax(0).tolist()


def estimates_by_a_series(log_p, log_q):
    found = kl_estimates(log_p, log_q)  # refuses what must be refused
    d, term, total = found.k1, 1.0, 0.0
    if abs(d) > 0.5:
        return KLEstimates(d, 0.5 * d**2, math.exp(log_q - log_p) - 1.0 + d)
    for k in range(1, 30):
        term *= -d / k
        total += term if k > 1 else 0.0
    return KLEstimates(d, 0.5 * d**2, total)


_GROUPS = "    groups = rewards.view(-1, group_size)\n    centred = groups - groups.mean(1, keepdim=True)\n"
_CORE = "loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()"
_SHIFT = "logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)"
_ROLE_PARTS = '    return parts | {"total": sum(parts.values())}\n'

RIGHT = {
    "13-response-mask": (
        Right("a loop", program=mask_by_loop),
        Right(
            "a product over what came before",
            edits=(
                ("    ends = (tokens == eos).long()\n", "    ends = (tokens != eos).float()\n"),
                (
                    "    before = ends.cumsum(1) - ends  # how many ends come before a token\n",
                    "    before = torch.cat([torch.ones_like(ends[:, :1]), ends[:, :-1]], 1).cumprod(1)\n",
                ),
                ("(before == 0).float()", "before"),
            ),
        ),
    ),
    "13-response-log-probs": (
        Right("logsumexp subtracted", program=log_probs_by_logsumexp),
        Right("a library's cross-entropy", program=log_probs_by_loss),
        Right(
            "double precision inside",
            edits=(
                (".log_softmax(-1)", ".double().log_softmax(-1)"),
                (".unsqueeze(-1)).squeeze(-1)", ".unsqueeze(-1)).squeeze(-1).to(logits.dtype)"),
            ),
        ),
    ),
    "13-debug-shift": (
        Right("a library's cross-entropy", program=log_probs_by_loss),
        Right("logsumexp subtracted", program=log_probs_by_logsumexp),
        Right(
            "double precision inside",
            edits=(
                (_SHIFT, _SHIFT.replace("[:, :-1]", "[:, :-1].double()")),
                (
                    "return log_probs[:, prompt_length - 1 :]",
                    "return log_probs[:, prompt_length - 1 :].to(logits.dtype)",
                ),
            ),
        ),
    ),
    "13-token-rewards": (
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
    "13-masked-gae": (
        Right("row by row", program=gae_by_rows),
        Right("lambda-returns, in double precision", program=gae_by_lambda_returns),
    ),
    "13-masked-whiten": (
        Right("by index", program=whiten_by_index),
        Right(
            "mean of the squares less the square of the mean, double precision",
            edits=(
                (
                    "    centred = (values - _mean(values, real)).masked_fill(~real, 0)\n",
                    "    kind, values = values.dtype, values.double()\n"
                    "    centred = (values - _mean(values, real)).masked_fill(~real, 0)\n",
                ),
                (
                    "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                    "(centred / (centred.square().sum() / real.sum() + eps) ** 0.5).to(kind)",
                ),
            ),
        ),
    ),
    "13-policy-loss": (
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
    "13-debug-nan": (
        Right("by index", program=nan_by_index),
        Right(
            "a dot product",
            edits=(
                (
                    "(log_ratio.exp() * advantages * mask).sum()",
                    "torch.dot((log_ratio.exp() * mask).flatten(), (advantages * mask).flatten())",
                ),
            ),
        ),
    ),
    "13-value-loss": (
        Right("by index", program=value_by_index),
        Right(
            "the larger absolute error, squared",
            edits=(
                (
                    "torch.maximum((values - returns).square(), (held - returns).square())",
                    "torch.maximum((values - returns).abs(), (returns - held).abs()) ** 2",
                ),
            ),
        ),
    ),
    "13-preference-loss": (
        Right("softplus", program=preference_by_softplus),
        Right(
            "binary cross-entropy of the gap",
            edits=(
                (
                    "-functional.logsigmoid(chosen - rejected).mean()",
                    "functional.binary_cross_entropy_with_logits(chosen - rejected, torch.ones_like(chosen))",
                ),
            ),
        ),
        Right(
            "cross-entropy of the two scores",
            edits=(
                (
                    "-functional.logsigmoid(chosen - rejected).mean()",
                    "-torch.stack([chosen, rejected], 1).log_softmax(1)[:, 0].mean()",
                ),
            ),
        ),
    ),
    "13-group-advantages": (
        Right("a loop", program=groups_by_loop),
        Right(
            "sums of squares",
            edits=(
                (_GROUPS, _GROUPS.replace("groups.mean(1, keepdim=True)", "groups.sum(1, keepdim=True) / group_size")),
                (
                    "(centred / (groups.std(1, keepdim=True) + eps) if",
                    "(centred / ((centred**2).sum(1, keepdim=True).div(group_size - 1).sqrt() + eps) if",
                ),
            ),
        ),
    ),
    "13-debug-core-loop": (
        Right(
            "by index, a mean of each part",
            edits=((_CORE, "loss = 0.5 * error[mask > 0].square().mean() - gain[mask > 0].mean()"),),
        ),
        Right(
            "returns from the left, a library's cross-entropy",
            edits=(
                ("rewards.flip(1).cumsum(1).flip(1)", "rewards.sum(1, keepdim=True) - rewards.cumsum(1) + rewards"),
                (
                    "policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)",
                    "-nn.functional.cross_entropy(policy(tokens)[:, span].transpose(1, 2), written, reduction='none')",
                ),
            ),
        ),
    ),
    "13-kl-estimates": (
        Right("a series for k3 where d is small", program=estimates_by_a_series),
        Right(
            "1 - e^-d subtracted from d",
            edits=(("gap * gap / 2, math.expm1(-gap) + gap", "0.5 * gap**2, gap - -math.expm1(-gap)"),),
        ),
    ),
    "13-estimator-moments": (
        Right("a library's weighted averages", program=moments_by_a_library),
        Right(
            "mean of the squares less the square of the mean, exact sums",
            edits=(("a * (value - mean) ** 2 for", "a * (value * value - mean * value) for"),),
        ),
    ),
    "13-expected-kl-gradient": (
        Right("a library differentiates a surrogate", program=gradient_by_autograd),
        Right("score by score", program=gradient_by_the_score),
    ),
    "13-tilted-policy": (
        Right("softmax of logarithms", program=tilt_by_softmax),
        Right(
            "numbers of a library",
            edits=(
                (
                    "    return [weight / total for weight in weights]\n",
                    "    import numpy\n\n    return (numpy.array(weights) * (1 / total)).tolist()\n",
                ),
            ),
        ),
    ),
    "13-role-bytes": (
        Right(
            "bytes of a parameter summed first",
            edits=(
                (
                    _ROLE_PARTS,
                    "    total = weight_bytes * parameters + weight_bytes * adapter\n"
                    "    total += (grad_bytes + optimizer_bytes) * learning\n"
                    + _ROLE_PARTS.replace("sum(parts.values())", "total"),
                ),
            ),
        ),
        Right(
            "products in another order",
            edits=(
                (
                    "float(weight_bytes * (parameters + adapter))",
                    "float(weight_bytes * parameters + weight_bytes * adapter)",
                ),
                ("float(optimizer_bytes * learning)", "optimizer_bytes * float(learning)"),
            ),
        ),
    ),
    "13-rlhf-bytes": (
        Right(
            "16 or 12 bytes of a parameter that learns, 2 of another",
            edits=(
                ("role_bytes(policy, True, None, *recipe),", '{"total": policy * (16.0 if masters else 12.0)},'),
                (
                    'role_bytes(given["critic"] or 0, True, None, *recipe),',
                    '{"total": (given["critic"] or 0) * (16.0 if masters else 12.0)},',
                ),
            ),
        ),
        Right("a sum from the last role on", edits=(("sum(totals.values())}", "sum(list(totals.values())[::-1])}"),)),
    ),
}
