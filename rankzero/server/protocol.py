"""Requests in the protocol of OpenAI's API, as far as this server supports it; everything else is refused.

Two fields are not OpenAI's but the server's own: ``top_k`` and ``ignore_eos``. ``user`` is accepted and has no effect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rankzero.server.fields import Fields, Refused, check_known, describe, number, present, typed
from rankzero.server.request import SamplingOptions

#: The token limit of a completion that sets none; a chat may fill the rest of the context.
DEFAULT_MAX_TOKENS = 16
MAX_STOPS = 4
#: How many alternatives to each token a completion and a chat may ask for.
MAX_LOGPROBS, MAX_TOP_LOGPROBS = 5, 20

Role = Literal["system", "developer", "user", "assistant"]
FormatType = Literal["text", "json_object", "json_schema"]

#: Fields that both endpoints act on.
SUPPORTED = {
    *("model", "max_tokens", "temperature", "top_p", "top_k", "seed", "n", "stop", "stream", "stream_options"),
    *("logprobs", "user", "ignore_eos"),
}
#: Fields of OpenAI's API that neither endpoint supports, with the values that ask for nothing and are accepted.
UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0, 0.0),
    "presence_penalty": (0, 0.0),
    "logit_bias": ({},),
}

COMPLETION_SUPPORTED = SUPPORTED | {"prompt"}
COMPLETION_UNSUPPORTED = UNSUPPORTED | {"best_of": (1,), "echo": (False,), "suffix": ("",)}
CHAT_SUPPORTED = SUPPORTED | {"messages", "max_completion_tokens", "top_logprobs", "response_format"}
CHAT_UNSUPPORTED = UNSUPPORTED | {
    **{"tools": ([],), "tool_choice": ("none", "auto"), "parallel_tool_calls": (True, False)},
    **{"functions": ([],), "function_call": ("none", "auto"), "modalities": (["text"],), "audio": ()},
    **{"metadata": ({},), "store": (False,), "service_tier": ("auto", "default"), "prediction": ()},
    **{"reasoning_effort": (), "verbosity": (), "web_search_options": (), "moderation": ()},
    **{"safety_identifier": (), "prompt_cache_key": (), "prompt_cache_options": (), "prompt_cache_retention": ()},
}


@dataclass(frozen=True)
class ApiRequest:
    """A request that has been read and checked.

    Attributes:
        chat: whether it came to the endpoint of chats.
        model: the model it names.
        prompt: text or tokens.
        max_tokens: the token limit of the answer; None when the request sets none.
        sampling: the sampling arguments of :meth:`rankzero.server.Engine.submit`.
        schema: the JSON schema that the answer must fit; empty for any JSON object, None for free text.
        stream: whether to send the answer piece by piece.
        usage: whether a stream ends with the number of tokens.
    """

    chat: bool
    model: str
    prompt: str | list[int]
    max_tokens: int | None
    sampling: SamplingOptions
    schema: Mapping[str, Any] | None = None
    stream: bool = False
    usage: bool = False

    def limit(self, room: int) -> int:
        """The token limit of the answer when there is room for ``room`` tokens."""
        if self.max_tokens is not None:
            return self.max_tokens
        return room if self.chat else min(room, DEFAULT_MAX_TOKENS)


def read(body: bytes, chat: bool) -> ApiRequest:
    """Read the body of a request to ``/v1/chat/completions`` or, unless ``chat``, to ``/v1/completions``.

    Raises:
        Refused: the body is not a JSON object, or a field is missing, wrong, unknown or not supported (status 400).
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body must be JSON: {error}", code="invalid_json") from None
    if not isinstance(found, dict):
        raise Refused(400, f"the body must be a JSON object, got {describe(found)}", code="invalid_json")
    fields = present(found)
    if chat:
        check_known(fields, CHAT_SUPPORTED, "/v1/chat/completions", CHAT_UNSUPPORTED)
    else:
        check_known(fields, COMPLETION_SUPPORTED, "/v1/completions", COMPLETION_UNSUPPORTED)
    model = typed(fields, "model", str)
    if model is None:
        raise Refused(400, "model is missing", "model", "missing")
    number(fields, "n", int, 1, 1)
    typed(fields, "user", str)
    prompt = _messages(fields) if chat else _prompt(fields)
    sampling = _sampling(fields, chat)
    schema, stream = _response_format(fields), bool(typed(fields, "stream", bool))
    return ApiRequest(chat, model, prompt, _limit(fields), sampling, schema, stream, _usage(fields, stream))


def _limit(fields: Fields) -> int | None:
    """The token limit, which has two names; None when neither is present."""
    names = ("max_completion_tokens", "max_tokens")
    if all(name in fields for name in names):
        raise Refused(400, "max_completion_tokens and max_tokens mean the same: send only one", names[1], "conflict")
    limits = [number(fields, name, int, 1) for name in names]
    return next((limit for limit in limits if limit is not None), None)


def _usage(fields: Fields, stream: bool) -> bool:
    """Whether the stream ends with the number of tokens."""
    options = typed(fields, "stream_options", dict)
    if options is None:
        return False
    _check_part("stream_options", options, {"include_usage"}, {"include_obfuscation": (False,)})
    usage = bool(typed(options, "include_usage", bool, "stream_options."))
    if not stream:
        raise Refused(400, "stream_options needs stream to be true", "stream_options", "conflict")
    return usage


def _check_part(
    prefix: str, fields: Fields, supported: set[str], unsupported: Mapping[str, tuple[Any, ...]] = {}
) -> None:
    """Like ``check_known``, for an object inside the request."""
    dotted = {f"{prefix}.{name}": value for name, value in present(fields).items()}
    unsupported = {f"{prefix}.{name}": values for name, values in unsupported.items()}
    check_known(dotted, {f"{prefix}.{name}" for name in supported}, prefix, unsupported)


