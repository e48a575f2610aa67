"""Chapter 12: baselines, traces and clipping, as textbooks shorten them. Standard library only."""

from __future__ import annotations

import math

from solutions.ch12.rl import gae, optimal_baseline, policy_value, ppo_clip_objective, reinforce_moments

from ..correction import Correction, worked
from .random_walk import advantage_quality, walk

_GAE = "Schulman et al. (2016), arXiv:1506.02438"
_PPO = "Schulman et al. (2017), arXiv:1707.06347"
_PARDO = "Pardo et al. (2018), arXiv:1712.00378"
_GREENSMITH = "Greensmith et al. (2004), Journal of Machine Learning Research 5, section 4"
_COURSE = (
    "Hugging Face, Deep RL Course, unit 8, [clipped-surrogate-objective.mdx](https://github.com/huggingface/"
    "deep-rl-class/blob/26cfa25eb70c327bad106154224e9d28a1ff910e/units/en/unit8/clipped-surrogate-objective.mdx)"
)

_NONE, _BAD = (worked(reinforce_moments, (0.5, 0.5), (1, 0), baseline) for baseline in (0, 100))

#: Three arms, their chances and rewards.
_PI, _Q = (0.5, 0.3, 0.2), (0, 1, 5)
_BEST = worked(optimal_baseline, _PI, _Q)
_MEAN = sum(p * q for p, q in zip(_PI, _Q, strict=True))

_CUT = worked(gae, [1], [50], [50], [True], [False], 0.98, 0.8, pick=0)
_KEPT = worked(gae, [1], [50], [50], [False], [True], 0.98, 0.8, pick=0)

_WRONG, _EXACT = (advantage_quality([0], values)[0].bias for values in ((0.5,) * 5, policy_value(*walk(), 1.0)))
_FAR = worked(ppo_clip_objective, [math.log(0.5)], [math.log(0.1)], [-1], pick=".objective")

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "12.2",
        "A baseline costs no bias, and the value is not the best one",
        "A baseline trades bias for variance, and V is the best choice.",
        "A baseline that does not depend on the action adds no bias: for two arms the mean gradient is "
        f"{_NONE.value.gradient[0]:g} without one and {_BAD.value.gradient[0]:g} with 100, while the variance goes "
        f"from {_NONE.value.variance:g} to {_BAD.value.variance:,.0f}. The least variance has E[|s|² R]/E[|s|²], "
        f"which weighs an arm by how far it moves the logits: {_BEST.value:.3f} for three arms with V = {_MEAN:.1f}.",
        (_NONE, _BAD, _BEST),
        f"Williams (1992), doi:10.1007/BF00992696; {_GREENSMITH}",
    ),
    Correction(
        "12.4",
        "A time limit is not the end of an episode",
        "done = terminated or truncated, and the next value counts 1 - done.",
        "A truncated step reached a state that has a value; only the recursion over advantages stops at both kinds of "
        f"end. At a cut-off with V = 50 everywhere and gamma 0.98 the TD error should be {_KEPT.value + 0.0:.0f} and "
        f"is {_CUT.value:.0f} if both are treated alike. The critic then learns that lasting until the limit is "
        "worthless.",
        (_KEPT, _CUT),
        _PARDO,
    ),
    Correction(
        "12.5",
        "The bias of a small lambda is the critic's",
        "lambda = 0 has high bias and lambda = 1 has low bias.",
        f"Only if V is wrong. On a random walk of five states lambda = 0 is off by {abs(_WRONG):.3f} with V = 0.5 "
        f"everywhere and by {abs(_EXACT):.3f} with the exact V, for which every lambda is unbiased. And in episodes "
        "that are cut off even lambda = 1 keeps the bias of the value at the cut.",
        (worked(advantage_quality, [0], (0.5,) * 5),),
        f"{_GAE}, section 3",
    ),
    Correction(
        "12.7",
        "PPO's clip bounds the gain, not the ratio",
        "Clipping keeps the new policy close to the old one.",
        "The objective takes the smaller of the clipped and the plain term, so a sample that moved against its "
        f"advantage is not clipped: with ratio 5 and advantage -1 it is {_FAR.value:.0f}. And a ratio may leave the "
        "range because of what other samples do to shared weights; clipping then only removes this sample's gradient. "
        "A widely read course says that the current policy cannot become too different; the paper says only that the "
        "incentive to go further is removed.",
        (_FAR,),
        f"{_PPO}, equation 7; {_COURSE}",
    ),
)
