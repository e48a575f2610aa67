"""What several exercises of chapter 11 share."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

from autograder.items import Case, Group

Index = dict[int, dict[int, int]]

#: The index of `true|false` over the page's vocabulary, and over one that spells `true` alone.
BOTH: Index = {
    0: {1: 1, 5: 2, 6: 4, 8: 5, 9: 7, 11: 9},
    1: {2: 2, 7: 4},
    2: {3: 3},
    3: {4: 4},
    4: {},
    5: {12: 8},
    7: {10: 9},
    8: {4: 9},
    9: {},
}

ALONE: Index = {0: {1: 1}, 1: {2: 4}, 4: {}}
P, Q = (0.5, 0.3, 0.2, 0.0), (0.25, 0.25, 0.25, 0.25)


def row(rng: Random, size: int, zeros: float = 0.0) -> tuple[float, ...]:
    """A distribution; about a share ``zeros`` of its entries is 0, never all of them."""
    weights = [rng.randint(1, 40) * (rng.random() >= zeros) for _ in range(size)]
    weights[rng.randrange(size)] += 7
    return tuple(weight / sum(weights) for weight in weights)


def pair(rng: Random) -> Case:
    size = rng.randint(3, 50)
    return Case((row(rng, size), row(rng, size)))


def pair_with_zeros(rng: Random) -> Case:
    size = rng.randint(3, 20)
    return Case((row(rng, size, 0.4), row(rng, size, 0.4)))


def apart(rng: Random) -> list[Case]:
    one = row(rng, rng.randint(2, 5))
    none = (0.0,) * len(one)
    same = row(rng, rng.randint(3, 9), 0.2)
    return [Case((same, same)), Case(((*one, *none), (*none, *one)))]


PAIRS = (
    Group("pairs", pair, 6, "Token by token, the smaller of the two."),
    Group("zeros", pair_with_zeros, 4, "A token may be impossible for one of the two."),
    Group(
        "equal or apart",
        lambda rng: rng.choice(apart(rng)),
        2,
        "Equal distributions, and some without overlap.",
        apart,
    ),
)

PAIR_CASES = (
    Case((P, Q)),
    Case(((0.6, 0.3, 0.1), (0.1, 0.6, 0.3))),
    Case(((0.25, 0.75), (0.25, 0.75))),
    Case(((1.0, 0.0), (0.0, 1.0))),
)


def drafted(rng: Random, rows: list[tuple[float, ...]]) -> list[int]:
    return [rng.choices(range(len(one)), one)[0] for one in rows]


def draw_round(rng: Random, length: int, zeros: float = 0.0, accept: int | None = None) -> Case:
    """A round; with ``accept``, uniforms that accept so many drafted tokens and no more, and a telling replacement."""
    while True:
        case = drawn_round(rng, length, zeros, accept)
        _, draft, target, uniforms = case.args
        if accept is None or accept >= length or telling(target[accept], draft[accept], uniforms[-1]):
            return case


def telling(p: tuple[float, ...], q: tuple[float, ...], uniform: float) -> bool:
    """Whether the residual, the same before it is normalized, and p itself do not all give one token."""
    rest = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    wanted, others = first(rest, uniform * sum(rest)), (first(rest, uniform), first(p, uniform))
    return wanted not in others


def first(weights: Sequence[float], level: float) -> int:
    last = max((i for i, weight in enumerate(weights) if weight), default=-1)
    return next((i for i, reached in enumerate(accumulate(weights)) if reached > level), last)


def drawn_round(rng: Random, length: int, zeros: float, accept: int | None) -> Case:
    size = rng.randint(3, 8)
    draft = [row(rng, size, zeros) for _ in range(length)]
    target = [row(rng, size, zeros) for _ in range(length + 1)]
    tokens = drafted(rng, draft)
    uniforms = [round(rng.random(), 6) for _ in range(length + 1)]
    if accept is not None:
        for place in range(min(accept + 1, length)):
            tokens[place] = judged(rng, draft[place], target[place], place < accept)
            ratio = target[place][tokens[place]] / draft[place][tokens[place]]
            share = rng.uniform(0.4, 0.9)
            uniforms[place] = share * min(1, ratio) if place < accept else ratio + share * (1 - ratio)
    return Case((tokens, draft, target, uniforms))


def judged(rng: Random, q: tuple[float, ...], p: tuple[float, ...], accepted: bool) -> int:
    """A token with p < q, whose verdict hangs on the uniform; or, to be accepted, any that both have."""
    short = [token for token in range(len(q)) if 0 < p[token] < q[token]]
    both = [token for token in range(len(q)) if min(p[token], q[token]) > 0]
    return rng.choice(short or (both if accepted else short) or [0])


def share(rng: Random, low: float = 0.2, high: float = 0.95) -> float:
    return round(rng.uniform(low, high), 3)


@dataclass(frozen=True)
class Dfa:
    """As ``rankzero.grammar.automata.Dfa``, of plain values."""

    start: int
    accepting: list[int]
    edges: dict[int, dict[int, int]]


def trie(words: Iterable[bytes]) -> Dfa:
    """A state for each beginning of a word, numbered as they come."""
    edges: dict[int, dict[int, int]] = {0: {}}
    ends: list[int] = []
    for word in words:
        state = 0
        for byte in word:
            if byte not in edges[state]:
                edges[len(edges)] = {}
                edges[state][byte] = len(edges) - 1
            state = edges[state][byte]
        ends.append(state)
    return Dfa(0, sorted(set(ends)), edges)


def written(vocabulary: Iterable[bytes]) -> list[str]:
    """Tokens as inside a bytes literal."""
    return [repr(token)[2:-1].replace("\\'", "'") for token in vocabulary]


LETTERS = "abcdxyz"


def word(rng: Random, length: int, letters: str = LETTERS) -> bytes:
    return "".join(rng.choice(letters) for _ in range(length)).encode()


def cuts(rng: Random, words: Sequence[bytes], more: int = 4) -> list[bytes]:
    """Tokens that spell every word: each is cut at random places, and there are some random pieces of it, too."""
    found = []
    for word in words:
        places = sorted({0, len(word), *(rng.randint(1, len(word)) for _ in range(rng.randint(1, 3)))})
        found += [word[i:j] for i, j in pairwise(places)]
        for _ in range(more):
            start = rng.randrange(len(word))
            found.append(word[start : rng.randint(start + 1, len(word))])
    found = list(dict.fromkeys(found))
    rng.shuffle(found)
    return found


TRUE = trie([b"true", b"false"])
CUT = ["t", "r", "u", "e", "tr", "true", "rue", "f", "fal", "se", "false", "als", "x"]


def factored_out(acceptance, draft_length):
    """1 + alpha (1 + alpha (1 + ...))."""
    tokens = 1.0
    for _ in range(draft_length):
        tokens = 1 + acceptance * tokens
    return tokens


def by_bisection(row, uniform):
    """The draw from weights that need not sum to 1; what rounding leaves goes to the last with any."""
    reached = list(itertools.accumulate(row))
    place = bisect.bisect_right(reached, uniform)
    return place if place < len(row) else max(token for token, p in enumerate(row) if p)
