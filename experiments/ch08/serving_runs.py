"""What the pages on serving run live: real servers, real clients and real models, small enough for one core.

>>> with serve(served_model(), ByteTokenizer(), parts()) as server:      # doctest: +SKIP
...     print(client(server).completions.create(model="tiny", prompt="Alice ").choices[0].text)
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from rankzero import checks
from rankzero.sim import batching
from rankzero.tiny import GPT, BpeTokenizer, ByteTokenizer, GPTConfig, KVCache, bundled_text, train
from rankzero.tiny.text import learn_merges

if TYPE_CHECKING:
    from rankzero.server import Parts
    from rankzero.server.load import Answer
    from rankzero.server.serving import Server

T = TypeVar("T")

#: Where each part of a server is defined: its module and its name.
PLACES = {
    "detokenizer": ("ch08.detokenizer", "StreamingDetokenizer"),
    "probabilities": ("ch08.tiny_serving", "next_token_probabilities"),
    "prefix_pool": ("ch09.block_pool", "PrefixPool"),
    "scheduler": ("ch10.scheduler", "Scheduler"),
}


def parts(package: str = "solutions") -> Parts:
    """The parts from which the engine is built, of ``solutions`` or ``labs``."""
    from rankzero.server import Parts

    checks.one_of(("solutions", "labs"), package=package)
    modules = {name: importlib.import_module(f"{package}.{module}") for name, (module, _) in PLACES.items()}
    return Parts(**{name: getattr(modules[name], place) for name, (_, place) in PLACES.items()})


@cache
def served_model(steps: int = 80, context: int = 256) -> GPT:
    """A byte-level model, trained on the bundled text for a few seconds.

    It computes in double precision, so that batching does not change which token is most probable.
    """
    config = GPTConfig(vocab=len(ByteTokenizer().vocabulary), context=context)
    return train(steps=steps, config=config, batch=2).double().eval()


# Prefill and decode


@cache
def timed_model(context: int = 1088) -> GPT:
    """An untrained model with a long context: the time of a step does not depend on the text."""
    return GPT(GPTConfig(vocab=257, layers=4, heads=4, head_dim=32, context=context)).eval()


def median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """The median time of a few runs on one thread, after a warm-up."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        times = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            with torch.no_grad():
                work()
            times.append(time.perf_counter() - start)
        return statistics.median(times[1:])
    finally:
        torch.set_num_threads(threads)


def prefill_seconds(prompt: int, model: GPT | None = None, repeats: int = 5) -> float:
    """Time of one pass over a prompt of this length, with a new KV cache."""
    model = timed_model() if model is None else model
    tokens = torch.arange(prompt).unsqueeze(0) % model.config.vocab
    return median_seconds(lambda: model(tokens, cache=KVCache(model, 1)), repeats)


def decode_seconds(batch: int, context: int = 64, model: GPT | None = None, repeats: int = 5) -> float:
    """Time of one step of ``batch`` sequences that have ``context`` cached tokens each."""
    model = timed_model() if model is None else model
    cache, tokens = KVCache(model, batch), torch.zeros(batch, 1, dtype=torch.int64)

    def step() -> None:
        cache.length = context  # drops the token of the last run
        model(tokens, cache=cache)

    return median_seconds(step, repeats)


# Batches on the real engine


def engine_run(
    lengths: Sequence[int], slots: int, policy: str = "continuous", model: GPT | None = None
) -> batching.Run:
    """Run requests for exactly ``lengths`` steps on the real engine, and record when each starts and finishes.

    The engine batches continuously. For ``static``, a batch is submitted when the previous one has ended, and all its
    requests count as finished when the longest does. No request stops early: the end-of-sequence token counts as any
    other.

    Args:
        lengths: tokens of each answer, at least 1; each prompt is one token.
        slots: of the batch.
        policy: ``continuous`` or ``static``.
        model: None takes an untrained one of one layer; what it writes does not matter here.
    """
    from rankzero.server import Engine

    model = GPT(GPTConfig(257, 1, 1, 1, 8, context=max(lengths) + 1)) if model is None else model
    engine = Engine(model, ByteTokenizer(), parts(), slots=slots, budget=2 * slots, prefix_cache=False)
    size = slots if policy == "static" else len(lengths)
    requests = []
    ends: list[int] = []
    for first in range(0, len(lengths), size):
        group = [
            engine.submit([index % 256], lengths[index], ignore_eos=True) for index in _group(lengths, first, size)
        ]
        engine.run()
        requests += group
        last = max(request.last_step or 0 for request in group)
        ends += [last if policy == "static" else request.last_step or 0 for request in group]
    engine.close()
    starts = [request.first_step or 0 for request in requests]
    return _as_run(lengths, slots, starts, ends)


def _group(lengths: Sequence[int], first: int, size: int) -> range:
    return range(first, min(first + size, len(lengths)))


def _as_run(lengths: Sequence[int], slots: int, starts: Sequence[int], ends: Sequence[int]) -> batching.Run:
    """Each request in the lowest slot that is free when it starts."""
    free, places = [0] * slots, [0] * len(lengths)
    for index in sorted(range(len(lengths)), key=lambda index: (starts[index], index)):
        places[index] = next(slot for slot in range(slots) if free[slot] <= starts[index])
        free[places[index]] = ends[index]
    return batching.Run(slots, tuple(lengths), (0,) * len(lengths), tuple(starts), tuple(ends), tuple(places))


