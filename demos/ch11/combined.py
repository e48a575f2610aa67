"""JSON from a tiny pair of models: target passes with a mask, with drafts, with jump-forward, and with all three.

python -m demos combined --k 4
python -m demos combined --schema form.json --limit 60
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch11.combined_runs import form_pair, structured
from experiments.ch11.constrained_runs import CONTEXT, SCHEMA, Constraint, constraint_for
from rankzero.grammar.json_validity import json_fault


def read(options: ArgumentParser, path: Path | None) -> dict[str, Any]:
    """The schema in a file; a file without one ends the demo with a one-line error."""
    try:
        schema = json.loads(path.read_text(encoding="utf-8")) if path else SCHEMA
    except (OSError, ValueError) as error:
        options.error(f"--schema: {path} holds no JSON: {error}")
    if not isinstance(schema, dict):
        options.error(f"--schema: {path} must hold a JSON object")
    return schema


def compiled(options: ArgumentParser, schema: dict[str, Any], code: str, limit: int) -> Constraint:
    """The schema for the byte-pair vocabulary, with the functions of ``code``."""
    index, make, regex = (
        part(code, "ch11.constrained", name) for name in ("token_index", "ConstraintState", "schema_to_regex")
    )
    try:
        found = constraint_for(schema, index=index, make=make, regex=regex)
    except (TypeError, AttributeError, ValueError) as error:
        options.error(f"--schema: {error}")
    least = found.state().distance()
    if limit < least:
        options.error(f"--limit must be at least {least} tokens for this schema, got {limit}")
    return found


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument(
        "--schema", type=Path, metavar="FILE", help="a file with a JSON schema; by default a form of three fields"
    )
    options.add_argument("--k", type=whole(1, 8), default=4, help="drafted tokens per round")
    options.add_argument("--limit", type=whole(1, CONTEXT - 10), default=40, help="the most tokens in a text")
    options.add_argument("--samples", type=whole(1, 1000), default=20, help="texts written each way")
    asked = options.parse_args(argv)
    schema = read(options, asked.schema)
    forms = compiled(options, schema, asked.code, asked.limit)
    step = part(asked.code, "ch11.speculative", "speculative_step")
    pair, samples = (form_pair(3, 3), 3) if asked.quick else (form_pair(), asked.samples)
    ways = {"mask": (0, False), "draft": (asked.k, False), "jump": (0, True), "draft and jump": (asked.k, True)}
    rows, right = [], True
    for name, (k, jump) in ways.items():
        found = [structured(pair, forms, asked.limit, k, jump, seed, step) for seed in range(samples)]
        texts = [forms.text(run.tokens[:-1]) for run in found]
        invalid = sum(json_fault(text, schema) is not None for text in texts)
        tokens, passes = sum(len(run.tokens) for run in found), sum(run.target_passes for run in found)
        forced, drafts = sum(run.forced for run in found), sum(run.draft_passes for run in found)
        rows.append((name, passes, drafts, forced, tokens, tokens / passes, invalid))
        right &= not invalid
    print(f"the last text: {texts[-1]}")
    header = ("mask and", "target passes", "draft passes", "forced", "tokens", "tokens per pass", "invalid")
    show(asked, Table(header, rows))
    return verdict(right and rows[3][5] >= rows[0][5], "every text is valid, and the target runs fewer passes")


if __name__ == "__main__":
    sys.exit(main())
