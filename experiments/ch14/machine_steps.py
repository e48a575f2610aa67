"""What the steppers of chapter 14 draw about machines: one token of a rollout, and the memory of one GPU by phase.

Standard library only.

>>> [token_units(copies) for copies in COPIES]
[8, 14]
>>> {name: units(name) for name in PHASES}
{'at once': 18, 'generate': 10, 'score': 2, 'train': 10}
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Mark, Scene
from rankzero.explore.scene import Tone

# One token

#: Answers that are being written, and the copies of the model that share them, step by step.
ANSWERS, COPIES = 8, (4, 1)
#: Units of time: a copy reads its weights, and the keys and values of one answer.
WEIGHTS, CACHE = 6, 1


def token_units(copies: int) -> int:
    """Units of time until each answer has one more token."""
    return WEIGHTS + CACHE * (ANSWERS // copies)


def token_scene(step: int) -> Scene:
    """A row for each copy: what it reads for one token of each of its answers."""
    copies, scale, left = COPIES[step], 19, 62
    marks: list[Mark] = []
    for row in range(copies):
        y = 6 + 28 * row
        marks.append(Label(4, y + 17, f"copy {row + 1}", "start", quiet=True))
        box = (left, y, scale * WEIGHTS - 2, 24, "weights")
        marks.append(Box(*box, fill=0.6, strong=step > 0 and row == 0, size=12))
        for answer in range(ANSWERS // copies):
            at = left + scale * (WEIGHTS + CACHE * answer)
            name = "abcdefgh"[row * (ANSWERS // copies) + answer]
            marks.append(Box(at, y, scale * CACHE - 2, 24, name, tone="right", fill=0.6, size=12))
    each = ANSWERS // copies
    says = (
        f"{copies} copies, {each} answers each: {WEIGHTS} units for the weights and {each * CACHE} for caches, "
        f"{token_units(copies)} in all."
        if copies > 1
        else f"One copy, all {ANSWERS} answers: {token_units(1)} units, not {ANSWERS // 2 * token_units(COPIES[0])}."
    )
    return Scene(left + scale * token_units(1) + 4, 118, tuple(marks), says, says)


# One GPU

#: Units of memory: what the GPU has, and what each tenant takes.
CAPACITY = 10
SIZES = {"weights": 1, "reference": 1, "optimizer": 5, "gradients": 3, "copy": 3, "caches": 5}
#: Who is there in each phase.
PHASES = {
    "at once": tuple(SIZES),
    "generate": ("weights", "reference", "copy", "caches"),
    "score": ("weights", "reference"),
    "train": ("weights", "reference", "optimizer", "gradients"),
}
#: What is written on a tenant, and the tenants that are freed and made anew.
SHORT = {"weights": "w", "reference": "r", "gradients": "grads"}
REBUILT = ("gradients", "copy", "caches")

_SAYS = (
    "All at once: {0} units, and the GPU has {1}.",
    "Generate: the rollout's copy and the caches come, the optimizer states wait on the host.",
    "Score: the copy and the caches are freed. Nothing was copied, for both are made anew.",
    "Train: {2} units of optimizer states are copied in, gradients and activations are made anew.",
)


def units(phase: str) -> int:
    """Units that are taken in a phase."""
    return sum(SIZES[name] for name in PHASES[phase])


def memory_scene(step: int) -> Scene:
    """A row for each phase so far: who is in the memory of the GPU, against its end."""
    scale, left = 14, 64
    marks: list[Mark] = [Label(left + scale * CAPACITY, 12, f"the GPU ends at {CAPACITY}", size=11, quiet=True)]
    for row, (phase, here) in enumerate([*PHASES.items()][: step + 1]):
        y, x = 22 + 30 * row, float(left)
        marks.append(Label(4, y + 17, phase, "start", quiet=True))
        for name in here:
            wide = scale * SIZES[name]
            tone: Tone = "right" if name in REBUILT else "accent"
            new = row == step and (name in REBUILT or name == "optimizer") and step in (1, 3)
            marks.append(Box(x, y, wide - 2, 24, SHORT.get(name, name), tone=tone, fill=0.6, strong=new, size=11))
            x += wide
        marks.append(Box(left + scale * CAPACITY - 1, y - 3, 2, 30, tone="quiet", fill=1.0))
    told = "; ".join(f"{phase}: {', '.join(PHASES[phase])}" for phase in [*PHASES][: step + 1])
    says = _SAYS[step].format(units("at once"), CAPACITY, SIZES["optimizer"])
    return Scene(left + scale * units("at once") + 4, 142, tuple(marks), says, f"{told}.")
