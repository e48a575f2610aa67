"""Wrong programs for ``speculative_step`` and ``debug_accept``: what people write. Edits, and whole programs."""

from autograder.items import Slip


def wrong_accept(token, draft, target, uniforms):
    def draw(row, uniform):
        total = sum(row)
        for identifier in range(len(row)):
            if sum(row[: identifier + 1]) > uniform * total:
                return identifier
        return max(i for i, weight in enumerate(row) if weight)

    if target[token] >= draft[token]:
        return token
    return draw(target, uniforms[1])


ROUNDS = (
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
    Slip("The ratio is upside down: u < p/q accepts.", edit=("uniforms[place] * q >= p", "uniforms[place] * p >= q")),
    Slip(
        "The residual must sum to 1 before a uniform is compared with its cumulative sums.",
        edit=("[part / mass for part in missing] if mass > 0 else list(target)", "missing"),
    ),
)
