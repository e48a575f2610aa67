"""The milestone's example: three requests on an engine, pass by pass.

>>> [sum(len(tokens) for _, tokens, _, _ in one.pieces) for one in passes()]
[8, 4, 2, 2, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankzero.server.jobs import Job, JobRequest
from solutions.ch11.engine import EngineCore

#: Prompts and answers, a token for each letter. The first four tokens of c are those of a.
PROMPTS = {"a": "storms", "b": "rains", "c": "storks"}
ANSWERS = {"a": "end", "b": "go", "c": "up"}
#: Of the device.
SIZES = {"blocks": 6, "block_size": 4, "budget": 8, "slots": 2}


@dataclass(frozen=True)
class Pass:
    """What one step asks of the device, and what it returns.

    Attributes:
        pieces: name, tokens as text, position of the first, table.
        said: name, text, reason.
    """

    pieces: tuple[tuple[str, str, int, tuple[int, ...]], ...]
    said: tuple[tuple[str, str, str], ...]

    @property
    def computed(self) -> list[tuple[str, str, int]]:
        """The pieces without their tables."""
        return [(name, tokens, start) for name, tokens, start, _ in self.pieces]


class _Letters(Job):
    """A device without a model: the answers are known."""

    def __init__(self) -> None:
        super().__init__({**SIZES, "vocabulary": [[letter] for letter in range(128)], "eos": 0}, lambda question: {})
        self.pieces: list[tuple[str, str, int, tuple[int, ...]]] = []

    def forward(self, pieces: Any) -> list[list[float]]:
        self.pieces = [(name, bytes(tokens).decode(), start, tuple(table)) for name, tokens, start, table in pieces]
        return [[] for _ in self.pieces]

    def choose(self, logits: Any, request: JobRequest, number: int, allowed: Any = None) -> int:
        return ord(ANSWERS[request.name][number])


def passes(make: Callable[[Any], Any] = EngineCore) -> list[Pass]:
    """The example on an engine, until every answer has ended."""
    job = _Letters()
    engine = make(job)
    for name, prompt in PROMPTS.items():
        engine.submit(JobRequest(name, list(prompt.encode()), len(ANSWERS[name])))
    found: list[Pass] = []
    while sum(reason != "" for one in found for *_, reason in one.said) < len(PROMPTS):
        said = engine.step()
        found.append(Pass(tuple(job.pieces), tuple(said)))
    return found
