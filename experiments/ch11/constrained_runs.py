"""Chapter 11's runs under a constraint: the tiny model writes only text that an automaton allows.

The chapter's functions (``token_index``, ``ConstraintState``) are arguments, so that a page can run a learner's own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from types import SimpleNamespace
from typing import Any, Protocol

import torch

from rankzero.grammar.automata import Dfa, compile_regex
from rankzero.tiny import GPT, BpeTokenizer, GPTConfig, KVCache, one_thread, train
from rankzero.tiny.text import bundled_text
from solutions.ch11.constrained import ConstraintState, forced_tokens, schema_to_regex, token_index
from solutions.ch11.masking import mask_logits

#: A small form as a JSON Schema.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer"},
        "active": {"type": "boolean"},
    },
    "required": ["name", "age", "active"],
    "additionalProperties": False,
}

#: The most tokens of a run.
CONTEXT = 64

#: The most character positions in a schema that a server compiles, which takes a few seconds.
MOST_PLACES = 500


class State(Protocol):
    """What a run needs from ``ConstraintState``; ``rankzero.grammar.json_automaton.JsonConstraint`` has it, too."""

    finished: bool

    def allowed(self, remaining: int | None = None) -> list[int]: ...
    def distance(self) -> int: ...
    def advance(self, token: int) -> None: ...
    def rollback(self, count: int) -> None: ...


@dataclass(frozen=True)
class Constraint:
    """A pattern compiled for a vocabulary.

    Attributes:
        pattern: the regular expression.
        dfa: its smallest automaton.
        index: state -> token -> next state.
        vocabulary, eos: of the tokenizer.
        seconds: that the automaton and the index took.
        make: the class of its states.
    """

    pattern: str
    dfa: Dfa
    index: Mapping[int, Mapping[int, int]]
    vocabulary: Sequence[bytes]
    eos: int
    seconds: float
    make: Callable[..., State] = ConstraintState

    def state(self) -> State:
        """A new one, before the first token."""
        return self.make(self.index, self.dfa.start, self.dfa.accepting, self.eos)

    def shares(self) -> dict[int, float]:
        """The share of the vocabulary that may come next, by state; ``eos`` counts where it is allowed."""
        accepting, size = self.dfa.accepting, len(self.vocabulary)
        return {state: (len(row) + (state in accepting)) / size for state, row in self.index.items()}

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens spell."""
        return b"".join(self.vocabulary[token] for token in tokens).decode(errors="replace")


def constraint_for(
    pattern: str | Mapping[str, Any],
    tokenizer: Any = None,
    index: Callable[..., Any] = token_index,
    make: Callable[..., State] = ConstraintState,
    regex: Callable[..., str] = schema_to_regex,
) -> Constraint:
    """Compile a pattern, or a schema, for a tokenizer (``BpeTokenizer`` when None is given).

    Args:
        index, make, regex: functions and a class of the chapter, or a learner's.
    """
    tokenizer = tokenizer or BpeTokenizer()
    begin = time.perf_counter()
    text = pattern if isinstance(pattern, str) else regex(pattern)
    dfa = compile_regex(text)
    found = index(dfa, tokenizer.vocabulary, tokenizer.eos)
    return Constraint(text, dfa, found, tokenizer.vocabulary, tokenizer.eos, time.perf_counter() - begin, make)


def schema_constraint(
    index: Callable[..., Any] = token_index,
    make: Callable[..., State] = ConstraintState,
    regex: Callable[..., str] = schema_to_regex,
) -> Callable[[Mapping[str, Any], Sequence[bytes], int], State]:
    """The part ``constraint`` of a server, made of the chapter's functions; see :class:`rankzero.server.Parts`.

    The most recent schemas stay compiled. Annotations such as ``title`` are ignored. A schema of more than
    ``MOST_PLACES`` character positions, which would take a server too long to compile, raises ValueError.

    Args:
        index, make, regex: functions and a class of the chapter, or a learner's.
    """

    @lru_cache(maxsize=16)
    def compiled(text: str, vocabulary: tuple[bytes, ...], eos: int) -> Constraint:
        return constraint_for(json.loads(text), SimpleNamespace(vocabulary=vocabulary, eos=eos), index, make, regex)

    def constraint(schema: Mapping[str, Any], vocabulary: Sequence[bytes], eos: int) -> State:
        if _places(schema) > MOST_PLACES:
            raise ValueError(f"schema must have at most {MOST_PLACES} places for characters, got {_places(schema):,}")
        return compiled(json.dumps(schema), tuple(vocabulary), eos).state()

    return constraint


