"""Customers whose requests begin alike, on several replicas: which prefixes each cache keeps. Standard library only.

>>> [round(sum(AGENTS.shares(2, by_customer)), 3) for by_customer in (False, True)]
[0.5, 0.555]
>>> [on_node(2, by_customer, rate=8, budget=256).kept for by_customer in (False, True)]
[29, 32]
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B

from .replicas import Load, Replica, Steady, steady


@dataclass(frozen=True)
class Traffic:
    """What customers send.

    Attributes:
        customers: how many; the one in place i sends requests in proportion to 1/i.
        prefix: tokens with which all requests of a customer begin; other customers have others.
        prompt: tokens of a request's own prompt.
        answer: tokens of its answer.
    """

    customers: int
    prefix: int
    prompt: int
    answer: int

    def shares(self, replicas: int, by_customer: bool) -> tuple[float, ...]:
        """The shares of all requests that come to the busiest replica, one for each customer it sees.

        By customer, replicas get the customers in turn, and the first has places 1, R + 1, 2 R + 1, ...; otherwise each
        replica gets the same part of everybody's requests.
        """
        places = range(1, self.customers + 1)
        total = sum(1 / place for place in places)
        if by_customer:
            return tuple(1 / place / total for place in places[::replicas])
        return tuple(1 / place / total / replicas for place in places)

    def load(self, shares: tuple[float, ...], rate: float, kept: int) -> Load:
        """What the busiest replica is asked for at ``rate`` requests per second in all, if it keeps ``kept`` prefixes.

        They are those of its most popular customers.
        """
        return Load(rate * sum(shares), self.prompt, self.answer, self.prefix, sum(shares[:kept]) / sum(shares))


@dataclass(frozen=True)
class Served:
    """The busiest replica: prefixes that its requests have, those in its cache, what it is asked for, its balance."""

    seen: int
    kept: int
    load: Load
    found: Steady


def served(replica: Replica, traffic: Traffic, shares: tuple[float, ...], rate: float, budget: int) -> Served:
    """A replica that keeps as many prefixes as fit beside what the running answers have of their own.

    A running answer whose prefix is not kept holds a prefix of its own.
    """

    def with_kept(kept: int) -> Served:
        load = traffic.load(shares, rate, kept)
        return Served(len(shares), kept, load, steady(replica, load, budget))

    def too_many(kept: int) -> bool:
        one = with_kept(kept)
        own = one.found.running * (one.load.computed + traffic.answer / 2) + one.load.computed
        return kept * traffic.prefix + own > replica.room

    return with_kept(bisect_left(range(1, len(shares) + 1), True, key=too_many))


#: Agents of 300 customers, who have instructions and tools of their own.
AGENTS = Traffic(customers=300, prefix=6000, prompt=500, answer=250)


def on_node(gpus: int, by_customer: bool, rate: float, budget: int) -> Served:
    """The busiest replica where eight H100s serve Llama 3 70B in fp8 to the agents, in replicas of ``gpus`` GPUs."""
    shares = AGENTS.shares(8 // gpus, by_customer)
    return served(Replica(LLAMA3_70B, H100_SXM, gpus, 1), AGENTS, shares, rate, budget)
