"""What an engine that somebody writes is handed: a device that runs passes, and requests; and the loop that calls it.

See ``solutions/ch11/engine.py``. The device is wherever ``ask`` reaches: in the grader's process, where the model and
the pool of blocks are, or beside the engine (:mod:`rankzero.server.own_engine`). Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, Protocol

#: A request's name, the tokens to compute, the position of the first of them, and the request's blocks in order.
Piece = tuple[str, Sequence[int], int, Sequence[int]]
#: A request's name, text that may be sent now, and why it has ended: ``"stop"``, ``"length"``, or empty if it goes on.
Said = list[str]


class Constraint(Protocol):
    """Decides which tokens may come next in one answer."""

    def allowed(self, remaining: int | None = None) -> list[int]:
        """The tokens that may come next, if ``remaining`` more are left besides the one that ends the text."""

    def advance(self, token: int) -> None:
        """Append one token."""


@dataclass(frozen=True)
class JobRequest:
    """One request.

    Attributes:
        name: unique among all requests.
        prompt: tokens; at least one.
        max_tokens: the most tokens of the answer, the end-of-sequence token included; at least 1.
        temperature: 0 takes the most probable token.
        uniforms: of each token of the answer, the random number that draws it.
        stop: strings that end the answer and are not sent.
        salt: only requests with the same salt may share blocks.
        constraint: which tokens may come next; None allows all.
    """

    name: str
    prompt: Sequence[int]
    max_tokens: int
    temperature: float = 0.0
    uniforms: Sequence[float] = ()
    stop: Sequence[str] = ()
    salt: str = ""
    constraint: Constraint | None = field(default=None, compare=False)


class Form:
    """A constraint from plain data.

    Args:
        rows: for each state ``[[token, next state, distance of the next state], ...]``, where a distance is the fewest
            tokens to a state in which the text may end.
        start: the state before the first token.
        accepting: states in which the text may end.
        eos: the token that ends it.
    """

    def __init__(
        self, rows: Sequence[Sequence[Sequence[int]]], start: int, accepting: Collection[int], eos: int
    ) -> None:
        self._rows = [{token: (after, distance) for token, after, distance in row} for row in rows]
        self._state, self._accepting, self._eos = start, accepting, eos

    def allowed(self, remaining: int | None = None) -> list[int]:
        """As :meth:`Constraint.allowed`; ``eos`` where the text may end."""
        row = self._rows[self._state].items()
        found = [token for token, (_, distance) in row if remaining is None or distance < remaining]
        return sorted([*found, self._eos] if self._state in self._accepting else found)

    def advance(self, token: int) -> None:
        """As :meth:`Constraint.advance`; ``eos`` leads nowhere."""
        if token != self._eos:
            self._state, _ = self._rows[self._state][token]


def choose(
    logits: Sequence[float], temperature: float, uniform: float = 0.0, allowed: Collection[int] | None = None
) -> int:
    """The next token: the most probable one, or the one whose share of the sorted probabilities holds ``uniform``.

    Args:
        logits: of all tokens.
        temperature: 0 takes the most probable token.
        uniform: from 0 to 1, without 1.
        allowed: tokens that may be chosen; None allows all.

    Raises:
        ValueError: no token is allowed.
    """
    if temperature == 0:
        tokens = range(len(logits)) if allowed is None else sorted(set(allowed))
        if not tokens:
            raise ValueError("no token is allowed")
        return max(tokens, key=logits.__getitem__)
    found = shares(logits, temperature, allowed)
    return next((token for token, (_, high) in found.items() if uniform < high), max(found))


def shares(
    logits: Sequence[float], temperature: float, allowed: Collection[int] | None = None
) -> dict[int, tuple[float, float]]:
    """Of each token, the part of the numbers from 0 to 1 that draw it: from where, and to where.

    Raises:
        ValueError: no token is allowed.
    """
    tokens = range(len(logits)) if allowed is None else sorted(set(allowed))
    if not tokens:
        raise ValueError("no token is allowed")
    top = max(logits[token] for token in tokens)
    weights = [math.exp((logits[token] - top) / temperature) for token in tokens]
    total, low, found = math.fsum(weights), 0.0, dict[int, tuple[float, float]]()
    for token, weight in zip(tokens, weights, strict=True):
        found[token] = low, low + weight / total
        low += weight / total
    return found


class Job:
    """What an engine knows of its device.

    Args:
        settings: the attributes below, as plain data.
        ask: puts a question to the device.

    Attributes:
        blocks, block_size: of the pool.
        budget: the most tokens of a pass.
        slots: the most requests of a pass.
        vocabulary: the bytes of each token.
        eos: the token that ends an answer.
    """

    def __init__(self, settings: Mapping[str, Any], ask: Callable[[Any], Any]) -> None:
        self.blocks: int = settings["blocks"]
        self.block_size: int = settings["block_size"]
        self.budget: int = settings["budget"]
        self.slots: int = settings["slots"]
        self.vocabulary = [bytes(token) for token in settings["vocabulary"]]
        self.eos: int = settings["eos"]
        self._ask = ask

    def forward(self, pieces: Iterable[Piece]) -> list[list[float]]:
        """Run one pass; returns the logits after the last token of each piece."""
        asked = [
            [name, [*map(index, tokens)], index(start), [*map(index, table)]] for name, tokens, start, table in pieces
        ]
        answer = self._ask(["forward", asked])
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer["logits"]  # type: ignore[no-any-return]

    def choose(
        self, logits: Sequence[float], request: JobRequest, number: int, allowed: Collection[int] | None = None
    ) -> int:
        """Token ``number`` of the answer to a request, counted from 0; of the ``allowed`` ones, if that is not None."""
        uniform = request.uniforms[number] if request.temperature else 0.0
        return choose(logits, request.temperature, uniform, allowed)


def run(ask: Callable[[Any], Any], make: Callable[[Job], Any], settings: Mapping[str, Any]) -> None:
    """Let an engine serve what the desk behind ``ask`` has for it, until that says that it is over."""
    engine = make(Job(settings, ask))
    said: list[Said] = []
    while not (due := ask(["next", said])).get("over"):
        for wire in due["arrive"]:
            engine.submit(request_of(wire))
        for name in due["leave"]:
            engine.cancel(name)
        said = checked(engine.step())


def request_of(wire: Mapping[str, Any]) -> JobRequest:
    """The request in plain data."""
    fields: dict[str, Any] = {**wire}
    if fields["constraint"] is not None:
        fields["constraint"] = Form(**fields["constraint"])
    return JobRequest(**fields)


def checked(said: Any) -> list[Said]:
    """What a step has returned.

    Raises:
        TypeError: it is no list of triples of strings.
    """
    if not isinstance(said, list | tuple):
        raise TypeError(f"step must return a list of (name, text, reason), got {type(said).__name__}")
    for one in said:
        if not isinstance(one, list | tuple) or [type(part) for part in one] != [str, str, str]:
            raise TypeError(
                f"step must return a list of (name, text, reason), three strings each; it holds {one!r:.60}"
            )
    return [[*one] for one in said]
