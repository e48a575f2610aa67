"""Chapter 8: how much work a batch did, and whether words get the same numbers in two processes."""

from __future__ import annotations

from typing import Any

from autograder.items import Case


def batched(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether there was at most one forward pass per new token, and no token was computed twice or prompt changed."""
    _, prompts, max_new_tokens, *_ = case.args
    fed = answer["tokens of a row in each pass"]
    return {
        "new tokens": answer["new tokens"],
        "prompts are as they were": answer["prompts afterwards"] == prompts,
        "at most one pass per new token": len(fed) <= max_new_tokens,
        "no token is computed twice": sum(fed) <= max_new_tokens - 1 + max(map(len, prompts), default=0),
    }


def two_processes(case: Case, numbers: tuple[list[int], ...]) -> dict[str, Any]:
    """Whether both processes number the words alike, from 0 up, and different words differently."""
    words, vocabulary = (*case.args, 1000)[:2]
    first, second = numbers
    if len(first) != len(words):
        raise ValueError("there must be a number for each word")
    whole = all(type(one) is int and 0 <= one < vocabulary for one in first)
    return {
        "the same in both": first == second,
        "whole numbers below the vocabulary": whole,
        "different words mostly differ": len(set(first)) > 0.5 * min(len(set(words)), vocabulary),
    }
