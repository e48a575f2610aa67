"""Speculative decoding: a small model drafts, the large one verifies. Closed forms and the exact step. Standard
library.

>>> round(expected_tokens(0.8, 5), 5)
3.68928
>>> speculative_step([2, 0], [[0.25] * 4] * 2, [[0.5, 0.3, 0.2, 0.0]] * 3, [0.81, 0.1, 0.5])
[0]

The letters of Leviathan, Kalman and Matias (2023), arXiv:2211.17192: alpha is the acceptance probability, k (their
gamma) the number of drafted tokens, c the cost of a draft step in units of a target step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from rankzero import checks

#: How far the sum of a distribution may be from 1.
SLACK = 1e-6

#: A longer draft must be better by this share to be preferred.
MARGIN = 1e-12


def expected_tokens(acceptance: float, draft_length: int) -> float:
    """Tokens that one pass of the target yields on average: ``(1 - alpha^(k+1)) / (1 - alpha)``.

    Every drafted token is accepted with probability ``acceptance``, independently of the others, until one is not. The
    pass adds one token of its own in any case: a correction, or one more after k accepted ones. It is as accurate near
    ``acceptance`` 1 as elsewhere.

    Args:
        acceptance: alpha, from 0 to 1; at 1 the answer is k + 1.
        draft_length: k, drafted tokens of a round; an integer >= 0.

    Source: Leviathan et al. (2023), arXiv:2211.17192, equation 1.
    """
    checks.between(0, 1, acceptance=acceptance)
    checks.count(0, draft_length=draft_length)
    if 1 - acceptance < 1e-6:
        return math.fsum(acceptance**i for i in range(draft_length + 1))
    return (1 - acceptance ** (draft_length + 1)) / (1 - acceptance)


def speculative_speedup(acceptance: float, draft_length: int, draft_cost: float, verify_cost: float = 1.0) -> float:
    """Speed of speculative decoding over plain decoding: ``E / (k c + v)``.

    ``E`` is the mean number of tokens of a round, ``1 + alpha + ... + alpha^k``: draft i counts if it and all before it
    are accepted, each with probability alpha, and one token comes in any case.

    Args:
        acceptance: alpha, from 0 to 1.
        draft_length: k, drafted one after the other; an integer >= 0.
        draft_cost: c, time of one draft pass over that of a plain target pass; not negative.
        verify_cost: v, time of the target pass over k + 1 positions, over that of a plain one; not negative,
            and not 0 where the drafts cost nothing.

    Source: Leviathan et al. (2023), arXiv:2211.17192, theorem 3.8 (there v is 1).
    """
    checks.between(0, 1, acceptance=acceptance)
    checks.count(0, draft_length=draft_length)
    checks.amount(draft_cost=draft_cost, verify_cost=verify_cost)
    free = draft_length * draft_cost == 0
    checks.require(verify_cost > 0 or not free, "be > 0 where the drafts cost nothing", verify_cost=verify_cost)
    tokens = expected_tokens(acceptance, draft_length)
    cost = draft_length * draft_cost + verify_cost
    return tokens / cost


def optimal_draft_length(acceptance: float, draft_cost: float, max_length: int = 64) -> int:
    """The draft length of the largest speed-up, with a target pass that costs 1 whatever it verifies.

    A longer draft counts as better only if it gains more than 1e-12 of the speed-up.

    Args:
        acceptance: alpha, from 0 to 1.
        draft_cost: c, time of one draft pass over that of a target pass; not negative.
        max_length: the longest draft to consider; an integer >= 0.

    Returns:
        From 0 to ``max_length``; 0, do not speculate, if nothing beats a speed-up of 1.

    Source: Leviathan et al. (2023), arXiv:2211.17192, section 3.5.
    """
    checks.between(0, 1, acceptance=acceptance)
    checks.amount(draft_cost=draft_cost)
    checks.count(0, max_length=max_length)
    best, speed = 0, 1.0
    for length in range(1, max_length + 1):
        found = speculative_speedup(acceptance, length, draft_cost)
        if found > speed * (1 + MARGIN):
            best, speed = length, found
    return best


def acceptance_probability(target: Sequence[float], draft: Sequence[float]) -> float:
    """How likely a token drawn from ``draft`` is accepted: ``sum(min(p, q))``, 1 minus the total variation distance.

    Args:
        target: p, probabilities by token; not negative, with a sum of 1 to within 1e-6.
        draft: q, of the same tokens; not negative, with a sum of 1 to within 1e-6.

    Source: Leviathan et al. (2023), arXiv:2211.17192, theorem 3.5.
    """
    _check_rows(target, draft)
    return math.fsum(map(min, target, draft))


def residual_distribution(target: Sequence[float], draft: Sequence[float]) -> list[float]:
    """What replaces a rejected token: ``max(0, p - q)``, normalized. Where p and q are equal, p.

    Args:
        target: p, probabilities by token; not negative, with a sum of 1 to within 1e-6.
        draft: q, of the same tokens; not negative, with a sum of 1 to within 1e-6.

    Source: Leviathan et al. (2023), arXiv:2211.17192, section 2.3.
    """
    _check_rows(target, draft)
    return _residual(target, draft)


def judge_draft(
    token: int, draft: Sequence[float], target: Sequence[float], uniforms: tuple[float, float]
) -> tuple[int, bool]:
    """The token to write for one drafted token, and whether the draft was accepted.

    The draft is accepted if ``uniforms[0] * draft[token] < target[token]``. Otherwise a token is drawn from the
    residual, ``max(0, target - draft)`` divided by its sum: the first id whose cumulative probability, in the order of
    the ids, exceeds ``uniforms[1]``; where rounding leaves none, the last id with any probability.

    Args:
        token: an id, from 0, that was drawn from ``draft``, so that it has some probability there.
        draft: q, probabilities by token.
        target: p, of the same tokens.
        uniforms: two numbers from 0 to below 1: one for the verdict, one to draw a replacement.

    Source: Leviathan et al. (2023), arXiv:2211.17192, section 2.3.
    """
    checks.count(0, len(draft) - 1, token=token)
    checks.require(len(target) == len(draft), "be as many", target=target, draft=draft)
    checks.require(all(0 <= uniform < 1 for uniform in uniforms), "be from 0 to below 1", uniforms=uniforms)
    if uniforms[0] * draft[token] < target[token]:
        return token, True
    return _draw(_residual(target, draft), uniforms[1]), False


def speculative_step(
    tokens: Sequence[int],
    draft: Sequence[Sequence[float]],
    target: Sequence[Sequence[float]],
    uniforms: Sequence[float],
) -> list[int]:
    """The tokens that one round emits: accepted drafts, then a replacement or one more.

    Drafted token i is accepted if ``uniforms[i] * draft[i][token] < target[i][token]``. The first that is not is
    replaced by a draw from the residual of its rows, and what was drafted after it is dropped. If all are accepted, one
    more is drawn from the last target row. The draw takes ``uniforms[-1]``: the first id whose cumulative probability,
    in the order of the ids, exceeds it; where rounding leaves none, the last id with any probability.

    Args:
        tokens: k drafted ids; may be empty.
        draft: k rows of probabilities: row i is the one that token i was drawn from, so that the token has some
            probability there, unless it comes after a rejected one.
        target: k + 1 rows: row i is the target's after the context and the first i drafted tokens.
        uniforms: k + 1 numbers from 0 to below 1.

    Returns:
        1 to k + 1 ids.

    Source: Leviathan et al. (2023), arXiv:2211.17192, algorithm 1; Chen et al. (2023), arXiv:2302.01318.
    """
    checks.require(len(draft) == len(tokens), "have a row for each of the tokens", draft=draft)
    checks.require(len(target) == len(tokens) + 1, "have one row more than there are tokens", target=target)
    checks.require(len(uniforms) == len(tokens) + 1, "be one more than there are tokens", uniforms=uniforms)
    checks.require(all(0 <= uniform < 1 for uniform in uniforms), "be from 0 to below 1", uniforms=uniforms)
    for place, token in enumerate(tokens):
        q, p = draft[place][token], target[place][token]
        if uniforms[place] * q >= p:
            return [*tokens[:place], _draw(_residual(target[place], draft[place]), uniforms[-1])]
    return [*tokens, _draw(target[-1], uniforms[-1])]


def debug_accept(token: int, draft: Sequence[float], target: Sequence[float], uniforms: tuple[float, float]) -> int:
    """The token that is emitted after one drafted token has been judged. If drafted tokens are drawn from ``draft``, it
    must be distributed as ``target``.

    Args:
        token: an id (from 0) that was drawn from ``draft``, so that it has some probability there.
        draft: q, probabilities by token.
        target: p, of the same tokens.
        uniforms: two numbers from 0 to below 1: one for the verdict, one to draw a replacement by cumulative
            probability in the order of the ids.
    """

    checks.count(0, len(draft) - 1, token=token)
    checks.require(all(0 <= uniform < 1 for uniform in uniforms), "be from 0 to below 1", uniforms=uniforms)

    def draw(row: Sequence[float], uniform: float) -> int:
        total = sum(row)
        for identifier in range(len(row)):
            if sum(row[: identifier + 1]) > uniform * total:
                return identifier
        return max(i for i, weight in enumerate(row) if weight)

    if uniforms[0] * draft[token] < target[token]:
        return token
    return draw([max(0.0, p - q) for p, q in zip(target, draft, strict=True)], uniforms[1])


def _residual(target: Sequence[float], draft: Sequence[float]) -> list[float]:
    missing = [max(0.0, p - q) for p, q in zip(target, draft, strict=True)]
    mass = math.fsum(missing)
    return [part / mass for part in missing] if mass > 0 else list(target)


def _draw(row: Sequence[float], uniform: float) -> int:
    for token, reached in enumerate(accumulate(row)):
        if reached > uniform:
            return token
    return max(token for token, p in enumerate(row) if p > 0)


def _check_rows(target: Sequence[float], draft: Sequence[float]) -> None:
    checks.amount(target=target, draft=draft)
    checks.require(len(target) == len(draft), "be as many", target=target, draft=draft)
    checks.between(1 - SLACK, 1 + SLACK, sum_of_target=math.fsum(target), sum_of_draft=math.fsum(draft))
