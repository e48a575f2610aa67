"""Log-probabilities of the tokens of an answer, as the engine notes them and as each endpoint writes them.

The log-probability of a token is that under the distribution *from which it was drawn*: after the mask of a
``response_format``, temperature, top-k and top-p, and with all probabilities together 1. So a greedy answer has 0 at
every token, and whoever trains on what the server wrote has the log-probabilities of the policy that wrote it. Tokens
that could not be drawn have none, and there may be fewer alternatives than were asked for.

There is an entry for every token that ``usage`` counts: that which ends the answer too, and those of a stop string.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

#: The text of the token that ends a sequence, which has no bytes.
END = "<|endoftext|>"


@dataclass(frozen=True)
class Chosen:
    """A token that was drawn.

    Attributes:
        token: the one.
        logprob: its log-probability.
        top: the most probable tokens and their log-probabilities, the largest first; the lower token of equal ones.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, probabilities: torch.Tensor, token: int, count: int) -> Chosen:
        """The note of a draw from ``probabilities`` [V] that gave ``token``, with the ``count`` most probable ones."""
        exact = probabilities.double()
        values, tokens = (exact / exact.sum()).sort(descending=True, stable=True)
        best = zip(tokens[:count].tolist(), values[:count].tolist(), strict=True)
        chance = float(exact[token] / exact.sum())
        return cls(token, math.log(chance), tuple((other, math.log(value)) for other, value in best if value > 0))


class Written:
    """The notes of one answer in the words of its endpoint; they may come in pieces, as a stream does.

    Args:
        chat: whether the endpoint is that of chats.
        vocabulary: the bytes of every token.
    """

    def __init__(self, chat: bool, vocabulary: Sequence[bytes]) -> None:
        self._chat, self._vocabulary = chat, vocabulary
        self._text, self._offset = codecs.getincrementaldecoder("utf-8")("replace"), 0

    def of(self, chosen: Sequence[Chosen]) -> dict[str, Any]:
        """The next notes, as the value of ``logprobs``."""
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
            "text_offset": [self._passed(one.token) for one in chosen],
        }

    def _alternatives(self, one: Chosen) -> dict[str, float]:
        """The most probable tokens and, where it is not among them, the chosen one."""
        return {self._name(token): logprob for token, logprob in (*one.top, (one.token, one.logprob))}

    def _name(self, token: int) -> str:
        return token_text(self._vocabulary[token])

    def _passed(self, token: int) -> int:
        """Characters before a token: those that are complete."""
        before = self._offset
        self._offset += len(self._text.decode(self._vocabulary[token]))
        return before


def token_text(data: bytes) -> str:
    r"""A token's bytes as text; ``bytes:\xf0\x9f`` where they are not whole characters."""
    if not data:
        return END
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)
