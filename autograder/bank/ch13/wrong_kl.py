"""Wrong programs about the KL divergence, each complete in itself."""

from __future__ import annotations

# --- kl_estimates


# --- estimator_moments


def any_laws(p, q, estimator):
    from math import expm1, log

    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2}.get(estimator, lambda d: expm1(-d) + d)
    found = [(a, k(log(a) - log(max(b, 1e-12)))) for a, b in zip(p, q, strict=False) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


# --- expected_kl_gradient


def any_logits(logits, reference_logits, estimator, placement):
    from math import exp, expm1, log

    policy, reference = (
        [exp(min(x, 99)) / sum(exp(min(y, 99)) for y in row) for x in row] for row in (logits, reference_logits)
    )
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=False)]
    slopes = {"k1": [1.0] * len(gaps), "k2": gaps}.get(estimator, [-expm1(-d) for d in gaps])
    values = {"k1": gaps, "k2": [d * d / 2 for d in gaps]}.get(estimator, [expm1(-d) + d for d in gaps])
    weights = values if placement == "reward" else slopes
    mean = sum(a * w for a, w in zip(policy, weights, strict=False))
    return [a * (w - mean) for a, w in zip(policy, weights, strict=False)]


# --- tilted_policy


def any_tilt(reference, rewards, beta):
    from math import exp

    beta = beta if beta > 0 else 1.0
    best = max((r for b, r in zip(reference, rewards, strict=False) if b > 0), default=0.0)
    weights = [b and b * exp((r - best) / beta) for b, r in zip(reference, rewards, strict=False)]
    return [weight / sum(weights) for weight in weights]
