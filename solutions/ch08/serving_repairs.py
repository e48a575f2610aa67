"""Four small parts of a toy server that came with a mistake each. Standard library only."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import math
from collections.abc import Awaitable, Iterable


def debug_token_id(word: str, vocabulary: int = 1000) -> int:
    """The number of a word in a toy tokenizer: the same in every process, from 0 to ``vocabulary - 1``.

    Args:
        word: any text.
        vocabulary: how many numbers there are; at least 1.

    Raises:
        ValueError: ``vocabulary`` is not an integer >= 1.
    """
    _check_count("vocabulary", vocabulary)
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[:4], "big") % vocabulary


def debug_kv_room(gpu_gb: float, billions: float, bytes_per_parameter: float = 2) -> float:
    """Memory that is left for the KV cache beside the weights, in GB (1e9 bytes).

    Args:
        gpu_gb: memory of the GPU, GB; positive.
        billions: parameters of the model, in billions; positive.
        bytes_per_parameter: positive.

    Raises:
        ValueError: an argument is not positive and finite, or the weights do not fit.
    """
    for name, value in {"gpu_gb": gpu_gb, "billions": billions, "bytes_per_parameter": bytes_per_parameter}.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    room = gpu_gb - billions * bytes_per_parameter
    if room < 0:
        raise ValueError(f"{billions} billion parameters do not fit: {-room:g} GB are missing")
    return room


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
    _check_count("max_tokens", max_tokens)
    answer: list[int] = []
    for token in itertools.chain([prefill_token], decoded):
        if token == eos:
            break
        answer.append(token)
        if len(answer) == max_tokens:
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
    if not 0 <= latency_ms < math.inf:
        raise ValueError(f"latency_ms must be a finite number >= 0, got {latency_ms!r}")
    return asyncio.sleep(latency_ms / 1000)


def _check_count(name: str, value: int) -> None:
    """Raise a ValueError unless ``value`` is an integer of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
