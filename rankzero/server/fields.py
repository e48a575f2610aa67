"""Objects of a request, checked by pydantic, and the error for fields that fail.

pydantic runs in its strict mode, where a value must have exactly the type that its field declares. What it finds
becomes one sentence that names the field, the value and the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, WrapValidator, model_validator
from pydantic_core import PydanticCustomError

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


class Form(BaseModel):
    """An object in a request. It holds known fields only, and a field that is null counts as absent.

    Attributes:
        unsupported: fields that OpenAI's API has here and the server does not support, each with the values that ask
            for nothing; only those values are accepted.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    unsupported: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _present(cls, fields: Any) -> Any:
        """Leave out fields that are null or ask for nothing."""
        if not isinstance(fields, dict):
            return fields
        found = {name: value for name, value in fields.items() if value is not None}
        for name, idle in cls.unsupported.items():
            if name in found and not any(type(found[name]) is type(value) and found[name] == value for value in idle):
                raise PydanticCustomError("unsupported_parameter", "unsupported", {"field": name})
        return {name: value for name, value in found.items() if name not in cls.unsupported}


def must_be(words: str) -> WrapValidator:
    """Report anything that is wrong with a field by the rule that it must be ``words``."""

    def check(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise PydanticCustomError(_code(error.errors()[0]["type"]), "must be {words}", {"words": words}) from None

    return WrapValidator(check)


def _code(kind: str) -> ErrorCode:
    """The code for one of pydantic's types of errors."""
    if kind == "extra_forbidden":
        return "unknown_parameter"
    if kind in get_args(ErrorCode):
        return cast(ErrorCode, kind)
    return "wrong_type" if kind.endswith("_type") else "missing" if "too_short" in kind else "out_of_range"


def refusal(validation_error: ValidationError, endpoint: str) -> Refused:
    """What pydantic found wrong in a request to an endpoint, as an answer to the client; unknown fields come first."""
    error = min(validation_error.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
    place, value, kind = error["loc"], error["input"], error["type"]
    if kind == "unsupported_parameter":
        name = error["ctx"]["field"]
        place, value = (*place, name), value[name]
    field, where, got = _dotted(place), _dotted(place[:-1]) or endpoint, f"got {describe(value)}"
    if not place:
        return Refused(400, f"the body must be a JSON object, {got}", code="invalid_json")
    rule = error["msg"].replace("Input should be", "must be")
    sentences = {
        "unsupported_parameter": f"this server does not support {field}, {got}: leave it out",
        "extra_forbidden": f"{field} is not a field of {where}",
        "missing": f"{field} is missing",
        "model_type": f"{field} must be an object, {got}",
        "too_short": f"{field} must not be empty",
        "string_too_short": f"{field} must not be empty",
    }
    return Refused(400, sentences.get(kind, f"{field} {rule}, {got}"), field, _code(kind))


def _dotted(place: tuple[int | str, ...]) -> str:
    """The path to a field: ``messages[0].role``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def describe(value: Any) -> str:
    """A JSON value in a few words, for an error."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a huge number"
    text = {dict: "an object", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
