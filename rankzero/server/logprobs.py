"""Log-probabilities of an answer's tokens, as the engine records them and as each endpoint formats them.

The log-probability of a token is taken from the distribution *it was drawn from*: after the mask of a
``response_format``, temperature, top-k and top-p, normalized. A greedy answer therefore has 0 at every token, and
training on the server's answers can use the log-probabilities of exactly the policy that wrote them. Tokens that could
not have been drawn are not listed, so there may be fewer alternatives than were asked for.

Every token that ``usage`` counts has an entry, including the end-of-sequence token and the tokens of a stop string.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

#: The text shown for the end-of-sequence token, which has no bytes.
END = "<|endoftext|>"


@dataclass(frozen=True)
class Chosen:
    """A token that was drawn.

    Attributes:
        token: the token.
        logprob: its log-probability.
        top: the most probable tokens with their log-probabilities, in descending order; ties go to the lower token.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, probabilities: torch.Tensor, token: int, count: int) -> Chosen:
        """Record that ``token`` was drawn from ``probabilities`` [V], with the ``count`` most probable tokens."""
        exact = probabilities.double()
        values, tokens = (exact / exact.sum()).sort(descending=True, stable=True)
        best = zip(tokens[:count].tolist(), values[:count].tolist(), strict=True)
        chance = float(exact[token] / exact.sum())
        return cls(token, math.log(chance), tuple((other, math.log(value)) for other, value in best if value > 0))


class LogprobFormatter:
    """Formats the log-probabilities of one answer as its endpoint does; a stream's tokens may come in several pieces.

    Args:
        chat: whether the answer goes to a chat.
        vocabulary: the bytes of every token.
    """

    def __init__(self, chat: bool, vocabulary: Sequence[bytes]) -> None:
        self._chat, self._vocabulary = chat, vocabulary
        self._text, self._offset = codecs.getincrementaldecoder("utf-8")("replace"), 0

    def format(self, chosen: Sequence[Chosen]) -> dict[str, Any]:
        """The value of ``logprobs`` for the next tokens of the answer."""
        return self._as_chat(chosen) if self._chat else self._as_completion(chosen)

    def _as_chat(self, chosen: Sequence[Chosen]) -> dict[str, Any]:
        content = []
        for one in chosen:
            top = [self._entry(token, logprob) for token, logprob in one.top]
            content.append({**self._entry(one.token, one.logprob), "top_logprobs": top})
        return {"content": content, "refusal": None}

    def _entry(self, token: int, logprob: float) -> dict[str, Any]:
        data = self._vocabulary[token]
        return {"token": token_text(data), "logprob": logprob, "bytes": list(data) or None}

    def _as_completion(self, chosen: Sequence[Chosen]) -> dict[str, Any]:
        return {
            "tokens": [self._name(one.token) for one in chosen],
            "token_logprobs": [one.logprob for one in chosen],
            "top_logprobs": [self._alternatives(one) for one in chosen],
            "text_offset": [self._offset_of(one.token) for one in chosen],
        }

    def _alternatives(self, chosen: Chosen) -> dict[str, float]:
        """The most probable tokens, and the chosen one if it is not among them."""
        return {self._name(token): logprob for token, logprob in (*chosen.top, (chosen.token, chosen.logprob))}

    def _name(self, token: int) -> str:
        return token_text(self._vocabulary[token])

    def _offset_of(self, token: int) -> int:
        """How many complete characters come before a token."""
        before = self._offset
        self._offset += len(self._text.decode(self._vocabulary[token]))
        return before


def token_text(data: bytes) -> str:
    r"""A token's bytes as text, or in the form ``bytes:\xf0\x9f`` if they are not whole characters."""
    if not data:
        return END
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)
