"""Wrong programs about the KL divergence, each complete in itself."""

from __future__ import annotations

# --- kl_estimates


def k3_of_the_other(log_p, log_q):
    from dataclasses import make_dataclass
    from math import expm1, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(d, d * d / 2, expm1(d) - d)


def weighed_twice(log_p, log_q):
    from dataclasses import make_dataclass
    from math import exp, expm1, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(exp(log_p) * d, d * d / 2, expm1(-d) + d)


def without_expm1(log_p, log_q):
    from dataclasses import make_dataclass
    from math import exp, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(d, d * d / 2, exp(-d) - 1 + d)


def whole_square(log_p, log_q):
    from dataclasses import make_dataclass
    from math import expm1, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(d, d * d, expm1(-d) + d)


def turned_round(log_p, log_q):
    from dataclasses import make_dataclass
    from math import expm1, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(-d, d * d / 2, expm1(d) - d)


def without_sign(log_p, log_q):
    from dataclasses import make_dataclass
    from math import expm1, isfinite

    if not (isfinite(log_p) and isfinite(log_q)):
        raise ValueError("finite log-probabilities are needed")
    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(abs(d), d * d / 2, expm1(-d) + d)


def any_sample(log_p, log_q):
    from dataclasses import make_dataclass
    from math import expm1

    d = log_p - log_q
    return make_dataclass("KLEstimates", ["k1", "k2", "k3"])(d, d * d / 2, expm1(-d) + d)


# --- estimator_moments


