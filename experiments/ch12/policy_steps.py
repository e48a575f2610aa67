"""What the steppers of chapter 12 draw: a step on three words, a baseline, returns, news on a walk, the triangle of
GAE, ratios, the six regions of the clip, and four programs. Standard library only.

>>> [round(p, 2) for p in stepped(PI, 1, 1.0)]
[0.39, 0.43, 0.18]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from solutions.ch12.rl import discounted_returns, gae, policy_value, ppo_clip_objective

from .random_walk import STATES, walk

# A mark for one of three words

#: The probabilities of three words, the word that is drawn, and the step size on the logits.
WORDS, PI, DRAWN, RATE = ("dull", "great", "very"), (0.5, 0.3, 0.2), 1, 0.5


def score(pi: Sequence[float], arm: int) -> list[float]:
    """The gradient of ``ln pi[arm]`` in the logits: one at the arm, minus the probabilities."""
    return [(index == arm) - p for index, p in enumerate(pi)]


def stepped(pi: Sequence[float], arm: int, mark: float, rate: float = RATE) -> list[float]:
    """The probabilities after one step of ``rate`` along the mark times the score of the arm that was drawn."""
    logits = [math.log(p) + rate * mark * part for p, part in zip(pi, score(pi, arm), strict=True)]
    total = math.fsum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def mark_scene(step: int) -> Scene:
    """Step 0: the probabilities; 1: a word is drawn and gets +1; 2: after the step; 3: the same with -1."""
    shown = [PI, PI, stepped(PI, DRAWN, 1.0), stepped(PI, DRAWN, -1.0)][step]
    sign = -1.0 if step == 3 else 1.0
    left, across, ground, high = 18, 108, 172, 240
    marks: list[Mark] = []
    for place, (word, before, now) in enumerate(zip(WORDS, PI, shown, strict=True)):
        x = left + across * place
        moved = step >= 2
        if moved:
            marks.append(Box(x, ground - high * before, 40, high * before, tone="quiet", fill=0.15))
        tone: Tone = "right" if place == DRAWN and step else "accent"
        wide, offset = (40, 44) if moved else (84, 0)
        marks.append(
            Box(
                x + offset,
                ground - high * now,
                wide,
                high * now,
                tone=tone,
                fill=0.7,
                strong=bool(step) and place == DRAWN,
            )
        )
        marks.append(Label(x + offset + wide / 2, ground - high * now - 5, f"{now:.2f}", size=12))
        if moved:
            marks.append(Label(x + 20, ground - high * before - 5, f"{before:.2f}", size=11, quiet=True))
        marks.append(Label(x + 42, ground + 18, word, size=13))
        if step:
            part = sign * score(PI, DRAWN)[place]
            marks.append(Label(x + 42, ground + 38, f"{part:+.1f}", size=13))
    if step:
        marks.append(Label(left + across * DRAWN + 42, ground + 56, f"mark {sign:+.0f}", size=12, quiet=True))
    return Scene(336, 236, tuple(marks), _mark_says(step), _mark_holds(shown))


def _mark_says(step: int) -> str:
    after, down = stepped(PI, DRAWN, 1.0)[DRAWN], stepped(PI, DRAWN, -1.0)[DRAWN]
    return (
        f"After 'the film was', the model gives three words these probabilities. It will draw {WORDS[DRAWN]!r}.",
        "The mark is +1. The push on each logit: one at the word that was drawn, minus the probabilities.",
        f"After a step of {RATE:g}, {WORDS[DRAWN]!r} rises from {PI[DRAWN]:g} to {after:.2f}. The others pay.",
        f"Had the mark been -1, every push would have been turned round: {WORDS[DRAWN]!r} would have {down:.2f}.",
    )[step]


def _mark_holds(shown: Sequence[float]) -> str:
    return "Probabilities: " + ", ".join(f"{word} {p:.2f}" for word, p in zip(WORDS, shown, strict=True)) + "."


# Two arms, and a constant on both marks

#: The marks of two arms of probability a half, and what is subtracted from them, frame by frame.
FRAMES = (((1.0, 0.0), 0.0), ((11.0, 10.0), 0.0), ((11.0, 10.0), 10.5))


def pushes(marks: Sequence[float], baseline: float) -> list[float]:
    """How far a draw of either arm pushes the first arm's logit, both arms having a half."""
    return [(mark - baseline) * score((0.5, 0.5), arm)[0] for arm, mark in enumerate(marks)]


