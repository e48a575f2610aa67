"""What the docstrings of chapter 11 promise."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "11-expected-tokens": (
        Clause(
            "It is as accurate near ``acceptance`` 1 as elsewhere.",
            edits=(
                (
                    "if 1 - acceptance < 1e-6:\n"
                    "        return math.fsum(acceptance**i for i in range(draft_length + 1))",
                    "if 1 - acceptance < 1e-3:\n        return draft_length + 1.0",
                ),
            ),
        ),
        Clause(
            "The pass adds one token of its own in any case",
            edits=(
                ("range(draft_length + 1))\n", "range(draft_length))\n"),
                ("acceptance ** (draft_length + 1)", "acceptance ** draft_length"),
            ),
        ),
    ),
    "11-speculative-speedup": (
        Clause(
            "drafted one after the other",
            edits=(("draft_length * draft_cost + verify_cost\n", "draft_cost + verify_cost\n"),),
        ),
        Clause(
            "time of the target pass over k + 1 positions",
            edits=(("draft_length * draft_cost + verify_cost\n", "draft_length * draft_cost + 1.0\n"),),
        ),
    ),
    "11-optimal-draft-length": (
        Clause(
            "The draft length of the largest speed-up, with a target pass that costs 1 whatever it verifies.",
            edits=(
                (
                    "speculative_speedup(acceptance, length, draft_cost)",
                    "speculative_speedup(acceptance, length, draft_cost, 1 + length / 8)",
                ),
            ),
        ),
        Clause(
            "A longer draft counts as better only if it gains more than 1e-12 of the speed-up.",
            edits=(("found > speed * (1 + MARGIN)", "found > speed"),),
        ),
        Clause(
            "A longer draft counts as better only if it gains more than 1e-12 of the speed-up.",
            edits=(("found > speed * (1 + MARGIN)", "found > speed * (1 + 1e-6)"),),
        ),
        Clause("the longest draft to consider", edits=(("range(1, max_length + 1)", "range(1, max_length)"),)),
    ),
    "11-acceptance-probability": (
        Clause("``sum(min(p, q))``", edits=(("map(min, target, draft)", "map(max, target, draft)"),)),
    ),
    "11-residual-distribution": (
        Clause("Where p and q are equal, p.", edits=(("if mass > 0 else list(target)", "if mass > 0 else missing"),)),
        Clause(
            "``max(0, p - q)``, normalised",
            edits=(("[part / mass for part in missing]", "[part for part in missing]"),),
        ),
    ),
    "11-speculative-step": (
        Clause(
            "may be empty.",
            edits=(
                (
                    "    for place, token in enumerate(tokens):\n",
                    "    if not tokens:\n        return []\n    for place, token in enumerate(tokens):\n",
                ),
            ),
        ),
        Clause(
            "Drafted token i is accepted if", edits=(("if uniforms[place] * q >= p:", "if uniforms[place] * q > p:"),)
        ),
        Clause(
            "what was drafted after it is dropped",
            edits=(
                (
                    "_draw(_residual(target[place], draft[place]), uniforms[-1])]",
                    "_draw(_residual(target[place], draft[place]), uniforms[-1]), *tokens[place + 1 :]]",
                ),
            ),
        ),
        Clause(
            "where rounding leaves none, the last id with any probability",
            edits=(("return max(token for token, p in enumerate(row) if p > 0)", "return len(row) - 1"),),
        ),
        Clause(
            "the first id whose cumulative probability, in the order of the ids, exceeds it",
            edits=(("if reached > uniform:", "if reached >= uniform and token:"),),
        ),
        Clause(
            "from the residual of its rows",
            edits=(("_draw(_residual(target[place], draft[place]),", "_draw(target[place],"),),
        ),
        Clause(
            "unless it comes after a rejected one",
            edits=(
                (
                    "    for place, token in enumerate(tokens):\n",
                    "    if any(row[token] <= 0 for row, token in zip(draft, tokens, strict=True)):\n"
                    '        raise ValueError("draft must give")\n'
                    "    for place, token in enumerate(tokens):\n",
                ),
            ),
        ),
    ),
    "11-debug-accept": (
        Clause(
            "must be distributed as ``target``",
            edits=(("uniforms[0] * draft[token] < target[token]", "draft[token] <= target[token]"),),
        ),
    ),
    "11-mask-logits": (
        Clause(
            "A copy of ``logits`` in which every token but the allowed ones has minus infinity.",
            edits=(("logits.masked_fill(~kept", "logits.masked_fill_(~kept"),),
        ),
        Clause("every token but the allowed ones has minus infinity", edits=(('float("-inf")', "-1e9"),)),
        Clause(
            "of the type of ``logits``", edits=(("return logits.masked_fill", "return logits.double().masked_fill"),)
        ),
    ),
    "11-token-index": (
        Clause(
            "A token is allowed where all of its bytes lead from state to state, and only if acceptance can still be "
            "reached",
            edits=(
                (
                    "        state: {token: after for token, after in row.items() if after in live}\n"
                    "        for state, row in index.items()\n        if state in live\n",
                    "        state: row for state, row in index.items()\n",
                ),
            ),
        ),
        Clause(
            "A token is allowed where all of its bytes lead",
            edits=(
                (
                    "        if byte not in row:\n            return None\n",
                    "        if byte not in row:\n            return state\n",
                ),
            ),
        ),
        Clause(
            "Empty tokens and ``eos`` never appear.",
            edits=(("if text and token != eos else None", "if token != eos else None"),),
        ),
        Clause(
            "Empty tokens and ``eos`` never appear.",
            edits=(("if text and token != eos else None", "if text else None"),),
        ),
        Clause(
            "A state that accepts and allows no token has ``{}``.",
            edits=(("        if state in live\n    }\n", "        if state in live and row\n    }\n"),),
        ),
    ),
    "11-debug-token": (
        Clause("Empty tokens are left out.", edits=(("if text and _walk(", "if _walk("),)),
        Clause(
            "The tokens whose bytes can all be read",
            edits=(("_walk(dfa, text, state)", "_walk(dfa, text[:2], state)"),),
        ),
    ),
    "11-schema-to-regex": (
        Clause(
            "Or with an ``enum``, a list of at least one value, and perhaps a ``type``: then only the values count.",
            edits=((' | _ANNOTATIONS | {"type"}', ' | _ANNOTATIONS | {"type" if "enum" not in schema else ""}'),),
        ),
        Clause(
            "``readOnly``, ``writeOnly`` and ``$comment`` are ignored.",
            edits=((' | _ANNOTATIONS | {"type"}', ' | {"type"}'),),
        ),
        Clause("Schemas hold schemas at most 8 levels deep", edits=(("count(1, 8, levels", "count(1, 7, levels"),)),
        Clause(
            "in the order of the schema",
            edits=(('in schema.get("properties", {}).items())', 'in sorted(schema.get("properties", {}).items()))'),),
        ),
        Clause(
            "Keys and the values of ``enum`` are written by",
            edits=(("ensure_ascii=False, allow_nan", "ensure_ascii=True, allow_nan"),),
        ),
        Clause("a missing minimum is 0", edits=(("schema.get(low, 0), schema", "schema.get(low, 1), schema"),)),
    ),
    "11-grammars": (
        Clause("the last label two or more letters", edits=(("[a-z]{2,}", "[a-z0-9]{2,}"),)),
        Clause("the last label two or more letters", edits=(("[a-z]{2,}", "[a-z-]{2,}"),)),
        Clause("no, one, two or three names", edits=(("{{0,2}}", "{{0,3}}"),)),
        Clause("The domain is two or more labels", edits=((r"([a-z0-9-]+\.)+", r"([a-z0-9-]+\.){1,2}"),)),
    ),
    "11-constraint-state": (
        Clause(
            "``eos`` exactly where the state accepts.",
            edits=(("self._eos] if state in self._accepting else tokens)", "self._eos])"),),
        ),
        Clause(
            "A token is then allowed only if, after it, acceptance is at most ``remaining - 1`` tokens away.",
            edits=(("<= remaining - 1", "<= remaining"),),
        ),
        Clause("empty after ``eos``.", edits=(("        if self.finished:\n            return []\n", ""),)),
        Clause("in ascending order", edits=(("return sorted(", "return list("),)),
        Clause(
            "``eos`` counts as one",
            edits=(
                ("            del self._states[-count:]\n", "            del self._states[-count - self.finished :]\n"),
            ),
        ),
        Clause("whether ``eos`` was taken and not taken back", edits=(("            self.finished = False\n", ""),)),
        Clause(
            "as long as the state does not accept",
            edits=(("while not self.finished and state not in self._accepting and", "while not self.finished and"),),
        ),
        Clause("At most 1,000 tokens are given.", edits=(("_FARTHEST = 1_000", "_FARTHEST = 999"),)),
        Clause(
            "The fewest tokens from here to an accepting state, ``eos`` not counted",
            edits=(("return 0 if self.finished else", "return 1 +"),),
        ),
        Clause(
            "fewer tokens than that were taken; nothing changes",
            edits=(
                (
                    "        if count >= len(self._states):\n",
                    "        if count >= len(self._states):\n            del self._states[1:]\n",
                ),
            ),
        ),
        Clause(
            "the token is not allowed here; nothing changes",
            edits=(
                (
                    "        if not ends and token not in self._index[state]:\n",
                    "        if not ends and token not in self._index[state]:\n"
                    "            self._states.append(state)\n",
                ),
            ),
        ),
    ),
    "11-debug-limit": (
        Clause(
            "choose: takes a list of tokens, never an empty one, and gives one of them.",
            edits=(("state.allowed(max_tokens - len(tokens))", "state.allowed(max(max_tokens - 1 - len(tokens), 0))"),),
        ),
        Clause("which the result leaves out", edits=(("return tokens[:-1]", "return tokens"),)),
        Clause(
            "at most ``max_tokens`` tokens",
            edits=(("state.allowed(max_tokens - len(tokens))", "state.allowed(max_tokens - len(tokens) + 1)"),),
        ),
    ),
}
