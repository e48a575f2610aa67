"""Chapter 9: the design ``09-design``, prefixes in one large cache or in several, and the question ``09-reason``."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import ms

if TYPE_CHECKING:
    from solutions.ch09.routed_prefixes import Served

loads = lazily("solutions.ch09.replicas")
routed = lazily("solutions.ch09.routed_prefixes")

SECTION = "9.10"
GPUS = 8
#: Requests per second that have to be possible, the steps in which more are tried, and the most that are tried.
RATE, STEP, MOST = 8.0, 0.25, 40.0
#: The promises, seconds: the first token on average, and a full pass.
FIRST, GAP = 0.5, 60 * ms


def cache_or_replicas(gpus: int, routing: int, budget: int) -> Simulated:
    """What a node of eight GPUs comes to, cut into replicas of ``gpus``."""

    def at(rate: float) -> Served:
        one: Served = routed.on_node(gpus, bool(routing), rate, budget)
        return one

    one = at(RATE)
    told = (
        f"The busiest replica gets {one.load.rate:.2f} of {RATE:g} requests per second. It has room for {one.kept} of "
        f"{one.seen} prefixes, with which {one.load.hit:.0%} of its requests begin."
    )
    if one.found.busy < 1:
        told += (
            f" The first token comes after {one.found.first_token:.2f} s on average, and a full pass takes "
            f"{one.found.full / ms:.1f} ms."
        )
    binds = broken(gpus, one, budget)
    if binds:
        return Simulated(told, (math.inf, math.inf), binds)
    rates = [STEP * step for step in range(1, round(MOST / STEP) + 1)]
    most = rates[bisect_left(rates, True, key=lambda rate: bool(broken(gpus, at(rate), budget))) - 1]
    told += f" Both promises hold up to {most:g} requests per second."
    return Simulated(told, (one.found.full / ms, GPUS / most))


def broken(gpus: int, one: Served, budget: int) -> str:
    """The sentence about the constraint that binds; empty where both promises are kept."""
    left = f"{one.load.computed:,.0f} tokens of a request are left to compute on average"
    if one.found.busy >= 1:
        return f"But {left}, and prompts pile up."
    if one.found.first_token > FIRST:
        return f"But you promised {FIRST:g} s, and {left}."
    if one.found.full > GAP:
        part = loads.Replica(LLAMA3_70B, H100_SXM, gpus, 1).binds(budget, [one.found.running * one.load.context])
        return f"But you promised at most {GAP / ms:.0f} ms. The largest part of a full pass: {part}."
    return ""


QUESTIONS = (
    Design(
        id="09-design",
        title="One large cache or several",
        section=SECTION,
        knobs=(
            Knob("gpus", "GPUs of a replica (`gpus`)", (2, 4, 8)),
            Knob("routing", "a request goes to: 0 any replica, 1 its customer's (`routing`)", (0, 1)),
            Knob("budget", "tokens of a pass (`budget`)", (128, 256, 512, 1024)),
        ),
        axes=(Axis("a full pass at 8 requests/s", "ms"), Axis("least GPU time per request", "s")),
        simulate=cache_or_replicas,
        derivation=(
            "Weights come first: every replica has its own 70 GB. Replicas of two GPUs keep a tenth of the prefixes "
            "each, those of four GPUs a third, and one of eight GPUs five sixths. Routing decides what these numbers "
            "are worth. If any replica may get a request, all of them keep the same popular prefixes. If each customer "
            "has a replica, they keep different ones, and two replicas find nearly as much as one large cache. The "
            "price is balance: with two replicas, the one that has the most popular customer gets 56 percent of all "
            "requests."
            "\n\n"
            "What remains is the choice between a short pass and a low price. The single replica of eight has the "
            "shorter pass and needs no routing. Two of four, routed by customer, serve more requests with the same "
            "budget, because a pass takes them far less than twice as long. And if a replica dies, they still have "
            "half of the service and half of the cache, which is not in the picture. Sent anywhere, requests find "
            "too few prefixes in replicas of two; by customer 90 percent find theirs, but the busiest replica gets a "
            "third of the requests. Routing to any replica gives away what the second cache could hold."
        ),
    ),
    Choice(
        id="09-reason",
        kind="design",
        title="The same memory, more hits",
        section=SECTION,
        options=(
            "To any: all four replicas keep the same popular prefixes. By customer: each keeps others.",
            "By customer, a replica gets requests of one customer one after the other, before its prefix is evicted.",
            "By customer, a replica gets fewer requests per second, so that it has to evict less often.",
            "By customer, all replicas get equally many requests, so that no cache has to hold more than the others.",
        ),
        correct=0,
        derivation=(
            "The busiest replica has room for about 30 prefixes either way. If it sees all 300 customers, these are "
            "the most popular ones, and the same in all four replicas: about 30 different prefixes in the whole node. "
            "If it sees 75 customers, it keeps the most popular of these, and the node holds about 120 different ones. "
            "That is what routing by prefix buys: the caches of all replicas add up."
        ),
        slips={
            1: "Requests of different customers still come mixed: each replica serves 75 of them.",
            2: "How often it evicts is not what counts, but what share of its requests finds its prefix.",
            3: "The opposite is true: the replica with the most popular customer gets more requests than the others.",
        },
    ),
)
