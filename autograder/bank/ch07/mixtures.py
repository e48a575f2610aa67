"""Chapter 07: a router and its balancing loss."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Slip, Tensor

# --- route


def _apart(rng: Random, tokens: int, experts: int) -> list[float]:
    """Logits in steps of 1/4, all different within a row: far from ties, even in half precision."""
    return [value / 4 for _ in range(tokens) for value in rng.sample(range(-16, 17), experts)]


def _routing(rng: Random, tokens: int, experts: int, top_k: int, **more: Any) -> Case:
    logits = Tensor.of(_apart(rng, tokens, experts), shape=(tokens, experts))
    upstream = Tensor.of([rng.uniform(-1, 1) for _ in range(tokens * top_k)], shape=(tokens, top_k))
    return Case((logits, top_k), {"upstream": upstream, **more})


def _routed(rng: Random) -> Case:
    experts = rng.randint(4, 32)
    return _routing(
        rng, rng.randint(2, 64), experts, rng.randint(2, min(8, experts - 1)), renormalize=rng.random() < 0.5
    )


def _routed_of_each(rng: Random) -> list[Case]:
    sizes = ((rng.randint(3, 20), rng.randint(8, 16), rng.randint(2, 4), kept) for kept in (True, False) * 2)
    return [_routing(rng, *size, renormalize=kept) for *size, kept in sizes]


def _half(rng: Random) -> Case:
    tokens, experts, top_k = rng.randint(2, 20), rng.randint(4, 16), rng.randint(2, 4)
    logits = Tensor.of(_apart(rng, tokens, experts), shape=(tokens, experts))
    return Case((logits, top_k), {"dtype": rng.choice(["bfloat16", "float16"]), "renormalize": rng.random() < 0.5})


def _wide(rng: Random) -> list[Case]:
    """Half precision, and double."""
    found = [_half(rng) for _ in range(4)]
    return [*found, *(replace(one, kwargs={**one.kwargs, "dtype": "float64"}) for one in found[:2])]


def _one_expert_of_each(rng: Random) -> list[Case]:
    """One expert for each token, all experts, no tokens."""
    plain = [_routing(rng, rng.randint(2, 9), 8, 1, renormalize=kept) for kept in (False, True)]
    return [*plain, _routing(rng, 3, 4, 4, renormalize=True), _routing(rng, 0, 4, 2)]


_ROWS = (2.0, 1.0, 0.0, -1.0, 0.0, 0.5, 3.0, 1.0)
_UP = Tensor.of([1.0, 2.0, -1.0, 0.5], shape=(2, 2))

ROUTE = Build(
    id="07-route",
    module="moe",
    function="route",
    grade="tensor",
    probe="ch07.routed",
    section="7.8",
    topic="routing",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of(_ROWS, shape=(2, 4)), 2), {"upstream": _UP}),
        Case((Tensor.of(_ROWS, shape=(2, 4)), 2, False), {"upstream": _UP}),
        Case((Tensor.of(_ROWS, shape=(2, 4)), 1, False), {"upstream": Tensor.of([1.0, -1.0], shape=(2, 1))}),
        Case((Tensor.of(_ROWS, shape=(2, 4)), 2), {"dtype": "bfloat16"}),
    ),
    groups=(
        Group(
            "any router",
            _routed,
            10,
            "Softmax over all experts of a token, keep the largest, then divide by their sum if that is asked for.",
            _routed_of_each,
        ),
        Group(
            "other precisions",
            _half,
            6,
            "Logits may come in half precision: the softmax is taken in float32. Those in float64 stay in float64.",
            _wide,
        ),
        one_of_each(
            "one expert, all, no tokens",
            _one_expert_of_each,
            "top_k may be 1 or the number of experts, and there may be no tokens.",
        ),
    ),
    slips=(
        Slip(
            "The softmax runs over the tokens. It should run over the experts of one token.",
            edit=("logits.softmax(dim=1", "logits.softmax(dim=0"),
        ),
        Slip(
            "A sigmoid scores each expert on its own. Here the experts compete in one softmax.",
            edit=("logits.softmax(dim=1, dtype=wide)", "logits.to(wide).sigmoid()"),
        ),
        Slip(
            "The weights are always renormalized. With one expert that makes every weight 1, without a gradient.",
            edit=(" if renormalize else weights", ""),
        ),
        Slip(
            "The experts are in the order of their numbers, but the best one should come first.",
            edit=(
                "    return weights / weights",
                "    experts, places = experts.sort(dim=1)\n"
                "    weights = weights.gather(1, places)\n"
                "    return weights / weights",
            ),
        ),
        Slip(
            "The weights are cut off from the logits: the router would learn nothing.",
            edit=("logits.softmax(", "logits.detach().softmax("),
        ),
        Slip("The softmax was taken in half precision: widen to float32 first.", edit=(", dtype=wide", "")),
    ),
)


# --- load_balancing_loss


def _probabilities(rng: Random, tokens: int, experts: int) -> tuple[list[list[float]], Tensor]:
    """Rows that add up to 1, of float32."""
    rows = []
    for _ in range(tokens):
        raw = [rng.uniform(0.05, 1) ** 3 for _ in range(experts)]
        rows.append([value / sum(raw) for value in raw])
    return rows, Tensor.of([value for row in rows for value in row], shape=(tokens, experts))


def _balance(rng: Random, tokens: int, experts: int, top_k: int) -> Case:
    rows, probabilities = _probabilities(rng, tokens, experts)
    best = [sorted(range(experts), key=row.__getitem__, reverse=True)[:top_k] for row in rows]
    chosen = Tensor.of([expert for row in best for expert in row], "int64", (tokens, top_k))
    return Case((probabilities, chosen, experts))


def _balanced(rng: Random) -> Case:
    experts = rng.randint(4, 16)
    return _balance(rng, rng.randint(2, 40), experts, rng.randint(2, 3))


def _switch(rng: Random) -> Case:
    return _balance(rng, rng.randint(2, 20), rng.randint(2, 16), 1)


_UNEVEN = Tensor.of([0.4, 0.4, 0.1, 0.1] * 4, shape=(4, 4))

LOAD_BALANCING_LOSS = Build(
    id="07-load-balancing-loss",
    module="moe",
    function="load_balancing_loss",
    grade="tensor",
    probe="ch07.balanced",
    section="7.22",
    bonus=True,
    topic="balance of experts",
    tolerance=1e-5,
    cases=(
        Case((_UNEVEN, Tensor.of([0, 1] * 4, "int64", (4, 2)), 4)),
        Case((Tensor.of([0.25] * 16, shape=(4, 4)), Tensor.of([0, 1, 2, 3], "int64", (4, 1)), 4)),
        Case((Tensor.of([1.0, 0.0, 0.0] * 2, shape=(2, 3)), Tensor.of([0, 0], "int64", (2, 1)), 3)),
    ),
    groups=(
        Group("several experts of a token", _balanced, 8, "f is the share of all assignments, P the mean probability."),
        Group("one expert of a token", _switch, 4, "With one expert of each token, f is the share of the tokens."),
    ),
    slips=(
        Slip(
            "Both factors are mean probabilities: f counts where the tokens really went.",
            edit=("shares.to(probabilities.dtype)", "probabilities.mean(dim=0)"),
        ),
        Slip(
            "A gradient flows through f: it is a count, only P is differentiated.",
            edit=(
                "shares.to(probabilities.dtype)",
                "(shares + (probabilities - probabilities.detach()).sum(dim=0) / experts_chosen.numel())",
            ),
        ),
        Slip("The factor E is missing: uniform routing has loss 1.", edit=("experts * (shares", "(shares")),
        Slip(
            "f was divided by the tokens, so that uniform routing has loss k: divide by T k assignments.",
            edit=("experts_chosen.numel()", "len(probabilities)"),
        ),
    ),
)

ITEMS = (ROUTE, LOAD_BALANCING_LOSS)
