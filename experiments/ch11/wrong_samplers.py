"""Samplers that look right but are not: what people write in place of ``speculative_step``. Standard library only.

Each takes the arguments of ``speculative_step``. Three have a different distribution from the target's;
``without_bonus`` has the right one but wastes a token.
"""

from __future__ import annotations

from collections.abc import Sequence

from solutions.ch11.speculative import speculative_step

Row = Sequence[float]


def replaced_from_target(
    tokens: Sequence[int], draft: Sequence[Row], target: Sequence[Row], uniforms: Sequence[float]
) -> list[int]:
    """A rejected token is drawn again from p, in place of the residual."""
    kept = accepted(tokens, draft, target, uniforms)
    return [*tokens[:kept], *speculative_step([], [], [target[kept]], uniforms[-1:])]


def accepted_when_likelier(
    tokens: Sequence[int], draft: Sequence[Row], target: Sequence[Row], uniforms: Sequence[float]
) -> list[int]:
    """A token is accepted only if p >= q; otherwise it is drawn again from p."""
    kept = next((i for i, x in enumerate(tokens) if target[i][x] < draft[i][x]), len(tokens))
    return [*tokens[:kept], *speculative_step([], [], [target[kept]], uniforms[-1:])]


def bonus_from_the_row_before(
    tokens: Sequence[int], draft: Sequence[Row], target: Sequence[Row], uniforms: Sequence[float]
) -> list[int]:
    """The additional token is drawn from the row that judged the last draft, one place too early."""
    if not tokens:
        return speculative_step(tokens, draft, target, uniforms)
    return speculative_step(tokens, draft, [*target[:-1], target[-2]], uniforms)


def without_bonus(
    tokens: Sequence[int], draft: Sequence[Row], target: Sequence[Row], uniforms: Sequence[float]
) -> list[int]:
    """Nothing is added after k accepted tokens."""
    found = speculative_step(tokens, draft, target, uniforms)
    return found[: max(1, len(tokens))]


def accepted(tokens: Sequence[int], draft: Sequence[Row], target: Sequence[Row], uniforms: Sequence[float]) -> int:
    """How many drafted tokens the right rule accepts."""
    return len(speculative_step(tokens, draft, target, uniforms)) - 1


#: By the names that the demo takes.
WRONG = {
    "residual": replaced_from_target,
    "accept": accepted_when_likelier,
    "bonus": bonus_from_the_row_before,
}
