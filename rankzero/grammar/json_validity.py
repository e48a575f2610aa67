"""Whether generated text is valid JSON, decided by ``json.loads`` and ``jsonschema`` and not by the course's own code.

>>> json_fault('{"age": 3', {"type": "object"})
"not JSON: Expecting ',' delimiter: line 1 column 10 (char 9)"
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_fault(text: str, schema: Mapping[str, Any] | None = None) -> str | None:
    """What is wrong with ``text`` as JSON, or with its value under ``schema``; None if nothing is wrong.

    Raises:
        ModuleNotFoundError: a schema is given and ``jsonschema`` is not installed.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    if schema is None:
        return None
    import jsonschema

    fault = next(iter(jsonschema.Draft202012Validator(dict(schema)).iter_errors(value)), None)
    return None if fault is None else f"against the schema: {fault.message}"
