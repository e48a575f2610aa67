"""A checkpoint written under a working name and then renamed: what a crash leaves behind. Standard library only.

>>> [newest(step) for step in range(5)]
['step-8', 'step-8', 'step-8', 'step-16', 'step-16']
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene

#: After each step, the folders on the disk and how many of the four ranks' files in each are whole.
DISK = (
    {"step-8": 4},
    {"step-8": 4, "draft-16": 2},
    {"step-8": 4, "draft-16": 4},
    {"step-8": 4, "step-16": 4},
    {"step-16": 4},
)
RANKS = 4
#: What happens in each step.
_DOES = (
    "Start. The checkpoint of step 8 is whole, and the ranks are about to save step 16.",
    "The four ranks write their files into a folder with a working name. Two are done.",
    "All four files are complete, and each rank has waited until its file is on the disk.",
    "Rank 0 renames the folder. A rename happens as a whole or not at all.",
    "Only now does rank 0 delete the old checkpoint.",
)

#: Layout of the picture, pixels.
LEFT, TOP = 84, 26
WIDTH, HEIGHT, DOWN = 58, 28, 36


def newest(step: int) -> str:
    """The checkpoint that a job which crashes after ``step`` finds when it starts again."""
    whole = [name for name, files in DISK[step].items() if name.startswith("step-") and files == RANKS]
    return max(whole, key=lambda name: int(name.removeprefix("step-")))


def rename_scene(step: int) -> Scene:
    """The disk after ``step``: a row for each folder, a box for each rank's file."""
    marks: list[Box | Label] = [
        Label(LEFT + (WIDTH + 4) * rank + WIDTH / 2, 16, f"rank {rank}", quiet=True, size=11) for rank in range(RANKS)
    ]
    for index, (name, files) in enumerate(DISK[step].items()):
        marks.append(Label(2, TOP + DOWN * index + 18, name, "start", size=12))
        marks += [_file(index, rank, rank < files, name == newest(step)) for rank in range(RANKS)]
    says = f"{_DOES[step]} A crash now resumes from {newest(step)}."
    return Scene(LEFT + (WIDTH + 4) * RANKS, TOP + 2 * DOWN, tuple(marks), says, _holds(step))


def _file(index: int, rank: int, whole: bool, resumes: bool) -> Box:
    corner = LEFT + (WIDTH + 4) * rank, TOP + DOWN * index
    text = "whole" if whole else "cut off"
    return Box(*corner, WIDTH, HEIGHT, text, "", "right" if resumes else "quiet", 0.8 if whole else 0.0, resumes, 11)


def _holds(step: int) -> str:
    rows = (f"{name}: {files} of {RANKS} files whole" for name, files in DISK[step].items())
    return f"{'; '.join(rows)}. Marked: {newest(step)}."
