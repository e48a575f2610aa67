"""What the steppers of chapter 14's deeper page draw: memory of two pools, batches, levels, a tie, changes, an agent.

Standard library only.

>>> [room(*plan) for plan in PLANS]
[None, 18, 42, 14]
>>> [round(turn(batch) / pools(batch), 3) for batch in BATCHES]
[1.125, 1.25, 0.875]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from rankzero.explore.scene import Tone

# Memory of two pools

#: Units of memory: what a GPU has, what is shared by the GPUs that train, what each of them needs to train, and a copy
#: of the weights that writes, cut over two GPUs.
CAPACITY, STATES, WORK, COPY, CUT = 10, 24, 2, 6, 2
#: GPUs that train, GPUs that write (0: the same ones), and whether the states leave a GPU that writes.
PLANS = ((2, 0, False), (6, 0, False), (6, 0, True), (4, 2, False))
_NAMES = ("2 GPUs in turn", "6 GPUs in turn", "the states leave", "4 train, 2 write")


def held(train: int, write: int, leave: bool) -> tuple[int, int]:
    """Units on a GPU while it trains, and on one while it writes, caches not counted."""
    share = STATES // train
    return share + WORK, COPY // CUT + (0 if write or leave else share)


def room(train: int, write: int, leave: bool) -> int | None:
    """Units that are left for caches on all GPUs that write; None if something does not fit."""
    training, writing = held(train, write, leave)
    if max(training, writing) > CAPACITY:
        return None
    return (write or train) * (CAPACITY - writing)


def pool_scene(step: int) -> Scene:
    """A GPU while it trains and a GPU while it writes, against the end of its memory."""
    train, write, leave = PLANS[step]
    training, writing = held(train, write, leave)
    scale, left, share = 16, 58, STATES // train
    marks: list[Mark] = [
        Label(4, 14, _NAMES[step], "start"),
        Label(left + scale * CAPACITY, 40, f"a GPU ends at {CAPACITY}", size=11, quiet=True),
    ]
    copy = COPY // CUT
    rows = {
        "trains": [("states", share, "accent"), ("work", WORK, "quiet")],
        "writes": [*([] if write or leave else [("states", share, "accent")]), ("copy", copy, "quiet")],
    }
    if writing < CAPACITY:
        rows["writes"].append(("caches", CAPACITY - writing, "right"))
    for row, (name, parts) in enumerate(rows.items()):
        y, x = 50 + 40 * row, float(left)
        marks.append(Label(4, y + 20, name, "start", quiet=True))
        for text, units, tone in parts:
            shown = text if scale * units > 7 * len(text) else text[0]
            marks.append(Box(x, y, scale * units - 2, 30, shown, tone=_tone(tone), fill=0.6, size=12))
            x += scale * units
        marks.append(Box(left + scale * CAPACITY - 1, y - 5, 2, 40, tone="quiet", fill=1.0))
    free = room(train, write, leave)
    if free is None:
        says = f"{_NAMES[step]}: {training} units to train, {writing} to write. Neither fits into {CAPACITY}."
    else:
        each = f"{write or train} times {CAPACITY - writing}"
        says = f"{_NAMES[step]}: {training} units to train; {each} = {free} units for caches."
    told = f"{_NAMES[step]}: a GPU holds {training} units while it trains and {writing} before caches while it writes."
    return Scene(left + scale * 15 + 6, 132, tuple(marks), says, told)


def _tone(name: str) -> Tone:
    return "right" if name == "right" else "quiet" if name == "quiet" else "accent"


# Batches

#: Seconds until a copy's weights have been read for all tokens of an answer; GPU-seconds of an answer's caches and of
#: training on it; GPUs, half of which write where there are two pools; answers of a batch.
FLOOR, CACHES, LEARNING, GPUS, BATCHES = 6, 1, 2, 4, (4, 12, 48)


def turn(batch: int) -> float:
    """Seconds from update to update when all GPUs write, then train."""
    return FLOOR + (CACHES + LEARNING) * batch / GPUS


def pools(batch: int) -> float:
    """The same with two halves side by side."""
    return max(FLOOR + CACHES * batch / (GPUS // 2), LEARNING * batch / (GPUS // 2))


def batch_scene(step: int) -> Scene:
    """One batch in turn and in two halves: what is read however few answers there are, and what grows with them."""
    batch = BATCHES[step]
    scale, left = 5.2, 62
    rows: dict[str, Sequence[tuple[str, float, Tone]]] = {
        "in turn": (
            ("weights", FLOOR, "quiet"),
            ("caches", CACHES * batch / GPUS, "right"),
            ("train", LEARNING * batch / GPUS, "accent"),
        ),
        "2 write": (("weights", FLOOR, "quiet"), ("caches", CACHES * batch / (GPUS // 2), "right")),
        "2 train": (("train", LEARNING * batch / (GPUS // 2), "accent"),),
    }
    marks: list[Mark] = [Label(4, 14, f"{batch} answers", "start")]
    for row, (name, parts) in enumerate(rows.items()):
        y, x = 24 + 36 * row, float(left)
        marks.append(Label(4, y + 19, name, "start", quiet=True))
        for text, seconds, tone in parts:
            shown = text if scale * seconds > 6.5 * len(text) else ""
            marks.append(Box(x, y, scale * seconds - 1.5, 28, shown, tone=tone, fill=0.6, size=11))
            x += scale * seconds
    gain = turn(batch) / pools(batch)
    says = f"{batch} answers: {turn(batch):g} s in turn, {pools(batch):g} s side by side, {gain:.2f} times as fast."
    return Scene(left + scale * LEARNING * BATCHES[-1] / (GPUS // 2) + 6, 134, tuple(marks), says, says)


# Levels


@dataclass(frozen=True)
class Level:
    """What a system has learned to do, and what a GPU does meanwhile.

    Attributes:
        name: of the level.
        lanes: for each GPU, what it does in each of eight time steps: w writes, t trains, s swaps, - waits.
        says: what is gained, and what limits it.
    """

    name: str
    lanes: tuple[str, str]
    says: str


#: The levels in which systems grow. Both lanes do the same where the GPUs take turns.
LEVELS = (
    Level(
        "all at once", ("wwwwtt--", "wwwwtt--"), "All models and caches are loaded, so there is little room to write."
    ),
    Level("swap by phase", ("wwsttsww", "wwsttsww"), "What a phase does not use leaves. More room, and time to copy."),
    Level(
        "cut anew", ("wsttswst", "wsttswst"), "Writing has a layout of its own on the same GPUs: it takes less time."
    ),
    Level("two pools", ("ww--ww--", "--tt--tt"), "Other GPUs, in turn: each pool is laid out for its work, and waits."),
    Level("run ahead", ("wwwwwwww", "--tttttt"), "The rollout is a batch ahead: both work, and answers are stale."),
)


def level_scene(step: int) -> Scene:
    """Two GPUs, or two pools, over eight steps of time, level by level."""
    level, scale, left = LEVELS[step], 31, 62
    tones: dict[str, Tone] = {"w": "right", "t": "accent", "s": "quiet"}
    words = {"w": "write", "t": "train", "s": "swap"}
    marks: list[Mark] = [Label(4, 14, f"{step + 1}. {level.name}", "start")]
    for row, lane in enumerate(level.lanes):
        y = 24 + 36 * row
        name = ("rollout", "trainer")[row] if step >= 3 else f"GPU {row}"
        marks.append(Label(4, y + 19, name, "start", quiet=True))
        for at, what in enumerate(lane):
            if what != "-":
                box = (left + scale * at, y, scale - 2, 28, words[what])
                marks.append(Box(*box, tone=tones[what], fill=0.6, size=10.5))
    told = "; ".join(", ".join(words.get(what, "wait") for what in lane) for lane in level.lanes)
    return Scene(left + 8 * scale + 4, 98, tuple(marks), f"{level.name}: {level.says}", f"{level.name}: {told}.")


# A tie

#: Scores of a router for four experts, of which two work; what a coarse number format makes of them, hundredths.
SCORES, STEP, WORKING = (0.61, 0.34, 0.36, 0.12), 0.05, 2


def rounded(scores: Sequence[float], step: float) -> tuple[float, ...]:
    """The scores as a format holds them whose numbers lie ``step`` apart."""
    return tuple(round(round(score / step) * step, 9) for score in scores)


def chosen(scores: Sequence[float]) -> tuple[int, ...]:
    """The working experts: the highest scores; of equal ones the first."""
    order = sorted(range(len(scores)), key=lambda expert: (-scores[expert], expert))
    return tuple(sorted(order[:WORKING]))


_TIES = ("the rollout", "the trainer", "the trainer, replayed")


def tie_scene(step: int) -> Scene:
    """Four scores as bars, and which two experts work, for the rollout, the trainer, the trainer with its choice."""
    exact = step != 0
    scores = SCORES if exact else rounded(SCORES, STEP)
    works = chosen(rounded(SCORES, STEP)) if step == 2 else chosen(scores)
    left, wide, high = 26, 66, 130
    marks: list[Mark] = [Label(4, 14, _TIES[step], "start")]
    for expert, score in enumerate(scores):
        x, tall = left + 74 * expert, high * score
        on = expert in works
        tone: Tone = "right" if on else "quiet"
        marks.append(Box(x, 130 - tall, wide, tall, f"{score:.2f}", tone=tone, fill=0.7 if on else 0.3, strong=on))
        marks.append(Label(x + wide / 2, 148, f"expert {expert}", quiet=not on))
    names = " and ".join(str(expert) for expert in works)
    says = {
        0: f"The rollout rounds to steps of {STEP:g}: experts 1 and 2 tie at 0.35, and {names} work.",
        1: f"The trainer's numbers are finer: {names} work. The weights are the same.",
        2: f"Replayed: the trainer takes the rollout's choice, {names}, with its own scores.",
    }[step]
    told = ", ".join(f"expert {expert}: {score:.2f}" for expert, score in enumerate(scores))
    return Scene(left + 74 * 4, 154, tuple(marks), says, f"{told}; {names} work.")


# Only what changed

#: The numbers that a coarse format has near a weight, in units of a step of the optimizer, and where the exact weight
#: stands after 0, 1, 2 and 3 steps.
SPACING, STARTS, STEPS_SHOWN = 8, (1, 3, 4, 7, 12, 13, 17, 22), 3


def sent(step: int) -> tuple[int, ...]:
    """The weights whose coarse value differs from that before the step, by place; none before the first step."""
    if step == 0:
        return ()
    return tuple(place for place, start in enumerate(STARTS) if _coarse(start + step) != _coarse(start + step - 1))


def _coarse(units: int) -> int:
    return SPACING * ((units + SPACING // 2) // SPACING)


def delta_scene(step: int) -> Scene:
    """Eight weights: the trainer's exact numbers, the rounded ones that the rollout has, and which of these changed."""
    left, wide = 66, 33
    changed = sent(step)
    marks: list[Mark] = [
        Label(4, 14, f"after {step} steps" if step != 1 else "after 1 step", "start"),
        Label(4, 46, "exact", "start", quiet=True),
        Label(4, 86, "rounded", "start", quiet=True),
    ]
    for place, start in enumerate(STARTS):
        now, new = start + step, place in changed
        marks.append(Box(left + wide * place, 28, wide - 3, 28, f"{now}", fill=0.3, size=13))
        tone: Tone = "right" if new else "quiet"
        marks.append(
            Box(left + wide * place, 68, wide - 3, 28, f"{_coarse(now)}", tone=tone, fill=0.6, strong=new, size=13)
        )
    places = " and ".join(f"weight {place}" for place in changed)
    if step == 0:
        says = f"The rollout has the weights rounded to multiples of {SPACING}. A step will add 1 to each."
    elif changed:
        says = f"All eight exact weights moved. Rounded, {places} changed: {len(changed)} of {len(STARTS)} to send."
    else:
        says = "All eight exact weights moved. Rounded, none changed: nothing to send."
    told = ", ".join(f"{start + step} is {_coarse(start + step)}" for start in STARTS)
    return Scene(left + wide * len(STARTS) + 2, 102, tuple(marks), says, f"Step {step}: {told}.")


