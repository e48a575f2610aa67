"""Chapter 14: ``importance_weights``, off-policy correction."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch14.shared import NEW, OLD
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _response(rng: Random, low: int = 3, high: int = 12, far: float = 0.8) -> tuple[tuple[float, ...], ...]:
    """Log-probabilities of a response under two policies that are not far apart; at least one ratio is above 1.3."""
    length = rng.randint(low, high)
    old = [round(-rng.expovariate(0.7) - 1.2, 4) for _ in range(length)]
    new = [round(min(-0.001, log + rng.gauss(0, far)), 4) for log in old]
    index = rng.randrange(length)
    new[index] = round(old[index] + rng.uniform(0.3, 1.0), 4)
    return tuple(new), tuple(old)


def _tokens(rng: Random) -> Case:
    return Case(_response(rng), {"cap": round(rng.uniform(0.7, 1.3), 3)} if rng.random() < 0.5 else {})


def _masked(rng: Random) -> Case:
    return Case(_response(rng), {"cap": round(rng.uniform(0.8, 1.3), 3), "mode": "mask"})


def _from_logs(rng: Random, logs: list[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A response whose log-ratios are these."""
    rng.shuffle(logs)
    old = [round(-rng.uniform(2, 5), 4) for _ in logs]
    return tuple(round(a + b, 4) for a, b in zip(old, logs, strict=True)), tuple(old)


def _responses(rng: Random) -> list[Case]:
    """One token above the cap in a response that is not, and no token above the cap in a response that is."""
    calm = _from_logs(rng, [rng.uniform(0.8, 1.2), *(-rng.uniform(0.3, 0.6) for _ in range(rng.randint(4, 7)))])
    wild = _from_logs(rng, [rng.uniform(0.1, 0.3) for _ in range(rng.randint(6, 9))])
    options: tuple[dict[str, Any], ...] = ({"cap": round(rng.uniform(1.5, 1.8), 3)}, {"cap": 1.5, "mode": "mask"})
    capped = [Case(one, {**option, "level": "sequence"}) for one in (calm, wild) for option in options]
    return [*capped, *(Case(_response(rng, far=0.3), {"level": "sequence"}) for _ in range(2))]


def _edges(rng: Random) -> list[Case]:
    """No token; a single one; weights of exactly the cap; one that is too large for a float, with a cap and without."""
    new, old = _response(rng, 1, 1)
    same = tuple(round(-rng.uniform(0.1, 3), 3) for _ in range(rng.randint(2, 5)))
    return [
        Case(((), ()), {"cap": 1.5, "level": "sequence"}),
        Case((new, old), {"level": "sequence", "cap": 1.2}),
        Case((same, same), {"cap": 1.0, "mode": "mask"}),
        Case((same, same), {"cap": 1.0, "mode": "mask", "level": "sequence"}),
        Case((same[:1], same[:1]), {"cap": 1, "mode": "mask"}),
        Case(((*same, -0.1), (*same, -rng.uniform(720, 900))), {"cap": 1.5}),
        Case(((*same, -0.1), (*same, -rng.uniform(720, 900)))),
    ]


def weights_by_a_library(target, behaviour, cap=None, mode="truncate", level="token"):
    import torch

    from solutions.ch14 import off_policy

    off_policy.importance_weights(target, behaviour, cap, mode, level)
    logs = torch.tensor(target, dtype=torch.float64) - torch.tensor(behaviour, dtype=torch.float64)
    logs = logs.sum().expand(len(logs)) if level == "sequence" else logs
    weights = logs.exp()
    if cap is not None:
        weights = weights.clamp(max=cap) if mode == "truncate" else torch.where(weights > cap, 0.0, weights)
    return weights.tolist()


EXERCISE = Build(
    "14 off_policy.importance_weights",
    section="14.9",
    topic="off-policy correction",
    cases=(
        Case((NEW, OLD)),
        Case((NEW, OLD, 1.5)),  # truncated as in V-trace
        Case((NEW, OLD, 1.5, "mask")),
        Case((NEW, OLD), {"level": "sequence"}),
        Case((NEW, OLD), {"cap": 0.5, "level": "sequence"}),
    ),
    groups=(
        Group("tokens", _tokens, 6, "exp(target - behaviour), and no more than the cap."),
        Group("masked", _masked, 4, "A weight above the cap becomes 0, one below it stays."),
        listed("whole responses", _responses, "One weight from the sum of all differences; the cap comes after it."),
        listed("edges", _edges, "A weight of exactly the cap stays; one too large for a float is infinite."),
    ),
    slips=(
        Slip("The ratio is upside down: target over behaviour.", edit=("new - old", "old - new")),
        Slip(
            "Small weights stay as they are: only what is above the cap is changed.",
            edits=(
                ("weight <= cap", "min(cap, 1 / cap) <= weight <= cap"),
                ("cap if mode", "min(max(weight, min(cap, 1 / cap)), cap) if mode"),
            ),
        ),
        Slip(
            "Weights are not divided by their mean: each token's is its own ratio.",
            edit=(
                "[_capped(_exp(log), cap, mode) for log in logs]",
                "[_capped(_exp(log) * len(logs) / sum(map(_exp, logs)), cap, mode) for log in logs]",
            ),
        ),
        Slip(
            "A response's weight is the product of its tokens' ratios, not their geometric mean.",
            edit=("[math.fsum(logs)] * len(logs)", "[math.fsum(logs) / len(logs)] * len(logs) if logs else []"),
        ),
        Slip(
            "For a response, multiply first and then cap: yours caps the tokens.",
            edit=(
                '    if level == "sequence":\n'
                "        logs = [math.fsum(logs)] * len(logs)\n"
                "    return [_capped(_exp(log), cap, mode) for log in logs]",
                "    weights = [_capped(_exp(log), cap, mode) for log in logs]\n"
                '    return [math.prod(weights)] * len(weights) if level == "sequence" else weights',
            ),
        ),
        Slip("A weight that equals the cap is not above it.", edit=("weight <= cap", "weight < cap")),
        Slip(
            'With mode "mask" a weight above the cap becomes 0, not the cap.',
            edit=('cap if mode == "truncate" else 0.0', "cap"),
        ),
        Slip("Those are the logarithms: a weight is exp of the difference.", edit=("_exp(log),", "log,")),
    ),
    rights=(
        Right("tensors", program=weights_by_a_library),
        Right(
            "a product of ratios",
            edit=(
                "logs = [math.fsum(logs)] * len(logs)",
                "logs = [math.log(math.prod(map(math.exp, logs)))] * len(logs)",
            ),
        ),
    ),
    promises=(
        Promise(
            "infinite where there is no cap and it is too large for a float",
            edit=("        return math.inf\n", "        raise\n"),
        ),
        Promise(
            "which is then capped and given to every token",
            edit=("[math.fsum(logs)] * len(logs)", "[math.fsum(logs)]"),
        ),
    ),
)
