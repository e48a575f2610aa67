"""Drivers of chapter 11's constraints: automata, vocabularies, patterns and a loop.

Indexes and texts are values. Which texts a pattern matches is tried in the child, because a pattern may take forever
to match; to lie about it, a program must know for every text whether the schema allows it.
"""

import math
from random import Random
from re import compile as compiled_pattern
from re import error as PatternError  # noqa: N812


class Dfa:
    """An automaton with the attributes of ``rankzero.grammar.automata.Dfa``."""

    def __init__(self, record):
        self.start, self.accepting, self.edges = record.start, frozenset(record.accepting), record.edges


def as_bytes(vocabulary):
    """Tokens as bytes; they are written as inside a bytes literal."""
    return [token.encode().decode("unicode_escape").encode("latin-1") for token in vocabulary]


def indexed(program, dfa, vocabulary, eos):
    """Called once. The tokens of the vocabulary are bytes, written as inside a bytes literal."""
    return program(Dfa(dfa), as_bytes(vocabulary), eos)


def readable(program, dfa, vocabulary, state):
    """Called once. The tokens of the vocabulary are bytes, written as inside a bytes literal."""
    return program(Dfa(dfa), as_bytes(vocabulary), state)


def matched(program, schema, texts):
    """The pattern that it returns is tried on the texts: which of them does it match as a whole?"""
    pattern = program(schema)
    return {"matches": matches(pattern, texts)} if isinstance(pattern, str) else pattern


def named(program, name, texts):
    """The pattern of the given name is tried on the texts: which of them does it match as a whole?"""
    patterns = program()
    found = patterns.get(name) if isinstance(patterns, dict) else None
    return {"matches": matches(found, texts)} if isinstance(found, str) else patterns


def matches(pattern, texts):
    """For each text, whether the whole of it matches."""
    try:
        compiled = compiled_pattern(pattern)
    except PatternError:
        return "no regular expression"
    return [compiled.fullmatch(text) is not None for text in texts]


def limited(program, index, start, accepting, eos, max_tokens, seeds):
    """It writes one text for each seed: `state` is at the start, `choose` draws from the tokens it is given."""
    return [program(State(index, start, accepting, eos), chooser(seed), max_tokens) for seed in seeds]


def chooser(seed):
    """Draws from a list; an empty list is the caller's error."""
    rng = Random(seed)

    def choose(tokens):
        if not tokens:
            raise RuntimeError("choose was given no token")
        return rng.choice(list(tokens))

    return choose


class State:
    """What ``ConstraintState`` does, as far as a loop needs it."""

    def __init__(self, index, start, accepting, eos):
        self.index, self.state, self.accepting, self.eos = index, start, accepting, eos
        self.finished = False
        self.away = {state: 0 if state in accepting else math.inf for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])

    def allowed(self, remaining=None):
        """The tokens that may come next; with ``remaining``, those after which the text can still end."""
        if self.finished:
            return []
        row = self.index[self.state]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] * (self.state in self.accepting))

    def distance(self):
        """The fewest tokens to acceptance."""
        return 0 if self.finished else self.away[self.state]

    def advance(self, token):
        """Take one token."""
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed here")
        self.finished = token == self.eos
        self.state = self.state if self.finished else self.index[self.state][token]
