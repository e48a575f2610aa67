"""Requests in the protocol of OpenAI's API, as far as this server supports it; everything else is refused.

Three fields are not OpenAI's but the server's own: ``top_k``, ``ignore_eos`` and, as in vLLM, ``cache_salt``. ``user``
is accepted and has no effect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import FailFast, Field, PlainValidator, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from rankzero.server.fields import Form, Refused, must_be, refusal
from rankzero.server.request import SamplingOptions

#: The token limit of a completion that sets none; a chat may fill the rest of the context.
DEFAULT_MAX_TOKENS = 16
MAX_STOPS = 4

#: Fields of OpenAI's API that neither endpoint supports, with the values that ask for nothing and are accepted.
UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0, 0.0),
    "presence_penalty": (0, 0.0),
    "logit_bias": ({},),
}

Nonempty = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, must_be("true or false")]
Positive = Annotated[int, Field(ge=1), must_be("an integer >= 1")]


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) and stop for stop in stops):
        raise PydanticCustomError("wrong_type", "must be a string or a list of strings, none of them empty")
    if len(stops) > MAX_STOPS:
        raise Refused(400, f"stop must hold at most {MAX_STOPS} strings, got {len(stops)}", "stop", "out_of_range")
    return tuple(stops)


def _prompt(value: Any) -> str | list[int]:
    if not isinstance(value, str) and not (isinstance(value, list) and all(type(token) is int for token in value)):
        raise PydanticCustomError("wrong_type", "must be one string or one list of tokens")
    if not value:
        raise Refused(400, "prompt must not be empty", "prompt", "out_of_range")
    return value


class StreamOptions(Form):
    """What a stream sends besides the answer."""

    unsupported: ClassVar = {"include_obfuscation": (False,)}
    include_usage: Flag = False


class SharedFields(Form):
    """The fields that both endpoints support."""

    model: str
    max_tokens: Positive | None = None
    temperature: Annotated[float, Field(ge=0, le=2), must_be("a number from 0 to 2")] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1), must_be("a number above 0 and at most 1")] = 1.0
    top_k: Annotated[int, Field(ge=0), must_be("an integer >= 0")] = 0
    seed: int | None = None
    n: Annotated[int, Field(ge=1, le=1), must_be("1")] = 1
    stop: Annotated[tuple[str, ...], PlainValidator(_stops)] = ()
    stream: Flag = False
    stream_options: StreamOptions | None = None
    user: str | None = None
    ignore_eos: Flag = False
    cache_salt: Nonempty | None = None

    @model_validator(mode="after")
    def _check_stream(self) -> Self:
        if self.stream_options and not self.stream:
            raise Refused(400, "stream_options needs stream to be true", "stream_options", "conflict")
        return self

    @property
    def limit_field(self) -> str:
        """The field that limits the tokens of the answer, as it stands in an error."""
        return "max_tokens"

    @property
    def usage(self) -> bool:
        """Whether a stream ends with the number of tokens."""
        return self.stream_options is not None and self.stream_options.include_usage


class CompletionRequest(SharedFields):
    """A request to ``/v1/completions``."""

    chat: ClassVar = False
    unsupported: ClassVar = UNSUPPORTED | {"best_of": (1,), "echo": (False,), "suffix": ("",)}

    prompt: Annotated[str | list[int], PlainValidator(_prompt)]
    logprobs: Annotated[int, Field(ge=0, le=5), must_be("an integer from 0 to 5")] | None = None

    @property
    def alternatives(self) -> int | None:
        """How many alternatives to each token it asks for; None when it wants no log-probabilities at all."""
        return self.logprobs

    @property
    def answer_schema(self) -> None:
        """Completions are free text."""

    def limit(self, room: int) -> int:
        """The token limit of the answer when there is room for ``room`` tokens."""
        return self.max_tokens or min(room, DEFAULT_MAX_TOKENS)


class TextPart(Form):
    """A part of a message. The server supports no other kinds."""

    type: Literal["text"]
    text: str


class Message(Form):
    """A message of a chat."""

    unsupported: ClassVar = {"tool_calls": ([],), "annotations": ([],)}

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[list[TextPart], FailFast()]

    @field_validator("content", mode="before")
    @classmethod
    def _as_parts(cls, content: Any) -> Any:
        """A string is short for one part."""
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        if not isinstance(content, list):
            raise PydanticCustomError("wrong_type", "must be text")
        return content

    def __str__(self) -> str:
        return f"{self.role}: {''.join(part.text for part in self.content)}"


class NamedSchema(Form):
    """A JSON schema. ``strict`` has no effect: the answer always fits."""

    name: Nonempty
    schema_: Annotated[dict[str, Any], Field(alias="schema", min_length=1), must_be("an object that is not empty")]
    strict: Flag = False


class ResponseFormat(Form):
    """The form of an answer."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        place = "response_format.json_schema"
        if self.type == "json_schema" and not self.json_schema:
            raise Refused(400, f"{place} is missing", place, "missing")
        if self.type != "json_schema" and self.json_schema:
            raise Refused(400, f"{place} needs type to be json_schema, got {self.type}", place, "conflict")
        return self