def _sampling(fields: Fields, chat: bool) -> SamplingOptions:
    temperature, top_p = number(fields, "temperature", float, 0, 2), number(fields, "top_p", float, 0, 1)
    if top_p == 0:
        raise Refused(400, "top_p must be above 0, got 0", "top_p", "out_of_range")
    return {
        "temperature": 1.0 if temperature is None else temperature,
        "top_p": 1.0 if top_p is None else top_p,
        "top_k": number(fields, "top_k", int, 0) or 0,
        "seed": number(fields, "seed", int),
        "stop": _stops(fields.get("stop", [])),
        "ignore_eos": bool(typed(fields, "ignore_eos", bool)),
        "logprobs": _top_logprobs(fields) if chat else _logprobs(fields),
    }


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        rule = f"stop must be a string or a list of strings, none of them empty, got {describe(value)}"
        raise Refused(400, rule, "stop", "wrong_type")
    if len(stops) > MAX_STOPS:
        raise Refused(400, f"stop must hold at most {MAX_STOPS} strings, got {len(stops)}", "stop", "out_of_range")
    return tuple(stops)


def _logprobs(fields: Fields) -> int | None:
    """How many alternatives to each token a completion asks for; None when it wants no log-probabilities at all."""
    return number(fields, "logprobs", int, 0, MAX_LOGPROBS)


def _top_logprobs(fields: Fields) -> int | None:
    """The same for a chat, which uses two fields."""
    wanted = typed(fields, "logprobs", bool)
    count = number(fields, "top_logprobs", int, 0, MAX_TOP_LOGPROBS)
    if count is not None and not wanted:
        raise Refused(400, "top_logprobs needs logprobs to be true", "top_logprobs", "conflict")
    return (count or 0) if wanted else None


def _response_format(fields: Fields) -> Mapping[str, Any] | None:
    """The JSON schema that the answer must fit; empty for any JSON object, None for free text."""
    form = typed(fields, "response_format", dict)
    if form is None:
        return None
    kind, place = typed(form, "type", str, "response_format."), "response_format.type"
    if kind not in get_args(FormatType):
        sentence = f"{place} must be one of {', '.join(get_args(FormatType))}, got {describe(kind)}"
        raise Refused(400, sentence, place, "missing" if kind is None else "out_of_range")
    _check_part("response_format", form, {"type", "json_schema"} if kind == "json_schema" else {"type"})
    if kind == "text":
        return None
    for name in ("stop", "ignore_eos"):
        if fields.get(name):
            raise Refused(
                400, f"{name} could break the form that response_format asks for: leave it out", name, "conflict"
            )
    return _schema(form) if kind == "json_schema" else {}


def _schema(form: Fields) -> Mapping[str, Any]:
    prefix = "response_format.json_schema"
    wrapped = typed(form, "json_schema", dict, "response_format.")
    if wrapped is None:
        raise Refused(400, f"{prefix} is missing", prefix, "missing")
    _check_part(prefix, wrapped, {"name", "schema", "strict"})
    typed(wrapped, "strict", bool, f"{prefix}.")  # has no effect: the answer always fits
    name, schema = typed(wrapped, "name", str, f"{prefix}."), typed(wrapped, "schema", dict, f"{prefix}.")
    if not name:
        raise Refused(400, f"{prefix}.name must be present and not empty", f"{prefix}.name", "missing")
    if not schema:
        raise Refused(400, f"{prefix}.schema must be present and not empty", f"{prefix}.schema", "missing")
    return schema


def _prompt(fields: Fields) -> str | list[int]:
    value = fields.get("prompt")
    if value is None:
        raise Refused(400, "prompt is missing", "prompt", "missing")
    tokens = isinstance(value, list) and all(type(token) is int for token in value)
    if not isinstance(value, str) and not tokens:
        sentence = f"prompt must be one string or one list of tokens, got {describe(value)}"
        raise Refused(400, sentence, "prompt", "wrong_type")
    if not value:
        raise Refused(400, "prompt must not be empty", "prompt", "out_of_range")
    return value


def _messages(fields: Fields) -> str:
    """The messages as one text that ends where the assistant begins to speak."""
    messages = typed(fields, "messages", list)
    if not messages:
        raise Refused(400, "messages must hold at least one message", "messages", "missing")
    lines = [_line(message, f"messages[{index}]") for index, message in enumerate(messages)]
    return "\n".join([*lines, "assistant:"])


def _line(message: Any, place: str) -> str:
    """One message as text."""
    if not isinstance(message, dict):
        raise Refused(400, f"{place} must be an object, got {describe(message)}", place, "wrong_type")
    _check_part(place, message, {"role", "content"}, {"tool_calls": ([],), "annotations": ([],)})
    role, content = typed(message, "role", str, f"{place}."), message.get("content")
    if role not in get_args(Role):
        sentence = f"{place}.role must be one of {', '.join(get_args(Role))}, got {describe(role)}"
        raise Refused(400, sentence, f"{place}.role", "missing" if role is None else "out_of_range")
    if isinstance(content, list):
        content = "".join(_text(part, f"{place}.content[{index}]") for index, part in enumerate(content))
    if not isinstance(content, str):
        raise Refused(400, f"{place}.content must be text, got {describe(content)}", f"{place}.content", "wrong_type")
    return f"{role}: {content}"


def _text(part: Any, place: str) -> str:
    """The text of one part of a message; other kinds of parts are refused."""
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        sentence = f"{place} must be an object of type text that has a text, got {describe(part)}"
        raise Refused(400, sentence, place, "wrong_type")
    _check_part(place, part, {"type", "text"})
    text: str = part["text"]
    return text
