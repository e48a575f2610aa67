"""Chapter 14, learning from what older weights wrote: importance weights, effective samples, and the lag."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Choice, Group, Item, Part, Question, Slip, lazily

off_policy = lazily("solutions.ch14.off_policy")

TARGET, BEHAVIOUR, VALUES = (0.7, 0.2, 0.1), (0.4, 0.4, 0.2), (1, 2, 5)
NEW, OLD = (-1.0, -2.0, -0.5), (-1.5, -1.0, -0.5)

# importance_weights


def _response(rng: Random, low: int = 3, high: int = 12, far: float = 0.8) -> tuple[tuple[float, ...], ...]:
    """Log-probabilities of a response under two policies that are not far apart; at least one ratio is above 1.3."""
    length = rng.randint(low, high)
    old = [round(-rng.expovariate(0.7) - 1.2, 4) for _ in range(length)]
    new = [round(min(-0.001, log + rng.gauss(0, far)), 4) for log in old]
    place = rng.randrange(length)
    new[place] = round(old[place] + rng.uniform(0.3, 1.0), 4)
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


WEIGHTS = Build(
    id="14-importance-weights",
    module="off_policy",
    function="importance_weights",
    grade="call",
    section="14.10",
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
)

# effective_sample_size


def _drawn(rng: Random) -> Case:
    return Case((tuple(round(math.exp(rng.gauss(0, 0.7)), 4) for _ in range(rng.randint(3, 40))),))


def _uneven(rng: Random) -> Case:
    weights = [round(math.exp(rng.gauss(-3, 3)), 6) for _ in range(rng.randint(2, 30))]
    weights[0] = round(rng.uniform(2, 9), 3)
    return Case((tuple(weights),))


def _nothing(rng: Random) -> list[Case]:
    count, weight = rng.randint(2, 9), round(rng.uniform(0.2, 0.9), 3)
    masked = tuple(rng.choice((0.0, round(rng.uniform(0.3, 2), 3))) for _ in range(count))
    return [Case(((0.0,) * count,)), Case(((),)), Case(((weight,) * count,)), Case(((weight, 0.0, *masked),))]


SIZE = Build(
    id="14-effective-sample-size",
    module="off_policy",
    function="effective_sample_size",
    grade="call",
    section="14.10",
    topic="off-policy correction",
    cases=(
        Case(((1.5, 0.5, 1.0),)),
        Case(((2.0, 2.0, 2.0, 2.0),)),
        Case(((5.0, 0.0, 0.0),)),
        Case(((0.0, 0.0),)),
    ),
    groups=(
        Group("weights", _drawn, 6, "The square of the sum over the sum of the squares."),
        Group("uneven weights", _uneven, 4, "A few large weights leave few effective samples."),
        listed("nothing, or all equal", _nothing, "Without a positive one: 0."),
    ),
    slips=(
        Slip(
            "That counts the weights that are not 0: equal ones alone count in full.",
            edit=(
                "math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)",
                "sum(weight > 0 for weight in weights)",
            ),
        ),
        Slip(
            "That is their sum: it grows when every weight doubles, and the answer must not.",
            edit=("math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)", "sum(weights)"),
        ),
        Slip(
            "The weights themselves go in, not their logarithms.",
            edit=("[weight / largest for weight in weights]", "[math.log(weight) for weight in weights if weight > 0]"),
        ),
        Slip(
            "That is the share: with means above and below the number of weights is lost.",
            edit=("for share in shares)", "for share in shares) / len(shares)"),
        ),
        Slip(
            "The denominator is the sum of squares, not the largest weight.",
            edit=(" ** 2 / math.fsum(share * share for share in shares)", ""),
        ),
        Slip(
            "That is right for weights that sum to 1: the numerator is the square of their sum.",
            edit=(
                "math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)",
                "1 / math.fsum(weight * weight for weight in weights)",
            ),
        ),
        Slip(
            "Where no weight is positive the answer is 0: do not divide.",
            edit=("    if largest == 0:\n        return 0.0\n", ""),
        ),
    ),
)


def _average(cap: float | None) -> float:
    logs = ([math.log(p) for p in row] for row in (TARGET, BEHAVIOUR))
    weights = off_policy.importance_weights(*logs, cap=cap)
    return math.fsum(b * w * f for b, w, f in zip(BEHAVIOUR, weights, VALUES, strict=True))


def _naive() -> float:
    return math.fsum(b * f for b, f in zip(BEHAVIOUR, VALUES, strict=True))


ITEMS: tuple[Item, ...] = (
    Question(
        id="14-trunc-bias",
        kind="derive",
        title="Three averages of one set of samples",
        section="14.10",
        parts=(
            Part(
                "without weights",
                "",
                _naive,
                tolerance=1e-6,
                slips=(Slip("The samples come from the behaviour policy: its probabilities weigh them.", value=1.6),),
            ),
            Part(
                "with weights",
                "",
                lambda: _average(None),
                tolerance=1e-6,
                slips=(Slip("That leaves the weights out.", value=2.2),),
            ),
            Part(
                "weights truncated at 1.5",
                "",
                lambda: _average(1.5),
                tolerance=1e-6,
                slips=(
                    Slip("One weight is above 1.5: what is cut off it is missing in the average.", value=1.6),
                    Slip("Weights below 1 stay as they are.", value=1.8),
                ),
            ),
        ),
        derivation="Each is $\\sum_x b(x)\\, w(x)\\, f(x)$: with $w = 1$, with $w = p/b$, with $w = \\min(p/b, c)$. "
        "The second is exact, for $b\\,p/b = p$. The third lacks what the first outcome weighs above the cap: "
        "$0.4 \\cdot (1.75 - c) \\cdot 1$.",
    ),
    WEIGHTS,
    Question(
        id="14-ess",
        kind="derive",
        title="Effective samples",
        section="14.10",
        parts=(
            Part(
                "samples",
                "samples",
                lambda: off_policy.effective_sample_size(off_policy.importance_weights(NEW, OLD)),
                tolerance=0.005,
                slips=(
                    Slip("They would count as three if they were equal.", value=3),
                    Slip(
                        "That is the sum of squares: it is the denominator.",
                        value=lambda: math.fsum(w * w for w in off_policy.importance_weights(NEW, OLD)),
                    ),
                ),
            ),
        ),
        derivation="The square of the sum over the sum of the squares: "
        "$(1.64872 + 0.367879 + 1)^2 / (1.64872^2 + 0.367879^2 + 1^2)$.",
    ),
    SIZE,
    Choice(
        id="14-lag-free",
        kind="trace",
        title="One version late",
        section="14.10",
        options=(
            "about the same",
            "clearly lower: the samples are from another policy",
            "higher: the samples are more varied",
            "it does not learn at all",
        ),
        correct=0,
        derivation="One update moves a policy a little, so that most ratios are near 1 and nearly all samples count. "
        "The correction does the rest.",
        slips={
            1: "One small update apart, the two policies agree on nearly every token.",
            2: "Older samples are of a slightly worse policy; nothing is gained by that.",
            3: "Learning fails when the policies have little in common: that takes many versions.",
        },
    ),
)