class ChatRequest(SharedFields):
    """A request to ``/v1/chat/completions``."""

    chat: ClassVar = True
    unsupported: ClassVar = UNSUPPORTED | {
        **{"tools": ([],), "tool_choice": ("none", "auto"), "parallel_tool_calls": (True, False)},
        **{"functions": ([],), "function_call": ("none", "auto"), "modalities": (["text"],), "audio": ()},
        **{"metadata": ({},), "store": (False,), "service_tier": ("auto", "default"), "prediction": ()},
        **{"reasoning_effort": (), "verbosity": (), "web_search_options": (), "moderation": ()},
        **{"safety_identifier": (), "prompt_cache_key": (), "prompt_cache_options": (), "prompt_cache_retention": ()},
    }

    messages: Annotated[list[Message], Field(min_length=1), FailFast()]
    max_completion_tokens: Positive | None = None
    logprobs: Flag = False
    top_logprobs: Annotated[int, Field(ge=0, le=20), must_be("an integer from 0 to 20")] | None = None
    response_format: ResponseFormat | None = None

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        """Refuse fields that contradict each other."""
        if self.max_tokens and self.max_completion_tokens:
            sentence = "max_completion_tokens and max_tokens mean the same: send only one"
            raise Refused(400, sentence, "max_tokens", "conflict")
        if self.top_logprobs is not None and not self.logprobs:
            raise Refused(400, "top_logprobs needs logprobs to be true", "top_logprobs", "conflict")
        for name in ("stop", "ignore_eos"):
            if self.answer_schema is not None and getattr(self, name):
                sentence = f"{name} could break the form that response_format asks for: leave it out"
                raise Refused(400, sentence, name, "conflict")
        return self

    @property
    def prompt(self) -> str:
        """The messages as one text that ends where the assistant begins to speak."""
        return "\n".join([*map(str, self.messages), "assistant:"])

    @property
    def alternatives(self) -> int | None:
        """How many alternatives to each token it asks for; None when it wants no log-probabilities at all."""
        return (self.top_logprobs or 0) if self.logprobs else None

    @property
    def answer_schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the answer must fit; empty for any JSON object, None for free text."""
        if self.response_format is None or self.response_format.type == "text":
            return None
        return self.response_format.json_schema.schema_ if self.response_format.json_schema else {}

    @property
    def limit_field(self) -> str:
        """The field that limits the tokens of the answer: the one that was sent."""
        return "max_completion_tokens" if self.max_completion_tokens else "max_tokens"

    def limit(self, room: int) -> int:
        """The token limit of the answer when there is room for ``room`` tokens."""
        return self.max_completion_tokens or self.max_tokens or room


ApiRequest: TypeAlias = CompletionRequest | ChatRequest


def sampling(asked: ApiRequest) -> SamplingOptions:
    """The sampling arguments of :meth:`rankzero.server.Engine.submit`."""
    return {
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "top_k": asked.top_k,
        "seed": asked.seed,
        "stop": asked.stop,
        "ignore_eos": asked.ignore_eos,
        "logprobs": asked.alternatives,
    }


def read(body: bytes, chat: bool) -> ApiRequest:
    """Read the body of a request to ``/v1/chat/completions`` or, unless ``chat``, to ``/v1/completions``.

    Raises:
        Refused: the body is not a JSON object, or a field is missing, wrong, unknown or not supported (status 400).
    """
    kind = ChatRequest if chat else CompletionRequest
    endpoint = "/v1/chat/completions" if chat else "/v1/completions"
    try:
        return kind.model_validate(json.loads(body))
    except ValidationError as error:
        raise refusal(error, endpoint) from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body must be JSON: {error}", code="invalid_json") from None
