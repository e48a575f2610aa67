"""What the docstrings of chapter 11 announce and promise."""

from __future__ import annotations

from tools.clauses import Announced, Clause

PAIR = (
    Announced("must hold finite numbers", "an entry is negative or not finite"),
    Announced("must sum to 1", "a sum is off 1 by more than 1e-6"),
    Announced("must have as many entries", "the lengths differ or are 0"),
)

ANNOUNCED = {
    "11-acceptance-probability": PAIR,
    "11-residual-distribution": PAIR,
    "11-speculative-step": (
        Announced("draft must have a row", "the numbers of rows or uniforms do not fit"),
        Announced("must have one entry more", "the numbers of rows or uniforms do not fit"),
        Announced("must give token .* a probability", "a drafted token that is looked at has probability 0"),
        Announced("uniforms must be from 0 to below 1", "a uniform is outside [0, 1)"),
    ),
    "11-speculative-speedup": (Announced("must be > 0", "the whole round costs nothing"),),
    "11-mask-logits": (
        Announced("at least one token", "nothing is allowed"),
        Announced("allowed must be from 0", "a token is not an integer or not in the vocabulary"),
    ),
    "11-token-index": (
        Announced("no text of this vocabulary", "from the start no text of this vocabulary reaches acceptance"),
    ),
    "11-schema-to-regex": (
        Announced("additionalProperties must be false", "no others are allowed"),
        Announced("enum must be a list", "a list of at least one value"),
        Announced("is not a keyword", "a type or keyword that is not in this list"),
        Announced("(max|min)(Items|Length) must be an integer", "a bound that is not an integer >= 0 (2.0 is none)"),
        Announced("must bound", "a maximum that is missing or below the minimum"),
        Announced("must be at most max", "a maximum that is missing or below the minimum"),
        Announced("items must say", "a value of another kind than its keyword asks for"),
        Announced("properties must be a dictionary", "a value of another kind than its keyword asks for"),
        Announced("schema must be a dictionary", "a value of another kind than its keyword asks for"),
        Announced("levels deep", "or more than 8 levels"),
        Announced("required must be a list", "``required`` without all properties"),
        Announced("type must be one of", "a type or keyword that is not in this list"),
    ),
    "11-constraint-state": (
        Announced("^count must be", "``count`` is not an integer from 0 to the number of tokens that were taken"),
        Announced("start must be a state", "``start`` is not in ``index``"),
        Announced("the text has ended", "``eos`` was taken before"),
        Announced("token must be allowed here", "the token is not allowed here"),
    ),
    "11-debug-limit": (Announced("max_tokens must be an integer >=", "no text fits the limit"),),
}

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
                    "    _check_round(tokens, draft, target, uniforms)\n",
                    "    _check_round(tokens, draft, target, uniforms)\n    if not tokens:\n        return []\n",
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
            "that is looked at",
            edits=(
                (
                    "    _check_round(tokens, draft, target, uniforms)\n",
                    "    _check_round(tokens, draft, target, uniforms)\n"
                    "    if any(row[token] <= 0 for row, token in zip(draft, tokens, strict=True)):\n"
                    '        raise ValueError("draft must give")\n',
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
            edits=(('- _ANNOTATIONS - {"enum", "type"}', '- _ANNOTATIONS - {"enum"}'),),
        ),
        Clause(
            "``readOnly``, ``writeOnly`` and ``$comment`` are ignored.",
            edits=(('_KEYWORDS[kind] - _ANNOTATIONS - {"type"}', '_KEYWORDS[kind] - {"type"}'),),
        ),
        Clause("Schemas hold schemas at most 8 levels deep", edits=(("_DEEPEST = 8", "_DEEPEST = 9"),)),
        Clause("Schemas hold schemas at most 8 levels deep", edits=(("_DEEPEST = 8", "_DEEPEST = 7"),)),
        Clause(
            "in the order of the schema",
            edits=(("for key, value in properties.items())", "for key, value in sorted(properties.items()))"),),
        ),
        Clause(
            "Keys and the values of ``enum`` are written by",
            edits=(("ensure_ascii=False, allow_nan", "ensure_ascii=True, allow_nan"),),
        ),
        Clause("A missing minimum is 0.", edits=(("schema.get(low, 0)", "schema.get(low, 1)"),)),
        Clause(
            "all are required",
            edits=(
                (
                    "    whole = isinstance(required, list) and len(required) == len(properties)\n",
                    "    whole = isinstance(required, list)\n",
                ),
                (" or any(key not in required for key in properties)", ""),
            ),
        ),
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
