"""Chapter 11: claims about speculation and about masks that are often printed wrong. Standard library only."""

from __future__ import annotations

from rankzero.hardware import H100_SXM
from solutions.ch11.speculation_costs import batched_speedup
from solutions.ch11.speculative import expected_tokens, optimal_draft_length, speculative_speedup

from ..correction import Correction
from .mask_corrections import CONSTRAINT_CORRECTIONS
from .speculation_law import law_of, plain_law, total_variation
from .wrong_samplers import replaced_from_target, without_bonus

_LEVIATHAN = "Leviathan et al. (2023), arXiv:2211.17192"
_CHEN = "Chen et al. (2023), arXiv:2302.01318"

#: A target and a draft over four tokens.
_P, _Q = (0.5, 0.3, 0.2, 0.0), (0.25,) * 4

_RIDGE = H100_SXM.peak_bf16 / H100_SXM.memory_bandwidth


def _lengths() -> tuple[Correction, ...]:
    """Tokens of a round."""
    five, four = expected_tokens(0.8, 5), expected_tokens(0.8, 4)
    seventy = expected_tokens(0.7, 5)
    return (
        Correction(
            "11",
            "(1 - 0.8^6)/(1 - 0.8) is about 3.36.",
            f"It is {five:.5f}; {four:.5f} belongs to k = 4.",
            "The exponent is k + 1: k drafts and one token of the target.",
            f"{_LEVIATHAN}, equation 1",
        ),
        Correction(
            "11",
            "Five tokens are drafted in one draft pass; three accepted ones make three tokens.",
            "Five passes, each with the token before; three accepted drafts and the correction make "
            f"{3 + 1} tokens of one target pass.",
            "An autoregressive draft needs each token for the next: a small model, or EAGLE's head on the target's "
            "features. Medusa's heads guess several at once, and n-gram look-up takes no pass.",
            f"{_LEVIATHAN}, algorithm 1; Li et al. (2024), arXiv:2401.15077; Cai et al. (2024), arXiv:2401.10774",
        ),
        Correction(
            "11",
            "A draft with 70 % acceptance and K = 5 gets 2 to 3 of its tokens accepted.",
            f"{seventy - 1:.2f} on average; {seventy:.2f} tokens with the target's own.",
            f"All five are accepted in {100 * 0.7**5:.1f} % of the rounds only.",
            f"{_LEVIATHAN}, equation 1",
        ),
    )


def _speed() -> tuple[Correction, ...]:
    """What a round costs."""
    free, paid = expected_tokens(0.8, 4), speculative_speedup(0.8, 5, 0.05)
    perfect, short = speculative_speedup(1, 8, 0.2), 8 / (8 * 0.2 + 1)
    half, poor = speculative_speedup(0.5, 1, 0.2), optimal_draft_length(0.2, 0.02)
    crowded = batched_speedup(0.8, 4, 0.05, 256, _RIDGE)
    charged = expected_tokens(0.8, 5) / (0.1 + 1)
    return (
        Correction(
            "11",
            "With 80 % acceptance and five drafts decoding is 3.4 times as fast.",
            f"{paid:.2f} times with a draft that costs 5 % of the target.",
            f"A round costs k c + 1 target passes; {free:.1f} are tokens of a pass with k = 4, not a ratio of times.",
            f"{_LEVIATHAN}, theorem 3.8",
        ),
        Correction(
            "11",
            "The draft costs c = 10 to 50 in the formula E/(k c + 1).",
            f"c is draft over target, below 1: with c = 10 even a perfect draft of length 5 gives "
            f"{speculative_speedup(1, 5, 10):.2f}.",
            "That notation is target over draft. In this course alpha is acceptance, k (the paper's gamma) the length.",
            f"{_LEVIATHAN}, definition 3.7",
        ),
        Correction(
            "11",
            "A round costs one draft call and one target call.",
            f"k draft calls: {speculative_speedup(0.8, 5, 0.1):.2f} times, not {charged:.2f}, with alpha 0.8, k = 5, "
            "c = 0.1.",
            "The draft model runs once for each token that it drafts.",
            f"{_LEVIATHAN}, theorem 3.8",
        ),
        Correction(
            "11",
            "With a perfect draft the speed-up is K target/(K draft + target).",
            f"(K + 1) target/(K draft + target): {perfect:.2f}, not {short:.2f}, for K = 8 with 10 and 50 ms.",
            "After K accepted drafts the target adds a token.",
            f"{_LEVIATHAN}, algorithm 1",
        ),
        Correction(
            "11",
            "Below 50 % acceptance speculation barely helps.",
            f"It helps where alpha > c: with alpha 0.5 and c 0.2 one draft gives {half:.2f} times; with alpha 0.2 and "
            f"c 0.02 the best length is {poor}, {speculative_speedup(0.2, poor, 0.02):.2f} times.",
            "One draft gives (1 + alpha)/(1 + c).",
            f"{_LEVIATHAN}, corollary 3.9",
        ),
        Correction(
            "11",
            "Verification is cheap because matrix products are compute-bound, and not because the draft is fast.",
            "It is cheap because decode is bound by memory: k + 1 positions share one reading of the weights. In a "
            f"batch of 256 on an H100 alpha 0.8, k = 4, c = 0.05 give {crowded:.2f} times.",
            f"And the draft has to be fast: with c = 1 the best length is {optimal_draft_length(0.9, 1.0)}.",
            f"{_LEVIATHAN}, section 1; {_CHEN}",
        ),
    )


def _law() -> tuple[Correction, ...]:
    """What comes out."""
    plain = plain_law(lambda _: _P, 1)
    redrawn = law_of(replaced_from_target, lambda _: _Q, lambda _: _P, 1, 1)
    shown = ", ".join(f"{redrawn.get((token,), 0.0):.2f}" for token in range(4))
    off = total_variation(law_of(without_bonus, lambda _: _Q, lambda _: _P, 2, 2), plain_law(lambda _: _P, 2))
    return (
        Correction(
            "11",
            "The demonstration draws p and q at random for each token, and its output is identical to the target's.",
            "Numbers drawn for each token alone are no distributions; what was never tested was the law. Redrawing "
            f"rejected tokens from p gives ({shown}) for p = {_P} and q uniform, off by "
            f"{total_variation(redrawn, plain):.2f}.",
            "A law is tested by enumeration, or by counts against it.",
            f"{_LEVIATHAN}, appendix A.1",
        ),
        Correction(
            "11",
            "Without the additional token after k accepted ones the sampler has another law.",
            f"It has the same law (off by {off:.0f}), and gives fewer tokens: "
            f"{expected_tokens(0.8, 4):.2f} of a pass in place of {expected_tokens(0.8, 5):.2f} with alpha 0.8, k = 5.",
            "Where the round stops does not depend on what would come next.",
            f"{_LEVIATHAN}, algorithm 1",
        ),
    )


CORRECTIONS = (*_lengths(), *_speed(), *_law(), *CONSTRAINT_CORRECTIONS)
