"""Texts of the tiny model under a mask: which tokens were allowed, and whether every text is valid at its limit.

python -m demos constrained --regex "20[0-9]{2}-(0[1-9]|1[0-2])" --model tiny --max-tokens 8 --samples 200
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch11 import constrained_runs as runs
from rankzero.grammar.json_validity import json_fault


def fault(text: str, form: runs.Constraint, schema: dict[str, Any] | None) -> str | None:
    """What is wrong with a text, according to ``json.loads`` and ``jsonschema``, or to ``re``."""
    if schema is not None:
        return json_fault(text, schema)
    return None if re.fullmatch(form.pattern, text, re.ASCII) else "no match"


def compiled(options: Any, asked: Any) -> tuple[runs.Constraint, dict[str, Any] | None]:
    """The requested form; one that cannot be compiled ends the demo with a one-line error."""
    names = ("token_index", "ConstraintState", "schema_to_regex")
    index, make, regex = (part(asked.code, "ch11.constrained", name) for name in names)
    try:
        schema = json.loads(asked.schema.read_text(encoding="utf-8")) if asked.schema else runs.SCHEMA
        if not isinstance(schema, dict):
            options.error(f"--schema: {asked.schema} must hold a JSON object")
        form = runs.constraint_for(asked.regex or schema, index=index, make=make, regex=regex)
    except (OSError, ValueError) as error:
        options.error(str(error))
    return form, None if asked.regex else schema


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    which = options.add_mutually_exclusive_group()
    which.add_argument("--schema", type=Path, metavar="FILE", help="a JSON schema; the default is a small form")
    which.add_argument("--regex", metavar="R", help="a pattern instead of a schema")
    options.add_argument("--model", choices=("untrained", "tiny"), default="untrained")
    options.add_argument("--max-tokens", type=whole(0, runs.CONTEXT - 2), default=32)
    options.add_argument("--samples", type=whole(1, 5000), default=200)
    options.add_argument(
        "--plain-mask", action="store_true", help="use a mask without a budget and cut texts off at the limit"
    )
    options.add_argument("--seed", type=whole(0, 10**6), default=0)
    asked = options.parse_args(argv)
    form, schema = compiled(options, asked)
    least, limit = form.state().distance(), asked.max_tokens
    if limit < least:
        options.error(f"--max-tokens must be at least {least}: the shortest text needs so many, got {limit}")
    model = runs.bpe_model(0 if asked.model == "untrained" else 20 if asked.quick else 100, asked.seed)
    limits = [least + index % (limit - least + 1) for index in range(20 if asked.quick else asked.samples)]
    written, steps = runs.write(model, form, limit, asked.seed)
    rows = [(step.state, step.allowed, repr(form.text([step.token]) or "end")) for step in steps]
    show(asked, Table(("state", "allowed tokens", "token"), rows))
    print(f"{form.text(written.tokens)}\n{len(form.index)} states over {len(form.vocabulary):,} tokens")
    made = runs.generate(model, form, limits, asked.seed, budget=not asked.plain_mask)
    texts = [form.text(one.tokens) for one in made]
    wrong = [text for text in texts if fault(text, form, schema)]
    print(f"limits from {least} to {limit} tokens: {len(wrong)} of {len(texts):,} texts do not fit")
    if wrong:
        print(f"for example {wrong[0]!r}")
    if asked.plain_mask:
        begun = all(form.dfa.run(text.encode()) is not None for text in texts)
        return verdict(begun, "every text that is cut off is the beginning of one that fits")
    return verdict(not wrong, "every text fits, at every limit")


if __name__ == "__main__":
    sys.exit(main())
