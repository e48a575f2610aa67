"""Fields of a request, one by one: which are known, of which type, within which limits, and the error for the rest.

A field that is null counts as absent, as in OpenAI's API.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

Fields = Mapping[str, Any]


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


def present(fields: Fields) -> dict[str, Any]:
    """The fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}


def check_known(fields: Fields, done: Collection[str], where: str, idle: Mapping[str, tuple[Any, ...]] = {}) -> None:
    """Refuse a field that nobody would look at.

    Args:
        fields: that are present.
        done: names that the server acts on.
        where: in the error: of which object these are the fields.
        idle: other names that OpenAI's API has here, each with the values that ask for nothing; those are let pass.
    """
    for name, value in fields.items():
        if name not in done and name not in idle:
            raise Refused(400, f"{name} is not a field of {where}", name, "unknown_parameter")
        if name not in done and not any(type(value) is type(no) and value == no for no in idle[name]):
            sentence = f"this server does not do {name}, got {said(value)}: leave it out"
            raise Refused(400, sentence, name, "unsupported_parameter")


def typed(fields: Fields, name: str, kind: type, prefix: str = "") -> Any:
    """A field of one type, or None."""
    value = fields.get(name)
    if value is not None and type(value) is not kind:
        where, words = prefix + name, {str: "a string", bool: "true or false", dict: "an object", list: "a list"}
        raise Refused(400, f"{where} must be {words[kind]}, got {said(value)}", where, "wrong_type")
    return value


def number(fields: Fields, name: str, kind: type, low: float = -math.inf, high: float = math.inf) -> Any:
    """A field that is a number within limits, or None; a whole number is a float too, true is neither."""
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not kind and not (kind is float and type(value) is int):
        word = "a whole number" if kind is int else "a number"
        raise Refused(400, f"{name} must be {word}, got {said(value)}", name, "wrong_type")
    if not low <= fields[name] <= high:
        limits = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}" if low < high else f"{low:g}"
        raise Refused(400, f"{name} must be {limits}, got {_short(value)}", name, "out_of_range")
    return value


def said(value: Any) -> str:
    """A value of JSON in words that are never long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {dict: "an object", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or ("the string " if isinstance(value, str) else "the number ") + _short(value)


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge number"
    return text if len(text) <= 40 else text[:37] + "..."
