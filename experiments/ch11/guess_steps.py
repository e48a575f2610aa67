"""Guessed words and their verdicts: what the steppers of sections 11.1, 11.3 and 11.5 draw. Standard library only.

>>> written()
('mat', 'and', 'slept')
>>> total(replaced())
{'mat': 0.5, 'rug': 0.3, 'sofa': 0.2}
>>> mean_tokens()
1.75
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark

#: A text, what the draft guesses after it, and the target's own next word at each of the four places.
TEXT = "The cat sat on the"
DRAFT, OWN = ("mat", "and", "purred"), ("mat", "and", "slept", "loudly")

#: The target's distribution of a word, and the word that the draft always says.
P: Mapping[str, float] = {"mat": 0.5, "rug": 0.3, "sofa": 0.2}
DRAFTED = "rug"

#: Acceptance of a draft, and how many are drafted.
ALPHA, LENGTH = 0.5, 2

#: Layout, pixels: of the table of words, and of the bars.
WORD, GAP, ROW, HIGH = 62, 4, 46, 30
LEFT, UNIT = 12, 312


def agreed(draft: Sequence[str] = DRAFT, own: Sequence[str] = OWN) -> int:
    """How many guesses are the target's own words, up to the first that is not."""
    return next((place for place, word in enumerate(draft) if word != own[place]), len(draft))


def written(draft: Sequence[str] = DRAFT, own: Sequence[str] = OWN) -> tuple[str, ...]:
    """What a round writes: the guesses that agree, and one more word of the target."""
    return tuple(own[: agreed(draft, own) + 1])


def guess_scene(step: int) -> Scene:
    """A round of greedy speculation: guesses, the target's own words, verdicts, and what is written."""
    step += 1  # the stage itself, without a guess, is no picture
    marks: list[Mark] = [Label(4, 16, f"{TEXT} ...", "start")]
    marks += [
        Label(68 + (WORD + GAP) * place + WORD / 2, 38, f"place {place + 1}", size=11, quiet=True) for place in range(4)
    ]
    kept = agreed()
    marks += _words(0, "draft", DRAFT, [place < kept and step >= 3 for place in range(3)], step == 1)
    if step >= 2:
        marks += _words(1, "target", OWN, [place <= kept and step >= 3 for place in range(4)], step == 2)
    if step >= 4:
        marks += _words(2, "written", written(), [True] * (kept + 1), True)
    says = (
        f"The draft model guesses {len(DRAFT)} words, one after the other, in {len(DRAFT)} passes.",
        "One pass of the target reads all guesses and gives its own next word at four places.",
        f"Compare from the left: {kept} guesses are the target's own words. The next is not, so what the target said "
        "after it does not count.",
        f"The round writes {len(written())} words for one pass of the target. The last one is the target's own.",
    )[step - 1]
    told = [f"draft: {' '.join(DRAFT)}", f"target: {' '.join(OWN)}", "", f"written: {' '.join(written())}"]
    return Scene(336, 44 + 3 * ROW, tuple(marks), says, "; ".join([TEXT, *filter(None, told[:step])]) + ".")


def _words(row: int, name: str, words: Sequence[str], right: Sequence[bool], strong: bool) -> list[Mark]:
    y = 46 + ROW * row
    boxes: list[Mark] = [
        Box(
            68 + (WORD + GAP) * place,
            y,
            WORD,
            HIGH,
            word,
            tone="right" if good else "accent",
            fill=0.7 if good else 0.2,
            strong=strong,
            size=13,
        )
        for place, (word, good) in enumerate(zip(words, right, strict=True))
    ]
    return [Label(4, y + 20, name, "start", size=12, quiet=True), *boxes]


# A draft that is certain.


def replaced(p: Mapping[str, float] = P, drafted: str = DRAFTED) -> dict[str, float]:
    """What is drawn after a refusal, as shares of all cases: p without the drafted word."""
    return {word: share for word, share in p.items() if word != drafted}


def total(after_refusal: Mapping[str, float], p: Mapping[str, float] = P, drafted: str = DRAFTED) -> dict[str, float]:
    """How often each word is written: the draft when it is accepted, and what replaces it."""
    return {word: after_refusal.get(word, 0.0) + (p[drafted] if word == drafted else 0.0) for word in p}


