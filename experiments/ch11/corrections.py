"""Chapter 11: wrong claims about speculation and about masks, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from solutions.ch11.speculation_costs import batched_speedup
from solutions.ch11.speculative import expected_tokens, optimal_draft_length, speculative_speedup

from ..correction import LLM_OPTIMIZATION, MLSYS, Correction
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
            "11.4",
            "(1 - 0.8^6)/(1 - 0.8) is about 3.36.",
            f"It is {five:.5f}; {four:.5f} belongs to k = 4.",
            "The exponent is k + 1: k drafts and one token of the target.",
            f"{_LEVIATHAN}, equation 1",
            matters="The printed number contradicts the printed formula, and the bonus token is lost.",
            places=(f"{MLSYS}, src/part3-inference/chapter11.md",),
        ),
        Correction(
            "11.2",
            "Five tokens are drafted in one draft pass; three accepted ones make three tokens.",
            f"Five passes, each with the previous token; three accepted drafts and the correction make {3 + 1} tokens "
            "of one target pass.",
            "An autoregressive draft needs each token for the next: a small model, or EAGLE's head on the target's "
            "features. Medusa's heads guess several at once, and n-gram look-up takes no pass.",
            f"{_LEVIATHAN}, algorithm 1; Li et al. (2024), arXiv:2401.15077; Cai et al. (2024), arXiv:2401.10774",
            matters="The draft looks free, and the token that the target adds is lost.",
            places=(f"{MLSYS}, src/part3-inference/chapter11.md",),
        ),
        Correction(
            "11.4",
            "A draft with 70 % acceptance and K = 5 gets 2 to 3 of its tokens accepted.",
            f"It gets {seventy - 1:.2f} on average; {seventy:.2f} tokens with the target's own.",
            f"All five are accepted in only {100 * 0.7**5:.1f} % of the rounds.",
            f"{_LEVIATHAN}, equation 1",
            matters="The draft is made longer on the strength of tokens that never arrive.",
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
            "11.4",
            "With 80 % acceptance and five drafts, decoding is 3.4 times as fast.",
            f"It is {paid:.2f} times as fast with a draft that costs 5 % of the target.",
            f"A round costs k c + 1 target passes; {free:.1f} is the number of tokens per pass with k = 4, not a "
            "ratio of times.",
            f"{_LEVIATHAN}, theorem 3.8",
            matters="The cost of drafting is left out, and it decides the best length.",
            places=(f"{MLSYS}, src/part3-inference/chapter11.md",),
        ),
        Correction(
            "11.4",
            "The draft costs c = 10 to 50 in the formula E/(k c + 1).",
            f"c is draft over target, below 1: with c = 10 even a perfect draft of length 5 gives "
            f"{speculative_speedup(1, 5, 10):.2f}.",
            "That notation is target over draft. In this course alpha is the acceptance and k (the paper's gamma) "
            "the draft length.",
            f"{_LEVIATHAN}, definition 3.7",
            matters="The formula predicts a loss for every draft.",
            places=(f"{MLSYS}, src/part3-inference/chapter11.md (the ratio)",),
        ),
        Correction(
            "11.4",
            "A round costs one draft call and one target call.",
            f"k draft calls: {speculative_speedup(0.8, 5, 0.1):.2f} times, not {charged:.2f}, with alpha 0.8, k = 5, "
            "c = 0.1.",
            "The draft model runs once for each token that it drafts.",
            f"{_LEVIATHAN}, theorem 3.8",
            matters="A long draft looks profitable when it is not.",
            places=(
                f"{MLSYS}, tutorial/part3-inference/chapter11-spec-constraint/scripts/speculative_demo.py",
                LLM_OPTIMIZATION,
            ),
        ),
        Correction(
            "11.4",
            "With a perfect draft the speed-up is K target/(K draft + target).",
            f"It is (K + 1) target/(K draft + target): {perfect:.2f}, not {short:.2f}, for K = 8 with 10 and 50 ms.",
            "After K accepted drafts the target adds a token of its own.",
            f"{_LEVIATHAN}, algorithm 1",
            matters="The bonus token is missing from the limit, and with it a part of the gain.",
        ),
        Correction(
            "11.5",
            "Below 50 % acceptance speculation barely helps.",
            f"It helps if alpha > c: with alpha 0.5 and c 0.2 one draft gives {half:.2f} times; with alpha 0.2 and "
            f"c 0.02 the best length is {poor}, {speculative_speedup(0.2, poor, 0.02):.2f} times.",
            "One draft gives (1 + alpha)/(1 + c).",
            f"{_LEVIATHAN}, corollary 3.9",
            matters="Cheap drafts are ruled out although they would help.",
        ),
        Correction(
            "11.1",
            "Verification is cheap because matrix products are compute-bound, and not because the draft is fast.",
            "It is cheap because decode is bound by memory: k + 1 positions share one reading of the weights. In a "
            f"batch of 256 on an H100 alpha 0.8, k = 4, c = 0.05 give {crowded:.2f} times.",
            f"And the draft has to be fast: with c = 1 the best length is {optimal_draft_length(0.9, 1.0)}.",
            f"{_LEVIATHAN}, section 1; {_CHEN}",
            matters="Speculation is expected to pay in large batches, where it does not.",
        ),
    )


def _law() -> tuple[Correction, ...]:
    """The output distribution."""
    plain = plain_law(lambda _: _P, 1)
    redrawn = law_of(replaced_from_target, lambda _: _Q, lambda _: _P, 1, 1)
    shown = ", ".join(f"{redrawn.get((token,), 0.0):.2f}" for token in range(4))
    off = total_variation(law_of(without_bonus, lambda _: _Q, lambda _: _P, 2, 2), plain_law(lambda _: _P, 2))
    return (
        Correction(
            "11.3",
            "The demonstration draws p and q at random for each token, and its output is identical to the target's.",
            "Numbers drawn for each token separately are not distributions, and the output distribution was never "
            f"tested. Redrawing rejected tokens from p gives ({shown}) for p = {_P} and q uniform, off by "
            f"{total_variation(redrawn, plain):.2f}.",
            "Test a distribution by enumeration, or by comparing counts with it.",
            f"{_LEVIATHAN}, appendix A.1",
            matters="A sampler that changes the output would pass the same demonstration.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter11-spec-constraint/scripts/speculative_demo.py",),
        ),
        Correction(
            "11.3",
            "Without the additional token after k accepted ones the sampler has a different distribution.",
            f"It has the same distribution (off by {off:.0f}) but gives fewer tokens: {expected_tokens(0.8, 4):.2f} "
            f"of a pass in place of {expected_tokens(0.8, 5):.2f} with alpha 0.8, k = 5.",
            "The point where a round stops does not depend on what would come next.",
            f"{_LEVIATHAN}, algorithm 1",
            matters="A correct sampler is called wrong, and a bug is looked for where there is none.",
        ),
    )


CORRECTIONS = (*_lengths(), *_speed(), *_law(), *CONSTRAINT_CORRECTIONS)
