# Generated from solutions/ch14/off_policy.py by make stubs. Write the bodies; names and signatures stay.
"""Training on what another policy wrote: importance weights, truncated or masked, and the effective sample size.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


def importance_weights(
    target: Sequence[float],
    behaviour: Sequence[float],
    cap: float | None = None,
    mode: str = "truncate",
    level: str = "token",
) -> list[float]:
    """How much likelier the target policy is to write each token than the policy that wrote it.

    The weight of a token is ``exp(target - behaviour)``. With the weight of a whole response, averages over what
    the behaviour policy wrote are averages under the target; a token's own weight corrects the choice of that token.

    Args:
        target: log-probabilities of the tokens of one response under the policy that is to be trained; finite.
        behaviour: log-probabilities of the same tokens under the policy that wrote them; finite, as many as ``target``.
        cap: the largest weight that is trusted, positive; None trusts all.
        mode: what becomes of a weight above the cap: ``"truncate"`` makes it the cap, ``"mask"`` makes it 0.
        level: ``"token"``, or ``"sequence"``: one weight for the whole response, the product of its tokens' weights,
            which is then capped and given to every token.

    Returns:
        One weight for each token; infinite where there is no cap and it is too large for a float.

    Source: truncation is that of V-trace, Espeholt et al. (2018), arXiv:1802.01561, section 4.1.
    """
    checks.finite(target=target, behaviour=behaviour)
    checks.require(len(behaviour) == len(target), f"have {len(target)} entries, as target", behaviour=behaviour)
    if cap is not None:
        checks.positive(cap=cap)
    checks.one_of(("truncate", "mask"), mode=mode)
    checks.one_of(("token", "sequence"), level=level)
    raise NotImplementedError("14-importance-weights: not written yet")


def effective_sample_size(weights: Sequence[float]) -> float:
    """How many equally weighted samples vary as little as these: ``(sum w)^2 / sum w^2``.

    Between 1 (one weight dominates) and the number of weights (all are equal); 0 where no weight is positive.

    Args:
        weights: not negative, finite.

    Source: Kong (1992), A note on importance sampling using standardized weights.
    """
    checks.amount(weights=weights)
    raise NotImplementedError("14-effective-sample-size: not written yet")
