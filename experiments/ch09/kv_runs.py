"""The tiny model with and without its cache: the work it saves, the equal outputs, and the effect of fewer bits.

model = trained()
cached, uncached = (generate(model, prompt, 50, cached) for cached in (True, False))
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import torch

from rankzero import checks
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig, KVCache, bundled_text, train
from rankzero.tiny.layers import Block, Pass, angles
from solutions.ch09.cached_attention import cached_attention, dequantize_kv, quantize_kv

if TYPE_CHECKING:
    from rankzero.server import Engine

#: Functions with the signatures of :func:`quantize_kv` and :func:`dequantize_kv`.
Pair = tuple[Callable[..., tuple[torch.Tensor, torch.Tensor]], Callable[..., torch.Tensor]]

#: A function of the new tokens' queries, keys and values and the cached ones; returns the output and the grown cache.
Attention = Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor]]

#: The model of the page: two query heads share a key-value head; a prompt of 100 tokens and 50 more fit.
CONFIG = GPTConfig(vocab=257, layers=3, heads=4, kv_heads=2, head_dim=16, context=160)


@functools.cache
def trained(steps: int = 60) -> GPT:
    """The model of the page after a few seconds of training, in float32; the same in every run. Do not change it."""
    return train(steps=steps, config=CONFIG).requires_grad_(False).eval()


def in_double(model: GPT) -> GPT:
    """A copy of ``model`` in float64."""
    copy = GPT(model.config).double()
    copy.load_state_dict(model.state_dict())
    return copy.requires_grad_(False).eval()


def with_context(model: GPT, context: int) -> GPT:
    """A copy of ``model`` that takes longer sequences than it was trained on: rotary positions need no table."""
    copy = GPT(replace(model.config, context=context))
    copy.load_state_dict(model.state_dict())
    return copy.requires_grad_(False).eval()


def prompt_tokens(count: int) -> list[int]:
    """``count`` bytes from the end of the first chapter of the bundled novel."""
    return ByteTokenizer().encode(bundled_text()[11_000 : 11_000 + count])


@dataclass(frozen=True)
class Generation:
    """The result and the cost of one generation.

    Attributes:
        tokens: the new tokens, the most likely one each time.
        logits: the logits they were chosen from, [new, vocab].
        token_forwards: tokens that went through the weights.
        seconds: of all forward passes.
    """

    tokens: list[int]
    logits: torch.Tensor
    token_forwards: int
    seconds: float


def generate(model: GPT, prompt: Sequence[int], new: int, cached: bool) -> Generation:
    """``new`` tokens after ``prompt``, each the most likely one.

    With the cache a step feeds only the newest token; without it, a step feeds the whole sequence again.
    """
    cache = KVCache(model, batch=1) if cached else None
    sequence, fed, rows, forwards = list(prompt), list(prompt), [], 0
    start = time.perf_counter()
    with torch.inference_mode():
        for _ in range(new):
            rows.append(model(torch.tensor([fed]), cache=cache)[0, -1])
            forwards += len(fed)
            sequence.append(int(rows[-1].argmax()))
            fed = sequence[-1:] if cached else sequence
    seconds = time.perf_counter() - start
    return Generation(sequence[len(prompt) :], torch.stack(rows), forwards, seconds)


def causal_mask(new: int, total: int, aligned_to: str = "end") -> torch.Tensor:
    """The causal mask of ``new`` queries and ``total`` keys, [new, total], True where a query may attend.

    Args:
        new: T, the newest tokens.
        total: S, cached and new ones.
        aligned_to: "end": query i sees keys up to i + S - T. "start": up to i, as torch's ``is_causal`` does.
    """
    checks.one_of(("end", "start"), aligned_to=aligned_to)
    return torch.ones(new, total, dtype=torch.bool).tril(total - new if aligned_to == "end" else 0)


def chunked_logits(model: GPT, tokens: Sequence[int], sizes: Sequence[int], aligned_to: str = "end") -> torch.Tensor:
    """Logits of all tokens, [tokens, vocab], fed in chunks of ``sizes`` through one cache."""
    cache, rows = KVCache(model, batch=1), []
    with torch.inference_mode():
        for chunk in torch.tensor(tokens).split(list(sizes)):
            mask = causal_mask(len(chunk), cache.length + len(chunk), aligned_to)
            rows.append(model(chunk.unsqueeze(0), cache=cache, mask=mask.unsqueeze(0))[0])
    return torch.cat(rows)


#: Keys and values of each layer, [heads, S, d].
Past = list[tuple[torch.Tensor, torch.Tensor]]


def layer_by_layer(
    model: GPT, tokens: Sequence[int], past: Past | None = None, attention: Attention = cached_attention
) -> tuple[torch.Tensor, Past]:
    """The model's forward pass over new tokens, written out, with ``attention`` in every layer.

    Args:
        model: the whole model.
        tokens: T new ones of one sequence.
        past: what the previous call returned; None at the start.
        attention: as :func:`cached_attention`. Each query head brings a copy of the keys and values that it uses.

    Returns:
        ``(logits, past)``: [T, vocab], and the grown keys and values.
    """
    config, kind = model.config, next(model.parameters()).dtype
    empty = torch.zeros(config.heads, 0, config.head_dim, dtype=kind)
    past = past or [(empty, empty)] * config.layers
    start = past[0][0].shape[1]
    turns = angles(torch.arange(start, start + len(tokens)).unsqueeze(0), config.head_dim).unsqueeze(1)
    now = Pass(turns.cos().to(kind), turns.sin().to(kind), torch.empty(0), None)
    grown: Past = []
    with torch.inference_mode():
        x = model.embedding(torch.tensor([tokens]))
        for block, (keys, values) in zip(cast("list[Block]", list(model.blocks)), past, strict=True):
            query, key, value = _projected(block, x, now)
            output, keys, values = attention(query, key, value, keys, values)
            x = x + block.attention.output(output.transpose(0, 1).flatten(1).unsqueeze(0))
            x = x + block.ffn(block.ffn_norm(x))
            grown.append((keys, values))
        return model.head(model.norm(x))[0], grown


def generate_by_layer(
    model: GPT, prompt: Sequence[int], new: int, attention: Attention = cached_attention
) -> Generation:
    """As :func:`generate` with a cache, by :func:`layer_by_layer`."""
    past: Past | None = None
    tokens, fed, rows, forwards = [], list(prompt), [], 0
    start = time.perf_counter()
    for _ in range(new):
        logits, past = layer_by_layer(model, fed, past, attention)
        rows.append(logits[-1])
        forwards += len(fed)
        fed = [int(rows[-1].argmax())]
        tokens += fed
    return Generation(tokens, torch.stack(rows), forwards, time.perf_counter() - start)


def _projected(block: Block, x: torch.Tensor, now: Pass) -> list[torch.Tensor]:
    """Queries, keys and values [heads, T, d] of one layer, turned by their positions."""
    layer, y = block.attention, block.attention_norm(x)
    query, key, value = (
        weights(y).unflatten(2, (-1, layer.head_dim)).transpose(1, 2)
        for weights in (layer.query, layer.key, layer.value)
    )
    share = layer.heads // layer.kv_heads
    key, value = (held.repeat_interleave(share, dim=1) for held in (now.rotate(key), value))
    return [now.rotate(query)[0], key[0], value[0]]


# Memory.


def first_step(model: GPT, prompts: Sequence[Sequence[int]], blocks: int, block_size: int, **mine: Any) -> Engine:
    """The engine of the course's server with a pool of ``blocks``, after one step over ``prompts``.

    As many requests as fit run in that step, and each may add one token; the others wait.

    Args:
        model: a tiny model that knows bytes.
        prompts: tokens.
        blocks, block_size: of the pool.
        mine: parts to use in place of the course's: ``prefix_pool=...``.
    """
    budget = max(1, sum(map(len, prompts)))
    engine = _engine(model, mine, slots=len(prompts), blocks=blocks, block_size=block_size, budget=budget)
    for prompt in prompts:
        engine.submit(prompt, 2)
    engine.step()
    return engine


def _engine(model: GPT, mine: Mapping[str, Any], prefix_cache: bool = False, **options: Any) -> Engine:
    from rankzero.server import Engine

    from ..ch08.serving_runs import parts

    return Engine(model, ByteTokenizer(), replace(parts(), **mine), prefix_cache=prefix_cache, **options)


#: Two system prompts, each before a document of its own, and what people ask.
SYSTEMS = (
    "You are a guide in Wonderland. Answer briefly and politely from this page:\n",
    "You are the Queen's secretary. Be strict and precise. All you know is here:\n",
)
QUESTIONS = (
    "Who is the Hatter?",
    "Where does the rabbit go?",
    "Why is a raven like a desk?",
    "What does the label say?",
    "Is it time for tea?",
    "Who stole the tarts?",
    "How tall is Alice now?",
    "May I see the garden?",
    "What is the Duchess cooking?",
    "Where is the cat?",
    "Can flamingos play croquet?",
    "What did the caterpillar ask?",
    "Who painted the roses?",
    "How deep is the hole?",
    "What is a Mock Turtle?",
)


def real_prompts(document: int = 400) -> list[list[int]]:
    """Thirty prompts: every question after each system prompt, which ends in ``document`` bytes of the novel."""
    text = bundled_text()[20_000:]
    pages = [system + text[index * document :][:document] + "\n" for index, system in enumerate(SYSTEMS)]
    return [ByteTokenizer().encode(page + question) for question in QUESTIONS for page in pages]


@dataclass(frozen=True)
class Served:
    """What an engine returned for some prompts.

    Attributes:
        answers: tokens.
        cached: tokens of each prompt that were found in the prefix cache.
        first_token: seconds from the arrival of each request to its first token.
        preemptions: how often a request had to give up its memory.
        steps: of the engine.
    """

    answers: list[list[int]]
    cached: list[int]
    first_token: list[float]
    preemptions: int
    steps: int


def serve_prompts(
    model: GPT,
    prompts: Sequence[Sequence[int]],
    new: int,
    blocks: int,
    block_size: int = 8,
    reuse: bool = False,
    together: bool = False,
    **mine: Any,
) -> Served:
    """Send every prompt through the engine of the course's server, one after another or ``together``.

    Args:
        model: a tiny model that knows bytes.
        prompts: tokens.
        new: tokens of each answer.
        blocks, block_size: of the pool.
        reuse: reuse cached prefixes.
        together: submit all requests at the start.
        mine: parts to use in place of the course's: ``prefix_pool=...``.
    """
    slots = len(prompts) if together else 1
    engine = _engine(model, mine, reuse, slots=slots, blocks=blocks, block_size=block_size)
    requests = []
    for prompt in prompts:
        requests.append(engine.submit(prompt, new, ignore_eos=True))
        if not together:
            engine.run()
    engine.run()
    engine.close()
    counts = engine.metrics()
    return Served(
        [request.output for request in requests],
        [request.cached_tokens for request in requests],
        [request.token_times[0] - request.arrival for request in requests],
        counts["preemptions"],
        counts["steps"],
    )


# Fewer bits.

#: Tokens of a window whose keys and values are cached, and tokens after them that are predicted from the cache.
CACHED, PREDICTED = 96, 32


@dataclass(frozen=True)
class Quantized:
    """The size of a cache in fewer bits, and how it changes predictions.

    Attributes:
        name: of the format.
        bytes_per_token: bytes per token of one sequence, scales included; a byte holds two 4-bit numbers.
        divergence: mean KL divergence of the next-token distributions, in nats, from those of the whole cache.
        agreement: share of positions at which the most likely token stays the same.
    """

    name: str
    bytes_per_token: float
    divergence: float
    agreement: float


def windows(count: int, length: int, seed: int = 0) -> torch.Tensor:
    """Pieces of the bundled novel as bytes, [count, length]."""
    text = torch.tensor(ByteTokenizer().encode(bundled_text()))
    starts = torch.randint(len(text) - length, (count,), generator=torch.Generator().manual_seed(seed))
    return torch.stack([text[start : start + length] for start in starts.tolist()])


def with_outliers(model: GPT, factor: float, pairs: int = 1) -> GPT:
    """A model that computes the same outputs, but some channels of its keys are ``factor`` times larger.

    Rows of the key matrices are multiplied and the same rows of the query matrices divided, so every score stays the
    same. Rotary positions rotate channels i and i + d/2 of a head together, so both are enlarged.

    Args:
        model: is not changed.
        factor: positive; a power of two leaves the scores bit for bit the same.
        pairs: of channels in each head, counted from the slowest one.
    """
    checks.positive(factor=factor)
    config, copy = model.config, GPT(model.config)
    copy.load_state_dict(model.state_dict())
    copy = copy.to(next(model.parameters()).dtype).requires_grad_(False).eval()
    half = config.head_dim // 2
    scale = torch.ones(config.head_dim)
    scale[[index + side for index in range(half - pairs, half) for side in (0, half)]] = factor
    for name, weight in copy.named_parameters():
        if name.endswith("attention.key.weight"):
            weight.mul_(scale.repeat(config.kv_heads).unsqueeze(1))
        elif name.endswith("attention.query.weight"):
            weight.div_(scale.repeat(config.heads).unsqueeze(1))
    return copy


def round_trip(
    x: torch.Tensor, bits: int, per_channel: bool = False, pair: Pair = (quantize_kv, dequantize_kv)
) -> tuple[torch.Tensor, int]:
    """Cached keys or values [layers, B, kv_heads, S, d], quantized and restored, and the bytes of the quantized form.

    One scale for each token and head, or ``per_channel`` one for each channel of a head over all S tokens.
    """
    x = x.transpose(-1, -2) if per_channel else x
    quantize, dequantize = pair
    q, scale = quantize(x, bits)
    back = dequantize(q, scale)
    return back.transpose(-1, -2) if per_channel else back, q.numel() * bits // 8 + scale.nbytes


def quantized_runs(
    model: GPT,
    ways: Sequence[tuple[int, bool]] = ((8, False), (4, False), (4, True)),
    count: int = 32,
    pair: Pair = (quantize_kv, dequantize_kv),
) -> list[Quantized]:
    """Compare predictions from a cache of 96 tokens in fewer bits with those from the full cache.

    Args:
        model: any tiny model with a context of 128 or more.
        ways: bits, and whether keys have a scale for each channel; values have one for each token and head.
        count: pieces of the novel.
        pair: the functions that quantize and dequantize.
    """
    pieces = windows(count, CACHED + PREDICTED)
    whole = KVCache(model, count)
    with torch.inference_mode():
        model(pieces[:, :CACHED], cache=whole)
        keys, values = (held[:, :, :, :CACHED].clone() for held in (whole.keys, whole.values))
        expected = _continued(model, pieces, keys, values)
        size = (keys.nbytes + values.nbytes) / (count * CACHED)
        rows = [Quantized(f"{8 * keys.element_size()} bits", size, 0.0, 1.0)]
        for bits, per_channel in ways:
            (k, key_bytes), (v, value_bytes) = (
                round_trip(keys, bits, per_channel, pair),
                round_trip(values, bits, pair=pair),
            )
            found = _continued(model, pieces, k, v)
            name = f"{bits} bits, keys by {'channel' if per_channel else 'token'}"
            taken = (key_bytes + value_bytes) / (count * CACHED)
            same = (found.argmax(-1) == expected.argmax(-1)).double().mean()
            rows.append(Quantized(name, taken, _divergence(expected, found), float(same)))
    return rows


def _continued(model: GPT, pieces: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Logits of the tokens after the cached ones."""
    cache = KVCache(model, len(pieces))
    cache.keys[:, :, :, :CACHED], cache.values[:, :, :, :CACHED] = keys, values
    cache.length = CACHED
    return model(pieces[:, CACHED:], cache=cache)


def _divergence(expected: torch.Tensor, found: torch.Tensor) -> float:
    """Mean KL divergence, nats."""
    was, now = (logits.double().log_softmax(-1) for logits in (expected, found))
    return float((was.exp() * (was - now)).sum(-1).mean())


def channel_sizes(model: GPT, layer: int = 0, head: int = 0) -> list[float]:
    """The largest magnitude of each channel of one head's cached keys, over pieces of the novel."""
    pieces, cache = windows(8, CACHED), KVCache(model, 8)
    with torch.inference_mode():
        model(pieces, cache=cache)
    return cache.keys[layer, :, head, :CACHED].abs().amax(dim=(0, 1)).tolist()
