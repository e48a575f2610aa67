# Generated from solutions/ch08/serving.py by make stubs. Write the bodies; names and signatures stay.
"""Serving in closed form: what a step costs, what a user feels, how many servers that takes, who runs when.

Standard library only. N are parameters, W bytes of weights, B running sequences, n output tokens.

>>> from rankzero.facts.units import TB, TFLOP
>>> h100 = {"peak": 989.4 * TFLOP, "bandwidth": 3.35 * TB}
>>> round(critical_batch_size(8.03e9, 16.06e9, **h100))
295
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from rankzero import checks


def pass_time(
    tokens: float,
    contexts: Sequence[float],
    parameters: float,
    weight_bytes: float,
    kv_bytes_per_token: float,
    peak: float,
    bandwidth: float,
) -> float:
    """Bound of one forward pass, in seconds: the caches are read, and the matrices multiply while the weights are read.

    The matrices take ``2 N`` FLOP for each token, and the weights are read once for all tokens: the slower of the two
    counts. Attention is a kernel of its own: each request's cached keys and values are read, and that time is added.

    Args:
        tokens: all tokens of the pass: of a prompt many, of an answer one; not negative. Without tokens: 0.0.
        contexts: cached tokens of each request in the pass; each not negative.
        parameters: N, of the matrices; positive.
        weight_bytes: W; positive.
        kv_bytes_per_token: keys and values of one token in all layers; not negative.
        peak: dense FLOP/s; positive.
        bandwidth: of the memory, bytes/s; positive.

    Source: Austin et al. (2025), "How To Scale Your Model", part 7; Williams et al. (2009),
    doi:10.1145/1498765.1498785.
    """
    checks.amount(tokens=tokens, contexts=contexts, kv_bytes_per_token=kv_bytes_per_token)
    checks.positive(parameters=parameters, weight_bytes=weight_bytes, peak=peak, bandwidth=bandwidth)
    raise NotImplementedError("08-pass-time: not written yet")


def prefill_time(
    parameters: float,
    weight_bytes: float,
    prompt_tokens: float,
    peak: float,
    bandwidth: float,
    layers: float = 0,
    hidden: float = 0,
) -> float:
    """Time of one prefill at the roofline, in seconds: the pass of a whole prompt, with the FLOP of its attention.

    The matrices take ``2 N s`` FLOP while the weights are read once, and the slower of the two counts. Causal
    attention, which computes half of the scores, adds ``2 L d s**2`` FLOP in kernels of its own.

    Args:
        parameters: N, of the matrices; positive.
        weight_bytes: W; positive.
        prompt_tokens: s; not negative. An empty prompt reads the weights once.
        peak: dense FLOP/s; positive.
        bandwidth: of the memory that holds the weights, bytes/s; positive.
        layers, hidden: L and d, not negative; with 0, attention costs nothing.

    Source: Kaplan et al. (2020), arXiv:2001.08361; Williams et al. (2009), doi:10.1145/1498765.1498785; Pope et al.
    (2022), arXiv:2211.05102.
    """
    checks.positive(parameters=parameters, weight_bytes=weight_bytes, peak=peak, bandwidth=bandwidth)
    checks.amount(prompt_tokens=prompt_tokens, layers=layers, hidden=hidden)
    raise NotImplementedError("08-prefill-time: not written yet")


def critical_batch_size(parameters: float, weight_bytes: float, peak: float, bandwidth: float) -> float:
    """Tokens of a pass, not rounded, at which the matrices multiply as long as the weights are read.

    One token takes ``2 N / peak`` of multiplying; reading takes ``W / bandwidth`` for all of them. The caches do not
    matter: another kernel reads them.

    Args:
        parameters: N, of the matrices; positive.
        weight_bytes: W; positive.
        peak: dense FLOP/s; positive.
        bandwidth: bytes/s; positive.

    Source: Austin et al. (2025), "How To Scale Your Model", part 7.
    """
    checks.positive(parameters=parameters, weight_bytes=weight_bytes, peak=peak, bandwidth=bandwidth)
    raise NotImplementedError("08-critical-batch-size: not written yet")


@dataclass(frozen=True)
class RequestMetrics:
    """What one user felt, in seconds.

    Attributes:
        ttft: time to first token, from the arrival of the request.
        tpot: time per output token after the first: the mean gap; None for one token.
        e2e: end to end, from arrival to the last token.
        itls: inter-token latencies, every gap.
    """

    ttft: float
    tpot: float | None
    e2e: float
    itls: tuple[float, ...]


def request_metrics(arrival: float, token_times: Sequence[float]) -> RequestMetrics:
    """The latencies of one request.

    Args:
        arrival: when the request came, seconds on any clock; finite.
        token_times: when each output token was sent, on the same clock; at least one time, finite, none before
            ``arrival`` or before the time in front of it.

    Source: the definitions of ``vllm bench serve`` (vLLM, ``vllm/benchmarks/serve.py``).
    """
    checks.finite(arrival=arrival, token_times=token_times)
    checks.require(len(token_times) > 0, "hold at least one time", token_times=token_times)
    times = [arrival, *token_times]
    checks.require(times == sorted(times), f"ascend from arrival = {arrival!r}", token_times=token_times)
    raise NotImplementedError("08-request-metrics: not written yet")


def replicas_needed(rate: float, ttft: float, itl: float, output_tokens: int, slots: int) -> int:
    """Replicas that hold all requests in flight, by Little's law.

    A request is in the system for ``ttft + (n - 1) itl``, so ``rate`` times as many are in flight, and each replica
    holds ``slots`` of them. The quotient is rounded up, but if it exceeds a whole number by less than 1e-9 of itself,
    it counts as that number.

    Args:
        rate: requests per second; not negative. Without requests: 0.
        ttft: time to first token, seconds; not negative.
        itl: inter-token latency with all slots taken, seconds; not negative.
        output_tokens: n; at least 1.
        slots: sequences that one replica runs at once; at least 1.

    Source: Little (1961), doi:10.1287/opre.9.3.383.
    """
    checks.amount(rate=rate, ttft=ttft, itl=itl)
    checks.count(output_tokens=output_tokens, slots=slots)
    raise NotImplementedError("08-replicas-needed: not written yet")


def static_batching(lengths: Sequence[int], slots: int) -> list[tuple[int, int]]:
    """Start and finish step of every request when batches start and end as a whole.

    Consecutive groups of ``slots`` requests start together; all of a group are released when its longest ends, and then
    the next group starts. The first starts at step 0; a group that starts at step t and whose longest takes n steps
    ends at t + n.

    Args:
        lengths: steps that each request needs, in the order of arrival; at least 1 each.
        slots: requests in a batch; at least 1.

    Returns:
        ``(start, finish)`` of each request, in input order: when its group starts, and when its group is released.
    """
    checks.count(lengths=lengths, slots=slots)
    raise NotImplementedError("08-static-batching: not written yet")


def continuous_batching(
    lengths: Sequence[int], slots: int, arrivals: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Start and finish step of every request when a freed slot is refilled before the next step.

    First come, first served, equal arrivals by index: each request takes the slot that is free first. A slot freed at
    step t may start a request at t.

    Args:
        lengths: steps that each request needs; at least 1 each.
        slots: sequences that run at once; at least 1.
        arrivals: step before which a request cannot start, one for each, not negative; with None all wait from step 0.

    Returns:
        ``(start, finish)`` of each request, in input order.

    Source: Yu et al. (2022), Orca, OSDI 22; Graham (1969), doi:10.1137/0117039, for the bound of list scheduling.
    """
    checks.count(lengths=lengths, slots=slots)
    if arrivals is not None:
        checks.count(0, arrivals=arrivals)
        checks.require(len(arrivals) == len(lengths), f"be as many as lengths = {len(lengths)}", arrivals=len(arrivals))
    raise NotImplementedError("08-continuous-batching: not written yet")


def workload(
    requests: int = 50, median: float = 60, sigma: float = 0.9, longest: int = 512, seed: int = 8
) -> list[int]:
    """Output lengths as servers see them: log-normal, many short ones and a long tail, from 1 to ``longest`` tokens.

    Args:
        requests: how many; not negative.
        median: of the lengths before they are clipped, tokens; positive.
        sigma: standard deviation of their logarithm; not negative.
        longest: at least 1.
        seed: the same seed gives the same lengths.
    """
    rng = Random(seed)
    drawn = (round(rng.lognormvariate(math.log(median), sigma)) for _ in range(requests))
    return [min(longest, max(1, length)) for length in drawn]
