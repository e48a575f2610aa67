"""A pattern over the real vocabulary: which tokens may follow in each state, and which dead ends were removed.

python -m demos mask_explorer --regex "(yes|no)[.!]?"
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.grammar.automata import compile_regex
from rankzero.tiny import BpeTokenizer, ByteTokenizer

#: Tokens that are named in a row.
NAMED = 6


def listed(tokens: list[bytes]) -> str:
    """A few tokens, and how many more there are."""
    shown = " ".join(repr(token)[1:] for token in tokens[:NAMED])
    return f"{shown} and {len(tokens) - NAMED:,} more" if len(tokens) > NAMED else shown


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--regex", default="20[0-9]{2}-(0[1-9]|1[0-2])", metavar="R")
    options.add_argument(
        "--longest", type=whole(2, 100), help="keep only tokens of 2 to this many bytes, which creates dead ends"
    )
    asked = options.parse_args(argv)
    index = part(asked.code, "ch11.constrained", "token_index")
    tokenizer = ByteTokenizer() if asked.quick else BpeTokenizer()
    vocabulary, eos = tokenizer.vocabulary, tokenizer.eos
    if asked.longest:  # a vocabulary of short tokens has dead ends
        vocabulary = [text if 2 <= len(text) <= asked.longest else b"" for text in BpeTokenizer().vocabulary]
    try:
        dfa = compile_regex(asked.regex)
    except ValueError as error:
        options.error(str(error))
    begin = time.perf_counter()
    try:
        found = index(dfa, vocabulary, eos)
    except ValueError as error:
        options.error(str(error))
    seconds = time.perf_counter() - begin
    rows = []
    for state, row in sorted(found.items()):
        ends = "yes" if state in dfa.accepting else ""
        rows.append((state, len(row), ends, listed([vocabulary[token] for token in sorted(row)])))
    show(asked, Table(("state", "allowed tokens", "may end", "tokens"), rows))
    print(f"{len(dfa.edges)} states of the automaton, {len(dfa.edges) - len(found)} taken out or never reached")
    print(f"{sum(map(bool, vocabulary)):,} tokens, index made in {seconds:.3f} s")
    right = all(dfa.run(vocabulary[t], state) == to for state, row in found.items() for t, to in row.items())
    whole_row = {t for t, text in enumerate(vocabulary) if text and dfa.run(text) in found}
    return verdict(right and whole_row == set(found[dfa.start]), "every token leads where its bytes lead")


if __name__ == "__main__":
    sys.exit(main())
