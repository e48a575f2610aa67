"""Responses in the protocol of OpenAI's API: answers, complete or streamed, the model card and the metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rankzero.server.logprobs import LogprobFormatter
from rankzero.server.protocol import ApiRequest
from rankzero.server.request import FinishReason, Request

ObjectType = Literal["chat.completion", "chat.completion.chunk", "text_completion"]


class Answer:
    """The answer to one request, in the format of its endpoint.

    Args:
        asked: the request as the client sent it.
        request: the same request in the engine.
        vocabulary: the bytes of every token.
    """

    def __init__(self, asked: ApiRequest, request: Request, vocabulary: Sequence[bytes]) -> None:
        self._chat, self._usage, self._request = asked.chat, asked.usage, request
        prefix = "chatcmpl" if asked.chat else "cmpl"
        self._head = {"id": f"{prefix}-{request.name}", "created": int(time.time()), "model": asked.model}
        self._logprob_formatter, self._sent = LogprobFormatter(asked.chat, vocabulary), 0

    def whole(self) -> dict[str, Any]:
        """The complete answer, for a client that does not stream."""
        request = self._request
        if self._chat:
            message = {"role": "assistant", "content": request.text, "refusal": None}
            return self._body("chat.completion", request.finish_reason, usage(request), message=message)
        return self._body("text_completion", request.finish_reason, usage(request), text=request.text)

    def first(self) -> list[dict[str, Any]]:
        """The events that a stream begins with."""
        return [self._chunk({"role": "assistant", "content": ""}, 0)] if self._chat else []

    def piece(self, text: str, tokens: int) -> dict[str, Any]:
        """The event for one piece of text, with which the answer has ``tokens`` tokens."""
        return self._chunk({"content": text} if self._chat else text, tokens)

    def last(self) -> list[dict[str, Any]]:
        """The events that a stream ends with, before ``[DONE]``.

        The log-probabilities of tokens that produced no text are in the first of them.
        """
        request = self._request
        end = self._chunk({} if self._chat else "", None, request.finish_reason)
        if not self._usage:
            return [end]
        return [end, {**end, "choices": [], "usage": usage(request)}]

    def _chunk(
        self, value: dict[str, str] | str, tokens: int | None, reason: FinishReason | None = None
    ) -> dict[str, Any]:
        if self._chat:
            body = self._body("chat.completion.chunk", reason, None, tokens, delta=value)
        else:
            body = self._body("text_completion", reason, None, tokens, text=value)
        if not self._usage:
            del body["usage"]
        return body

    def _body(
        self,
        kind: ObjectType,
        reason: FinishReason | None,
        counted: dict[str, Any] | None,
        tokens: int | None = None,
        **content: Any,
    ) -> dict[str, Any]:
        choice = {"index": 0, **content, "logprobs": self._logprobs(tokens), "finish_reason": reason}
        return {**self._head, "object": kind, "choices": [choice], "usage": counted}

    def _logprobs(self, tokens: int | None) -> dict[str, Any] | None:
        """The log-probabilities of the first ``tokens`` tokens (None: of all) that were not sent before, if any."""
        chosen = self._request.chosen[self._sent : tokens]
        self._sent += len(chosen)
        return self._logprob_formatter.format(chosen) if chosen else None


def usage(request: Request) -> dict[str, Any]:
    """The token counts of a request that has ended."""
    prompt, output = len(request.prompt), len(request.output)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": request.cached_tokens},
    }


def events(bodies: Sequence[dict[str, Any]]) -> bytes:
    """Encode bodies as server-sent events, one event each."""
    return b"".join(b"data: " + json.dumps(body).encode() + b"\n\n" for body in bodies)


DONE = b"data: [DONE]\n\n"


def model_card(name: str) -> dict[str, Any]:
    """The entry of a model in ``/v1/models``."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "rankzero"}


GAUGES = ("running", "waiting", "blocks", "blocks_used", "blocks_cached", "blocks_free")


def metrics_text(metrics: Mapping[str, int]) -> str:
    """Metrics in the text format of Prometheus."""
    lines = []
    for name, value in metrics.items():
        gauge = name in GAUGES
        full = f"rankzero_{name}" if gauge else f"rankzero_{name}_total"
        lines += [f"# TYPE {full} {'gauge' if gauge else 'counter'}", f"{full} {value}"]
    return "\n".join(lines) + "\n"
