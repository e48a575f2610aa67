"""Explorers of chapter 11, first half: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(speedups, acceptance=Range(0.0, 1.0, 0.8), ...)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.charts import Axis, Spec, bars, below, beside, chart, lines, stacks
from solutions.ch11.speculation_costs import batched_speedup, best_batched, break_even_batch
from solutions.ch11.speculative import (
    MARGIN,
    acceptance_probability,
    expected_tokens,
    residual_distribution,
    speculative_speedup,
)


def shares(weights: Sequence[float]) -> list[float]:
    """Weights as probabilities; if all weights are 0, the probabilities are equal."""
    total = sum(weights)
    return [weight / total if total > 0 else 1 / len(weights) for weight in weights]


def overlap(p: Sequence[float] = (5, 3, 2, 0), q: Sequence[float] = (1, 1, 1, 1)) -> Spec:
    """A target's and a draft's distribution, their overlap, and the residual that replaces a rejected token.

    Args:
        p: weights of the target's tokens.
        q: weights of the draft's; missing ones are 0.
    """
    size = max(len(p), len(q))
    target, draft = (shares([*row, *[0.0] * (size - len(row))]) for row in (p, q))
    alpha, rest = acceptance_probability(target, draft), residual_distribution(target, draft)
    shown: list[Spec] = []
    for token, (a, b) in enumerate(zip(target, draft, strict=True)):
        shown += [
            {"token": f"{token}", "of": "target p", "probability": a},
            {"token": f"{token}", "of": "draft q", "probability": b},
            {"token": f"{token}", "of": "both: min(p, q)", "probability": min(a, b)},
        ]
    parts: list[Spec] = []
    for token, (a, b, r) in enumerate(zip(target, draft, rest, strict=True)):
        parts += [
            {"token": f"{token}", "from": "accepted drafts", "probability": min(a, b)},
            {"token": f"{token}", "from": "replacements", "probability": (1 - alpha) * r},
        ]
    axes = Axis("token", "token", category=True), Axis("probability", "probability")
    title = f"acceptance {alpha:.3f}, residual ({', '.join(f'{r:.3f}' for r in rest)})"
    emitted = stacks(parts, *axes, by="from", title="the output distribution: p again")
    text = f"{title}. Accepted drafts and replacements add up to the target's distribution, token by token."
    return chart(beside(bars(shown, *axes, by="of", title=title), emitted), text)


def speedups(acceptance: float = 0.8, draft_cost: float = 0.05, verify_cost: float = 1.0, longest: int = 16) -> Spec:
    """The speed-up and the tokens per pass, against the draft length.

    Args:
        acceptance: alpha, 0 to 1.
        draft_cost: c, draft pass over target pass, 0 to 1.
        verify_cost: v, verification over a plain pass, 1 to 6.
        longest: of the draft lengths drawn, 1 to 32.
    """
    lengths = range(longest + 1)
    speed = {k: speculative_speedup(acceptance, k, draft_cost, verify_cost if k else 1.0) for k in lengths}
    best = 0
    for k in lengths:
        if speed[k] > speed[best] * (1 + MARGIN):
            best = k
    rows: list[Spec] = [{"k": k, "times": value, "what": "speed-up"} for k, value in speed.items()]
    point: Spec = {"k": best, "times": speed[best], "what": "speed-up"}
    even: list[Spec] = [{"k": k, "times": 1.0, "what": "plain decoding"} for k in (0, longest)]
    said = f"best k {best}, {speed[best]:.3f} times" if best else "do not speculate"
    above = lines([*rows, *even], Axis("k", "draft length k"), Axis("times", "speed-up"), "what", best, said, [point])
    tokens: list[Spec] = []
    for k in lengths:
        tokens += [
            {"k": k, "tokens": expected_tokens(acceptance, k), "what": "expected tokens"},
            {"k": k, "tokens": k + 1, "what": "k + 1, all accepted"},
        ]
    under = lines(tokens, Axis("k", "draft length k"), Axis("tokens", "tokens per target pass"), "what")
    told = f"alpha {acceptance:.3g}, c {draft_cost:.3g}, v {verify_cost:.3g}: {said}"
    return chart(below(above, under), f"{told}; {expected_tokens(acceptance, best):.3f} tokens per pass there.")


def _losing(acceptance: float, draft_cost: float, draft_length: int, critical_batch: float) -> str:
    """From which batch on drafts of a length lose, in words."""
    try:
        even = break_even_batch(acceptance, draft_length, draft_cost, critical_batch)
    except ValueError:
        return "gains at no batch"
    if even >= critical_batch:
        return "never loses"
    return f"breaks even at a batch of {even:.0f}"


def batches(
    acceptance: float = 0.8, draft_cost: float = 0.05, draft_length: int = 4, critical_batch: float = 295.3
) -> Spec:
    """The speed-up against the batch size, for one draft length and for the best one from 0 to 8.

    Args:
        acceptance: alpha, 0 to 1.
        draft_cost: c, draft pass over target pass.
        draft_length: k, 1 to 8.
        critical_batch: positions at which a pass computes as long as it reads.
    """
    sizes = [round(2 ** (step / 4), 2) for step in range(45)]
    ways = {f"k = {draft_length}": draft_length, "plain decoding": 0}
    rows: list[Spec] = []
    for name, k in ways.items():
        rows += [
            {"batch": size, "times": batched_speedup(acceptance, k, draft_cost, size, critical_batch), "way": name}
            for size in sizes
        ]
    rows += [
        {"batch": size, "times": best_batched(acceptance, draft_cost, size, critical_batch)[1], "way": "best k"}
        for size in sizes
    ]
    said = f"k = {draft_length} {_losing(acceptance, draft_cost, draft_length, critical_batch)}"
    axes = Axis("batch", "batch (sequences)", log=True), Axis("times", "speed-up")
    return chart(lines(rows, *axes, "way", critical_batch, said), f"Speed-up against the batch: {said}.")