def baseline_scene(step: int) -> Scene:
    """One frame for each of :data:`FRAMES`: an arrow on a line for each arm, and their mean."""
    marks_of, baseline = FRAMES[step]
    found = pushes(marks_of, baseline)
    mean = math.fsum(found) / 2
    middle, scale = 170, 25
    marks: list[Mark] = [Label(170, 14, "push on the first arm's logit", size=12, quiet=True)]
    less = f" - {baseline:g}" if baseline else ""
    less = f" - {baseline:g}" if baseline else ""
    rows = [
        (f"arm {'AB'[arm]}, mark {mark:g}{less}", push)
        for arm, (mark, push) in enumerate(zip(marks_of, found, strict=True))
    ]
    for row, (name, push) in enumerate([*rows, ("mean of both", mean)]):
        y = 34 + 52 * row
        marks.append(Label(4, y, name, "start", 12))
        marks.append(Box(middle - 0.5, y + 6, 1, 24, tone="quiet", fill=1.0))
        length = scale * push
        if abs(length) >= 7:
            marks.append(Arrow(middle, y + 18, middle + length, y + 18))
        else:
            marks.append(Box(middle - 3, y + 15, 6, 6, fill=1.0))
        side = 1 if push >= 0 else -1
        x = middle + (length if abs(length) >= 7 else 0) + 6 * side
        anchor = "start" if side > 0 else "end"
        if abs(length) > 120:
            x, anchor = middle - 8 * side, "end" if side > 0 else "start"
        marks.append(Label(x, y + 22, f"{push + 0.0:+.2f}", anchor, 12))
    return Scene(
        340,
        192,
        tuple(marks),
        _baseline_says(step, mean),
        f"Pushes {found[0] + 0.0:g} and {found[1] + 0.0:g}, mean {mean:g}.",
    )


def _baseline_says(step: int, mean: float) -> str:
    return (
        f"Marks 1 and 0: arm A pushes its own logit up by 0.5, arm B not at all. On average {mean:g}.",
        f"Marks 11 and 10: one push up of 5.5 or one down of 5, each half of the time. On average still {mean:g}.",
        f"Subtract 10.5 from both: each draw pushes by {mean:g}, whichever arm it was. The noise is gone.",
    )[step]


# Returns

#: Rewards of six steps: a sentence that is marked at its end, a pole that falls after six steps.
STRIPS = (
    ("sentence", (0, 0, 0, 0, 0, 1), 1.0),
    ("pole", (1, 1, 1, 1, 1, 1), 1.0),
    ("pole, 0.5", (1, 1, 1, 1, 1, 1), 0.5),
)


def returns_scene(step: int) -> Scene:
    """The returns of three strips of six steps, filled in from the last backwards, two at a time."""
    known = 2 * step
    left, across, down = 76, 43, 78
    marks: list[Mark] = []
    for row, (name, rewards, discount) in enumerate(STRIPS):
        y, found = 8 + down * row, discounted_returns(rewards, discount)
        marks.append(Label(2, y + 20, name, "start", 12))
        marks.append(Label(2, y + 50, f"γ = {discount:g}", "start", 12, quiet=True))
        for place, (reward, value) in enumerate(zip(rewards, found, strict=True)):
            x = left + across * place
            marks.append(Box(x, y + 4, 40, 24, f"{reward}", tone="quiet", fill=0.15))
            if place >= len(rewards) - known:
                new = place < len(rewards) - known + 2
                marks.append(Box(x, y + 32, 40, 24, f"{value:.3g}", fill=0.6, strong=new, size=13))
    return Scene(left + across * 6 + 2, 8 + down * 3, tuple(marks), _returns_says(known), _returns_holds(known))


