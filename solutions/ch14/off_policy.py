"""Training on what another policy wrote: importance weights, truncated or masked, and the effective sample size.

Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def importance_weights(
    target: Sequence[float],
    behaviour: Sequence[float],
    cap: float | None = None,
    mode: str = "truncate",
    level: str = "token",
) -> list[float]:
    """How much likelier the target policy is to write each token than the policy that wrote it.

    The weight of a token is ``exp(target - behaviour)``. With the weights, averages over what the behaviour policy
    wrote are averages under the target.

    Args:
        target: log-probabilities of the tokens of one response under the policy that is to be trained; finite.
        behaviour: log-probabilities of the same tokens under the policy that wrote them; finite.
        cap: the largest weight that is trusted, positive; None trusts all.
        mode: what becomes of a weight above the cap: ``"truncate"`` makes it the cap, ``"mask"`` makes it 0.
        level: ``"token"``, or ``"sequence"``: one weight for the whole response, the product of its tokens' weights,
            which is then capped and given to every token.

    Returns:
        One weight for each token; infinite where there is no cap and it is too large for a float.

    Raises:
        ValueError: the lengths differ, or an argument is outside its range.

    Source: truncation is that of V-trace, Espeholt et al. (2018), arXiv:1802.01561, section 4.1.
    """
    _check_log_probabilities(target, behaviour)
    _check_choice("mode", mode, ("truncate", "mask"))
    _check_choice("level", level, ("token", "sequence"))
    if cap is not None and not 0 < cap < math.inf:
        raise ValueError(f"cap must be a finite number > 0 or None, got {cap!r}")
    logs = [new - old for new, old in zip(target, behaviour, strict=True)]
    if level == "sequence":
        logs = [math.fsum(logs)] * len(logs)
    return [_capped(_exp(log), cap, mode) for log in logs]


def effective_sample_size(weights: Sequence[float]) -> float:
    """How many equally weighted samples vary as little as these: ``(sum w)^2 / sum w^2``.

    Between 1 (one weight dominates) and the number of weights (all are equal); 0 where no weight is positive.

    Args:
        weights: not negative, finite.

    Raises:
        ValueError: a weight is negative or not finite.

    Source: Kong (1992), A note on importance sampling using standardized weights.
    """
    for weight in weights:
        if not 0 <= weight < math.inf:
            raise ValueError(f"weights must be finite and not negative, got {weight!r}")
    largest = max(weights, default=0.0)
    if largest == 0:
        return 0.0
    shares = [weight / largest for weight in weights]
    return math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)


def _check_log_probabilities(target: Sequence[float], behaviour: Sequence[float]) -> None:
    if len(target) != len(behaviour):
        raise ValueError(f"target and behaviour must be equally long, got {len(target)} and {len(behaviour)}")
    for name, values in (("target", target), ("behaviour", behaviour)):
        for value in values:
            if not math.isfinite(value):
                raise ValueError(f"{name} must hold finite log-probabilities, got {value!r}")


def _check_choice(name: str, value: str, allowed: tuple[str, str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {value!r}")


def _exp(log: float) -> float:
    try:
        return math.exp(log)
    except OverflowError:
        return math.inf


def _capped(weight: float, cap: float | None, mode: str) -> float:
    if cap is None or weight <= cap:
        return weight
    return cap if mode == "truncate" else 0.0
