"""Policy losses for language models side by side: where each compares, divides, bounds and averages.

Every row was read in the source that it names, in November 2026: papers by their number, repositories at the commit of
the stored copy. Standard library only.

>>> [round(push, 2) for push in pushes("clip")]
[1.05, 0.9, 0.0, 1.1, 0.7]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark


@dataclass(frozen=True)
class Loss:
    """One member of the family.

    Attributes:
        name: as people call it.
        baseline: what a reward is compared with.
        divided: by what the difference is divided.
        ratio: over what now and then are compared: a token, a whole response, or not at all.
        bound: what happens to a ratio far from 1.
        mean: over what the losses of tokens are averaged; ``"sum"``: they are added up, and answers averaged.
        source: where that was read.
    """

    name: str
    baseline: str
    divided: str
    ratio: str
    bound: str
    mean: str
    source: str


_TRL = "TRL, grpo_config.py at 006d32c"
_INDEX = "TRL, paper_index.md at 0fbbe3b"
_PRIME = "docs/algorithms.md at 004274e; the bound: pull requests 3418, 3586"
_VERL = "verl, core_algos.py at 26b5d6b"

FAMILY = (
    Loss("REINFORCE", "none, batch", "-", "-", "-", "sum", "Williams (1992)"),
    Loss("RLOO", "the others", "-", "-", "-", "sum", "arXiv:2402.14740"),
    Loss("REINFORCE++", "batch", "batch std", "token", "clip", "token", f"arXiv:2501.03262; {_VERL}"),
    Loss("PPO", "critic", "batch std", "token", "clip .2", "token", "arXiv:1707.06347; divided in OpenAI Baselines"),
    Loss("GRPO (2024)", "group", "group std", "token", "clip", "response", "arXiv:2402.03300"),
    Loss("Dr. GRPO", "group", "-", "token", "clip", "constant", f"arXiv:2503.20783; {_TRL}"),
    Loss("DAPO", "group", "group std", "token", "clip .2/.28", "token", f"arXiv:2503.14476; {_INDEX}"),
    Loss("GSPO", "group", "group std", "response", "clip 3e-4/4e-4", "response", f"arXiv:2507.18071; {_INDEX}"),
    Loss("CISPO", "group", "group std", "token", "capped weight", "token", f"arXiv:2506.13585; {_TRL}"),
    Loss("SAPO", "group", "group std", "token", "gate 1/1.05", "response", "arXiv:2511.20347; Trinity-RFT 0.4.0"),
    Loss("MaxRL", "group", "group mean", "token", "any", "any", f"arXiv:2602.02710; {_TRL}"),
    Loss("TRL, default", "group", "group std", "token", "clip .2", "token", _TRL),
    Loss("prime-rl, default", "group", "-", "token", "mask |p - q| > .3", "token", _PRIME),
)

# One answer under each bound

#: Ratios of the five tokens of an answer, its advantage, and the range of the clip.
RATIOS, GAIN, CLIP = (1.05, 0.9, 1.5, 1.1, 0.7), 1.0, 0.2
#: ``clip_ratio_c`` of verl, its default: the ratio from which a token of a bad answer is no longer pushed down (_VERL).
DUAL_CLIP = 3.0
#: Temperature of SAPO's gate for a positive advantage.
GATE = 1.0
BOUNDS = ("clip", "weight", "mask", "gate", "response")


def whole(ratios: tuple[float, ...] = RATIOS) -> float:
    """The ratio of a whole answer, to the power of 1 over its length: the geometric mean."""
    return math.exp(fmean(map(math.log, ratios)))


def pushes(bound: str) -> list[float]:
    """How hard each token of the answer is pushed: the derivative of its term by its log-probability.

    Args:
        bound: "clip" (PPO), "weight" (CISPO, capped at 1 + CLIP), "mask" (both sides), "gate" (SAPO) or "response"
            (one ratio for the whole answer, not bounded).
    """
    if bound == "response":
        return [GAIN * whole()] * len(RATIOS)
    return [_push(bound, ratio) for ratio in RATIOS]


def _push(bound: str, ratio: float) -> float:
    """The derivative for one token of a positive advantage."""
    if bound == "clip":
        return ratio * GAIN if ratio <= 1 + CLIP else 0.0
    if bound == "weight":
        return min(ratio, 1 + CLIP) * GAIN
    if bound == "mask":
        return ratio * GAIN if abs(ratio - 1) <= CLIP else 0.0
    gate = 1 / (1 + math.exp(-GATE * (ratio - 1)))
    return 4 * gate * (1 - gate) * ratio * GAIN


def bound_scene(step: int) -> Scene:
    """Step 0: ratios of five tokens; steps 1 to 5: what each bound leaves of their pushes, one row more."""
    titles = (
        "PPO, GRPO, DAPO: clip",
        "CISPO: capped weight",
        "mask on both sides",
        "SAPO: gate",
        "GSPO: one ratio",
    )
    marks: list[Mark] = [Label(4, 24, "ratio", "start", 11)]
    for place, ratio in enumerate(RATIOS):
        marks.append(Box(104 + 47 * place, 8, 43, 24, f"{ratio:g}", tone="quiet", fill=0.4, size=11))
    for row, bound in enumerate(BOUNDS[:step]):
        top = 48 + 44 * row
        marks.append(Label(4, top + 8, titles[row], "start", 10))
        for place, push in enumerate(pushes(bound)):
            box = (104 + 47 * place, top + 13, 43, 24)
            changed = abs(push - RATIOS[place]) > 0.005
            tone = "quiet" if push == 0 else "accent" if changed else "right"
            marks.append(
                Box(*box, f"{push:.2f}", tone=tone, fill=0.5 if push else 0.1, strong=row == step - 1, size=11)
            )
    held = "; ".join(f"{bound}: {', '.join(f'{push:.2f}' for push in pushes(bound))}" for bound in BOUNDS[:step])
    return Scene(340, 266, tuple(marks), _SAYS[step], f"Ratios 1.05, 0.9, 1.5, 1.1, 0.7. {held or 'No bound yet'}.")


_SAYS = (
    "Five tokens of a good answer, and how likely each one is now over then. The third became half as likely again.",
    "The clip: past 1.2 a token that should rise is no longer pushed. The one that fell to 0.7 still is.",
    "A capped weight: the ratio is a number in front, at most 1.2, and the log-probability keeps its gradient.",
    "A mask on both sides: what is further than 0.2 from 1 is left out, whichever way it went.",
    "A gate: no edge. The push bends down as a ratio leaves 1: a ratio of 1.5 pushes with 1.41 instead of 1.5.",
    "One ratio for the whole answer, the geometric mean, 1.02: every token is pushed alike. All are clipped or none.",
)


def mean_gain(rate: float) -> float:
    """MaxRL's advantage of a right answer in a group of which this share is right, above 0: over the group's mean."""
    return (1 - rate) / rate


def spread_of_the_whole(noise: float, tokens: int) -> float:
    """By how much the log of a whole answer's ratio varies, if its tokens' logs vary independently.

    Args:
        noise: standard deviation of a token's log-ratio, nats.
        tokens: of the answer; at least 1.
    """
    return noise / math.sqrt(tokens)