def _places(schema: Any) -> int:
    """Roughly how large a schema's automaton gets: its character positions, counted up to a million.

    Anything that is not a schema counts 0.
    """
    if not isinstance(schema, dict):
        return 0
    if "enum" in schema:
        return len(json.dumps(schema["enum"]))
    properties, most = schema.get("properties"), schema.get("maxItems", schema.get("maxLength"))
    inner = sum(len(key) + _places(value) for key, value in properties.items()) if isinstance(properties, dict) else 0
    count = most if type(most) is int and most > 0 else 0
    return min(10 + inner + (count + 2) * (1 + _places(schema.get("items"))), 10**6)


def bpe_model(steps: int = 0, seed: int = 0, layers: int = 2) -> GPT:
    """A small model over the byte-pair vocabulary; without steps it is untrained."""
    tokenizer = BpeTokenizer()
    config = GPTConfig(vocab=len(tokenizer.vocabulary), layers=layers, context=CONTEXT)
    return train(tokenizer.encode(bundled_text()), steps=steps, seed=seed, config=config)


@dataclass(frozen=True)
class Generation:
    """One text.

    Attributes:
        tokens: without the one that ends it.
        finished: whether it ended by itself.
        passes: forward passes of the model; in a batch, those of its own sequence.
    """

    tokens: tuple[int, ...]
    finished: bool
    passes: int


@torch.no_grad()
def generate(
    model: GPT, constraint: Constraint, limits: Sequence[int], seed: int = 0, budget: bool = True
) -> list[Generation]:
    """Draw one text for each token limit from the model's masked distribution, all in one batch.

    Args:
        limits: the most tokens of each text, not counting the end token.
        budget: whether the mask knows how many tokens remain; without it a text is cut off at its limit.
    """
    rows = [_Row(constraint, limit, budget) for limit in limits]
    generator = torch.Generator().manual_seed(seed)
    cache, masks = KVCache(model, len(rows)), _Masks(constraint)
    tokens = torch.full((len(rows), 1), constraint.eos)
    with one_thread():
        while any(row.open for row in rows):
            allowed = torch.stack([masks.of(row) for row in rows])
            logits = model(tokens, cache=cache)[:, -1].masked_fill(~allowed, float("-inf"))
            tokens = _one_of_each(logits, generator)
            for row, token in zip(rows, tokens[:, 0].tolist(), strict=True):
                row.take(token)
    return [Generation(tuple(row.tokens), row.state.finished, row.passes) for row in rows]