def _returns_says(known: int) -> str:
    if known == 0:
        return "Rewards of six steps. What has each step earned? Begin at the end."
    place = 6 - known
    parts = []
    for name, rewards, discount in STRIPS:
        found = [*discounted_returns(rewards, discount), 0.0]
        parts.append(f"{name}: {rewards[place]} + {discount:g} · {found[place + 1]:.3g} = {found[place]:.3g}")
    return f"Step {place + 1}. " + "; ".join(parts) + "."


def _returns_holds(known: int) -> str:
    parts = []
    for name, rewards, discount in STRIPS:
        found = discounted_returns(rewards, discount)[6 - known :]
        parts.append(f"{name} {', '.join(f'{value:.3g}' for value in found) or 'none'}")
    return "Returns so far: " + "; ".join(parts) + "."


# News on a walk

#: The states that a walk visits: it ends on the right, beyond the last state.
VISITS = (2, 1, 2, 3, 4, 5)


def news(visits: Sequence[int] = VISITS) -> list[float]:
    """The TD error of each step, with the exact values; leaving on the right earns 1."""
    values = [*policy_value(*walk(), 1.0), 0.0]
    return [(after == STATES) + values[after] - values[before] for before, after in pairwise(visits)]


def news_scene(step: int) -> Scene:
    """The walk after so many steps: a row of states with their values, the walker, and the news of the last step."""
    values = policy_value(*walk(), 1.0)
    left, across, y = 28, 48, 62
    at = VISITS[step]
    marks: list[Mark] = [Label(170, 16, "expected reward from each state", size=12, quiet=True)]
    for place, value in enumerate(values):
        here = place == at
        x = left + across * place
        marks.append(
            Box(
                x,
                y,
                44,
                40,
                f"{round(6 * value)}/6",
                tone="right" if here else "accent",
                fill=0.3 + 0.7 * here,
                strong=here,
            )
        )
        marks.append(Label(x + 22, y + 58, "ABCDE"[place], size=12, quiet=True))
    marks.append(
        Box(
            left + across * 5,
            y,
            44,
            40,
            "+1",
            tone="right" if at == STATES else "quiet",
            fill=0.2 + 0.6 * (at == STATES),
            strong=at == STATES,
        )
    )
    marks.append(Label(left + across * 5 + 22, y + 58, "out", size=12, quiet=True))
    if step:
        before = VISITS[step - 1]
        start, tip = (left + across * place + 22 for place in (before, at))
        marks.append(Arrow(start, y - 10, tip, y - 10))
        marks.append(Label((start + tip) / 2, y - 18, f"{_sixths(news()[step - 1])}", size=13))
    return Scene(
        340, 128, tuple(marks), _news_says(step), f"The walk is at {'ABCDE'[at] if at < STATES else 'the exit'}."
    )


def _sixths(number: float) -> str:
    return f"{round(6 * number):+d}/6"


def _news_says(step: int) -> str:
    if step == 0:
        return "A walk begins in the middle. Half of the walks from here leave on the right and earn 1: we expect 3/6."
    before, after, told = VISITS[step - 1], VISITS[step], _sixths(news()[step - 1])
    if after == STATES:
        total = _sixths(math.fsum(news()))
        return (
            f"Out on the right: 1 is paid where 5/6 were expected, news of {told}. All news together: {total}, the "
            "reward minus what was expected at the start."
        )
    word = "good" if after > before else "bad"
    return f"A step from {'ABCDE'[before]} to {'ABCDE'[after]}: {word} news of {told}, before anything was paid."


# The triangle of generalised advantage estimation

#: Rewards of three steps, what a critic said of their states, and the lambdas of the steps.
EARNED, SAID, LAMBDAS = (0.0, 0.0, 1.0), (0.5, 0.6, 0.8), (0.0, 0.5, 1.0)


def triangle(gae_lambda: float) -> list[list[float]]:
    """Row t: the terms ``gae_lambda**k * delta_{t+k}`` that add up to the advantage of step t, with a discount of 1."""
    deltas = advantages(0.0)
    return [[gae_lambda**ahead * delta for ahead, delta in enumerate(deltas[step:])] for step in range(len(deltas))]


def advantages(gae_lambda: float, said: Sequence[float] = SAID) -> list[float]:
    """The advantages of the three steps, after which the episode terminates; the discount is 1."""
    ends = (False, False, True)
    return gae(EARNED, said, (*said[1:], 0.0), ends, (False,) * 3, 1.0, gae_lambda)


