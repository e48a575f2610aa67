"""Constraints on answers that must be JSON.

"Any JSON object" uses the course's pushdown automaton (:mod:`rankzero.grammar.json_automaton`). A JSON schema uses the
server's part ``constraint``, which compiles the schema for the model's tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankzero.grammar.json_automaton import JsonConstraint, JsonMachine
from rankzero.server.engine import Engine
from rankzero.server.fields import Refused
from rankzero.server.parts import Constraint


def constraint_for(schema: Mapping[str, Any], engine: Engine) -> Constraint:
    """A new constraint, before its first token.

    Args:
        schema: a JSON schema; an empty one allows any JSON object.
        engine: supplies the tokenizer and the parts.

    Raises:
        Refused: the server cannot enforce the schema (400), or its part ``constraint`` failed (500).
    """
    place = "response_format.json_schema.schema" if schema else "response_format"
    if schema and engine.parts.constraint is None:
        raise Refused(400, "this server supports no schemas: leave response_format out", place, "unsupported_value")
    vocabulary, eos = engine.tokenizer.vocabulary[: engine.model.config.vocab], engine.tokenizer.eos
    if eos >= len(vocabulary):
        sentence = "the model has no end-of-sequence token, so its answers cannot be constrained"
        raise Refused(400, sentence, place, "unsupported_value")
    try:
        if engine.parts.constraint is None or not schema:
            return JsonConstraint(vocabulary, eos, JsonMachine(objects=True))
        return engine.parts.constraint(schema, vocabulary, eos)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"{place} cannot be enforced: {error}", place, "unsupported_value") from None
    except Exception as error:  # a broken part fails this request, not the server
        raise Refused(500, f"the server's part `constraint` failed: {error!r}", place, "part_failed") from None