def _one_of_each(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A token for each row [B, 1]: where its cumulative probabilities pass a random number."""
    sums = logits.double().softmax(-1).cumsum(-1)
    drawn = torch.rand(len(sums), 1, generator=generator, dtype=sums.dtype) * sums[:, -1:]
    return torch.searchsorted(sums, drawn, right=True)


class _Row:
    """One text of a batch."""

    def __init__(self, constraint: Constraint, limit: int, budget: bool) -> None:
        self.constraint, self.limit, self.budget = constraint, limit, budget
        self.state, self.place = constraint.state(), constraint.dfa.start
        self.tokens: list[int] = []
        self.passes = 0

    @property
    def open(self) -> bool:
        """Whether the text continues. A text at its limit may still end if it is complete."""
        return not self.state.finished and not (len(self.tokens) >= self.limit and self.state.distance())

    @property
    def remaining(self) -> int | None:
        left = self.limit - len(self.tokens)
        return left if self.budget or left == 0 else None

    def take(self, token: int) -> None:
        if not self.open:
            return
        self.passes += 1
        self.state.advance(token)
        if not self.state.finished:
            self.tokens.append(token)
            self.place = self.constraint.index[self.place][token]


class _Masks:
    """Masks as tensors, each made once."""

    def __init__(self, constraint: Constraint) -> None:
        self.size, self.known = len(constraint.vocabulary), dict[Any, torch.Tensor]()

    def of(self, row: _Row) -> torch.Tensor:
        key = (row.place, row.remaining) if row.open else None
        if key not in self.known:
            mask = torch.zeros(self.size, dtype=torch.bool)
            mask[row.state.allowed(row.remaining) if row.open else [0]] = True
            self.known[key] = mask
        return self.known[key]


@dataclass(frozen=True)
class Step:
    """One token of a text: the state before it, how many tokens were allowed, which one came and who chose it."""

    state: int
    allowed: int
    token: int
    forced: bool


@torch.no_grad()
def write(
    model: GPT,
    constraint: Constraint,
    limit: int,
    seed: int = 0,
    jump: bool = False,
    mask: Callable[[torch.Tensor, Sequence[int]], torch.Tensor] = mask_logits,
) -> tuple[Generation, list[Step]]:
    """One text, token by token. The same seed gives the same text with and without ``jump``.

    Args:
        jump: whether a forced token is emitted without asking the model; the next pass then reads all tokens since the
            last one.
        mask: ``mask_logits``, or a learner's.
    """
    rng, state, cache = Random(seed), constraint.state(), KVCache(model, 1)
    place, tokens, fresh, passes = constraint.dfa.start, list[int](), [constraint.eos], 0
    steps: list[Step] = []
    ahead: list[int] = []
    while not state.finished:
        ahead = ahead or (forced_tokens(constraint.index, place, constraint.dfa.accepting) if jump else [])
        allowed, forced = state.allowed(limit - len(tokens)), bool(ahead)
        if ahead:
            token = ahead.pop(0)
        else:
            with one_thread():
                logits = model(torch.tensor([fresh]), cache=cache)[0, -1]
            passes, fresh = passes + 1, []
            token = _drawn(mask(logits, allowed), allowed, rng)
        state.advance(token)
        steps.append(Step(place, len(allowed), token, forced))
        fresh.append(token)
        if not state.finished:
            tokens.append(token)
            place = constraint.index[place][token]
    return Generation(tuple(tokens), True, passes), steps


def _drawn(logits: torch.Tensor, allowed: Sequence[int], rng: Random) -> int:
    """A token from the distribution of masked logits; a single allowed token needs no random number."""
    if len(allowed) == 1:
        return allowed[0]
    return rng.choices(allowed, logits.softmax(-1)[list(allowed)].tolist())[0]


@dataclass(frozen=True)
class Laws:
    """Two probabilities of one text.

    Attributes:
        masked: if every step is masked and renormalized.
        conditioned: under the model itself, given that the text is valid.
    """

    masked: float
    conditioned: float


@torch.no_grad()
def text_laws(model: GPT, constraint: Constraint, prompt: Sequence[int]) -> dict[str, Laws]:
    """Both probabilities of every text of a finite language, summed over all its tokenizations.

    A text ends with ``eos``, which both probabilities include. Tokenizations of equal length go through the model
    together.
    """
    found: dict[str, list[float]] = {}
    ways = [_Way((), constraint.state(), 1.0, 1.0)]
    with one_thread():
        while ways:
            logits = model(torch.tensor([[*prompt, *way.tokens] for way in ways]))[:, -1].double()
            ways = [after for way, row in zip(ways, logits, strict=True) for after in way.on(row, constraint)]
            for way in [way for way in ways if way.state.finished]:
                ways.remove(way)
                sums = found.setdefault(constraint.text(way.tokens[:-1]), [0.0, 0.0])
                sums[:] = [sums[0] + way.masked, sums[1] + way.free]
    total = sum(free for _, free in found.values())
    return {text: Laws(masked, free / total) for text, (masked, free) in sorted(found.items())}


@dataclass(frozen=True, eq=False)
class _Way:
    """The beginning of a text, with its masked probability and the model's own."""

    tokens: tuple[int, ...]
    state: State
    masked: float
    free: float

    def on(self, logits: torch.Tensor, constraint: Constraint) -> Iterator[_Way]:
        """One more token."""
        allowed = self.state.allowed()
        inside, outside = mask_logits(logits, allowed).softmax(-1), logits.softmax(-1)
        for token in allowed:
            state = constraint.state()
            for taken in (*self.tokens, token):
                state.advance(taken)
            chances = self.masked * float(inside[token]), self.free * float(outside[token])
            yield _Way((*self.tokens, token), state, *chances)
