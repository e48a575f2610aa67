"""Chapter 11: the exact part of speculation: acceptance, residual, and one round."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from autograder.bank.ch11.wrong_rounds import ROUNDS, wrong_accept
from autograder.items import Build, Case, Debug, Group, Slip

P, Q = (0.5, 0.3, 0.2, 0.0), (0.25, 0.25, 0.25, 0.25)


def row(rng: Random, size: int, zeros: float = 0.0) -> tuple[float, ...]:
    """A distribution; about a share ``zeros`` of its entries is 0, never all of them."""
    weights = [rng.randint(1, 40) * (rng.random() >= zeros) for _ in range(size)]
    weights[rng.randrange(size)] += 7
    return tuple(weight / sum(weights) for weight in weights)


def _pair(rng: Random) -> Case:
    size = rng.randint(3, 50)
    return Case((row(rng, size), row(rng, size)))


def _pair_with_zeros(rng: Random) -> Case:
    size = rng.randint(3, 20)
    return Case((row(rng, size, 0.4), row(rng, size, 0.4)))


def _apart(rng: Random) -> list[Case]:
    one = row(rng, rng.randint(2, 5))
    none = (0.0,) * len(one)
    same = row(rng, rng.randint(3, 9), 0.2)
    return [Case((same, same)), Case(((*one, *none), (*none, *one)))]


PAIRS = (
    Group("pairs", _pair, 6, "Token by token, the smaller of the two."),
    Group("zeros", _pair_with_zeros, 4, "A token may be impossible for one of the two."),
    Group(
        "equal or apart",
        lambda rng: rng.choice(_apart(rng)),
        2,
        "Equal distributions, and some without overlap.",
        _apart,
    ),
)

PAIR_CASES = (
    Case((P, Q)),
    Case(((0.6, 0.3, 0.1), (0.1, 0.6, 0.3))),
    Case(((0.25, 0.75), (0.25, 0.75))),
    Case(((1.0, 0.0), (0.0, 1.0))),
)

ACCEPTANCE = Build(
    id="11-acceptance-probability",
    module="speculative",
    function="acceptance_probability",
    grade="call",
    section="11.2",
    topic="acceptance",
    cases=PAIR_CASES,
    groups=PAIRS,
    slips=(
        Slip(
            "That is how likely both draw the same token on their own: only the draft draws.",
            edit=("math.fsum(map(min, target, draft))", "sum(p * q for p, q in zip(target, draft, strict=True))"),
        ),
        Slip(
            "Every token may be drafted, not the likeliest alone.",
            edit=("math.fsum(map(min, target, draft))", "target[draft.index(max(draft))]"),
        ),
        Slip(
            "Tokens are not equally likely: weigh min(1, p/q) with q.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "shares = [min(1.0, p / q) for p, q in zip(target, draft, strict=True) if q > 0]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("math.fsum(map(min, target, draft))", "sum(shares) / len(shares)"),
            ),
        ),
        Slip(
            "Half of the summed difference: what one has too much the other has too little.",
            edit=(
                "math.fsum(map(min, target, draft))",
                "1 - sum(abs(p - q) for p, q in zip(target, draft, strict=True))",
            ),
        ),
        Slip(
            "That is how likely the token is rejected.",
            edit=(
                "math.fsum(map(min, target, draft))",
                "sum(max(0.0, p - q) for p, q in zip(target, draft, strict=True))",
            ),
        ),
    ),
)


def _equal_or_apart(rng: Random) -> list[Case]:
    same = [row(rng, rng.randint(3, 9), 0.2) for _ in range(2)]
    return [*(Case((one, one)) for one in same), _apart(rng)[1]]


RESIDUAL = Build(
    id="11-residual-distribution",
    module="speculative",
    function="residual_distribution",
    grade="call",
    section="11.2",
    topic="residual",
    cases=PAIR_CASES,
    groups=(
        *PAIRS[:2],
        Group(
            "equal or apart",
            lambda rng: rng.choice(_equal_or_apart(rng)),
            3,
            "Where p and q are equal nothing is left over: then p.",
            _equal_or_apart,
        ),
    ),
    slips=(
        Slip(
            "What the draft has too much needs no replacement: negative differences are 0.",
            edit=("max(0.0, p - q)", "abs(p - q)"),
        ),
        Slip(
            "Drafts have already given part of p: only what is missing is redrawn.",
            edit=("_residual(target, draft)", "[float(p) for p in target]"),
        ),
        Slip("The difference p - q counts, not the ratio.", edit=("max(0.0, p - q)", "p / q if q > 0 else 0.0")),
        Slip(
            "Divide by the sum: a distribution sums to 1.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "parts = [max(0.0, p - q) for p, q in zip(target, draft, strict=True)]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("_residual(target, draft)", "parts if sum(parts) else list(target)"),
            ),
        ),
        Slip("That is what the draft has too much: p - q, not q - p.", edit=("max(0.0, p - q)", "max(0.0, q - p)")),
        Slip(
            "Where p and q are equal the sum is 0: the answer there is p.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "parts = [max(0.0, p - q) for p, q in zip(target, draft, strict=True)]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("_residual(target, draft)", "[part / sum(parts) for part in parts]"),
            ),
        ),
    ),
)


def _drafted(rng: Random, rows: list[tuple[float, ...]]) -> list[int]:
    return [rng.choices(range(len(one)), one)[0] for one in rows]


def _round(rng: Random, length: int, zeros: float = 0.0, accept: int | None = None) -> Case:
    """A round; with ``accept``, uniforms that accept so many drafted tokens and no more, and a telling replacement."""
    while True:
        case = _drawn_round(rng, length, zeros, accept)
        _, draft, target, uniforms = case.args
        if accept is None or accept >= length or _telling(target[accept], draft[accept], uniforms[-1]):
            return case


def _telling(p: tuple[float, ...], q: tuple[float, ...], uniform: float) -> bool:
    """Whether the residual, the same before it is normalised, and p itself do not all give one token."""
    rest = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    wanted, others = _first(rest, uniform * sum(rest)), (_first(rest, uniform), _first(p, uniform))
    return wanted not in others


def _first(weights: Sequence[float], level: float) -> int:
    last = max((i for i, weight in enumerate(weights) if weight), default=-1)
    return next((i for i, reached in enumerate(accumulate(weights)) if reached > level), last)


def _drawn_round(rng: Random, length: int, zeros: float, accept: int | None) -> Case:
    size = rng.randint(3, 8)
    draft = [row(rng, size, zeros) for _ in range(length)]
    target = [row(rng, size, zeros) for _ in range(length + 1)]
    tokens = _drafted(rng, draft)
    uniforms = [round(rng.random(), 6) for _ in range(length + 1)]
    if accept is not None:
        for place in range(min(accept + 1, length)):
            tokens[place] = _judged(rng, draft[place], target[place], place < accept)
            ratio = target[place][tokens[place]] / draft[place][tokens[place]]
            share = rng.uniform(0.4, 0.9)
            uniforms[place] = share * min(1, ratio) if place < accept else ratio + share * (1 - ratio)
    return Case((tokens, draft, target, uniforms))


def _judged(rng: Random, q: tuple[float, ...], p: tuple[float, ...], accepted: bool) -> int:
    """A token with p < q, whose verdict hangs on the uniform; or, to be accepted, any that both have."""
    short = [token for token in range(len(q)) if 0 < p[token] < q[token]]
    both = [token for token in range(len(q)) if min(p[token], q[token]) > 0]
    return rng.choice(short or (both if accepted else short) or [0])


def _ordinary(rng: Random) -> list[Case]:
    """Rejected at the first, in the middle and at the last place, and never."""
    lengths = [rng.randint(3, 6) for _ in range(7)]
    stops = [0, 1, rng.randint(1, 2), lengths[3] - 1, lengths[4] - 1, lengths[5], lengths[6]]
    return [_round(rng, length, accept=stop) for length, stop in zip(lengths, stops, strict=True)]


def _with_zeros(rng: Random) -> Case:
    return _round(rng, rng.randint(1, 6), 0.35)


def _short(rng: Random) -> list[Case]:
    return [_round(rng, 0), _round(rng, 0, 0.3), _round(rng, 1, accept=1)]


def _edges(rng: Random) -> list[Case]:
    """A row that sums to a little under 1, a verdict on the border, and a token after a rejection that q excludes."""
    size = rng.randint(3, 6)
    least = row(rng, size)
    under = (*(value * (1 - 1e-9) for value in least), 0.0)
    draft, border = (0.5, 0.25, 0.25), (0.25, 0.5, 0.25)
    tail = tuple(1.0 if token == 2 else 0.0 for token in range(3))
    return [
        Case(([], [], [under], [1 - 2**-40])),
        Case(([0], [draft], [border, row(rng, 3)], [0.5, round(rng.random(), 6)])),
        Case(([0, 1], [draft, tail], [(0.0, 0.5, 0.5), row(rng, 3), row(rng, 3)], [0.25, 0.5, round(rng.random(), 6)])),
    ]


STEP = Build(
    id="11-speculative-step",
    module="speculative",
    function="speculative_step",
    grade="call",
    section="11.2",
    topic="one round of speculation",
    cases=(
        Case(([0, 1], [Q] * 2, [P] * 3, [0.9, 0.9, 0.5])),
        Case(([2, 0], [Q] * 2, [P] * 3, [0.79, 0.1, 0.5])),
        Case(([2, 0], [Q] * 2, [P] * 3, [0.81, 0.1, 0.5])),
        Case(([3, 0], [Q] * 2, [P] * 3, [0.0, 0.1, 0.9])),
        Case(([0, 3], [Q] * 2, [P] * 3, [0.5, 0.5, 0.99])),
        Case(([], [], [P], [0.6])),
        Case(([2], [Q], [P, (0.0, 0.0, 0.0, 1.0)], [0.1, 0.2])),
    ),
    groups=(
        Group(
            "rounds",
            lambda rng: rng.choice(_ordinary(rng)),
            7,
            "Walk through the drafts; at the first rejected one the round ends with a replacement.",
            _ordinary,
        ),
        Group("zeros", _with_zeros, 5, "A token may be impossible for the target, or for the draft."),
        Group("short", lambda rng: rng.choice(_short(rng)), 3, "No draft, or a single one, is a round too.", _short),
        Group(
            "edges",
            lambda rng: rng.choice(_edges(rng)),
            3,
            "u q < p accepts, u q = p does not; what rounding leaves goes to the last id with any mass; what comes "
            "after a rejected token is not judged.",
            _edges,
        ),
    ),
    slips=ROUNDS,
)


def _single(rng: Random, accepted: bool) -> Case:
    tokens, draft, target, uniforms = _round(rng, 1, accept=int(accepted)).args
    return Case((tokens[0], draft[0], target[0], (uniforms[0], uniforms[1])))


def _lucky(rng: Random) -> Case:
    """p < q, and accepted."""
    return _single(rng, True)


def _unlucky(rng: Random) -> Case:
    """p < q, and rejected."""
    return _single(rng, False)


def _impossible(rng: Random) -> list[Case]:
    """Tokens that the target never gives, before all that it has more of; both uniforms are 0."""
    size = rng.randint(3, 7)
    return [Case((0, row(rng, size + 1), (0.0, *row(rng, size)), (0.0, 0.0)))]


def _likelier(rng: Random) -> Case:
    """p > q: always accepted."""
    size = rng.randint(3, 8)
    draft, target = row(rng, size), row(rng, size)
    token = max(range(size), key=lambda i: target[i] - draft[i])
    return Case((token, draft, target, (round(rng.uniform(0.9, 0.999), 4), round(rng.random(), 4))))


DEBUG_ACCEPT = Debug(
    id="11-debug-accept",
    module="speculative",
    function="debug_accept",
    grade="call",
    section="11.3",
    topic="one round of speculation",
    cases=(
        Case((2, Q, P, (0.79, 0.5))),
        Case((2, Q, P, (0.81, 0.5))),
        Case((0, Q, P, (0.99, 0.5))),
        Case((3, Q, P, (0.1, 0.9))),
    ),
    groups=(
        Group("accepted by luck", _lucky, 4, "Where p < q the token is still accepted with probability p/q."),
        Group(
            "replaced", _unlucky, 6, "A replacement comes from what the target has more than the draft.", _impossible
        ),
        Group("likelier for the target", _likelier, 3, "Where p >= q the token stays."),
    ),
    slips=(
        Slip("That is the program that was given: its tokens are not distributed as the target says.", wrong_accept),
        Slip(
            "The ratio is upside down: u < p/q accepts.",
            edit=("uniforms[0] * draft[token] < target[token]", "uniforms[0] * target[token] < draft[token]"),
        ),
        Slip(
            "The verdict is right now; the replacement still comes from p, not from the residual.",
            edit=("[max(0.0, p - q) for p, q in zip(target, draft, strict=True)]", "target"),
        ),
        Slip(
            "The replacement is right now, the verdict not yet: u < p/q accepts.",
            edit=("uniforms[0] * draft[token] < target[token]", "target[token] >= draft[token]"),
        ),
        Slip("The residual must sum to 1 before a uniform is compared with it.", edit=("uniform * total", "uniform")),
    ),
    wrong=wrong_accept,
)

ITEMS = (ACCEPTANCE, RESIDUAL, STEP, DEBUG_ACCEPT)
