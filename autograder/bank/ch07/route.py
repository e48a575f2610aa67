"""Chapter 7: ``route``, routing."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


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


def routed_by_sorting(logits, top_k, renormalize=True):
    """The log-softmax, sorted; the weights of the best are a softmax of their own logits."""
    import torch

    wide = torch.promote_types(logits.dtype, torch.float32)
    scores, experts = logits.to(wide).log_softmax(1).sort(dim=1, descending=True)
    scores, experts = scores[:, :top_k], experts[:, :top_k]
    return scores.softmax(1) if renormalize else scores.exp(), experts


EXERCISE = Build(
    "07 moe.route",
    section="7.8",
    topic="routing",
    grade="tensor",
    probe="ch07.routed",
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
        listed(
            "other precisions",
            _wide,
            "Logits may come in half precision: the softmax is taken in float32. Those in float64 stay in float64.",
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
    rights=(
        Right("log-softmax, sorted", program=routed_by_sorting),
        Right(
            "double precision inside",
            edits=(
                ("logits.softmax(dim=1, dtype=wide)", "logits.softmax(dim=1, dtype=torch.float64)"),
                (
                    "return weights / weights.sum(dim=1, keepdim=True) if renormalize else weights, experts",
                    "return (weights / weights.sum(dim=1, keepdim=True) if renormalize else weights).to(wide), experts",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "both [tokens, top_k]: float32 or wider",
            edit=("torch.promote_types(logits.dtype, torch.float32)", "torch.float32"),
        ),
        Promise(
            "both [tokens, top_k]: float32 or wider",
            edit=("torch.promote_types(logits.dtype, torch.float32)", "torch.float64"),
        ),
        Promise("in float32 or wider", edit=(", dtype=wide)", ").to(wide)")),
        Promise(
            "best first",
            edit=(
                ".topk(top_k, dim=1)\n",
                ".topk(top_k, dim=1)\n    weights, experts = weights.flip(1), experts.flip(1)\n",
            ),
        ),
        Promise("Gradients flow through the weights", edit=("logits.softmax(", "logits.detach().softmax(")),
    ),
)
