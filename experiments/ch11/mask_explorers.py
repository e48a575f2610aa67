"""The explorer of masks in chapter 11: a pure function that returns a chart. Standard library only; browsers run it."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rankzero.charts import Axis, Spec, below, chart, stacks, table
from rankzero.grammar.automata import compile_regex
from solutions.ch11.constrained import ConstraintState, grammars, schema_to_regex, token_index

_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 6}, "active": {"type": "boolean"}},
}

#: The forms, by the names of the control.
PATTERNS = {
    "date": "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "e-mail": grammars()["email"],
    "phone": grammars()["phone"],
    "function header": grammars()["signature"],
    "JSON schema": schema_to_regex(_SCHEMA),
}

#: Tokens of more than one character; every printable ASCII character is a token, too.
LONGER = (
    '{"', '":', '":"', '",', '","', '"}', "}", "name", "active", "tr", "true", "fal", "false", "se", "20", "202", "19",
    "-0", "-1", "12", "def", "def ", " f", "():", "(a", ", ", "):", "self", "the", " the", "Al", "ice", "mail", ".com",
    ".org", "@", "@ex", "ample", "555", "-555", "010", "00",
)  # fmt: skip
VOCABULARY = [b"", *dict.fromkeys([*(bytes([value]) for value in range(32, 127)), *(one.encode() for one in LONGER)])]
EOS = 0

#: Columns of the table of allowed tokens.
COLUMNS = 10


@functools.cache
def _compiled(pattern: str) -> tuple[dict[int, dict[int, int]], int, frozenset[int]]:
    dfa = compile_regex(PATTERNS[pattern])
    return token_index(dfa, VOCABULARY, EOS), dfa.start, dfa.accepting


def shown(token: int) -> str:
    """A token as shown to the reader: spaces are visible, and the end has a name."""
    return "end" if token == EOS else VOCABULARY[token].decode().replace(" ", "␣")


def masks(pattern: str = "date", picks: Sequence[float] = (2, 0, 2, 7)) -> Spec:
    """How many tokens were allowed at each step of a text, and which ones are allowed next.

    Args:
        pattern: a key of ``PATTERNS``.
        picks: for each step, the index of the chosen token in the list of allowed tokens, from 0; larger numbers wrap
            around. Picks after the end of the text are ignored.
    """
    state = ConstraintState(*_compiled(pattern), eos=EOS)
    steps: list[Spec] = []
    text = ""
    for pick in picks:
        allowed = state.allowed()
        if not allowed:
            break
        token = allowed[int(pick) % len(allowed)]
        steps.append({"step": f"{len(steps) + 1}: {shown(token)}", "tokens": len(allowed), "kind": "allowed"})
        state.advance(token)
        text += VOCABULARY[token].decode()
    now = state.allowed()
    steps.append({"step": f"{len(steps) + 1}: ?", "tokens": len(now), "kind": "allowed now"})
    said = f"after {len(steps) - 1} tokens" + (", ended" if state.finished else f", at least {state.distance()} to go")
    title = f"'{text}' {said}; {len(now)} of {len(VOCABULARY)} tokens may follow"
    counted = stacks(
        steps, Axis("step", "step and token", category=True), Axis("tokens", "allowed tokens"), "kind", title
    )
    return chart(below(counted, _list(now)), f"{title}.")


def _list(tokens: Sequence[int]) -> Spec:
    """The allowed tokens with their numbers, in rows."""
    cells: list[Spec] = [
        {
            "column": index % COLUMNS,
            "row": COLUMNS * (index // COLUMNS),
            "token": shown(token),
            "number": index,
            "kind": "the end" if token == EOS else "token",
        }
        for index, token in enumerate(tokens)
    ]
    ended: Spec = {"column": 0, "row": 0, "token": "the text has ended", "number": 0, "kind": None}
    return table(
        cells or [ended],
        Axis("column", "number of a token: row + column"),
        Axis("row", ""),
        colour="kind",
        label="token",
        tooltip=("number", "token"),
        title="allowed now",
    )