def triangle_scene(step: int) -> Scene:
    """Step 0: the TD errors; then the triangle for each of :data:`LAMBDAS`."""
    left, across, down, top = 58, 64, 46, 60
    deltas = advantages(0.0)
    marks: list[Mark] = [Label(left + across * 1.5, 16, "TD errors of steps 1, 2 and 3", size=12, quiet=True)]
    for column, delta in enumerate(deltas):
        marks.append(Box(left + across * column, 24, 60, 28, f"{delta:.1f}", tone="right", fill=0.4, strong=step == 0))
    if step:
        rows, found = triangle(LAMBDAS[step - 1]), advantages(LAMBDAS[step - 1])
        for row, (terms, total) in enumerate(zip(rows, found, strict=True)):
            y = top + down * row
            marks.append(Label(4, y + 26, f"step {row + 1}", "start", 12))
            for ahead, term in enumerate(terms):
                x = left + across * (row + ahead)
                fill = 0.15 if not term else 0.7 * LAMBDAS[step - 1] ** ahead
                marks.append(Box(x, y + 4, 60, 36, f"{term:.2f}", fill=fill))
            marks.append(Label(left + across * 3 + 8, y + 27, f"= {total:.2f}", "start", 14))
    says = _triangle_says(step, deltas)
    return Scene(left + across * 3 + 74, top + down * 3, tuple(marks), says, _triangle_holds(step))


def _triangle_says(step: int, deltas: Sequence[float]) -> str:
    told = ", ".join(f"{delta:.1f}" for delta in deltas)
    if step == 0:
        return f"The critic expected 0.5, then 0.6, then 0.8, and 1 was paid at the end. The news: {told}."
    found = ", ".join(f"{value:.2f}" for value in advantages(LAMBDAS[step - 1]))
    return (
        f"λ = 0: each step is credited with its own news alone: {found}. The critic is believed after one step.",
        f"λ = 0.5: news one step ahead counts half, two steps ahead a quarter: {found}.",
        f"λ = 1: all later news counts: {found}. That is the return, 1, minus what the critic had said.",
    )[step - 1]


def _triangle_holds(step: int) -> str:
    if step == 0:
        return "Only the TD errors are shown."
    return f"Advantages {', '.join(f'{value:.2f}' for value in advantages(LAMBDAS[step - 1]))}."


# Ten old samples, counted anew

#: The probabilities that the old and the new policy give three words, and a number to average over them.
OLD, NEW, WORTH = (0.5, 0.3, 0.2), (0.3, 0.3, 0.4), (0.0, 1.0, 5.0)


def mean_worth(pi: Sequence[float]) -> float:
    """The mean of :data:`WORTH` under these probabilities."""
    return math.fsum(p * worth for p, worth in zip(pi, WORTH, strict=True))


def ratio_scene(step: int) -> Scene:
    """Step 0: ten samples of the old policy; 1: the new policy; 2: the ratios; 3: the samples weighted with them."""
    left, across = 72, 88
    counts = [round(10 * p) for p in OLD]
    marks: list[Mark] = []
    rows = [("old", OLD, 0), ("new", NEW, 1)]
    for row, (name, pi, since) in enumerate(rows):
        y = 12 + 40 * row
        if step >= since:
            marks.append(Label(4, y + 20, f"{name} π", "start", 12))
            marks += [
                Box(
                    left + across * place,
                    y,
                    84,
                    30,
                    f"{p:g}",
                    tone="accent" if row else "quiet",
                    fill=0.9 * p,
                    strong=step == since and bool(row),
                )
                for place, p in enumerate(pi)
            ]
    if step >= 2:
        marks.append(Label(4, 112, "ratio", "start", 12))
        marks += [
            Label(left + across * place + 42, 112, f"{new / old:.2g}", size=14)
            for place, (old, new) in enumerate(zip(OLD, NEW, strict=True))
        ]
    marks.append(Label(4, 150, "samples", "start", 12))
    for place, count in enumerate(counts):
        weight = NEW[place] / OLD[place] if step == 3 else 1.0
        for one in range(count):
            size = 13 * math.sqrt(weight)
            x = left + across * place + 8 + (size + 3) * one
            marks.append(Box(x - size / 2, 146 - size / 2, size, size, tone="right", fill=0.8))
    marks.append(Label(4, 186, "counted as", "start", 12))
    for place, count in enumerate(counts):
        weight = NEW[place] / OLD[place] if step == 3 else 1.0
        marks.append(Label(left + across * place + 42, 186, f"{count * weight:.2g}", size=14))
    return Scene(left + across * 3 + 2, 198, tuple(marks), _ratio_says(step), _ratio_holds(step))


