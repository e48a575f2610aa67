"""One request: its prompt, how to sample, and its answer so far."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

import torch

from rankzero import checks
from rankzero.server.logprobs import Chosen
from rankzero.server.parts import Constraint, Detokenizer

#: Why a request ended: at the end of sequence or a stop string, at its token limit, canceled, or with a failed engine.
FinishReason = Literal["stop", "length", "abort", "error"]


@dataclass(frozen=True)
class Sampling:
    """How tokens are sampled, and what ends the answer.

    Attributes:
        max_tokens: the most tokens of the answer, including the end-of-sequence token; at least 1.
        temperature, top_k, top_p: shape the distribution of the next token; temperature 0 takes the most probable
            token, top_k 0 and top_p 1 exclude none.
        stop: strings that end the answer; none is empty.
        seed: the same seed gives the same draws, whatever else runs; None chooses a random seed.
        ignore_eos: whether to treat the end-of-sequence token like any other.
        logprobs: record the log-probability of every token and of this many of its most probable alternatives; None
            records nothing.
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
        checks.count(max_tokens=self.max_tokens)
        checks.count(0, top_k=self.top_k, logprobs=self.logprobs or 0)
        checks.amount(temperature=self.temperature)
        checks.require(0 < self.top_p <= 1, "be above 0 and at most 1", top_p=self.top_p)
        checks.require("" not in self.stop, "not hold an empty string", stop=self.stop)


class SamplingOptions(TypedDict, total=False):
    """The fields of :class:`Sampling` other than ``max_tokens``, each of them optional."""

    temperature: float
    top_k: int
    top_p: float
    stop: tuple[str, ...]
    seed: int | None
    ignore_eos: bool
    logprobs: int | None


def check_prompt(prompt: Sequence[int], vocab: int) -> None:
    """Raise ValueError for an empty prompt or a token outside the vocabulary."""
    checks.require(len(prompt) > 0, "hold at least one token", prompt=prompt)
    checks.count(0, vocab - 1, prompt=list(prompt))


def check_constraint(constraint: Constraint, sampling: Sampling) -> None:
    """Raise ValueError if no text that fits the constraint is short enough, or if ``sampling`` could break its form."""
    if sampling.stop or sampling.ignore_eos:
        raise ValueError("constraint must go without stop and ignore_eos, which could break its form")
    least = constraint.distance() + 1
    if sampling.max_tokens < least:
        raise ValueError(
            f"max_tokens must be at least {least}, got {sampling.max_tokens}: the shortest text of the constraint "
            f"takes {least - 1}, and one more token ends it"
        )


@dataclass(eq=False)
class Request:
    """A request in the engine. Only the engine's thread changes it; other threads read it once it has ended.

    Attributes:
        name: unique in its engine.
        prompt: tokens; at least one.
        sampling: how to sample the answer.
        detokenizer: turns the output tokens into text.
        arrival: when it was submitted, seconds on the engine's clock.
        on_text, on_end: called with each piece of text, and when the request has ended.
        constraint: which tokens may come next; None allows all.
        salt: it shares cached blocks only with requests of the same salt.
        output: tokens of the answer so far, including the end-of-sequence token.
        text: the answer so far, without text that the detokenizer holds back.
        chosen: how each token was drawn, if ``sampling.logprobs`` asks for it.
        token_times: when each output token was sampled, seconds on the engine's clock.
        finish_reason: why it ended; None until then.
        cached_tokens: prompt tokens whose keys and values came from the prefix cache.
        computed: tokens of prompt and output whose keys and values are in memory now.
        preemptions: how often it was preempted and lost its keys and values.
        first_step: number of the step in which it first ran; None until then.
        last_step: number of the step after the one in which it ended; None until then.
        waiting_since: when it entered the queue, seconds on the engine's clock; None while it runs.
    """

    name: str
    prompt: tuple[int, ...]
    sampling: Sampling
    detokenizer: Detokenizer
    arrival: float
    on_text: Callable[[Request, str], None] | None = None
    on_end: Callable[[Request], None] | None = None
    constraint: Constraint | None = None
    salt: str = ""
    output: list[int] = field(default_factory=list)
    text: str = ""
    chosen: list[Chosen] = field(default_factory=list)
    token_times: list[float] = field(default_factory=list)
    finish_reason: FinishReason | None = None
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
        """How many tokens of prompt and output have no keys and values yet; 1 while the request decodes."""
        return len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        """Whether the next step only has to compute the token that was sampled last."""
        return bool(self.output) and self.missing == 1

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits [V], with minus infinity for tokens that the constraint forbids.

        Tokens after which no valid text would fit the token limit are forbidden too; one token is reserved for the end
        of the sequence.
        """
        if self.constraint is None:
            return logits
        allowed = self.constraint.allowed(self.sampling.max_tokens - 1 - len(self.output))
        if not allowed:
            raise RuntimeError(f"the constraint of {self.name} allows no token after {len(self.output)} tokens")
        masked = torch.full_like(logits, float("-inf"))
        masked[allowed] = logits[allowed]
        return masked

    def sample(self, probabilities: torch.Tensor, uniform: float | None = None) -> int:
        """Draw the next token from a distribution [V], and record the draw if log-probabilities are wanted.

        Without ``uniform``, from 0 to 1, the request's own generator gives it.
        """
        token = draw(probabilities, self.draws.random() if uniform is None else uniform)
        if self.sampling.logprobs is not None:
            self.chosen.append(Chosen.of(probabilities, token, self.sampling.logprobs))
        return token

    def add(self, token: int, now: float, eos: int, last: bool) -> FinishReason | None:
        """Append the next token, and pass its text to ``on_text``.

        Args:
            token: the token.
            now: seconds on the engine's clock.
            eos: the end-of-sequence token.
            last: whether it is the last token that the request may have.

        Returns:
            ``stop`` or ``length`` if the request ends here, None if it goes on.
        """
        if self.constraint is not None:
            self.constraint.advance(token)
        self.output.append(token)
        self.tokens.append(token)
        self.token_times.append(now)
        ended = token == eos and not self.sampling.ignore_eos
        piece = "" if ended else self.detokenizer.push(token)
        stopped = ended or self.detokenizer.finished
        if (ended or last) and not self.detokenizer.finished:
            piece += self.detokenizer.finish()
        self.text += piece
        if piece and self.on_text is not None:
            self.on_text(self, piece)
        return "stop" if stopped else "length" if last else None


class QueueFull(RuntimeError):
    """The queue of waiting requests is full; try again later."""


def draw(probabilities: torch.Tensor, uniform: float) -> int:
    """Sample a token by inverse transform: the first whose cumulative probability exceeds ``uniform``, from [0, 1).

    The probabilities [V] need not sum to 1, and a token of probability 0 is never drawn.
    """
    sums = probabilities.double().cumsum(0)
    token = int(torch.searchsorted(sums, uniform * sums[-1], right=True))
    return token if token < len(sums) else int(probabilities.nonzero()[-1])