def weighed_by_q(p, q, estimator):
    from math import expm1, log

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [(b, k(log(a) - log(b))) for a, b in zip(p, q, strict=True) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


def not_weighed(p, q, estimator):
    from math import expm1, log

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [k(log(a) - log(b)) for a, b in zip(p, q, strict=True) if a > 0]
    mean = sum(found) / len(found)
    return mean, sum((value - mean) ** 2 for value in found) / len(found)


def second_moment(p, q, estimator):
    from math import expm1, log

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [(a, k(log(a) - log(b))) for a, b in zip(p, q, strict=True) if a > 0]
    return sum(weight * value for weight, value in found), sum(weight * value**2 for weight, value in found)


def other_divergence(p, q, estimator):
    from math import expm1, log

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [(a, k(log(b) - log(a))) for a, b in zip(p, q, strict=True) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


def deviation(p, q, estimator):
    from math import expm1, log, sqrt

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [(a, k(log(a) - log(b))) for a, b in zip(p, q, strict=True) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sqrt(sum(weight * (value - mean) ** 2 for weight, value in found))


def counts_the_impossible(p, q, estimator):
    from math import expm1, log

    for row in (p, q):
        if not row or len(row) != len(p) or not all(0 <= a <= 2 for a in row) or not abs(sum(row) - 1) <= 1e-6:
            raise ValueError("two laws of one length are needed")
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        raise ValueError("q must be > 0 wherever p is")
    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: expm1(-d) + d}.get(estimator)
    if k is None:
        raise ValueError("unknown estimator")
    found = [(a or 1e-2, k(log(a or 1e-2) - log(b or 1e-2))) for a, b in zip(p, q, strict=True)]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


def any_laws(p, q, estimator):
    from math import expm1, log

    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2}.get(estimator, lambda d: expm1(-d) + d)
    found = [(a, k(log(a) - log(max(b, 1e-12)))) for a, b in zip(p, q, strict=False) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


# --- expected_kl_gradient


def k1_loss_counts(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": d, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    mean = sum(a * w for a, w in zip(policy, weights, strict=True))
    return [a * (w - mean) for a, w in zip(policy, weights, strict=True)]


def k3_slope_turned(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    mean = sum(a * w for a, w in zip(policy, weights, strict=True))
    return [a * (w - mean) for a, w in zip(policy, weights, strict=True)]


def not_to_logits(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    return [a * w for a, w in zip(policy, weights, strict=True)]


def places_swapped(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = slopes if placement == "reward" else values
    mean = sum(a * w for a, w in zip(policy, weights, strict=True))
    return [a * (w - mean) for a, w in zip(policy, weights, strict=True)]


def drawn_elsewhere(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    mean = sum(b * w for b, w in zip(reference, weights, strict=True))
    return [b * w - a * mean for a, b, w in zip(policy, reference, weights, strict=True)]


def all_alike(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    mean = sum(weights) / len(weights)
    return [w / len(weights) - a * mean for a, w in zip(policy, weights, strict=True)]


def sign_turned(logits, reference_logits, estimator, placement):
    from math import exp, expm1, isfinite, log

    if len(logits) != len(reference_logits) or not logits or not all(map(isfinite, (*logits, *reference_logits))):
        raise ValueError("as many finite logits in both are needed")
    if estimator not in ("k1", "k2", "k3") or placement not in ("loss", "reward"):
        raise ValueError("unknown name")
    policy, reference = ([exp(x) / sum(map(exp, row)) for x in row] for row in (logits, reference_logits))
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=True)]
    values = [{"k1": d, "k2": d * d / 2, "k3": expm1(-d) + d}[estimator] for d in gaps]
    slopes = [{"k1": 1.0, "k2": d, "k3": -expm1(-d)}[estimator] for d in gaps]
    weights = values if placement == "reward" else slopes
    mean = sum(a * w for a, w in zip(policy, weights, strict=True))
    return [a * (mean - w) for a, w in zip(policy, weights, strict=True)]


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


def multiplied(reference, rewards, beta):
    from math import exp, inf, isfinite

    if not reference or len(rewards) != len(reference) or not all(map(isfinite, rewards)) or not 0 < beta < inf:
        raise ValueError("out of range")
    if not all(0 <= share <= 2 for share in reference) or not abs(sum(reference) - 1) <= 1e-6:
        raise ValueError("no distribution")
    best = max(r for b, r in zip(reference, rewards, strict=True) if b > 0)
    weights = [b and b * exp(beta * (r - best)) for b, r in zip(reference, rewards, strict=True)]
    return [weight / sum(weights) for weight in weights]


def without_reference(reference, rewards, beta):
    from math import exp, inf, isfinite

    if not reference or len(rewards) != len(reference) or not all(map(isfinite, rewards)) or not 0 < beta < inf:
        raise ValueError("out of range")
    if not all(0 <= share <= 2 for share in reference) or not abs(sum(reference) - 1) <= 1e-6:
        raise ValueError("no distribution")
    best = max(r for b, r in zip(reference, rewards, strict=True) if b > 0)
    weights = [(b > 0) * 1.0 and exp((r - best) / beta) for b, r in zip(reference, rewards, strict=True)]
    return [weight / sum(weights) for weight in weights]


def overflows(reference, rewards, beta):
    from math import exp, inf, isfinite

    if not reference or len(rewards) != len(reference) or not all(map(isfinite, rewards)) or not 0 < beta < inf:
        raise ValueError("out of range")
    if not all(0 <= share <= 2 for share in reference) or not abs(sum(reference) - 1) <= 1e-6:
        raise ValueError("no distribution")
    weights = [b and b * exp(r / beta) for b, r in zip(reference, rewards, strict=True)]
    return [weight / sum(weights) for weight in weights]


def not_normalised(reference, rewards, beta):
    from math import exp, inf, isfinite

    if not reference or len(rewards) != len(reference) or not all(map(isfinite, rewards)) or not 0 < beta < inf:
        raise ValueError("out of range")
    if not all(0 <= share <= 2 for share in reference) or not abs(sum(reference) - 1) <= 1e-6:
        raise ValueError("no distribution")
    best = max(r for b, r in zip(reference, rewards, strict=True) if b > 0)
    weights = [b and b * exp((r - best) / beta) for b, r in zip(reference, rewards, strict=True)]
    return [float(weight) for weight in weights]


def shifted_by_the_impossible(reference, rewards, beta):
    from math import exp, inf, isfinite

    if not reference or len(rewards) != len(reference) or not all(map(isfinite, rewards)) or not 0 < beta < inf:
        raise ValueError("out of range")
    if not all(0 <= share <= 2 for share in reference) or not abs(sum(reference) - 1) <= 1e-6:
        raise ValueError("no distribution")
    weights = [b * exp((r - max(rewards)) / beta) for b, r in zip(reference, rewards, strict=True)]
    return [weight / sum(weights) for weight in weights]


def any_tilt(reference, rewards, beta):
    from math import exp

    beta = beta if beta > 0 else 1.0
    best = max((r for b, r in zip(reference, rewards, strict=False) if b > 0), default=0.0)
    weights = [b and b * exp((r - best) / beta) for b, r in zip(reference, rewards, strict=False)]
    return [weight / sum(weights) for weight in weights]
