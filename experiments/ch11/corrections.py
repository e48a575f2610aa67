"""Chapter 11: what speculation gains, and what a mask guarantees. Standard library only."""

from __future__ import annotations

import functools
import json
from random import Random

from rankzero.facts.hardware import H100_SXM
from rankzero.grammar.automata import compile_regex
from solutions.ch11.constrained import ConstraintState, schema_to_regex, token_index
from solutions.ch11.speculation_costs import batched_speedup
from solutions.ch11.speculative import expected_tokens, optimal_draft_length, speculative_speedup

from ..correction import Correction, worked

_LEVIATHAN = "Leviathan et al. (2023), arXiv:2211.17192"
_CHEN = "Chen et al. (2023), arXiv:2302.01318"
_OUTLINES = "Willard and Louf (2023), arXiv:2307.09702"
_ALIGNED = "Park et al. (2024), arXiv:2405.21047"

_TOKENS, _SPEED = worked(expected_tokens, 0.8, 5), worked(speculative_speedup, 0.8, 5, 0.05)
_HALF, _LENGTH = worked(speculative_speedup, 0.5, 1, 0.2), worked(optimal_draft_length, 0.2, 0.02)
_POOR = worked(speculative_speedup, 0.2, _LENGTH.value, 0.02)
_RIDGE = H100_SXM.peak_bf16 / H100_SXM.memory_bandwidth
_LONE, _CROWDED = (worked(batched_speedup, 0.8, 4, 0.05, batch, _RIDGE) for batch in (1, 256))

#: A form, and a vocabulary of all printable characters and a few longer pieces; token 0 ends the text.
_FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "active": {"type": "boolean"}},
}
_PIECES = ['{"', '":', '":"', '",', "name", "active", "true", "false", "fal", "se", "ab", "cd"]
_VOCABULARY = [b"", *(bytes([value]) for value in range(32, 127)), *(piece.encode() for piece in _PIECES)]
#: Texts that are drawn.
_DRAWN = 200


def is_json(text: str) -> bool:
    """Whether ``json.loads`` accepts the text."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@functools.cache
def cut_share(limit: int, budget: bool) -> float:
    """The share of random texts under the mask of ``_FORM`` that are not JSON when cut off at ``limit`` tokens."""
    dfa = compile_regex(schema_to_regex(_FORM))
    state = ConstraintState(token_index(dfa, _VOCABULARY, 0), dfa.start, dfa.accepting, 0)
    broken = 0
    for seed in range(_DRAWN):
        rng, tokens = Random(seed), list[int]()
        while not state.finished and not (len(tokens) == limit and state.distance()):
            left = limit - len(tokens)
            tokens.append(rng.choice(state.allowed(left if budget or not left else None)))
            state.advance(tokens[-1])
        state.rollback(len(tokens))
        broken += not is_json(b"".join(_VOCABULARY[token] for token in tokens).decode())
    return broken / _DRAWN


def given_valid(first: float, after_first: float, after_other: float) -> float:
    """How often a valid text begins with ``first``'s token, if the model ends validly with these chances after it."""
    return first * after_first / (first * after_first + (1 - first) * after_other)


_CUT, _BUDGET = worked(cut_share, 20, False), worked(cut_share, 20, True)
_GIVEN = worked(given_valid, 0.9, 0.01, 0.9)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "11.5",
        "Tokens per pass are not a speed-up",
        "With 80 percent acceptance and five drafts a round gives 3.7 tokens, so decoding is 3.7 times as fast.",
        f"A round gives {_TOKENS.value:.2f} tokens per pass of the target, but it also costs five passes of the draft. "
        f"With a draft that costs 5 percent of the target the speed-up is {_SPEED.value:.2f}. Papers differ in their "
        "letters: some divide the target's cost by the draft's, so look at the definition before you use a formula.",
        (_TOKENS, _SPEED),
        f"{_LEVIATHAN}, equation 1 and theorem 3.8",
    ),
    Correction(
        "11.5",
        "Acceptance has no threshold of its own; it must exceed the draft's cost",
        "Below 50 percent acceptance speculation barely helps.",
        "One draft gives (1 + alpha)/(1 + c), so it helps whenever the acceptance alpha exceeds the cost c of the "
        f"draft. With alpha 0.5 and c 0.2 that is {_HALF.value:.2f}; with alpha 0.2 and c 0.02 the best length is "
        f"{_LENGTH.value}, and the speed-up {_POOR.value:.2f}. Cheap drafts, such as look-up in the prompt, are worth "
        "a low acceptance.",
        (_HALF, _LENGTH, _POOR),
        f"{_LEVIATHAN}, corollary 3.9",
    ),
    Correction(
        "11.6",
        "Verification is cheap only while decode is bound by memory",
        "Checking k drafts in one pass costs the target no more than one token.",
        "It is so while k + 1 positions share one reading of the weights and computing them takes less time than the "
        "reading. With alpha 0.8, k = 4 and c = 0.05 on an H100 in bf16, keys and values left aside, the speed-up is "
        f"{_LONE.value:.2f} for one sequence, and {_CROWDED.value:.2f} in a batch of 256, where the drafts compete "
        "with other requests for FLOP.",
        (_LONE, _CROWDED),
        f"{_LEVIATHAN}, section 1; {_CHEN}",
    ),
    Correction(
        "11.8",
        "A mask guarantees a valid beginning, not a valid text",
        "A grammar mask guarantees valid JSON.",
        "Every text under the mask can still be finished, but a token limit may cut it before it is. Of random texts "
        f"under the mask of a small form, stopped at 20 tokens, {_CUT.value:.1%} are not JSON. With a budget, a mask "
        f"that allows only tokens from which the end can still be reached in time, {_BUDGET.value:.1%} are not.",
        (_CUT, _BUDGET),
        _OUTLINES,
    ),
    Correction(
        "11.9",
        "Masking step by step is not conditioning on validity",
        "Masking keeps the model's distribution over the valid texts.",
        "A mask sees what is allowed now and not how probable a valid end is. Let a text begin with a in 90 percent "
        "and with b otherwise, and let only x be valid next, which follows a with 1 percent and b with 90: masked, "
        f"still {_GIVEN.arguments[0]:.0%} of the texts begin with a, while among the model's own valid texts "
        f"{_GIVEN.value:.1%} do.",
        (_GIVEN,),
        _ALIGNED,
    ),
)
