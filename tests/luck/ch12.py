"""Further right programs for the items of chapter 12."""

from __future__ import annotations

import math

import numpy

from solutions.ch12 import rl
from solutions.ch12.policy import PpoStats, ppo_loss
from tools.luck import Right

# Text of the references that is replaced below.

_HORNER = """    found, following = [], float(bootstrap)
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found[::-1]
"""


def policy_value_by_sweeps(transitions, rewards, discount):
    """Bellman sweeps until nothing changes any more."""
    states = range(len(rewards))
    values, change = [0.0] * len(rewards), 1.0
    for _ in range(100_000):
        new = [rewards[s] + discount * sum(transitions[s][to] * values[to] for to in states) for s in states]
        change = max((abs(a - b) for a, b in zip(new, values, strict=True)), default=0.0)
        values = new
        if change < 1e-15:
            break
    return values


def policy_value_by_a_library(transitions, rewards, discount):
    if not len(rewards):
        return []
    system = numpy.eye(len(rewards)) - discount * numpy.array(transitions, dtype=float)
    return numpy.linalg.solve(system, numpy.array(rewards, dtype=float)).tolist()


_GAE = """    found, following = [], 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + (0.0 if terminated[t] else discount * next_values[t]) - values[t]
        cut = terminated[t] or truncated[t]
        following = delta + (0.0 if cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]
"""


def debug_done_by_lambda_returns(steps, discount, gae_lambda):
    """The lambda-return minus the value."""
    found, after = [], None
    for reward, value, next_value, terminated, truncated in reversed(steps):
        if terminated:
            target = reward
        elif truncated or after is None:
            target = reward + discount * next_value
        else:
            target = reward + discount * ((1 - gae_lambda) * next_value + gae_lambda * after)
        found.append(target - value)
        after = target
    return found[::-1]


def debug_done_by_a_sum(steps, discount, gae_lambda):
    """Each advantage as a weighted sum of the TD errors up to the first end."""
    found = []
    for first in range(len(steps)):
        terms = []
        for ahead, (reward, value, next_value, terminated, truncated) in enumerate(steps[first:]):
            delta = reward - value + (0.0 if terminated else discount * next_value)
            terms.append(delta * discount**ahead * gae_lambda**ahead)
            if terminated or truncated:
                break
        found.append(math.fsum(terms))
    return found


def optimal_baseline_by_the_parabola(probabilities, rewards):
    """The variance is a parabola in the baseline: three of its points give its lowest one."""
    low, middle, high = (rl.reinforce_moments(probabilities, rewards, baseline).variance for baseline in (-1, 0, 1))
    bend = high + low - 2 * middle
    if max(probabilities) == 1:
        return float(rewards[list(probabilities).index(1)])
    return (low - high) / (2 * bend)


_SPREAD = "(probabilities[arm] * (estimates[arm][logit] - mean[logit]) ** 2 for arm in arms for logit in arms)"
_SQUARES = "math.fsum(part * part for part in _score(probabilities, arm)) for arm, p in enumerate(probabilities)]"
_REINFORCE = "-(log_probs * weights.detach()).masked_fill(~kept, 0.0).sum() / len(log_probs)"
_LOG_RATIO = "log_probs.gather(1, batch.actions.unsqueeze(1)).squeeze(1) - batch.old_log_probs.detach()"
_BACKWARD = """        optimizer.zero_grad()
        loss.backward()
"""
_EPISODE = """        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
"""
_ERRORS = """    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
"""
_CLIPPED = """        plain, limited = ratio * advantage, min(max(ratio, 1 - clip), 1 + clip) * advantage
        terms.append(min(plain, limited))
        outside += abs(ratio - 1) > clip
        clipped += limited < plain
"""


