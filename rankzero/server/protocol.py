"""The protocol of OpenAI's API, as far as this server speaks it: JSON in, JSON out, and what is refused.

Fields that are not named here are ignored. A field that is null counts as absent.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankzero.server.request import Request

#: Tokens of a completion that says nothing; a chat takes what the context has left.
DEFAULT_MAX_TOKENS = 16
MOST_STOPS = 4


class Refused(Exception):
    """A request that gets an error for an answer.

    Args:
        status: of HTTP.
        message: one sentence.
        parameter: the field that is wrong.
        code: a word for programs.
        retry_after: seconds after which it may work, for the header.
    """

    def __init__(
        self,
        status: int,
        message: str,
        parameter: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.parameter, self.code, self.retry_after = status, parameter, code, retry_after

    @property
    def kind(self) -> str:
        """The error's ``type``."""
        if self.status == 429:
            return "rate_limit_error"
        return "invalid_request_error" if self.status < 500 else "server_error"

    def body(self) -> dict[str, Any]:
        """The answer."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.parameter, "code": self.code}}


@dataclass(frozen=True)
class Ask:
    """A request that has been read.

    Attributes:
        chat: whether it came as messages.
        model: that it names.
        prompt: text, or tokens.
        max_tokens: None when it says nothing.
        sampling: the other arguments of :meth:`rankzero.server.Engine.submit`.
        stream: whether the answer comes piece by piece.
        usage: whether a stream ends with the count of tokens.
    """

    chat: bool
    model: str
    prompt: str | list[int]
    max_tokens: int | None
    sampling: dict[str, Any] = field(default_factory=dict)
    stream: bool = False
    usage: bool = False

    def limit(self, room: int) -> int:
        """The most tokens of the answer where ``room`` fit."""
        if self.max_tokens is not None:
            return self.max_tokens
        return room if self.chat else min(room, DEFAULT_MAX_TOKENS)


def read(body: bytes, chat: bool) -> Ask:
    """The request in the body of ``/v1/chat/completions`` or ``/v1/completions``.

    Raises:
        Refused: it is no JSON object, or a field is missing or wrong: status 400.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body must be JSON: {error}", code="invalid_json") from None
    if not isinstance(fields, dict):
        raise Refused(400, f"the body must be a JSON object, got {_kind(fields)}", code="invalid_json")
    fields = {name: value for name, value in fields.items() if value is not None}
    model = _typed(fields, "model", str)
    if model is None:
        raise Refused(400, "model is missing", "model", "missing")
    _number(fields, "n", int, 1, 1)
    prompt = _messages(fields) if chat else _prompt(fields)
    limits = [_number(fields, name, int, 1) for name in ("max_completion_tokens", "max_tokens")]
    limit = next((value for value in limits if value is not None), None)
    options = _typed(fields, "stream_options", dict) or {}
    usage = bool(_typed(options, "include_usage", bool, "stream_options."))
    return Ask(chat, model, prompt, limit, _sampling(fields), bool(_typed(fields, "stream", bool)), usage)


def _sampling(fields: Mapping[str, Any]) -> dict[str, Any]:
    temperature, top_p = _number(fields, "temperature", float, 0, 2), _number(fields, "top_p", float, 0, 1)
    if top_p == 0:
        raise Refused(400, "top_p must be above 0, got 0", "top_p", "out_of_range")
    return {
        "temperature": 1.0 if temperature is None else float(temperature),
        "top_p": 1.0 if top_p is None else float(top_p),
        "seed": _number(fields, "seed", int),
        "stop": _stops(fields.get("stop", [])),
        "ignore_eos": bool(_typed(fields, "ignore_eos", bool)),
    }


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        raise Refused(400, "stop must be a string or a list of strings, none of them empty", "stop", "wrong_type")
    if len(stops) > MOST_STOPS:
        raise Refused(400, f"stop must hold at most {MOST_STOPS} strings, got {len(stops)}", "stop", "out_of_range")
    return tuple(stops)


def _prompt(fields: Mapping[str, Any]) -> str | list[int]:
    value = fields.get("prompt")
    if value is None:
        raise Refused(400, "prompt is missing", "prompt", "missing")
    tokens = isinstance(value, list) and all(type(token) is int for token in value)
    if not isinstance(value, str) and not tokens:
        raise Refused(400, "prompt must be one string or one list of tokens", "prompt", "wrong_type")
    if not value:
        raise Refused(400, "prompt must not be empty", "prompt", "out_of_range")
    return value