# An agent


@dataclass(frozen=True)
class Part:
    """A stretch of an agent's trajectory.

    Attributes:
        who: ``"prompt"``, ``"model"`` or ``"tool"``.
        words: its tokens.
        says: what happens while it is added.
    """

    who: str
    words: tuple[str, ...]
    says: str


#: A small trajectory: a question, two turns of the model and a tool's answer between them.
TRAJECTORY = (
    Part("prompt", ("3", "*", "7", "+", "1", "?"), "The question comes first. Nobody samples it: its mask is 0."),
    Part("model", ("<call>", "3", "*", "7", "<end>"), "The model writes a call. Its 5 tokens have log-probabilities."),
    Part("tool", ("21",), "The slot waits, or serves others, while a program runs. Its token was not sampled: 0."),
    Part("model", ("21", "+", "1", "is", "22", "<eos>"), "The model goes on after what it read: 6 tokens more."),
)


def loss_mask(parts: Sequence[Part]) -> list[int]:
    """1 for each token that the model sampled, 0 for each that somebody else wrote."""
    return [int(part.who == "model") for part in parts for _ in part.words]


def agent_scene(step: int) -> Scene:
    """The trajectory so far, in rows by who wrote, with the loss mask, and the loop between model and world."""
    left, wide = 66, 44
    marks: list[Mark] = []
    tones: dict[str, Tone] = {"prompt": "quiet", "model": "right", "tool": "accent"}
    for row, part in enumerate(TRAJECTORY[: step + 1]):
        y = 8 + 42 * row
        marks.append(Label(4, y + 20, part.who, "start", quiet=True))
        for at, word in enumerate(part.words):
            on = part.who == "model"
            box = (left + wide * at, y, wide - 3, 32, word, "1" if on else "0")
            marks.append(Box(*box, tone=tones[part.who], fill=0.6, strong=row == step, size=11))
        if row:
            marks.append(Arrow(left - 12, y - 22, left - 12, y + 8))
    part = TRAJECTORY[step]
    total = sum(loss_mask(TRAJECTORY[: step + 1]))
    told = " ".join(word for one in TRAJECTORY[: step + 1] for word in one.words)
    return Scene(left + wide * 6 + 2, 174, tuple(marks), part.says, f"{told}: {total} tokens count in the loss.")
