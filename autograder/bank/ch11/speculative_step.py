"""Chapter 11: ``speculative_step``, one round of speculation."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import P, Q, by_bisection, draw_round, row
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _ordinary(rng: Random) -> list[Case]:
    """Rejected at the first, in the middle and at the last place, and never."""
    lengths = [rng.randint(3, 6) for _ in range(7)]
    stops = [0, 1, rng.randint(1, 2), lengths[3] - 1, lengths[4] - 1, lengths[5], lengths[6]]
    return [draw_round(rng, length, accept=stop) for length, stop in zip(lengths, stops, strict=True)]


def _with_zeros(rng: Random) -> Case:
    return draw_round(rng, rng.randint(1, 6), 0.35)


def _short(rng: Random) -> list[Case]:
    return [draw_round(rng, 0), draw_round(rng, 0, 0.3), draw_round(rng, 1, accept=1)]


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


def one_round(tokens, draft, target, uniforms):
    """The ratio of probabilities decides, and the level is scaled instead of the residual."""
    for place, token in enumerate(tokens):
        if not uniforms[place] < target[place][token] / draft[place][token]:
            rest = [max(p - q, 0.0) for p, q in zip(target[place], draft[place], strict=True)]
            return [*tokens[:place], by_bisection(rest, uniforms[-1] * sum(rest))]
    return [*tokens, by_bisection(target[-1], uniforms[-1])]


EXERCISE = Build(
    "11 speculative.speculative_step",
    section="11.4",
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
        listed(
            "rounds", _ordinary, "Walk through the drafts; at the first rejected one the round ends with a replacement."
        ),
        Group("zeros", _with_zeros, 5, "A token may be impossible for the target, or for the draft."),
        listed("short", _short, "No draft, or a single one, is a round too."),
        listed(
            "edges",
            _edges,
            "u q < p accepts, u q = p does not; what rounding leaves goes to the last id with any mass; what comes "
            "after a rejected token is not judged.",
        ),
    ),
    slips=(
        Slip(
            "The ratio decides with luck: a token with p < q is accepted with probability p/q, not never.",
            edit=("uniforms[place] * q >= p", "p < q"),
        ),
        Slip(
            "The replacement comes from the residual, not from p: drafts have already given part of p.",
            edit=("_residual(target[place], draft[place])", "target[place]"),
        ),
        Slip(
            "When all are accepted the target adds one more token: its last row is there already.",
            edit=(
                "return [*tokens, _draw(target[-1], uniforms[-1])]",
                "return list(tokens) or [_draw(target[-1], uniforms[-1])]",
            ),
        ),
        Slip(
            "The round ends at the first rejection: what follows was drafted after another token.",
            edits=(
                (
                    "    for place, token in enumerate(tokens):\n        q, p",
                    "    kept = []\n    for place, token in enumerate(tokens):\n        q, p",
                ),
                (
                    (
                        "            return [*tokens[:place], _draw(_residual(target[place], "
                        "draft[place]), uniforms[-1])]\n"
                        "    return [*tokens, _draw(target[-1], uniforms[-1])]"
                    ),
                    (
                        "            token = _draw(_residual(target[place], draft[place]), uniforms[-1])\n"
                        "        kept.append(token)\n"
                        "    return [*kept, _draw(target[-1], uniforms[-1])] if kept == list(tokens) else "
                        "kept"
                    ),
                ),
            ),
        ),
        Slip(
            "Target row i judges drafted token i: row i + 1 comes after it.",
            edits=(
                (
                    "q, p = draft[place][token], target[place][token]",
                    "q, p = draft[place][token], target[place + 1][token]",
                ),
                ("_residual(target[place], draft[place])", "_residual(target[place + 1], draft[place])"),
            ),
        ),
        Slip(
            "The replacement comes from the rows of the rejected token, not from the last ones.",
            edit=("_residual(target[place], draft[place])", "_residual(target[-1], draft[-1])"),
        ),
        Slip(
            "The draw takes the last uniform: the one of the verdict is used up, and known to be large.",
            edit=("draft[place]), uniforms[-1])", "draft[place]), uniforms[place])"),
        ),
        Slip(
            "The ratio is upside down: u < p/q accepts.", edit=("uniforms[place] * q >= p", "uniforms[place] * p >= q")
        ),
        Slip(
            "The residual must sum to 1 before a uniform is compared with its cumulative sums.",
            edit=("[part / mass for part in missing] if mass > 0 else list(target)", "missing"),
        ),
    ),
    rights=(
        Right("the ratio decides, by bisection", program=one_round),
        Right("plain sums", edit=("mass = math.fsum(missing)", "mass = sum(missing)")),
    ),
    promises=(
        Promise(
            "may be empty.",
            edit=(
                "    for place, token in enumerate(tokens):\n",
                "    if not tokens:\n        return []\n    for place, token in enumerate(tokens):\n",
            ),
        ),
        Promise("Drafted token i is accepted if", edit=("if uniforms[place] * q >= p:", "if uniforms[place] * q > p:")),
        Promise(
            "what was drafted after it is dropped",
            edit=(
                "_draw(_residual(target[place], draft[place]), uniforms[-1])]",
                "_draw(_residual(target[place], draft[place]), uniforms[-1]), *tokens[place + 1 :]]",
            ),
        ),
        Promise(
            "where rounding leaves none, the last id with any probability",
            edit=("return max(token for token, p in enumerate(row) if p > 0)", "return len(row) - 1"),
        ),
        Promise(
            "the first id whose cumulative probability, in the order of the ids, exceeds it",
            edit=("if reached > uniform:", "if reached >= uniform and token:"),
        ),
        Promise(
            "from the residual of its rows",
            edit=("_draw(_residual(target[place], draft[place]),", "_draw(target[place],"),
        ),
        Promise(
            "unless it comes after a rejected one",
            edit=(
                "    for place, token in enumerate(tokens):\n",
                "    if any(row[token] <= 0 for row, token in zip(draft, tokens, strict=True)):\n"
                '        raise ValueError("draft must give")\n'
                "    for place, token in enumerate(tokens):\n",
            ),
        ),
    ),
)
