"""The rounds of speculation over a known text: what the stepper of section 11.22 draws. Standard library only.

>>> speculative_rounds(RIGHT, DRAFTS)
[2, 3, 0, 0]
"""

from __future__ import annotations

from functools import cache
from random import Random

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark
from solutions.ch11.speculative_rounds import speculative_rounds

#: Of twelve tokens, whether the draft guesses them, and how many it drafts in a round.
RIGHT, DRAFTS = tuple(place not in (2, 7, 8) for place in range(12)), 3
#: Layout, pixels.
WIDE, GAP, ROW = 25, 2, 40


def rounds_scene(step: int) -> Scene:
    """The text, and below it the rounds up to ``step``, each under the tokens that it writes."""
    marks: list[Mark] = [Label(4, 14, "the draft guesses", "start", size=11, quiet=True)]
    for place, right in enumerate(RIGHT):
        marks.append(
            Box(4 + (WIDE + GAP) * place, 20, WIDE, 24, "" if right else "×", tone="quiet", fill=0.15, size=13)
        )
    at, told = 0, []
    for number, accepted in enumerate(speculative_rounds(RIGHT, DRAFTS)[: step + 1]):
        y = 56 + ROW * number
        marks.append(Label(4, y + 10, f"round {number}", "start", size=11, quiet=True))
        for place in range(accepted + 1):
            own = place == accepted
            x = 4 + (WIDE + GAP) * (at + place)
            tone = "accent" if own else "right"
            marks.append(Box(x, y + 14, WIDE, 20, f"{at + place}", tone=tone, fill=0.6, strong=number == step, size=11))
        told.append((number, at, accepted))
        at += accepted + 1
    number, start, accepted = told[-1]
    first = (
        f"all {DRAFTS} drafts are right, and the target adds a token of its own"
        if accepted == DRAFTS
        else f"{accepted} of {DRAFTS} drafts are accepted, and the target writes token {start + accepted}"
        if accepted
        else f"the first draft is wrong, and the target writes token {start}"
    )
    says = f"Round {number} begins at token {start}: {first}."
    alt = "; ".join(f"round {number}: from token {begin}, {count} accepted" for number, begin, count in told)
    return Scene(336, 56 + ROW * 4, tuple(marks), says, f"{alt}.")


@cache
def in_stretches(drafts: int, tokens: int = 40_000) -> float:
    """Tokens of a round in a text of easy and hard stretches: 50 tokens with 0.9, then 25 with 0.3."""
    rng = Random(12)
    text = [rng.random() < (0.9 if place % 75 < 50 else 0.3) for place in range(tokens)]
    rounds = speculative_rounds(text, drafts)
    return 1 + sum(rounds) / len(rounds)