def redrawn(p: Mapping[str, float] = P, drafted: str = DRAFTED) -> dict[str, float]:
    """The mistake: after a refusal, drawn from all of p again; shares of all cases."""
    return {word: (1 - p[drafted]) * share for word, share in p.items()}


def certain_scene(step: int) -> Scene:
    """A certain draft judged: kept or refused, replaced, and both together."""
    keep = P[DRAFTED]
    rows: list[tuple[str, list[tuple[str, float, bool]], float]] = [
        ("the target", [(word, share, word == DRAFTED) for word, share in P.items()], 0.0),
        (f"the draft is {DRAFTED}", [("keep", keep, True), ("refuse", 1 - keep, False)], 0.0),
        ("drawn instead", [(word, share, False) for word, share in replaced().items()], keep),
        ("written", [(word, share, word == DRAFTED) for word, share in total(replaced()).items()], 0.0),
    ]
    marks: list[Mark] = []
    for row, (name, parts, start) in enumerate(rows[: step + 1]):
        marks += _bar(18 + 52 * row, name, parts, start, strong=row == step and step > 0)
    rest = {word: share / (1 - keep) for word, share in replaced().items()}
    says = (
        f"The target's distribution of the next word. The draft always says {DRAFTED}.",
        f"Keep the draft with probability {keep:g}, the target's own probability of {DRAFTED}. Refuse it otherwise.",
        f"After a refusal, draw from the target without {DRAFTED}: "
        f"{' and '.join(f'{word} with {share:.2f}' for word, share in rest.items())}. Of all cases that is "
        f"{' and '.join(f'{share:g}' for share in replaced().values())}.",
        "Together, each word is written as often as the target alone would write it.",
    )[step]
    told = [f"{name}: {', '.join(f'{word} {share:.2g}' for word, share, _ in parts)}" for name, parts, _ in rows]
    return Scene(336, 18 + 52 * 4, tuple(marks), says, "; ".join(told[: step + 1]) + ".")


def _bar(
    y: float, name: str, parts: Sequence[tuple[str, float, bool]], start: float, strong: bool = False
) -> list[Mark]:
    """A bar of boxes as wide as their shares, with its name above."""
    marks: list[Mark] = [Label(LEFT, y, name, "start", size=11, quiet=True)]
    x = LEFT + UNIT * start
    for word, share, right in parts:
        text = f"{word} {share:.2g}"
        tone = "right" if right else "accent"
        marks.append(
            Box(x, y + 5, UNIT * share, 28, text, tone=tone, fill=0.7 if right else 0.2, strong=strong, size=12)
        )
        x += UNIT * share
    return marks


# Tokens of a round.


def chances(alpha: float = ALPHA, length: int = LENGTH) -> list[float]:
    """How likely a round writes a first, a second, ... token."""
    return [alpha**place for place in range(length + 1)]


def mean_tokens(alpha: float = ALPHA, length: int = LENGTH) -> float:
    """Tokens of a round, on average."""
    return sum(chances(alpha, length))


def outcome_scene(step: int) -> Scene:
    """The tokens of a round as bars: each is as long as the token is likely."""
    step += 1  # one draft, then two
    names = ("a first token: always", "a second: if draft 1 is accepted", "a third: if drafts 1 and 2 are accepted")
    marks: list[Mark] = []
    for row, (name, chance) in enumerate(list(zip(names, chances(), strict=True))[: step + 1]):
        marks += _bar(18 + 52 * row, name, [("", chance, row == step)], 0.0, strong=row == step and step > 0)
    sums = sum(chances()[: step + 1])
    marks.append(Label(LEFT, 18 + 52 * 3 + 8, f"together: {sums:g} tokens", "start", size=13))
    says = (
        f"Every round writes one token. It writes a second if the first draft is accepted, in {ALPHA:g} of the rounds.",
        f"It writes a third if both drafts are accepted, in {ALPHA:g} · {ALPHA:g} = {ALPHA**2:g} of the rounds.",
    )[step - 1]
    told = "; ".join(f"{name}, {chance:g}" for name, chance in list(zip(names, chances(), strict=True))[: step + 1])
    return Scene(336, 18 + 52 * 3 + 20, tuple(marks), says, f"{told}. Together {sums:g}.")
