"""One request: what was asked, what came out so far, and when."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from rankzero.server.logprobs import Chosen
from rankzero.server.parts import Constraint, Detokenizer


def check_numbers(least: int, **numbers: int | None) -> None:
    """Raise ValueError for the first that is neither None nor an integer of at least ``least``."""
    for name, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn, and what ends the answer.

    Attributes:
        max_tokens: the most tokens of the answer, the one that ends a sequence included; at least 1.
        temperature, top_k, top_p: of the distribution of the next token; temperature 0 takes the most probable one,
            top_k 0 and top_p 1 leave none out.
        stop: strings that end the answer.
        seed: the same seed gives the same draws, whatever else runs; None draws a seed.
        ignore_eos: the token that ends a sequence is a token like others.
        logprobs: note the log-probability of every token, and so many of the most probable ones beside it; None notes
            nothing.

    Raises:
        ValueError: a number is outside its range, or a stop string is empty.
    """

    max_tokens: int
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int | None = None
    ignore_eos: bool = False
    logprobs: int | None = None

    def __post_init__(self) -> None:
        check_numbers(1, max_tokens=self.max_tokens)
        check_numbers(0, top_k=self.top_k, logprobs=self.logprobs)
        if not self.temperature >= 0:
            raise ValueError(f"temperature must be >= 0, got {self.temperature!r}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {self.top_p!r}")
        if "" in self.stop:
            raise ValueError("stop must not hold an empty string")


def check_prompt(prompt: Sequence[int], vocab: int) -> None:
    """Raise ValueError for an empty prompt, or for a token that the model does not know."""
    if not prompt:
        raise ValueError("prompt must hold at least one token")
    strange = next((token for token in prompt if not 0 <= token < vocab), None)
    if strange is not None:
        raise ValueError(f"prompt must hold tokens from 0 to {vocab - 1}, got {strange!r}")


def check_constraint(constraint: Constraint, sampling: Sampling) -> None:
    """Raise ValueError when no text of a constraint fits, or something else would end the text before its form does."""
    if sampling.stop or sampling.ignore_eos:
        raise ValueError("constraint must go without stop and ignore_eos, which would break its form")
    least = constraint.distance() + 1
    if sampling.max_tokens < least:
        raise ValueError(
            f"max_tokens must be at least {least}, got {sampling.max_tokens}: the shortest text of the constraint "
            f"takes {least - 1}, and one ends it"
        )


@dataclass(eq=False)
class Request:
    """A request in the engine, whose thread alone changes it; others read it when it is done.

    Attributes:
        name: unique in its engine.
        prompt: tokens; at least one.
        sampling: how to go on from there.
        words: turns its tokens into text.
        arrival: seconds on the engine's clock.
        on_text, on_end: whom to tell.
        constraint: which tokens may come next; None allows all.
        output: tokens of the answer so far, the one that ends a sequence included.
        text: of the answer so far, without what is held back.
        chosen: the draw of each token, where ``sampling.logprobs`` asks for it.
        token_times: when each token was there, seconds on the engine's clock.
        finish_reason: ``stop`` (end of sequence, or a stop string), ``length``, ``abort`` or ``error``; None before.
        cached_tokens: of the prompt, those whose keys and values were taken from the prefix cache.
        computed: tokens of prompt and output that have keys and values now.
        preemptions: how often it lost them.
        first_step: number of the step in which it first ran; None before.
        last_step: number of the step after the one in which it ended; None before.
        waiting_since: when it came into the queue, seconds on the engine's clock; None while it runs.
    """

    name: str
    prompt: tuple[int, ...]
    sampling: Sampling
    words: Detokenizer
    arrival: float
    on_text: Callable[[Request, str], None] | None = None
    on_end: Callable[[Request], None] | None = None
    constraint: Constraint | None = None
    output: list[int] = field(default_factory=list)
    text: str = ""
    chosen: list[Chosen] = field(default_factory=list)
    token_times: list[float] = field(default_factory=list)
    finish_reason: str | None = None
    cached_tokens: int = 0
    computed: int = 0
    preemptions: int = 0
    first_step: int | None = None
    last_step: int | None = None
    waiting_since: float | None = None
    tokens: list[int] = field(init=False, repr=False)
    draws: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.tokens, self.draws = list(self.prompt), random.Random(self.sampling.seed)
        self.waiting_since = self.arrival

    @property
    def missing(self) -> int:
        """Tokens of prompt and output without keys and values; 1 while it decodes."""
        return len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        """Whether its next step computes just the token that it got last."""
        return bool(self.output) and self.missing == 1

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits [V], with minus infinity for tokens after which the text could not end as its constraint wants.

        One token is kept back for the end of the sequence.
        """
        if self.constraint is None:
            return logits
        allowed = self.constraint.allowed(self.sampling.max_tokens - 1 - len(self.output))
        if not allowed:
            raise RuntimeError(f"the constraint of {self.name} allows no token after {len(self.output)}")
        masked = torch.full_like(logits, float("-inf"))
        masked[allowed] = logits[allowed]
        return masked

    def sample(self, probabilities: torch.Tensor) -> int:
        """Draw the next token from a distribution [V], and note the draw if that is asked for."""
        token = draw(probabilities, self.draws.random())
        if self.sampling.logprobs is not None:
            self.chosen.append(Chosen.of(probabilities, token, self.sampling.logprobs))
        return token

    def add(self, token: int, now: float, eos: int, last: bool) -> str | None:
        """Take the next token, and pass its text on.

        Args:
            token: the token.
            now: seconds on the engine's clock.
            eos: the token that ends a sequence.
            last: whether no other may follow.

        Returns:
            Why the request ends here, ``stop`` or ``length``; None when it goes on.
        """
        if self.constraint is not None:
            self.constraint.advance(token)
        self.output.append(token)
        self.tokens.append(token)
        self.token_times.append(now)
        ended = token == eos and not self.sampling.ignore_eos
        piece = "" if ended else self.words.push(token)
        stopped = ended or self.words.finished
        if (ended or last) and not self.words.finished:
            piece += self.words.finish()
        self.text += piece
        if piece and self.on_text is not None:
            self.on_text(self, piece)
        return "stop" if stopped else "length" if last else None


class QueueFull(RuntimeError):
    """As many requests wait as may wait; come again later."""


def draw(probabilities: torch.Tensor, uniform: float) -> int:
    """The token on which a number from [0, 1) falls when the probabilities [V] are laid side by side.

    A token of probability 0 is never drawn.
    """
    sums = probabilities.double().cumsum(0)
    place = int(torch.searchsorted(sums, uniform * sums[-1], right=True))
    return place if place < len(sums) else int(probabilities.nonzero()[-1])
