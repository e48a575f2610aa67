"""Checks for single fields of a request (known, of the right type, within limits) and the error for those that fail.

A field that is null counts as absent, as in OpenAI's API.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar

Fields = Mapping[str, Any]
Value = TypeVar("Value", str, bool, dict[str, Any], list[Any])
Number = TypeVar("Number", int, float)

ErrorType = Literal["invalid_request_error", "rate_limit_error", "server_error"]
ErrorCode = Literal[
    "aborted",
    "conflict",
    "context_length_exceeded",
    "engine_failed",
    "invalid_json",
    "invalid_text",
    "invalid_value",
    "missing",
    "model_not_found",
    "out_of_range",
    "part_failed",
    "queue_full",
    "shutting_down",
    "too_large",
    "unknown_parameter",
    "unsupported_parameter",
    "unsupported_value",
    "wrong_type",
]


class Refused(Exception):
    """The server answers a request with an error.

    Args:
        status: HTTP status code.
        message: one sentence.
        parameter: the field that is wrong.
        code: the reason, for programs.
        retry_after: seconds after which the client may try again, for the ``Retry-After`` header.
    """

    def __init__(
        self,
        status: int,
        message: str,
        parameter: str | None = None,
        code: ErrorCode | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.parameter, self.code, self.retry_after = status, parameter, code, retry_after

    @property
    def kind(self) -> ErrorType:
        """The ``type`` that the body gives the error."""
        if self.status == 429:
            return "rate_limit_error"
        return "invalid_request_error" if self.status < 500 else "server_error"

    def body(self) -> dict[str, Any]:
        """The body of the response, as JSON."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.parameter, "code": self.code}}


def present(fields: Fields) -> dict[str, Any]:
    """The fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}


def check_known(
    fields: Fields, supported: Collection[str], where: str, unsupported: Mapping[str, tuple[Any, ...]] = {}
) -> None:
    """Refuse fields that the server would otherwise ignore without a word.

    Args:
        fields: those that are not null.
        supported: names of the fields that the server acts on.
        where: the object that holds the fields, as the error names it.
        unsupported: other fields that OpenAI's API has here, each with the values that ask for nothing; only those
            values are accepted.
    """
    for name, value in fields.items():
        if name not in supported and name not in unsupported:
            raise Refused(400, f"{name} is not a field of {where}", name, "unknown_parameter")
        if name not in supported and not any(type(value) is type(idle) and value == idle for idle in unsupported[name]):
            sentence = f"this server does not support {name}, got {describe(value)}: leave it out"
            raise Refused(400, sentence, name, "unsupported_parameter")


def typed(fields: Fields, name: str, kind: type[Value], prefix: str = "") -> Value | None:
    """The value of a field, which must have exactly this type; None when the field is absent."""
    value = fields.get(name)
    if value is not None and type(value) is not kind:
        where, words = prefix + name, {str: "a string", bool: "true or false", dict: "an object", list: "a list"}
        raise Refused(400, f"{where} must be {words[kind]}, got {describe(value)}", where, "wrong_type")
    return value


def number(
    fields: Fields, name: str, kind: type[Number], low: float = -math.inf, high: float = math.inf
) -> Number | None:
    """The value of a field, which must be a number within limits; None when the field is absent.

    An integer counts as a float too; true and false are not numbers.
    """
    value = fields.get(name)
    if value is None:
        return None
    right_type = type(value) is kind or (kind is float and type(value) is int)
    if not right_type or not low <= value <= high:
        rule = f"must be {_limits(kind, low, high)}, got {describe(value)}"
        raise Refused(400, f"{name} {rule}", name, "out_of_range" if right_type else "wrong_type")
    return kind(value)


def _limits(kind: type[float], low: float, high: float) -> str:
    if low == high:
        return f"{low:g}"
    word = "an integer" if kind is int else "a number"
    if high < math.inf:
        return f"{word} from {low:g} to {high:g}"
    return f"{word} >= {low:g}" if low > -math.inf else word


def describe(value: Any) -> str:
    """A JSON value in a few words, for an error."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a huge number"
    text = {dict: "an object", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
