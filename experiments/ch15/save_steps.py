"""A short run with one failure, saved every 2, 4 or 8 minutes: where its time goes. Standard library only.

>>> [(every, wall(every)) for every in EVERY]
[(2, 15.0), (4, 14.0), (8, 18.0)]
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

from .explorers import Strip, strip

#: Minutes of useful work, of one save, of a restart, and until the only failure.
WORK, SAVE, RESTART, FAILS = 8.0, 1.0, 1.0, 8.0
#: Minutes of work between two saves.
EVERY = (2, 4, 8)

#: Layout of the picture, pixels: margin, a minute, the distance between rows, the height of a box.
LEFT, TOP = 60, 28
MINUTE, DOWN, HEIGHT = 15, 34, 26

_TONES: dict[str, tuple[Tone, float]] = {
    "useful": ("right", 0.9),
    "checkpoint": ("accent", 1.0),
    "lost": ("quiet", 0.6),
    "restart": ("accent", 0.0),
}
_LETTERS = {"useful": "work", "checkpoint": "S", "lost": "lost", "restart": "R"}


def spans(every: float) -> list[Strip]:
    """The run, moment by moment, in minutes."""
    return strip(WORK, every, SAVE, RESTART, [FAILS])


def wall(every: float) -> float:
    """Minutes from the start to the end of the last save."""
    return spans(every)[-1][2]


def spent(every: float) -> dict[str, float]:
    """Minutes by kind of time."""
    found = dict.fromkeys(_TONES, 0.0)
    for kind, start, end in spans(every):
        found[kind] += end - start
    return found


def saves_scene(step: int) -> Scene:
    """Three runs that meet the same failure; run ``step`` is marked by its boxes, and at step 0 none is drawn."""
    rows: list[Box | Label] = []
    for index, every in enumerate(EVERY):
        rows.append(Label(2, TOP + DOWN * index + 17, f"{every} min", "start", quiet=True, size=11))
        if index < step:
            rows += [_box(index, *part) for part in spans(every)]
    axis = [Label(_x(time), 16, f"{time}", quiet=True, size=11) for time in range(0, 19, 2)]
    foot = TOP + DOWN * len(EVERY)
    key = Label(2, foot + 12, f"minutes; the job fails at {FAILS:g}. S: save, R: restart", "start", quiet=True, size=11)
    width = LEFT + MINUTE * max(map(wall, EVERY)) + 10
    return Scene(width, foot + 20, (*axis, *rows, key), _says(step), _holds(step))


def _x(time: float) -> float:
    return LEFT + MINUTE * time


def _box(index: int, kind: str, start: float, end: float) -> Box:
    tone, fill = _TONES[kind]
    width, text = MINUTE * (end - start), _LETTERS[kind]
    text = text if width >= 9 * len(text) or len(text) == 1 else ""
    return Box(_x(start), TOP + DOWN * index, width, HEIGHT, text, "", tone, fill, size=10.5)


def _says(step: int) -> str:
    if not step:
        return (
            f"Start. A run needs {WORK:g} minutes of work. A save stops it for {SAVE:g} minute, and so does a restart. "
            f"It fails once, {FAILS:g} minutes after its start. How often should it save?"
        )
    every = EVERY[step - 1]
    parts = spent(every)
    saves = parts["checkpoint"] / SAVE
    return (
        f"Saved every {every} minutes of work: {_counted(parts['checkpoint'])} of saving in {_counted(saves, 'save')}, "
        f"{_counted(parts['lost'])} of work lost, finished after {_counted(wall(every))}."
    )


def _counted(count: float, noun: str = "minute") -> str:
    return f"{count:g} {noun}{'' if count == 1 else 's'}"


def _holds(step: int) -> str:
    rows = [
        f"every {every} minutes: "
        + ", ".join(f"{'work' if kind == 'useful' else kind} {start:g} to {end:g}" for kind, start, end in spans(every))
        for every in EVERY[:step]
    ]
    return f"{'; '.join(rows).capitalize()}." if rows else "Three empty rows."
