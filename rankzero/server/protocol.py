"""Requests in the protocol of OpenAI's API, as far as this server speaks it; what it does not do, it refuses.

Two fields are the server's own: ``top_k`` and ``ignore_eos``. ``user`` changes no answer, here as there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankzero.server.fields import Fields, Refused, check_known, number, present, said, typed

#: Tokens of a completion that says nothing; a chat takes what the context has left.
DEFAULT_MAX_TOKENS = 16
MOST_STOPS = 4
#: The most alternatives beside each token, by endpoint.
MOST_LOGPROBS, MOST_TOP_LOGPROBS = 5, 20
ROLES = ("system", "developer", "user", "assistant")

#: What both endpoints do.
DONE = {
    *("model", "max_tokens", "temperature", "top_p", "top_k", "seed", "n", "stop", "stream", "stream_options"),
    *("logprobs", "user", "ignore_eos"),
}
#: What they do not do, with the values that ask for nothing.
IDLE: dict[str, tuple[Any, ...]] = {"frequency_penalty": (0, 0.0), "presence_penalty": (0, 0.0), "logit_bias": ({},)}

COMPLETION_DONE = DONE | {"prompt"}
COMPLETION_IDLE = IDLE | {"best_of": (1,), "echo": (False,), "suffix": ("",)}
CHAT_DONE = DONE | {"messages", "max_completion_tokens", "top_logprobs", "response_format"}
CHAT_IDLE = IDLE | {
    **{"tools": ([],), "tool_choice": ("none", "auto"), "parallel_tool_calls": (True, False)},
    **{"functions": ([],), "function_call": ("none", "auto"), "modalities": (["text"],), "audio": ()},
    **{"metadata": ({},), "store": (False,), "service_tier": ("auto", "default"), "prediction": ()},
    **{"reasoning_effort": (), "verbosity": (), "web_search_options": (), "moderation": ()},
    **{"safety_identifier": (), "prompt_cache_key": (), "prompt_cache_options": (), "prompt_cache_retention": ()},
}


@dataclass(frozen=True)
class Ask:
    """A request that has been read.

    Attributes:
        chat: whether it came as messages.
        model: that it names.
        prompt: text, or tokens.
        max_tokens: None when it says nothing.
        sampling: the other arguments of :meth:`rankzero.server.Engine.submit`.
        form: the text must be JSON: by this schema, or any object where it is empty; None leaves it free.
        stream: whether the answer comes piece by piece.
        usage: whether a stream ends with the count of tokens.
    """

    chat: bool
    model: str
    prompt: str | list[int]
    max_tokens: int | None
    sampling: dict[str, Any] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None
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
        Refused: it is no JSON object, or a field is missing, wrong, unknown or not done: status 400.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body must be JSON: {error}", code="invalid_json") from None
    if not isinstance(found, dict):
        raise Refused(400, f"the body must be a JSON object, got {said(found)}", code="invalid_json")
    fields = present(found)
    if chat:
        check_known(fields, CHAT_DONE, "/v1/chat/completions", CHAT_IDLE)
    else:
        check_known(fields, COMPLETION_DONE, "/v1/completions", COMPLETION_IDLE)
    model = typed(fields, "model", str)
    if model is None:
        raise Refused(400, "model is missing", "model", "missing")
    number(fields, "n", int, 1, 1)
    typed(fields, "user", str)
    prompt = _messages(fields) if chat else _prompt(fields)
    sampling = {**_sampling(fields), "logprobs": _top_logprobs(fields) if chat else _logprobs(fields)}
    form, stream = _form(fields), bool(typed(fields, "stream", bool))
    return Ask(chat, model, prompt, _limit(fields), sampling, form, stream, _usage(fields, stream))


def _limit(fields: Fields) -> int | None:
    """The most tokens of the answer, under either of its names; None when neither is there."""
    names = ("max_completion_tokens", "max_tokens")
    if all(name in fields for name in names):
        raise Refused(400, "max_completion_tokens and max_tokens say the same: send one", names[1], "conflict")
    limits = [number(fields, name, int, 1) for name in names]
    return next((limit for limit in limits if limit is not None), None)


def _usage(fields: Fields, stream: bool) -> bool:
    """Whether the stream ends with the count of tokens."""
    options = typed(fields, "stream_options", dict)
    if options is None:
        return False
    _check_part("stream_options", options, {"include_usage"}, {"include_obfuscation": (False,)})
    usage = bool(typed(options, "include_usage", bool, "stream_options."))
    if not stream:
        raise Refused(400, "stream_options needs stream to be true", "stream_options", "conflict")
    return usage


def _check_part(prefix: str, fields: Fields, done: set[str], idle: Mapping[str, tuple[Any, ...]] = {}) -> None:
    """Refuse what is unknown or not done among the fields of a field."""
    dotted = {f"{prefix}.{name}": value for name, value in present(fields).items()}
    idle = {f"{prefix}.{name}": values for name, values in idle.items()}
    check_known(dotted, {f"{prefix}.{name}" for name in done}, prefix, idle)


def _sampling(fields: Fields) -> dict[str, Any]:
    temperature, top_p = number(fields, "temperature", float, 0, 2), number(fields, "top_p", float, 0, 1)
    if top_p == 0:
        raise Refused(400, "top_p must be above 0, got 0", "top_p", "out_of_range")
    return {
        "temperature": 1.0 if temperature is None else float(temperature),
        "top_p": 1.0 if top_p is None else float(top_p),
        "top_k": number(fields, "top_k", int, 0) or 0,
        "seed": number(fields, "seed", int),
        "stop": _stops(fields.get("stop", [])),
        "ignore_eos": bool(typed(fields, "ignore_eos", bool)),
    }


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        raise Refused(400, "stop must be a string or a list of strings, none of them empty", "stop", "wrong_type")
    if len(stops) > MOST_STOPS:
        raise Refused(400, f"stop must hold at most {MOST_STOPS} strings, got {len(stops)}", "stop", "out_of_range")
    return tuple(stops)


def _logprobs(fields: Fields) -> int | None:
    """Of a completion: how many alternatives beside each token; None asks for no log-probabilities."""
    found: int | None = number(fields, "logprobs", int, 0, MOST_LOGPROBS)
    return found


def _top_logprobs(fields: Fields) -> int | None:
    """The same of a chat, where two fields say it."""
    wanted = typed(fields, "logprobs", bool)
    count = number(fields, "top_logprobs", int, 0, MOST_TOP_LOGPROBS)
    if count is not None and not wanted:
        raise Refused(400, "top_logprobs needs logprobs to be true", "top_logprobs", "conflict")
    return (count or 0) if wanted else None


def _form(fields: Fields) -> Mapping[str, Any] | None:
    """The schema that the answer must fit; empty for any JSON object, None for free text."""
    form = typed(fields, "response_format", dict)
    if form is None:
        return None
    kind, place = typed(form, "type", str, "response_format."), "response_format.type"
    if kind not in ("text", "json_object", "json_schema"):
        sentence = f"{place} must be text, json_object or json_schema, got {said(kind)}"
        raise Refused(400, sentence, place, "missing" if kind is None else "out_of_range")
    _check_part("response_format", form, {"type", "json_schema"} if kind == "json_schema" else {"type"})
    if kind == "text":
        return None
    for name in ("stop", "ignore_eos"):
        if fields.get(name):
            raise Refused(400, f"{name} would break the form of response_format: leave it out", name, "conflict")
    return _schema(form) if kind == "json_schema" else {}


def _schema(form: Fields) -> Mapping[str, Any]:
    prefix = "response_format.json_schema"
    wrapped = typed(form, "json_schema", dict, "response_format.")
    if wrapped is None:
        raise Refused(400, f"{prefix} is missing", prefix, "missing")
    _check_part(prefix, wrapped, {"name", "schema", "strict"})
    typed(wrapped, "strict", bool, f"{prefix}.")  # the answer fits in either case
    for name, kind in (("name", str), ("schema", dict)):
        if not typed(wrapped, name, kind, f"{prefix}."):
            raise Refused(400, f"{prefix}.{name} must be there and not be empty", f"{prefix}.{name}", "missing")
    schema: Mapping[str, Any] = wrapped["schema"]
    return schema


def _prompt(fields: Fields) -> str | list[int]:
    value = fields.get("prompt")
    if value is None:
        raise Refused(400, "prompt is missing", "prompt", "missing")
    tokens = isinstance(value, list) and all(type(token) is int for token in value)
    if not isinstance(value, str) and not tokens:
        raise Refused(400, "prompt must be one string or one list of tokens", "prompt", "wrong_type")
    if not value:
        raise Refused(400, "prompt must not be empty", "prompt", "out_of_range")
    return value


def _messages(fields: Fields) -> str:
    """The messages as one text that ends where the assistant begins to speak."""
    messages = typed(fields, "messages", list)
    if not messages:
        raise Refused(400, "messages must hold at least one message", "messages", "missing")
    lines = [_line(message, f"messages[{place}]") for place, message in enumerate(messages)]
    return "\n".join([*lines, "assistant:"])


def _line(message: Any, place: str) -> str:
    if not isinstance(message, dict):
        raise Refused(400, f"{place} must be an object, got {said(message)}", place, "wrong_type")
    _check_part(place, message, {"role", "content"}, {"tool_calls": ([],), "annotations": ([],)})
    role, content = typed(message, "role", str, f"{place}."), message.get("content")
    if role not in ROLES:
        sentence = f"{place}.role must be one of {', '.join(ROLES)}, got {said(role)}"
        raise Refused(400, sentence, f"{place}.role", "missing" if role is None else "out_of_range")
    if isinstance(content, list):
        content = "".join(_text(part, f"{place}.content[{at}]") for at, part in enumerate(content))
    if not isinstance(content, str):
        raise Refused(400, f"{place}.content must be text, got {said(content)}", f"{place}.content", "wrong_type")
    return f"{role}: {content}"


def _text(part: Any, place: str) -> str:
    """A part of a message, which must be text."""
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        raise Refused(400, f"{place} must be an object of type text with a text, got {said(part)}", place, "wrong_type")
    _check_part(place, part, {"type", "text"})
    text: str = part["text"]
    return text
