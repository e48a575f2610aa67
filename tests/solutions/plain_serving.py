"""A replica of Llama 3 70B on H100s, written again from data sheet figures, for the tests of the designs."""

from __future__ import annotations

import math

PARAMETERS, LAYERS, HIDDEN, KV = 70_553_706_496, 80, 8192, 2 * 80 * 8 * 128 * 2


def pass_ms(gpus: int, element: int, tokens: float, read: float) -> float:
    """Milliseconds of a pass of ``tokens`` tokens that reads ``read`` tokens of the cache."""
    multiply = 2 * PARAMETERS * tokens / (gpus * 0.5 * (1978.9e12 if element == 1 else 989.4e12))
    weights = element * PARAMETERS / (gpus * 0.7 * 3.35e12)
    caches = KV * read / (gpus * 0.7 * 3.35e12)
    sent = 2 * (gpus - 1) * (2e-6 + 2 * tokens * HIDDEN / gpus / (0.6 * 450e9))
    return 1e3 * (0.004 + caches + max(multiply, weights) + 2 * LAYERS * sent)


def balance(
    gpus: int,
    element: int,
    budget: int,
    rate: float,
    prompt: float,
    answer: float,
    prefix: float = 0.0,
    hit: float = 1.0,
) -> tuple[float, float, float, float]:
    """Answers running, milliseconds of a full pass, share of full passes, and seconds to the first token.

    The number of answers is found by going up in small steps until as many end as begin.
    """
    computed = hit * prompt + (1 - hit) * (prompt + prefix)
    context = prefix + prompt + answer / 2

    def of(running: float) -> tuple[float, float, float]:
        """A plain pass, a full one, and the share of the time in which passes are full."""
        plain = pass_ms(gpus, element, max(1, running), running * context)
        full = pass_ms(gpus, element, budget, running * context + prefix + prompt / 2)
        free = budget - running
        return plain, full, rate * computed * full / 1e3 / free if free > 0 else math.inf

    low, step = 0.0, 1.0
    while step > 1e-7:
        plain, full, busy = of(low + step)
        ends = (low + step) / (answer - 1) * 1e3 * (busy / full + (1 - busy) / plain) if busy < 1 else math.inf
        if ends < rate:
            low += step
        elif busy < 1 or step > 1e-3:
            step /= 2
        else:
            return low, full, busy, math.inf
    plain, full, busy = of(low)
    if busy >= 1:
        return low, full, busy, math.inf
    free = budget - low
    squares = hit * prompt**2 + (1 - hit) * (prompt + prefix) ** 2
    waited = rate * squares * (full / free) ** 2 / (2 * (1 - busy)) + (1 - busy) * plain * 1e3 / 2
    chunks = hit * math.ceil(prompt / free - 1e-6) + (1 - hit) * math.ceil((prompt + prefix) / free - 1e-6)
    return low, full, busy, waited / 1e6 + chunks * full / 1e3
