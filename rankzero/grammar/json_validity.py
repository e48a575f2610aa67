"""The judge of generated JSON: ``json.loads`` and the library ``jsonschema``. Nothing of the course decides.

>>> json_fault('{"age": 3', {"type": "object"})
"no JSON: Expecting ',' delimiter: line 1 column 10 (char 9)"
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_fault(text: str, schema: Mapping[str, Any] | None = None) -> str | None:
    """What is wrong with ``text`` as JSON, or with its value by ``schema``; None when nothing is.

    Raises:
        ModuleNotFoundError: a schema is given and ``jsonschema`` is not installed.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        return f"no JSON: {error}"
    if schema is None:
        return None
    import jsonschema

    fault = next(iter(jsonschema.Draft202012Validator(dict(schema)).iter_errors(value)), None)
    return None if fault is None else f"not by the schema: {fault.message}"
