"""What the steppers of chapter 13 draw about groups of answers, and about what a mean does to long ones.

Standard library only.

>>> [round(gain, 2) for gain in divided()[0]]
[1.5, -0.5, -0.5, -0.5]
"""

from __future__ import annotations

from statistics import fmean, stdev

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark

# Four prompts, four answers each

#: 1 for a right answer: a row for each prompt.
MARKS = ((1, 0, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1), (0, 0, 0, 0))

Rows = list[list[float]]


def centred() -> Rows:
    """Each mark minus its row's mean."""
    return [[mark - fmean(row) for mark in row] for row in MARKS]


def divided() -> Rows:
    """The centred marks over the row's sample deviation; a row of equal marks stays 0."""
    return [
        [gain / stdev(row) if stdev(row) else 0.0 for gain in gains]
        for row, gains in zip(MARKS, centred(), strict=True)
    ]


def silent_share(chance: float, answers: int) -> float:
    """The share of prompts whose answers are all right or all wrong, if each is right with this chance, independently.

    Args:
        chance: that an answer is right, 0 to 1.
        answers: to each prompt; at least 1.
    """
    return chance**answers + (1 - chance) ** answers


def success_gain(rate: float, answers: int, normalize: bool = True) -> float:
    """The advantage of a right answer in a group of which this share is right.

    Args:
        rate: share of right answers in the group, above 0 and below 1.
        answers: in the group.
        normalize: whether to divide by the sample deviation.
    """
    right = round(rate * answers)
    marks = [1.0] * right + [0.0] * (answers - right)
    return (1 - fmean(marks)) / (stdev(marks) if normalize else 1.0)


def group_scene(step: int) -> Scene:
    """Step 0: right and wrong answers; 1: the mean of each row; 2: minus the mean; 3: over the deviation."""
    tables: tuple[Rows, ...] = ([[float(mark) for mark in row] for row in MARKS],) * 2 + (centred(), divided())
    marks: list[Mark] = [Label(102, 14, "answers", size=11, quiet=True)]
    if step >= 1:
        marks.append(Label(306, 14, "mean", size=11, quiet=True))
    for number, row in enumerate(tables[step]):
        top, quiet = 22 + 34 * number, len({*MARKS[number]}) == 1
        marks.append(Label(4, top + 19, f"prompt {number + 1}", "start", 11, quiet=True))
        for place, value in enumerate(row):
            tone = "quiet" if step >= 2 and quiet else "right" if MARKS[number][place] else "accent"
            text = f"{value:g}" if step < 2 else f"{value:+.2f}" if value else "0"
            box = (62 + 54 * place, top, 50, 28)
            marks.append(
                Box(
                    *box,
                    text,
                    tone=tone,
                    fill=0.6 if MARKS[number][place] else 0.25,
                    strong=step >= 2 and not quiet,
                    size=12,
                )
            )
        if step >= 1:
            marks.append(Label(306, top + 19, f"{fmean(MARKS[number]):g}", size=12))
    held = "; ".join(", ".join(f"{value:.2f}" for value in row) for row in tables[step])
    return Scene(336, 160, tuple(marks), _GROUP_SAYS[step], f"Rows: {held}.")


_GROUP_SAYS = (
    "Four prompts, four answers each. Green is right and earns 1, the others earn 0.",
    "The mean of a row is what could be expected of this prompt. No second network says it.",
    "Minus the mean: a success is worth .75 where it is rare, and .25 where it is usual. Two rows say nothing.",
    "Divided by the deviation, .5 in both rows: 1.5 for the rare success, -1.5 for the rare failure.",
)

# Two wrong answers

#: Words of two wrong answers, their advantage, and the constant by which the third mean divides.
SHORT, LONG, GAIN, CONSTANT = 5, 10, -1.0, 10
MEANS = ("by response", "by token", "by a constant")


def pushes(mean: str) -> tuple[float, float]:
    """The push on each word of the short and of the long answer: advantage over what this mean divides by."""
    return {
        "by response": (GAIN / 2 / SHORT, GAIN / 2 / LONG),
        "by token": (GAIN / (SHORT + LONG), GAIN / (SHORT + LONG)),
        "by a constant": (GAIN / 2 / CONSTANT, GAIN / 2 / CONSTANT),
    }[mean]


def length_scene(step: int) -> Scene:
    """Step 0: two wrong answers; steps 1 to 3: the push on each of their words under one mean each."""
    marks: list[Mark] = []
    for number in range(max(1, step)):
        top, name = 4 + 74 * number, MEANS[number]
        found = pushes(name) if step else (0.0, 0.0)
        new = number == step - 1
        title = f"{name}: {-found[0]:.3g} and {-found[1]:.3g} a word" if step else "two wrong answers"
        marks.append(Label(4, top + 12, title, "start", 12))
        for row, (count, push) in enumerate(zip((SHORT, LONG), found, strict=True)):
            for place in range(count):
                box = (4 + 33 * place, top + 19 + 25 * row, 30, 21)
                text = f"{-push:.2f}"[1:] if step else ""
                marks.append(Box(*box, text, fill=-push * 10 if step else 0.2, strong=new, size=11))
    held = "; ".join(f"{name}: {-pushes(name)[0]:.3f} and {-pushes(name)[1]:.3f}" for name in MEANS[:step])
    return Scene(338, 226, tuple(marks), _LENGTH_SAYS[step], f"Five words and ten. {held or 'No push yet'}.")


_LENGTH_SAYS = (
    "Two wrong answers, one of five words and one of ten. Both have the advantage -1.",
    "The mean of each answer, then the mean of both: a word of the long answer is pushed down half as hard.",
    "The mean over all fifteen words: every word is pushed alike.",
    "Each sum over a constant of 10: every word is pushed alike, and that does not depend on the rest of the batch.",
)
