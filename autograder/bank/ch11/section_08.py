"""Section 11.8, Valid at the limit: its questions."""

from __future__ import annotations

from typing import Any

from autograder.bank.ch11.shared import trie
from autograder.items import Part, Question, Slip, lazily

constrained = lazily("solutions.ch11.constrained")

#: The question's two texts and its vocabulary; token 0 is EOS.
TEXTS = (b'{"a":true}', b'{"a":false}')

TOKENS = ("", "{", '"', "a", '":', "}", "t", "true", "f", "al", "se", '{"', "rue", "e", "alse", '{"a')


def _state() -> Any:
    dfa = trie(TEXTS)
    index = constrained.token_index(dfa, [token.encode() for token in TOKENS], 0)
    return constrained.ConstraintState(index, dfa.start, dfa.accepting, 0)


QUESTIONS = (
    Question(
        id="11-distance",
        kind="derive",
        title="How far the end is",
        section="11.8",
        parts=(
            Part(
                "fewest tokens",
                "tokens",
                lambda: _state().distance(),
                tolerance=0,
                slips=(
                    Slip("Those are the bytes of the shorter text.", value=lambda: min(map(len, TEXTS))),
                    Slip("EOS is not counted: the text is whole before it.", value=lambda: _state().distance() + 1),
                ),
            ),
            Part(
                "allowed at the start with 5 left",
                "tokens",
                lambda: len(_state().allowed(5)),
                tolerance=0,
                slips=(
                    Slip("That is the mask without a budget.", value=lambda: len(_state().allowed())),
                    Slip("That is the mask with 4 left.", value=lambda: len(_state().allowed(4))),
                ),
            ),
        ),
        derivation='The longest tokens first: `{"a`, `":`, then the word, then `}`. After a first token, the rest must '
        'fit into what is left: count the fewest tokens after `{`, after `{"` and after `{"a`, and compare each with '
        "one less "
        "than the budget.",
    ),
)
