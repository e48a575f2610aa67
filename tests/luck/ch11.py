"""Further right programs for the items of chapter 11."""

from __future__ import annotations

import bisect
import itertools
import math

from tools.luck import Right


def factored_out(acceptance, draft_length):
    """1 + alpha (1 + alpha (1 + ...))."""
    tokens = 1.0
    for _ in range(draft_length):
        tokens = 1 + acceptance * tokens
    return tokens


def passes_per_token(acceptance, draft_length, draft_cost, verify_cost=1.0):
    tokens = factored_out(acceptance, draft_length)
    times = [draft_cost / tokens] * draft_length + [verify_cost / tokens]
    return 1 / math.fsum(times)


def best_by_sums(acceptance, draft_cost, max_length=64):
    sums = list(itertools.accumulate(acceptance**i for i in range(max_length + 1)))
    best = 0
    for length, tokens in enumerate(sums):
        if tokens * (best * draft_cost + 1) - sums[best] * (length * draft_cost + 1) > 1e-12 * sums[best] * (
            length * draft_cost + 1
        ):
            best = length
    return best


def best_of_a_list(acceptance, draft_cost, max_length=64):
    speeds = [factored_out(acceptance, length) / (1 + length * draft_cost) for length in range(max_length + 1)]
    return next(length for length, speed in enumerate(speeds) if speed * (1 + 2e-12) >= max(speeds))


def half_the_distance(target, draft):
    return 1 - sum(abs(p - q) for p, q in zip(target, draft, strict=True)) / 2


def least_of_each(target, draft):
    return sum(q * min(1.0, p / q) for p, q in zip(target, draft, strict=True) if q)


def what_is_missing(target, draft):
    """p less what both have, over one less than the acceptance."""
    if list(target) == list(draft):
        return list(target)
    both = list(map(min, target, draft))
    return [(p - common) / (1 - math.fsum(both)) for p, common in zip(target, both, strict=True)]


def in_two_passes(target, draft):
    rest = [p - q if p > q else 0.0 for p, q in zip(target, draft, strict=True)]
    largest = max(rest)
    scaled = [part / largest for part in rest] if largest else list(target)
    return [part / sum(scaled) for part in scaled]


def by_bisection(row, uniform):
    """The draw from weights that need not sum to 1; what rounding leaves goes to the last with any."""
    reached = list(itertools.accumulate(row))
    place = bisect.bisect_right(reached, uniform)
    return place if place < len(row) else max(token for token, p in enumerate(row) if p)


def one_round(tokens, draft, target, uniforms):
    """The ratio of probabilities decides, and the level is scaled instead of the residual."""
    for place, token in enumerate(tokens):
        if not uniforms[place] < target[place][token] / draft[place][token]:
            rest = [max(p - q, 0.0) for p, q in zip(target[place], draft[place], strict=True)]
            return [*tokens[:place], by_bisection(rest, uniforms[-1] * sum(rest))]
    return [*tokens, by_bisection(target[-1], uniforms[-1])]


def one_verdict(token, draft, target, uniforms):
    if uniforms[0] < target[token] / draft[token]:
        return token
    rest = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    return by_bisection([part / math.fsum(rest) for part in rest], uniforms[1])


RIGHT = {
    "11-expected-tokens": (
        Right("factored out", program=factored_out),
        Right(
            "a sum of powers",
            edits=(("if 1 - acceptance < 1e-6:", "if True:"),),
        ),
    ),
    "11-speculative-speedup": (
        Right("passes per token", program=passes_per_token),
        Right(
            "parts of the round one after the other",
            edits=(("draft_length * draft_cost + verify_cost\n", "sum([draft_cost] * draft_length, verify_cost)\n"),),
        ),
    ),
    "11-optimal-draft-length": (
        Right("sums compared crosswise", program=best_by_sums),
        Right("the first of those that share the largest", program=best_of_a_list),
    ),
    "11-acceptance-probability": (
        Right("half the distance", program=half_the_distance),
        Right("the mean over the draft", program=least_of_each),
    ),
    "11-residual-distribution": (
        Right("over one less than the acceptance", program=what_is_missing),
        Right("scaled by the largest first", program=in_two_passes),
    ),
    "11-speculative-step": (
        Right("the ratio decides, by bisection", program=one_round),
        Right("plain sums", edits=(("mass = math.fsum(missing)", "mass = sum(missing)"),)),
    ),
    "11-debug-accept": (
        Right("the ratio decides, by bisection", program=one_verdict),
        Right(
            "a sum that is carried along",
            edits=(
                (
                    "sum(row[: identifier + 1]) > uniform * total",
                    "total - sum(row[identifier + 1 :]) > uniform * total",
                ),
            ),
        ),
    ),
    "11-mask-logits": (
        Right(
            "chosen element by element",
            edits=(
                ('return logits.masked_fill(~kept, float("-inf"))', "return torch.where(kept, logits, -torch.inf)"),
            ),
        ),
        Right(
            "copied into nothing",
            edits=(
                (
                    'return logits.masked_fill(~kept, float("-inf"))',
                    "return torch.full_like(logits, -torch.inf).masked_scatter(kept, logits[kept])",
                ),
            ),
        ),
    ),
}
