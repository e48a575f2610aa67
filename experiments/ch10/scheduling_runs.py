"""Live runs of the server's engine under a token budget and in a pool that is too small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import torch

from rankzero import checks
from rankzero.server import Engine
from rankzero.server.trace import Step
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig
from solutions.ch10.scheduler import Scheduler

from ..ch08.serving_runs import parts


@cache
def long_model(context: int = 640) -> GPT:
    """An untrained model with room for a long prompt; step times do not depend on the text it writes.

    Double precision keeps the text from depending on how steps are batched.
    """
    return GPT(GPTConfig(vocab=257, layers=2, heads=4, head_dim=16, context=context)).double().eval()


@dataclass(frozen=True)
class BudgetRun:
    """Streams that decode while a long prompt arrives.

    Attributes:
        steps: the steps from the arrival until a few after the prompt's first token.
        gaps: seconds between two tokens of a request, for each that decodes in such a step.
        ttft: seconds from the arrival to the long prompt's first token.
        prefill_steps: steps that the long prompt took.
        texts: the generated texts, by request.
    """

    steps: tuple[Step, ...]
    gaps: tuple[float, ...]
    ttft: float
    prefill_steps: int
    texts: dict[str, tuple[int, ...]]

    @property
    def longest_gap(self) -> float:
        """Seconds; they are too few for a percentile."""
        return max(self.gaps)

    @property
    def longest_step(self) -> int:
        """Tokens of the largest step, which determines the longest gap."""
        return max(step.computed for step in self.steps)


def budget_run(
    budget: int,
    long: int = 512,
    streams: int = 7,
    new_tokens: int = 0,
    scheduler: Callable[..., Any] = Scheduler,
    model: GPT | None = None,
) -> BudgetRun:
    """Let ``streams`` requests decode, add one with a prompt of ``long`` tokens, and record the steps that follow.

    Args:
        budget: tokens of one step; 0 sets no limit.
        long: tokens of the prompt that arrives.
        streams: requests that decode.
        new_tokens: tokens of each stream, more than 4; 0 means enough to outlast the prompt.
        scheduler: class.
        model: None takes an untrained one.

    Raises:
        ValueError: the budget leaves nothing for the prompt, or the streams end before it arrives.
    """
    checks.count(streams=streams)
    checks.require(new_tokens == 0 or new_tokens > 4, "be 0 or above 4", new_tokens=new_tokens)
    if 0 < budget <= streams:
        raise ValueError(f"budget must be more than streams = {streams}, got {budget}")
    most = new_tokens or -(-long // ((budget or long + streams) - streams)) + 24
    model = model or long_model(max(long, most) + 128)
    room = budget or model.config.context + streams
    engine = Engine(
        model,
        ByteTokenizer(),
        replace(parts(), scheduler=scheduler),
        slots=streams + 1,
        budget=room,
        prefix_cache=False,
    )
    requests = {f"stream {i}": engine.submit([65 + i] * 8, most, ignore_eos=True) for i in range(streams)}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        while sum(step.decode for step in engine.steps) < 4 * streams:
            engine.step()
        before, arrived = len(engine.steps), engine.log.now()
        requests["long"] = engine.submit([i % 251 for i in range(long)], 4, ignore_eos=True)
        engine.run()
    finally:
        torch.set_num_threads(threads)
    engine.close()
    steps = engine.steps[before - 1 :]
    own = [step for step in steps if requests["long"].name in dict(step.scheduled)]
    filled, first = 0, own[0]
    for step in own:
        filled += dict(step.scheduled)[requests["long"].name]
        if filled >= long:
            first = step
            break
    last = min(len(steps) - 1, steps.index(first) + 4)
    gaps = [b.end - a.end for a, b in pairwise(steps[: last + 1]) for _ in range(b.decode)]
    texts = {name: tuple(request.tokens[len(request.prompt) :]) for name, request in requests.items()}
    return BudgetRun(tuple(steps[1 : last + 1]), tuple(gaps), first.end - arrived, own.index(first) + 1, texts)


@dataclass(frozen=True)
class PoolRun:
    """Requests in a pool of some size.

    Attributes:
        blocks: of the pool.
        steps: of the engine, in order.
        preemptions: number of times that a request was preempted.
        generated: tokens that were kept.
        computed: tokens that went through the model.
        seconds: from the first step to the last.
        texts: the generated texts, in the order of the requests.
    """

    blocks: int
    steps: tuple[Step, ...]
    preemptions: int
    generated: int
    computed: int
    seconds: float
    texts: tuple[tuple[int, ...], ...]

    @property
    def per_step(self) -> float:
        """Generated tokens of a step, on average."""
        return self.generated / len(self.steps)


def pool_run(
    blocks: int,
    requests: int = 12,
    prompt: int = 32,
    new_tokens: int = 48,
    block_size: int = 4,
    scheduler: Callable[..., Any] = Scheduler,
    model: GPT | None = None,
) -> PoolRun:
    """Serve equal requests, all submitted at the start, from a pool of ``blocks`` blocks.

    Raises:
        ValueError: one request alone does not fit.
    """
    model = model or long_model(128)
    engine = Engine(
        model,
        ByteTokenizer(),
        replace(parts(), scheduler=scheduler),
        slots=requests,
        blocks=blocks,
        block_size=block_size,
        budget=128,
        prefix_cache=False,
    )
    handed = [
        engine.submit([(7 * i + j) % 251 for j in range(prompt)], new_tokens, ignore_eos=True) for i in range(requests)
    ]
    engine.run()
    counts = engine.metrics()
    engine.close()
    steps = tuple(engine.steps)
    texts = tuple(tuple(one.tokens[len(one.prompt) :]) for one in handed)
    seconds = steps[-1].end - steps[0].start
    return PoolRun(
        blocks, steps, counts["preemptions"], counts["generated_tokens"], counts["computed_tokens"], seconds, texts
    )


def watched_run(scheduler: Callable[..., Any], prefix_cache: bool, requests: int = 12) -> dict[str, int]:
    """Serve prompts of 96 tokens, of which the first 80 are the same, from a small pool; the engine's metrics."""
    engine = Engine(
        long_model(160),
        ByteTokenizer(),
        replace(parts(), scheduler=scheduler),
        slots=requests,
        blocks=60,
        block_size=8,
        budget=64,
        prefix_cache=prefix_cache,
    )
    for number in range(requests):
        prompt = [token % 251 for token in range(80)] + [(7 * number + token) % 251 for token in range(16)]
        engine.submit(prompt, 24, ignore_eos=True)
    engine.run()
    engine.close()
    return engine.metrics()
