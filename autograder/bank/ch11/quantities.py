"""What several questions of chapter 11 compute with."""

from __future__ import annotations

from autograder.items import lazily

speculative = lazily("solutions.ch11.speculative")

P, Q = (0.5, 0.3, 0.2, 0.0), (0.25, 0.25, 0.25, 0.25)
TOKENS = "Tokens per pass: $(1 - \\alpha^{k+1})/(1 - \\alpha)$."


def tokens(alpha: float, k: int) -> float:
    return speculative.expected_tokens(alpha, k)


def speed(alpha: float, k: int, c: float, v: float = 1.0) -> float:
    return speculative.speculative_speedup(alpha, k, c, v)
