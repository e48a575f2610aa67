"""Wrong programs for ``schema_to_regex``: one mistake in each. Each is an edit, or complete in itself."""

# mypy: ignore-errors


def slip_leading_zeros(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_leading_zeros(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_leading_zeros(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?[0-9]{1,9}", "boolean": "(true|false)", "null": "null"}[kind]


def slip_no_negative(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_no_negative(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_no_negative(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_trailing_comma(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_trailing_comma(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_trailing_comma(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        return rf"\[({item},?){{{least},{most}}}\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_unescaped(schema):
    import json

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_unescaped(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_unescaped(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_repr(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(re.escape(repr(value)) for value in schema["enum"]) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_repr(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_repr(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_ascii_keys(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_ascii_keys(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_ascii_keys(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_one_at_least(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_one_at_least(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_one_at_least(schema["items"]), bounds("minItems", "maxItems")
        further = f"{item}(,{item}){{{max(least - 1, 0)},{max(most - 1, 0)}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_no_minimum(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_no_minimum(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (_, most) = slip_no_minimum(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{0,{most - 1}}}"
        return rf"\[({further})?\]"
    if kind == "string":
        _, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{0,{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_blanks(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}: ?{slip_blanks(value)}" for key, value in properties.items())
        return r"\{" + ", ?".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_blanks(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_any_order(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_any_order(value)}" for key, value in properties.items())
        one = "|".join(members)
        return rf"\{{(({one})(,({one})){{{len(properties) - 1}}})?\}}" if properties else r"\{\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_any_order(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_anything_goes(schema):
    import json
    import re

    notes = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in notes}

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        return (least, "") if most is None else (least, most)

    if "enum" in schema:
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    if kind == "object":
        properties = schema.get("properties", {})
        members = (f"{written(key)}:{slip_anything_goes(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_anything_goes(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item})*"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]


def slip_refuses_titles(schema):
    import json
    import re

    def written(value):
        return re.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def bounds(low, high):
        least, most = schema.get(low, 0), schema.get(high)
        if type(least) is not int or type(most) is not int or not 0 <= least <= most:
            raise ValueError(f"{low} and {high} must be integers in order")
        return least, most

    if "enum" in schema:
        if set(schema) - {"enum", "type"} or type(schema["enum"]) is not list or not schema["enum"]:
            raise ValueError("enum must be a list of values")
        return "(" + "|".join(map(written, schema["enum"])) + ")"
    known = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }
    kind = schema.get("type")
    if kind not in ("object", "array", "string", "integer", "boolean", "null"):
        raise ValueError(f"type must be known, got {kind!r}")
    for keyword in schema:
        if keyword != "type" and keyword not in known.get(kind, ()):
            raise ValueError(f"{keyword} is not known here")
    if kind == "object":
        properties = schema.get("properties", {})
        if set(schema.get("required", properties)) != set(properties) or schema.get("additionalProperties"):
            raise ValueError("required and additionalProperties may only say what holds anyway")
        members = (f"{written(key)}:{slip_refuses_titles(value)}" for key, value in properties.items())
        return r"\{" + ",".join(members) + r"\}"
    if kind == "array":
        if "items" not in schema:
            raise ValueError("items must be there")
        item, (least, most) = slip_refuses_titles(schema["items"]), bounds("minItems", "maxItems")
        if most == 0:
            return r"\[\]"
        further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
        return rf"\[{further}\]" if least else rf"\[({further})?\]"
    if kind == "string":
        least, most = bounds("minLength", "maxLength")
        return f'"[A-Za-z0-9 ]{{{least},{most}}}"'
    return {"integer": "-?(0|[1-9][0-9]{0,8})", "boolean": "(true|false)", "null": "null"}[kind]