def _ratio_says(step: int) -> str:
    plain, wanted = mean_worth(OLD), mean_worth(NEW)
    return (
        "Ten words were drawn by the old policy: five, three and two of each.",
        "After a step the policy has other probabilities, and the ten words are no longer a fair sample of it.",
        "The ratio says how much more often the new policy would have drawn a word than the old one did.",
        f"Each sample counts as much as its ratio, and the words 3, 3 and 4. If they are worth 0, 1 and 5, the mean is "
        f"{wanted:.1f}, as under the new policy, and not {plain:.1f}.",
    )[step]


def _ratio_holds(step: int) -> str:
    weights = [NEW[place] / OLD[place] if step == 3 else 1.0 for place in range(3)]
    counted = ", ".join(f"{10 * p * weight:.2g}" for p, weight in zip(OLD, weights, strict=True))
    return f"The three words count as {counted} samples."


# The six regions of the clip

#: The clip range, and the samples of the six frames: advantage and ratio.
CLIP = 0.2
REGIONS = ((1.0, 0.5), (1.0, 1.0), (1.0, 1.5), (-1.0, 0.5), (-1.0, 1.0), (-1.0, 1.5))


@dataclass(frozen=True)
class Region:
    """A sample under the clipped objective: both terms, the smaller one, and its gradient in the ratio."""

    plain: float
    clipped: float
    objective: float
    gradient: float


def region(advantage: float, ratio: float, clip: float = CLIP) -> Region:
    """What the clipped objective makes of one sample."""
    found = ppo_clip_objective([math.log(ratio)], [0.0], [advantage], clip)
    clipped = min(max(ratio, 1 - clip), 1 + clip) * advantage
    return Region(ratio * advantage, clipped, found.objective, 0.0 if found.clipped_fraction else advantage)


def clip_scene(step: int) -> Scene:
    """The objective of a sample against its ratio, for both signs of the advantage, and a dot in one of six regions."""
    advantage, ratio = REGIONS[step]
    found = region(advantage, ratio)
    marks: list[Mark] = []
    for panel, sign in enumerate((1.0, -1.0)):
        marks += _panel(10 + 168 * panel, sign, REGIONS[step] if advantage == sign else None)
    rows = (("ρA", f"{found.plain:g}"), ("clipped", f"{found.clipped:g}"), ("smaller", f"{found.objective:g}"))
    for place, (name, value) in enumerate(rows):
        x = 10 + 82 * place
        marks.append(Label(x + 38, 176, name, size=12, quiet=True))
        marks.append(Box(x, 182, 76, 28, value, fill=0.5 * (place == 2), strong=place == 2))
    marks.append(Label(10 + 82 * 3 + 38, 176, "gradient", size=12, quiet=True))
    told = "none" if not found.gradient else "up" if found.gradient > 0 else "down"
    marks.append(Box(10 + 82 * 3, 182, 76, 28, told, tone="right", fill=0.6 * bool(found.gradient)))
    return Scene(340, 218, tuple(marks), _clip_says(step), _clip_holds(step))