def _messages(fields: Mapping[str, Any]) -> str:
    """The messages as one text that ends where the assistant begins to speak."""
    messages = _typed(fields, "messages", list)
    if not messages:
        raise Refused(400, "messages must hold at least one message", "messages", "missing")
    lines = [_line(message, f"messages[{place}]") for place, message in enumerate(messages)]
    return "\n".join([*lines, "assistant:"])


def _line(message: Any, place: str) -> str:
    if not isinstance(message, dict):
        raise Refused(400, f"{place} must be an object, got {_kind(message)}", place, "wrong_type")
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        raise Refused(400, f"{place}.role must be a string, got {_kind(role)}", f"{place}.role", "wrong_type")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        content = "".join(texts) if len(texts) == len(parts) else None
    if not isinstance(content, str):
        raise Refused(400, f"{place}.content must be text", f"{place}.content", "wrong_type")
    return f"{role}: {content}"


def _typed(fields: Mapping[str, Any], name: str, kind: type, prefix: str = "") -> Any:
    """A field of one type, or None."""
    value = fields.get(name)
    if value is not None and type(value) is not kind:
        where, words = prefix + name, {str: "a string", bool: "true or false", dict: "an object", list: "a list"}
        raise Refused(400, f"{where} must be {words[kind]}, got {_kind(value)}", where, "wrong_type")
    return value


def _number(fields: Mapping[str, Any], name: str, kind: type, low: float = -math.inf, high: float = math.inf) -> Any:
    """A field that is a number within limits, or None; a whole number is a float too, true is neither."""
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not kind and not (kind is float and type(value) is int):
        word = "a whole number" if kind is int else "a number"
        raise Refused(400, f"{name} must be {word}, got {_kind(value)}", name, "wrong_type")
    if not low <= fields[name] <= high:
        limits = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}" if low < high else f"{low:g}"
        raise Refused(400, f"{name} must be {limits}, got {_short(value)}", name, "out_of_range")
    return value


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge number"
    return text if len(text) <= 40 else text[:37] + "..."


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), f"the number {_short(value)}")


class Answer:
    """The answers to one request, in the words of its endpoint.

    Args:
        ask: the request.
        name: of the request in the engine.
    """

    def __init__(self, ask: Ask, name: str) -> None:
        self._chat, self._usage = ask.chat, ask.usage
        prefix = "chatcmpl" if ask.chat else "cmpl"
        self._head = {"id": f"{prefix}-{name}", "created": int(time.time()), "model": ask.model}

    def whole(self, request: Request) -> dict[str, Any]:
        """All of it at once."""
        if self._chat:
            message = {"role": "assistant", "content": request.text, "refusal": None}
            return self._body("chat.completion", request.finish_reason, usage(request), message=message)
        return self._body("text_completion", request.finish_reason, usage(request), text=request.text)

    def first(self) -> list[dict[str, Any]]:
        """What a stream begins with."""
        return [self._chunk({"role": "assistant", "content": ""})] if self._chat else []

    def piece(self, text: str) -> dict[str, Any]:
        """One piece of text."""
        return self._chunk({"content": text}) if self._chat else self._chunk(text)

    def last(self, request: Request) -> list[dict[str, Any]]:
        """What a stream ends with, before ``[DONE]``."""
        end = self._chunk({} if self._chat else "", request.finish_reason)
        if not self._usage:
            return [end]
        return [end, {**end, "choices": [], "usage": usage(request)}]

    def _chunk(self, value: dict[str, str] | str, reason: str | None = None) -> dict[str, Any]:
        kind, part = ("chat.completion.chunk", "delta") if self._chat else ("text_completion", "text")
        body = self._body(kind, reason, None, **{part: value})
        if not self._usage:
            del body["usage"]
        return body

    def _body(self, kind: str, reason: str | None, counted: dict[str, Any] | None, **content: Any) -> dict[str, Any]:
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": reason}
        return {**self._head, "object": kind, "choices": [choice], "usage": counted}


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

GAUGES = ("running", "waiting", "blocks", "blocks_used", "blocks_cached", "blocks_free")


def metrics_text(metrics: Mapping[str, int]) -> str:
    """The metrics, as Prometheus reads them."""
    lines = []
    for name, value in metrics.items():
        gauge = name in GAUGES
        full = f"rankzero_{name}" if gauge else f"rankzero_{name}_total"
        lines += [f"# TYPE {full} {'gauge' if gauge else 'counter'}", f"{full} {value}"]
    return "\n".join(lines) + "\n"
