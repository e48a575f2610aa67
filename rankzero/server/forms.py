"""Answers that must be JSON: the constraint of a request, from the parts that the server was built with.

Any JSON object takes the course's machine with a stack (:mod:`rankzero.json_machine`). A schema takes the part
``constraint``, which compiles it for the tokens of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankzero.json_machine import JsonConstraint, JsonMachine
from rankzero.server.engine import Engine
from rankzero.server.fields import Refused
from rankzero.server.parts import Constraint


def constraint_for(form: Mapping[str, Any], engine: Engine) -> Constraint:
    """A new constraint, before its first token.

    Args:
        form: a JSON schema; any object where it is empty.
        engine: with the tokens and the parts.

    Raises:
        Refused: the form is not one that the server can keep (400), or the part failed (500).
    """
    place = "response_format.json_schema.schema" if form else "response_format"
    if form and engine.parts.constraint is None:
        raise Refused(400, "this server knows no schemas: leave response_format out", place, "unsupported_value")
    vocabulary, eos = engine.tokenizer.vocabulary[: engine.model.config.vocab], engine.tokenizer.eos
    if eos >= len(vocabulary):
        raise Refused(400, "the model has no token that ends a text, so it keeps no form", place, "unsupported_value")
    try:
        if engine.parts.constraint is None or not form:
            return JsonConstraint(vocabulary, eos, JsonMachine(objects=True))
        return engine.parts.constraint(form, vocabulary, eos)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"{place} cannot be kept: {error}", place, "unsupported_value") from None
    except Exception as error:  # whatever a part raises: one request fails, and not the server
        raise Refused(500, f"the server's constraint has failed: {error!r}", place, "part_failed") from None
