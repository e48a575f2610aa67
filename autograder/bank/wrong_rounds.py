"""Wrong programs for ``speculative_step`` and ``debug_accept``: what people write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.bank.ch11_speculation_speed import UNCHECKED
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


def slip_likelier_alone(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if target[i][token] < draft[i][token]:
            return [*tokens[:i], draw(residual(target[i], draft[i]), uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_from_target(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i][token]:
            return [*tokens[:i], draw(target[i], uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_no_addition(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i][token]:
            return [*tokens[:i], draw(residual(target[i], draft[i]), uniforms[-1])]
    return list(tokens) or [draw(target[-1], uniforms[-1])]


def slip_goes_on(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    kept = []
    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] < target[i][token]:
            kept.append(token)
        else:
            kept.append(draw(residual(target[i], draft[i]), uniforms[-1]))
    return [*kept, draw(target[-1], uniforms[-1])] if kept == list(tokens) else kept


def slip_next_row(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i + 1][token]:
            return [*tokens[:i], draw(residual(target[i + 1], draft[i]), uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_last_row(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i][token]:
            return [*tokens[:i], draw(residual(target[-1], draft[-1]), uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_own_uniform(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i][token]:
            return [*tokens[:i], draw(residual(target[i], draft[i]), uniforms[i])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_inverted(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * target[i][token] >= draft[i][token]:
            return [*tokens[:i], draw(residual(target[i], draft[i]), uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_residual_not_scaled(tokens, draft, target, uniforms):
    if len(draft) != len(tokens) or not len(target) == len(uniforms) == len(tokens) + 1:
        raise ValueError("rows")
    if not all(0 <= u < 1 for u in uniforms):
        raise ValueError("uniforms")

    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if draft[i][token] <= 0:
            raise ValueError("q")
        if uniforms[i] * draft[i][token] >= target[i][token]:
            parts = [max(0.0, p - q) for p, q in zip(target[i], draft[i], strict=True)]
            return [*tokens[:i], draw(parts, uniforms[-1])]
    return [*tokens, draw(target[-1], uniforms[-1])]


def slip_nothing_checked(tokens, draft, target, uniforms):
    def draw(row, uniform):
        reached = 0.0
        for token, p in enumerate(row):
            reached += p
            if reached > uniform:
                return token
        return max(token for token, p in enumerate(row) if p > 0)

    def residual(p, q):
        parts = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
        return [part / sum(parts) for part in parts] if sum(parts) > 0 else list(p)

    for i, token in enumerate(tokens):
        if uniforms[i] * draft[i][token] >= target[i][token]:
            return [*tokens[:i], draw(residual(target[i], draft[i]), uniforms[-1])]
    return [*tokens, draw(target[len(tokens)], uniforms[-1])]


ROUNDS = (
    Slip(
        "The ratio decides with luck: a token with p < q is accepted with probability p/q, not never.",
        slip_likelier_alone,
    ),
    Slip("The replacement comes from the residual, not from p: drafts have already given part of p.", slip_from_target),
    Slip("When all are accepted the target adds one more token: its last row is there already.", slip_no_addition),
    Slip("The round ends at the first rejection: what follows was drafted after another token.", slip_goes_on),
    Slip("Target row i judges drafted token i: row i + 1 comes after it.", slip_next_row),
    Slip("The replacement comes from the rows of the rejected token, not from the last ones.", slip_last_row),
    Slip(
        "The draw takes the last uniform: the one of the verdict is used up, and known to be large.", slip_own_uniform
    ),
    Slip("The ratio is upside down: u < p/q accepts.", slip_inverted),
    Slip("The residual must sum to 1 before a uniform is compared with its cumulative sums.", slip_residual_not_scaled),
    Slip(UNCHECKED.format("rows that do not fit the tokens, a drafted token of probability 0"), slip_nothing_checked),
)
