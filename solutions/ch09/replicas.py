"""A replica under a steady load: how many answers run, how long a pass takes, when the first token comes.

Requests come at random, and prompts are computed in the order of their arrival. While there is a prompt to compute,
passes are full: one token of each running answer, and as many tokens of prompts as the budget leaves. Otherwise passes
are plain: the running answers alone. All figures are averages. Standard library only.

>>> from rankzero.facts.hardware import H100_SXM
>>> from rankzero.facts.models import LLAMA3_70B
>>> found = steady(Replica(LLAMA3_70B, H100_SXM, 4), Load(rate=2, prompt=2000, answer=300), budget=512)
>>> round(found.running), round(found.first_token, 2)
(18, 0.34)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rankzero.facts.hardware import Gpu
from rankzero.facts.models import Model
from rankzero.facts.units import ms, us

from ..ch03.collective_cost import ring_all_reduce_time
from ..ch08.serving import pass_time
from .kv_cache import kv_bytes_per_token

#: Shares of the data sheet's figures that kernels and messages reach; assumed.
PRODUCTS, READING, LINK = 0.5, 0.7, 0.6
#: Seconds of launches and scheduling in a pass, and of the start of a message; assumed.
LAUNCHES, START = 4 * ms, 2 * us
#: Share of the memory that weights and caches may take.
USABLE = 0.9
#: Numbers of running answers that differ by less are equal.
EQUAL = 1e-6


@dataclass(frozen=True)
class Load:
    """What one replica is asked for.

    Attributes:
        rate: requests per second.
        prompt: tokens of a request's own prompt.
        answer: tokens of its answer; at least 2.
        prefix: tokens in front of the prompt that other requests begin with, too.
        hit: share of the requests whose prefix is in the cache; the others compute it with their prompt.
    """

    rate: float
    prompt: float
    answer: float
    prefix: float = 0.0
    hit: float = 1.0

    @property
    def context(self) -> float:
        """Tokens that a running answer has behind it, on average."""
        return self.prefix + self.prompt + self.answer / 2

    @property
    def computed(self) -> float:
        """Tokens that are computed before the first token of an answer, on average."""
        return self.prompt + (1 - self.hit) * self.prefix

    @property
    def variation(self) -> float:
        """The mean square of these tokens over the square of their mean: 1 if all requests have the same number."""
        square = self.hit * self.prompt**2 + (1 - self.hit) * (self.prompt + self.prefix) ** 2
        return square / self.computed**2


@dataclass(frozen=True)
class Replica:
    """A dense model split over the GPUs of a node, all of which share every matrix.

    Attributes:
        model: its shape.
        gpu: of which kind the GPUs are.
        gpus: how many.
        weight_element: bytes of a weight; with 1, products run at the GPU's 8-bit peak, with 2, or where it has
            none, at its bf16 peak.
    """

    model: Model
    gpu: Gpu
    gpus: int
    weight_element: int = 2

    @cached_property
    def weight_bytes(self) -> float:
        """Bytes of all weights."""
        return float(self.weight_element * self.model.parameters)

    @cached_property
    def kv_bytes(self) -> float:
        """Bytes of the keys and values of one token, on all GPUs together; 2 for each element."""
        return kv_bytes_per_token(self.model.layers, self.model.kv_heads, self.model.head_dim)

    @property
    def room(self) -> float:
        """Tokens whose keys and values fit beside the weights; negative where these do not fit."""
        return (USABLE * self.gpus * self.gpu.memory - self.weight_bytes) / self.kv_bytes

    def roofline(self, tokens: float, contexts: Sequence[float]) -> float:
        """Seconds of a pass without launches and messages."""
        peak = self.gpu.peak_fp8 if self.weight_element == 1 else self.gpu.peak_bf16
        speed = self.gpus * PRODUCTS * (self.gpu.peak_bf16 if peak is None else peak)
        reading = self.gpus * READING * self.gpu.memory_bandwidth
        parameters = self.weight_bytes / self.weight_element
        return pass_time(tokens, contexts, parameters, self.weight_bytes, self.kv_bytes, speed, reading)

    @cached_property
    def _all_reduces(self) -> tuple[float, float]:
        """Seconds of the two all-reduces of every layer: their start, and what each token adds."""
        link = LINK * self.gpu.nvlink.bandwidth
        start, one = (
            2 * self.model.layers * ring_all_reduce_time(2 * tokens * self.model.hidden, self.gpus, link, START)
            for tokens in (0, 1)
        )
        return start, one - start

    def messages(self, tokens: float) -> float:
        """Seconds of the two all-reduces of every layer."""
        start, each = self._all_reduces
        return start + tokens * each

    def seconds(self, tokens: float, contexts: Sequence[float]) -> float:
        """Seconds of a pass over ``tokens`` that reads caches of ``contexts`` tokens."""
        return LAUNCHES + self.roofline(tokens, contexts) + self.messages(tokens)

    def binds(self, tokens: float, contexts: Sequence[float]) -> str:
        """The part of a pass that takes longest, in words."""
        weights, reading = self.roofline(tokens, []), self.roofline(1, [])
        parts = {
            "reading the caches": self.roofline(tokens, contexts) - weights,
            "the products" if weights > reading else "reading the weights": weights,
            "the all-reduces": self.messages(tokens),
            "launches": LAUNCHES,
        }
        return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True)
class Steady:
    """A replica in balance: as many requests end as come.

    Attributes:
        running: answers that are being written.
        plain: seconds of a pass without prompts.
        full: seconds of a pass that is filled to its budget: the gap between two tokens of an answer while a prompt is
            computed.
        free: tokens of a full pass that are left for prompts.
        busy: share of the time in which passes are full. Where it is 1 or more, prompts pile up, and ``running`` is
            what has been reached by then.
        first_token: seconds from the arrival of a request to its first token; inf where prompts pile up.
        tokens: of the cache that are in use, with one prompt under way.
    """

    running: float
    plain: float
    full: float
    free: float
    busy: float
    first_token: float
    tokens: float


def steady(replica: Replica, load: Load, budget: int) -> Steady:
    """The balance of a replica under a load.

    ``running`` is Little's law: ``rate`` answers a second, each for ``answer - 1`` passes, of which some are full. More
    answers make passes longer, and longer passes keep more answers running, so the number is approached from below. A
    first token waits for a plain pass to end if there is no other prompt, else for the prompts in front (M/G/1: one
    server, random arrivals); then its own prompt is computed.

    Args:
        replica: the model and its GPUs.
        load: what it is asked for.
        budget: tokens of a pass; at least 1.

    Source: Little (1961), doi:10.1287/opre.9.3.383; Pollaczek (1930) and Khinchin (1932) for the wait of M/G/1;
    Agrawal et al. (2024), arXiv:2403.02310, for passes with a token budget.
    """
    before, found = -1.0, _with(replica, load, budget, 0.0)
    while found.running - before > EQUAL and found.busy < 1:
        before = found.running
        passes = found.busy / found.full + (1 - found.busy) / found.plain  # in a second
        found = _with(replica, load, budget, load.rate * (load.answer - 1) / passes)
    return found


def _with(replica: Replica, load: Load, budget: int, running: float) -> Steady:
    """What a replica does while ``running`` answers are being written."""
    behind = running * load.context
    plain = replica.seconds(max(1.0, running), [behind])
    full = replica.seconds(budget, [behind, load.prefix + load.prompt / 2])
    free = budget - running
    tokens = behind + load.prefix + load.prompt
    service = load.computed / free * full if free > 0 else math.inf
    busy = load.rate * service
    first = math.inf
    if busy < 1:
        wait = (1 - busy) * plain / 2 + busy / (2 * (1 - busy)) * load.variation * service
        found, missed = (math.ceil(own / free - EQUAL) for own in (load.prompt, load.prompt + load.prefix))
        first = wait + (load.hit * found + (1 - load.hit) * missed) * full
    return Steady(running, plain, full, free, busy, first, tokens)
