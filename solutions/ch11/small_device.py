"""The device of the milestone "server": a small model with its pool of blocks, and the plain twin that has no cache."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from rankzero.grammar.automata import compile_regex
from rankzero.server import jobs
from rankzero.server.pool import Piece, Pool, forward
from rankzero.tiny import GPT, GPTConfig, one_thread

from .constrained import ConstraintState, schema_to_regex, token_index

choose, shares, Form = jobs.choose, jobs.shares, jobs.Form

#: Tokens of one and two letters, of JSON, and halves of characters; the last one ends an answer.
LETTERS, PAIRS = "abcdefghijklmnopqrstuvwxyz0123456789", ["th", "he", "in", "er", "an", "on", "ring", "tion"]
WHOLE = [*LETTERS, *'{}":, -!', *PAIRS, '{"', '":', ',"', '"}']
HALVES = [b"\xc3", b"\xa9", b"\xa4", b"\xf0\x9f", b"\x98\x80", b"\x8d\x80"]
VOCABULARY = [*(text.encode() for text in WHOLE), *HALVES, b""]
EOS = len(VOCABULARY) - 1
#: The longest text, tokens.
CONTEXT = 256


class SmallDevice:
    """A model whose weights a seed determines, and a pool in which nothing has been computed yet: every slot is nan.

    Args:
        seed: of the weights.
        blocks, block_size: of the pool.
    """

    def __init__(self, seed: int, blocks: int = 1, block_size: int = 1) -> None:
        self.model = _model(seed)
        self.pool = Pool(self.model, blocks, block_size)
        for held in (self.pool.keys, self.pool.values):
            held.fill_(float("nan"))

    def forward(self, tokens: Sequence[int], start: int, table: Sequence[int]) -> list[float]:
        """The logits after the last of these tokens; their keys and values are put into the blocks."""
        with one_thread():
            return forward(self.model, self.pool, [Piece(tokens, start, table)])[0].tolist()  # type: ignore[no-any-return]

    def logits(self, tokens: Sequence[int]) -> list[float]:
        """The logits after a text, computed whole."""
        with torch.no_grad(), one_thread():
            return self.model(torch.tensor([list(tokens)]))[0, -1].tolist()  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=4)
def _model(seed: int) -> GPT:
    """In float64, with weights that are large enough for texts to differ."""
    config = GPTConfig(vocab=len(VOCABULARY), layers=2, heads=2, head_dim=8, context=CONTEXT)
    model = GPT(config, seed).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3.0 if weight.dim() > 1 else 1.0)
    return model


def form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema as plain data, which :class:`rankzero.server.jobs.Form` takes."""
    dfa = compile_regex(schema_to_regex(schema))
    index = token_index(dfa, VOCABULARY, EOS)
    states = {state: number for number, state in enumerate(index)}
    far = {state: ConstraintState(index, state, dfa.accepting, EOS).distance() for state in index}
    rows = [[[token, states[after], far[after]] for token, after in row.items()] for row in index.values()]
    accepting = [states[state] for state in dfa.accepting if state in states]
    return {"rows": rows, "start": states[dfa.start], "accepting": accepting, "eos": EOS}


def shortest(schema: Mapping[str, Any]) -> int:
    """The fewest tokens of a text that fits a schema, without the one that ends it."""
    dfa = compile_regex(schema_to_regex(schema))
    return ConstraintState(token_index(dfa, VOCABULARY, EOS), dfa.start, dfa.accepting, EOS).distance()


def serve(ask: Callable[[Any], Any], make: Callable[[Any], Any], settings: Mapping[str, Any]) -> None:
    """Let an engine serve in this process, as the milestone's driver does elsewhere."""
    jobs.run(ask, make, settings)
