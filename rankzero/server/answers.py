"""Answers in the protocol of OpenAI's API: whole, in pieces, and what the server says of itself."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rankzero.server.logprobs import Written
from rankzero.server.protocol import Ask
from rankzero.server.request import Request


class Answer:
    """The answers to one request, in the words of its endpoint.

    Args:
        ask: the request.
        request: in the engine.
        vocabulary: the bytes of every token.
    """

    def __init__(self, ask: Ask, request: Request, vocabulary: Sequence[bytes]) -> None:
        self._chat, self._usage, self._request = ask.chat, ask.usage, request
        prefix = "chatcmpl" if ask.chat else "cmpl"
        self._head = {"id": f"{prefix}-{request.name}", "created": int(time.time()), "model": ask.model}
        self._written, self._sent = Written(ask.chat, vocabulary), 0

    def whole(self) -> dict[str, Any]:
        """All of it at once."""
        request = self._request
        if self._chat:
            message = {"role": "assistant", "content": request.text, "refusal": None}
            return self._body("chat.completion", request.finish_reason, usage(request), message=message)
        return self._body("text_completion", request.finish_reason, usage(request), text=request.text)

    def first(self) -> list[dict[str, Any]]:
        """What a stream begins with."""
        return [self._chunk({"role": "assistant", "content": ""}, 0)] if self._chat else []

    def piece(self, text: str, tokens: int) -> dict[str, Any]:
        """One piece of text; with it the answer has so many tokens."""
        return self._chunk({"content": text} if self._chat else text, tokens)

    def last(self) -> list[dict[str, Any]]:
        """What a stream ends with, before ``[DONE]``; tokens that gave no text have their log-probabilities here."""
        request = self._request
        end = self._chunk({} if self._chat else "", None, request.finish_reason)
        if not self._usage:
            return [end]
        return [end, {**end, "choices": [], "usage": usage(request)}]

    def _chunk(self, value: dict[str, str] | str, tokens: int | None, reason: str | None = None) -> dict[str, Any]:
        kind, part = ("chat.completion.chunk", "delta") if self._chat else ("text_completion", "text")
        body = self._body(kind, reason, None, tokens, **{part: value})
        if not self._usage:
            del body["usage"]
        return body

    def _body(
        self, kind: str, reason: str | None, counted: dict[str, Any] | None, tokens: int | None = None, **content: Any
    ) -> dict[str, Any]:
        choice = {"index": 0, **content, "logprobs": self._logprobs(tokens), "finish_reason": reason}
        return {**self._head, "object": kind, "choices": [choice], "usage": counted}

    def _logprobs(self, tokens: int | None) -> dict[str, Any] | None:
        """Those of the first ``tokens`` tokens (None: of all) that were not sent yet; None where there are none."""
        notes = self._request.chosen[self._sent : tokens]
        self._sent += len(notes)
        return self._written.of(notes) if notes else None


def usage(request: Request) -> dict[str, Any]:
    """Tokens of a request that has ended."""
    prompt, output = len(request.prompt), len(request.output)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": request.cached_tokens},
    }


def events(bodies: Sequence[dict[str, Any]]) -> bytes:
    """Server-sent events, one for each body."""
    return b"".join(b"data: " + json.dumps(body).encode() + b"\n\n" for body in bodies)


DONE = b"data: [DONE]\n\n"


def model_card(name: str) -> dict[str, Any]:
    """What ``/v1/models`` says of a model."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "rankzero"}


GAUGES = ("running", "waiting", "blocks", "blocks_used", "blocks_cached", "blocks_free")


def metrics_text(metrics: Mapping[str, int]) -> str:
    """The metrics, as Prometheus reads them."""
    lines = []
    for name, value in metrics.items():
        gauge = name in GAUGES
        full = f"rankzero_{name}" if gauge else f"rankzero_{name}_total"
        lines += [f"# TYPE {full} {'gauge' if gauge else 'counter'}", f"{full} {value}"]
    return "\n".join(lines) + "\n"