def ppo_update_by_the_whole_batch(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    """Every step runs the networks on the whole batch and takes the rows of the minibatch afterwards."""
    stats = []
    for index in minibatches:
        optimizer.zero_grad(set_to_none=False)
        logits, values = policy(batch.observations)[index], value(batch.observations).reshape(-1)[index]
        loss, found = ppo_loss(logits, values, batch.rows(index), clip, value_weight, entropy_weight)
        loss.backward()
        if max_grad_norm is not None:
            gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
            norm = sum(gradient.square().sum() for gradient in gradients) ** 0.5
            for gradient in gradients:
                gradient.mul_(min(1.0, max_grad_norm / (float(norm) + 1e-6)))
        optimizer.step()
        stats.append(PpoStats(**vars(found)))
    return stats


_PPO_TERMS = """    ratio = torch.where(advantages < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()
    plain, clipped = ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages
    policy = -torch.minimum(plain, clipped).mean()
"""
_PPO_KL = "(log_ratio.expm1() - log_ratio).mean()"


RIGHT = {
    "12-discounted-returns": (
        Right(
            "a sum over powers of the discount",
            edits=(
                (
                    _HORNER,
                    """    later = [*rewards, bootstrap]
    return [math.fsum(discount**k * x for k, x in enumerate(later[t:])) for t in range(len(rewards))]
""",
                ),
            ),
        ),
        Right(
            "dot products with powers",
            edits=(
                (
                    _HORNER,
                    """    import numpy

    count, powers = len(rewards), float(discount) ** numpy.arange(len(rewards) + 1)
    sums = [numpy.dot(powers[: count - t], numpy.array(rewards[t:], dtype=float)) for t in range(count)]
    return [float(sums[t] + powers[count - t] * bootstrap) for t in range(count)]
""",
                ),
            ),
        ),
    ),
    "12-policy-value": (
        Right("sweeps", program=policy_value_by_sweeps),
        Right("a library's solver", program=policy_value_by_a_library),
    ),
    "12-gae": (
        Right(
            "lambda-returns minus values",
            edits=(
                (
                    _GAE,
                    """    found, after = [], 0.0
    for t in reversed(range(len(rewards))):
        ahead = 0.0 if terminated[t] else next_values[t]
        if not (terminated[t] or truncated[t] or t == len(rewards) - 1):
            ahead = (1 - gae_lambda) * ahead + gae_lambda * after
        after = rewards[t] + discount * ahead
        found.append(after - values[t])
    return found[::-1]
""",
                ),
            ),
        ),
        Right(
            "weighted sums of the errors of each episode",
            edits=(
                (
                    _GAE,
                    """    found: list[float] = []
    for t in range(len(rewards)):
        total, weight = 0.0, 1.0
        for k in range(t, len(rewards)):
            total += weight * rewards[k]
            total -= weight * values[k]
            if not terminated[k]:
                total += weight * discount * next_values[k]
            if terminated[k] or truncated[k]:
                break
            weight *= discount * gae_lambda
        found.append(total)
    return found
""",
                ),
            ),
        ),
    ),
    "12-debug-done": (
        Right("lambda-returns minus values", program=debug_done_by_lambda_returns),
        Right("weighted sums of the errors", program=debug_done_by_a_sum),
    ),
    "12-reinforce-moments": (
        Right(
            "the mean square minus the squared mean",
            edits=(
                (_SPREAD, "[probabilities[arm] * sum(x * x for x in estimates[arm]) for arm in arms]"),
                ("math.fsum(spread)", "sum(spread) - sum(part * part for part in mean)"),
            ),
        ),
        Right(
            "the mean in closed form",
            edits=(
                (
                    "[math.fsum(probabilities[arm] * estimates[arm][logit] for arm in arms) for logit in arms]",
                    "[probabilities[i] * (rewards[i] - baseline) - probabilities[i] * sum(\n"
                    "        p * (r - baseline) for p, r in zip(probabilities, rewards, strict=True)) for i in arms]",
                ),
            ),
        ),
    ),
    "12-optimal-baseline": (
        Right("the lowest point of the parabola", program=optimal_baseline_by_the_parabola),
        Right(
            "the squared length multiplied out",
            edits=(
                (
                    _SQUARES,
                    "(1 - 2 * p + sum(q * q for q in probabilities)) for p in probabilities]",
                ),
            ),
        ),
    ),
    "12-ppo-clip-objective": (
        Right(
            "a quotient of probabilities; exp(d) - 1 - d",
            edits=(
                ("ratio = math.exp(new - old)", "ratio = math.exp(new) / math.exp(old)"),
                ("math.expm1(new - old) - (new - old)", "math.exp(new - old) - 1 - (new - old)"),
            ),
        ),
        Right(
            "case by case; ratio - 1 - ln(ratio); plain sums",
            edits=(
                (
                    _CLIPPED,
                    """        over, under = ratio > 1 + clip, ratio < 1 - clip
        stops = (over and advantage > 0) or (under and advantage < 0)
        terms.append((1 + clip if over else 1 - clip) * advantage if stops else ratio * advantage)
        outside += over or under
        clipped += stops
""",
                ),
                ("math.expm1(new - old) - (new - old)", "ratio - 1 - math.log(ratio)"),
                ("ClipStats(math.fsum(terms) / count,", "ClipStats(sum(terms) / count,"),
                ("math.fsum(divergence)", "sum(divergence)"),
            ),
        ),
    ),
    "12-reinforce-loss": (
        Right(
            "the real steps alone",
            edits=(
                (
                    _REINFORCE,
                    "torch.dot(log_probs[kept], weights.detach()[kept]).neg() / len(log_probs)",
                ),
            ),
        ),
        Right(
            "episode by episode",
            edits=(
                (
                    _REINFORCE,
                    "sum(-(a * b.detach() * c).sum() for a, b, c in zip(log_probs, weights, mask)) / len(mask)",
                ),
            ),
        ),
    ),
    "12-ppo-loss": (
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
    "12-ppo-update": (
        Right("networks on the whole batch, gradients limited by hand", program=ppo_update_by_the_whole_batch),
        Right(
            "gradients asked for, not sent back",
            edits=(
                (
                    _BACKWARD,
                    "        gradients = torch.autograd.grad(loss, parameters)\n"
                    "        for one, gradient in zip(parameters, gradients, strict=True):\n"
                    "            one.grad = gradient\n",
                ),
            ),
        ),
    ),
    "12-debug-zero-grad": (
        Right(
            "a library's cross-entropy",
            edits=(
                (
                    _EPISODE,
                    "        each = nn.functional.cross_entropy(policy(observations), actions, reduction='none')\n"
                    "        loss = torch.dot(each, weights)\n",
                ),
            ),
        ),
        Right(
            "log of softmax, step by step, gradients set to zero",
            edits=(
                (
                    _EPISODE,
                    "        loss = torch.zeros((), dtype=torch.float64)\n"
                    "        for seen, action, weight in zip(observations, actions, weights, strict=True):\n"
                    "            loss = loss - weight * policy(seen[None])[0].softmax(0)[action].log()\n",
                ),
                ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
            ),
        ),
    ),
    "12-debug-detach": (
        Right(
            "advantages without gradients, a library's mean squared error",
            edits=(
                (
                    _ERRORS,
                    "    with torch.no_grad():\n"
                    "        targets = torch.where(terminated, rewards, rewards + discount * next_values)\n"
                    "        advantages = rewards - values + discount * next_values * (1 - terminated.double())\n",
                ),
                ("-(log_probs * errors.detach()).mean()", "-torch.dot(log_probs, advantages) / len(log_probs)"),
                ("errors.square().mean()", "torch.nn.functional.mse_loss(values, targets)"),
            ),
        ),
        Right(
            "half squares, then one mean",
            edits=(
                ("    actor = -(log_probs * errors.detach()).mean()\n    critic = errors.square().mean()\n", ""),
                ("actor + 0.5 * critic", "(0.5 * errors**2 - log_probs * errors.detach()).sum() / errors.numel()"),
            ),
        ),
    ),
}