# Clients


def client(server: Server) -> Any:
    """The real ``openai`` client, connected to the course's server."""
    import openai

    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


def asker(server: Server, max_tokens: int = 40) -> Callable[[str], str]:
    """A function that asks for the greedy answer to a prompt."""
    own = client(server)
    how: dict[str, Any] = {"model": "tiny", "max_tokens": max_tokens, "temperature": 0}
    return lambda prompt: own.completions.create(prompt=prompt, **how).choices[0].text


def together(ask: Callable[[str], T], prompts: Sequence[str]) -> tuple[list[T], float]:
    """Send all prompts at once, each from its own thread; return the answers in order and the total seconds."""
    start = time.perf_counter()
    with ThreadPoolExecutor(len(prompts)) as pool:
        answers = list(pool.map(ask, prompts))
    return answers, time.perf_counter() - start


def one_by_one(ask: Callable[[str], T], prompts: Sequence[str]) -> tuple[list[T], float]:
    """Send one prompt after another; return the answers and the total seconds."""
    start = time.perf_counter()
    answers = [ask(prompt) for prompt in prompts]
    return answers, time.perf_counter() - start


def loaded(server: Server, requests: int = 40, rate: float = 40.0, seed: int = 8) -> list[Answer]:
    """Requests of unequal lengths at random times, from a load generator in a thread of its own.

    Args:
        server: the server that answers.
        requests: how many; each has a prompt of 5 to 80 bytes of the bundled text and 5 to 40 tokens of answer.
        rate: arrivals per second.
        seed: of prompts, lengths and arrivals.
    """
    from rankzero.server.load import Query, load

    rng, text = Random(seed), bundled_text()
    queries = []
    for _ in range(requests):
        at, size = rng.randrange(len(text) - 80), rng.randint(5, 80)
        queries.append(Query(text[at : at + size], rng.randint(5, 40)))
    with ThreadPoolExecutor(1) as pool:  # a notebook's thread already runs an event loop
        return pool.submit(load, server.url, queries, None, rate, seed).result()


def metrics_seen(server: Server) -> dict[str, int]:
    """The numbers of ``/metrics`` by name, fetched over HTTP."""
    from urllib.request import urlopen

    with urlopen(f"{server.url}/metrics", timeout=10) as reply:
        lines = reply.read().decode().splitlines()
    seen = dict(line.split() for line in lines if line and not line.startswith("#"))
    return {name.removeprefix("rankzero_").removesuffix("_total"): int(float(value)) for name, value in seen.items()}


def left_midstream(server: Server, others: int = 2, tokens: int = 200) -> dict[str, dict[str, int]]:
    """One client disconnects after three pieces of its answer while others stay: metrics before, after, and at the end.

    Args:
        server: with more slots than ``others``.
        others: clients that stay.
        tokens: length of each client's full answer.
    """
    ask: dict[str, Any] = {"model": "tiny", "max_tokens": tokens, "temperature": 0, "stream": True}
    own = client(server)
    streams = [own.completions.create(prompt=f"Chapter {i}. ", **ask) for i in range(others + 1)]
    for stream in streams:
        for _ in zip(range(3), stream, strict=False):
            pass
    seen = {"before": metrics_seen(server)}
    streams[0].close()
    deadline = time.perf_counter() + 10
    while (now := metrics_seen(server))["finished_abort"] == seen["before"]["finished_abort"]:
        if time.perf_counter() > deadline:
            raise TimeoutError("the server did not notice that its client went away")
    seen["after"] = now
    for stream in streams[1:]:
        for _ in stream:
            pass
    return seen | {"end": metrics_seen(server)}


# Sampling and text


def drawn_counts(probabilities: torch.Tensor, draws: int = 20_000, seed: int = 8) -> list[int]:
    """How often each token is drawn."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.multinomial(probabilities, draws, replacement=True, generator=generator)
    return torch.bincount(tokens, minlength=len(probabilities)).tolist()


def chi_square(counts: Sequence[int], probabilities: Sequence[float]) -> tuple[float, int]:
    """Pearson's statistic of counts against probabilities, and its degrees of freedom.

    For draws from these probabilities the statistic is close to the degrees of freedom, with a standard deviation of
    the square root of twice that number. It is inf if a token of probability 0 was drawn.
    """
    total = sum(counts)
    if any(count and not chance for count, chance in zip(counts, probabilities, strict=True)):
        return float("inf"), 0
    kept = [(count, total * chance) for count, chance in zip(counts, probabilities, strict=True) if chance]
    return sum((count - mean) ** 2 / mean for count, mean in kept), len(kept) - 1


def emoji_tokenizer() -> BpeTokenizer:
    """A tokenizer trained on a few emoji: their shared first bytes became one token, their last bytes others."""
    faces = "".join(chr(code) for code in range(0x1F600, 0x1F640)) * 3
    return BpeTokenizer(learn_merges(faces, 2))


def naive_text(vocabulary: Sequence[bytes], tokens: Sequence[int]) -> str:
    """The text that results if every token is decoded by itself."""
    return "".join(vocabulary[token].decode(errors="replace") for token in tokens)
