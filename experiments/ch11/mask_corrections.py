"""Chapter 11, text that must fit: wrong claims, and what is right. Standard library only."""

from __future__ import annotations

import functools
import json
import math
from random import Random

from rankzero.grammar.automata import compile_regex
from solutions.ch11.constrained import ConstraintState, schema_to_regex, token_index

from ..correction import LLM_OPTIMIZATION, MLSYS, Correction

_OUTLINES = "Willard and Louf (2023), arXiv:2307.09702"
_ALIGNED = "Park et al. (2024), arXiv:2405.21047"
_JSON = "RFC 8259"

#: A form, and a vocabulary of all printable characters and a few longer pieces; token 0 ends the text.
_FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "active": {"type": "boolean"}},
}
_PIECES = ['{"', '":', '":"', '",', "name", "active", "true", "false", "fal", "se", "ab", "cd"]
_VOCABULARY = [b"", *(bytes([value]) for value in range(32, 127)), *(piece.encode() for piece in _PIECES)]

#: Texts, and strings of marks, that are drawn for a count.
_DRAWN, _STRINGS = 200, 10_000


def is_json(text: str) -> bool:
    """Whether ``json.loads`` accepts the text."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_balanced(text: str) -> bool:
    """Whether every bracket is closed, in order, and quotes come in pairs."""
    open_brackets: list[str] = []
    for mark in text:
        if mark in "{[":
            open_brackets.append({"{": "}", "[": "]"}[mark])
        elif mark in "}]" and (not open_brackets or open_brackets.pop() != mark):
            return False
    return not open_brackets and text.count('"') % 2 == 0


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


@functools.cache
def balanced_strings() -> tuple[int, int]:
    """Among random strings of JSON's punctuation: how many are balanced, and how many of those are not JSON."""
    rng = Random(13)
    texts = ("".join(rng.choice('{}[]":,1') for _ in range(rng.randint(2, 8))) for _ in range(_STRINGS))
    found = [text for text in texts if is_balanced(text)]
    return len(found), sum(not is_json(text) for text in found)


def _laws() -> tuple[float, float]:
    """P(a) under the mask, and given that the text fits, with P(a) = .9, P(x | a) = .01, P(x | b) = .9."""
    joint = {"a": 0.9 * 0.01, "b": 0.1 * 0.9}
    return 0.9, joint["a"] / sum(joint.values())


def _corrections() -> tuple[Correction, ...]:
    """The claims of sections 11.7 to 11.9, with numbers computed here."""
    balanced, broken = balanced_strings()
    masked, conditioned = _laws()
    product = 2.0 * 1 + (1 - 1) * -math.inf
    return (
        Correction(
            "11.7",
            "Mask logits with logits * mask + (1 - mask) * -inf.",
            "Set the forbidden elements to -inf: masked_fill.",
            f"At an allowed token the second term is 0 * -inf, so the sum is {product}: every allowed token is lost.",
            "IEEE 754-2019, section 7.2",
            matters="The masked logits become NaN, and so does the distribution.",
            places=(f"{MLSYS}, src/part3-inference/chapter11.md",),
        ),
        Correction(
            "11.8",
            "A grammar mask guarantees valid JSON.",
            "It guarantees only the beginning of a valid text. With a token limit, the mask needs a budget.",
            f"Of random texts under the mask of a small form, stopped at 20 tokens, {cut_share(20, False):.1%} are "
            f"not JSON; with the budget {cut_share(20, True):.1%}.",
            _OUTLINES,
            matters="A client that parses the answer fails whenever the limit cuts it.",
            places=(
                f"{MLSYS}, src/part3-inference/chapter11-json.md",
                LLM_OPTIMIZATION,
            ),
        ),
        Correction(
            "11.7",
            "Text with balanced brackets and quotes is valid JSON.",
            "Let a JSON parser decide.",
            f"Of {balanced:,} balanced strings among {_STRINGS:,} random ones, json.loads rejects {broken:,}.",
            _JSON,
            matters="Invalid answers pass the check.",
            places=(
                f"{MLSYS}, tutorial/part3-inference/chapter11-spec-constraint/scripts/"
                "json_constraint_demo.py (brackets)",
            ),
        ),
        Correction(
            "11.9",
            "Masking keeps the model's distribution over the valid texts.",
            "Masking step by step is not conditioning on validity.",
            "P(a) = 0.9, P(b) = 0.1; x follows a with 0.01 and b with 0.9; only x is valid. With the mask, "
            f"{masked:.0%} of texts begin with a; among the model's own valid texts {conditioned:.1%} do.",
            _ALIGNED,
            matters="Constrained answers are trusted with probabilities that the model never gave.",
        ),
    )


CONSTRAINT_CORRECTIONS = _corrections()