def _panel(x: float, sign: float, sample: tuple[float, float] | None) -> list[Mark]:
    """One panel: axes, the objective as a row of thin boxes, and the sample's dot."""
    wide, scale = 152, 46.0
    ground = 136 if sign > 0 else 34  # where the objective is 0

    def at(ratio: float) -> tuple[float, float]:
        return x + wide * ratio / 2, ground - scale * region(sign, ratio).objective

    marks: list[Mark] = [Label(x + wide / 2, 16, f"advantage {sign:+.0f}", size=12)]
    marks.append(Box(x, ground, wide, 1, tone="quiet", fill=0.6))
    flat = (1 + CLIP, 2.0) if sign > 0 else (0.0, 1 - CLIP)
    marks.append(Box(x + wide * flat[0] / 2, 26, wide * (flat[1] - flat[0]) / 2, 120, tone="quiet", fill=0.25))
    for index in range(1, 40):
        px, py = at(index / 20)
        marks.append(Box(px - 1.5, py - 1.5, 3, 3, fill=2.0))
    if sample:
        px, py = at(sample[1])
        marks.append(Box(px - 6, py - 6, 12, 12, tone="right", fill=2.0, strong=True))
    for ratio in (0.5, 1.0, 1.5):
        name = f"{ratio:g}" if ratio > 0.5 else f"ρ = {ratio:g}"
        marks.append(Label(x + wide * ratio / 2, 160, name, size=11, quiet=True))
    return marks


def _clip_says(step: int) -> str:
    return (
        "A good word that has become rarer (ratio 0.5): the plain term is the smaller one. It is pushed up.",
        "A good word at the start (ratio 1): both terms are equal. It is pushed up.",
        "A good word that is already 1.5 times as likely: the clipped term is smaller, and constant. No push.",
        "A bad word that has already become half as likely: the clipped term is smaller. No push.",
        "A bad word at the start: pushed down.",
        "A bad word that has become likelier: the plain term is the smaller one, -1.5. It is pushed down.",
    )[step]


def _clip_holds(step: int) -> str:
    advantage, ratio = REGIONS[step]
    found = region(advantage, ratio)
    return (
        f"Advantage {advantage:g}, ratio {ratio:g}: plain {found.plain:g}, clipped {found.clipped:g}, smaller "
        f"{found.objective:g}, gradient {found.gradient:g}."
    )


# Four programs

#: What the rows of a program are about, and four programs of which each changes some rows of the one before.
ROWS = ("plays", "weighs with", "critic", "gains", "step size", "steps a batch")
PROGRAMS = (
    ("REINFORCE", ("16 episodes", "return", "none", "ln π · return", "0.01", "1")),
    ("with a baseline", ("16 episodes", "return - mean", "none", "ln π · (return - b)", "0.01", "1")),
    ("actor and critic", ("8 x 32 steps", "GAE", "learns V", "ln π · A", "0.001", "1")),
    ("PPO", ("8 x 32 steps", "GAE", "learns V", "min(ρA, clip(ρ)A)", "0.001", "20")),
)


def programs_scene(step: int) -> Scene:
    """Program ``step`` of :data:`PROGRAMS`, row by row, beside the one before; what has changed is outlined."""
    left, across, down = 78, 130, 34
    name, rows = PROGRAMS[step]
    before = PROGRAMS[max(0, step - 1)][1]
    marks: list[Mark] = [Label(left + 1.5 * across, 16, name, size=13)]
    if step:
        marks.append(Label(left + 0.5 * across, 16, PROGRAMS[step - 1][0], size=12, quiet=True))
    for place, (what, old, new) in enumerate(zip(ROWS, before, rows, strict=True)):
        y = 24 + down * place
        marks.append(Label(2, y + 18, what, "start", 11, quiet=True))
        if step:
            marks.append(Box(left, y, across - 4, 28, old, tone="quiet", fill=0.1, size=11))
        changed = step > 0 and old != new
        marks.append(Box(left + across, y, across - 4, 28, new, fill=0.7 if changed else 0.2, strong=changed, size=11))
    held = ", ".join(f"{what}: {new}" for what, new in zip(ROWS, rows, strict=True))
    return Scene(left + 2 * across, 24 + down * len(ROWS), tuple(marks), _programs_says(step), f"{name}. {held}.")


def _programs_says(step: int) -> str:
    return (
        "Play whole episodes, weigh each action with its return, make one step, throw the episodes away.",
        "One line changes: the mean return of the batch is subtracted.",
        "A critic takes the place of the mean. It can be asked anywhere, so a batch need no longer end with episodes.",
        "The same batch is used for twenty steps: ratios instead of logarithms, and the clip.",
    )[step]
