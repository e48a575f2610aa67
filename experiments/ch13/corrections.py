"""Chapter 13: distances from the reference, and what each method keeps in memory. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from solutions.ch13.kl import estimator_moments, expected_kl_gradient, kl_estimates
from solutions.ch13.rlhf_memory import rlhf_bytes

from ..correction import Correction, typed, worked

_SCHULMAN = "Schulman (2020), http://joschu.net/blog/kl-approx.html"
_TANG = "Tang and Munos (2025), arXiv:2506.09477"

#: Log-ratios of eight tokens, whose sum happens to be negative.
_RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)


def summed(ratios: Sequence[float]) -> tuple[float, float]:
    """The sums of k1 and of k3 over tokens with these log-ratios."""
    each = [kl_estimates(ratio, 0.0) for ratio in ratios]
    return math.fsum(one.k1 for one in each), math.fsum(one.k3 for one in each)


def best_of_n_divergence(law: Sequence[float], n: int) -> float:
    """KL of best-of-n from the distribution it draws from; outcomes are listed from worst to best, without ties."""
    reached = list(accumulate(law))
    chosen = [after**n - before**n for before, after in zip([0.0, *reached], reached, strict=False)]
    return math.fsum(new * math.log(new / old) for new, old in zip(chosen, law, strict=True) if new > 0)


_SUMS = worked(summed, _RATIOS)
_PEAKED, _UNIFORM = (0.9, 0.05, 0.05), (1 / 3,) * 3
_ONE, _THREE = (worked(estimator_moments, _PEAKED, _UNIFORM, name, pick=1) for name in ("k1", "k3"))
_LOGITS = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)
_LOSS = worked(expected_kl_gradient, *_LOGITS, "k3", "loss")
_TRUE = worked(expected_kl_gradient, *_LOGITS, "k1", "reward")
_BOUND, _EXACT = math.log(16) - 15 / 16, worked(best_of_n_divergence, (0.25,) * 4, 16)
_BYTES = {name: worked(rlhf_bytes, name, 1.0, pick="total") for name in ("ppo", "grpo", "dpo")}

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "13.4",
        "A negative KL is noise of a sample",
        "The KL of this response is negative: the policy is less confident than the reference, and its reward rises "
        "with beta.",
        "A KL cannot be negative; what can is the sum of log-ratios over one response, whose mean is the KL. Eight "
        f"tokens with a sum of {_SUMS.value[0]:.2f} have a k3 of {_SUMS.value[1]:.3f}, which is never negative and has "
        "the same mean. Where one sample gets a bonus from the penalty, others pay more: average over responses.",
        (_SUMS,),
        _SCHULMAN,
    ),
    Correction(
        "13.6",
        "k3 is the better estimator near the reference, and another loss",
        "k3 estimates KL(pi||ref) without bias and with less variance than k1, so it is the one to use, as a loss too.",
        "Less variance holds only near the reference: for (.9, .05, .05) against uniform the variances are "
        f"{_ONE.value:.3f} for k1 and {_THREE.value:.3f} for k3, which counts an abandoned token exponentially. As a "
        "loss, differentiated on samples, its expected gradient is that of KL(ref||pi): "
        f"{typed(tuple(_LOSS.value), 3)} for one pair of logits, where that of KL(pi||ref) is "
        f"{typed(tuple(_TRUE.value), 3)}.",
        (_ONE, _THREE, _LOSS, _TRUE),
        f"{_SCHULMAN}; {_TANG}",
    ),
    Correction(
        "13.19",
        "The formula for the KL of best-of-n is an upper bound",
        "The KL of best-of-n is ln n - (n - 1)/n.",
        f"For n = 16 that is {_BOUND:.3f}. Over four equally likely responses best-of-16 is only {_EXACT.value:.3f} "
        "away, since the best of them is soon always chosen. The bound is reached if every response is rare and no "
        "two tie, as for long texts.",
        (_EXACT,),
        "Beirami et al. (2024), arXiv:2401.01879",
    ),
    Correction(
        "13.21",
        "How many models RLHF needs depends on the method",
        "RLHF holds four models, so it needs four times the memory of a model.",
        f"PPO has four, but two of them are trained: with Adam in mixed precision that is {_BYTES['ppo'].value:.0f} "
        "bytes per parameter, not four times 2. GRPO with a rule as judge needs neither critic nor reward model, "
        f"{_BYTES['grpo'].value:.0f} bytes; DPO has as many and generates nothing, {_BYTES['dpo'].value:.0f} bytes.",
        tuple(_BYTES.values()),
        "Ouyang et al. (2022), arXiv:2203.02155; Shao et al. (2024), arXiv:2402.03300; Rafailov et al. (2023), "
        "arXiv:2305.18290",
    ),
)
