# Generated from solutions/ch08/serving_repairs.py by make stubs. Write the bodies; names and signatures stay.
"""Four small parts of a toy server that came with a mistake each. Standard library only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable


def debug_token_id(word: str, vocabulary: int = 1000) -> int:
    """The number of a word in a toy tokenizer: the same in every process, from 0 to ``vocabulary - 1``.

    Args:
        word: any text.
        vocabulary: how many numbers there are; at least 1.

    Raises:
        ValueError: ``vocabulary`` is not an integer >= 1.
    """
    if type(vocabulary) is not int or vocabulary < 1:
        raise ValueError(f"vocabulary must be an integer >= 1, got {vocabulary!r}")
    return hash(word) % vocabulary


def debug_kv_room(gpu_gb: float, billions: float, bytes_per_parameter: float = 2) -> float:
    """Memory that is left for the KV cache beside the weights, in GB (1e9 bytes).

    Args:
        gpu_gb: memory of the GPU, GB; positive.
        billions: parameters of the model, in billions; positive.
        bytes_per_parameter: positive.

    Raises:
        ValueError: an argument is not positive and finite, or the weights do not fit.
    """
    for value in (gpu_gb, billions, bytes_per_parameter):
        if not 0 < value < float("inf"):
            raise ValueError(f"every argument must be finite and > 0, got {value!r}")
    return gpu_gb - billions * bytes_per_parameter / 1e9


def debug_max_tokens(prefill_token: int, decoded: Iterable[int], max_tokens: int, eos: int) -> list[int]:
    """The tokens of one answer: the one from prefill, then those of the decode steps, up to a limit or the end token.

    Args:
        prefill_token: sampled from the prompt's last logits.
        decoded: the tokens of the decode steps, one after another; it ends when the context is full.
        max_tokens: length of the longest answer; at least 1.
        eos: the end token, which ends the answer and is not part of it.

    Raises:
        ValueError: ``max_tokens`` is not an integer >= 1.
    """
    if type(max_tokens) is not int or max_tokens < 1:
        raise ValueError(f"max_tokens must be an integer >= 1, got {max_tokens!r}")
    answer = [prefill_token]
    for token in decoded:
        if token == eos:
            break
        answer.append(token)
        if len(answer) >= max_tokens:
            break
    return answer


def debug_sleep(latency_ms: float) -> Awaitable[None]:
    """A stand-in for one step of a model in a test of the server's front: nothing happens for a while.

    Other requests go on meanwhile: the caller awaits what this returns, in an event loop that is running.

    Args:
        latency_ms: how long, in milliseconds; not negative.

    Raises:
        ValueError: ``latency_ms`` is negative or not finite.
    """
    if not 0 <= latency_ms < float("inf"):
        raise ValueError(f"latency_ms must be a finite number >= 0, got {latency_ms!r}")
    return asyncio.sleep(latency_ms)
