"""What the steppers of chapter 14 draw about weights: two layouts on the same GPUs, buckets, a copy that is torn.

Standard library only. The plans and the times come from the chapter's own functions.

>>> [received_by("rows2x2"), received_by("rows2:2")]
[[12, 24, 24, 12], [12, 12, 12, 12]]
>>> [spans(overlap)[-1].end for overlap in (False, True)]
[24, 18]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from solutions.ch14.weight_sync import received, reshard_plan, shard_boxes

# The same weights, cut twice

#: The matrix, the rows that each GPU trains, and two ways to deal halves of it for generation.
SHAPE, HELD, DEALS = (8, 6), "rows4", ("rows2x2", "rows2:2")
GPUS, BAND = 4, 2


def received_by(deal: str) -> list[int]:
    """Elements that each GPU receives when its half is dealt in this way."""
    plan = reshard_plan(shard_boxes(SHAPE, HELD), shard_boxes(SHAPE, deal))
    return [received(plan, rank) for rank in range(GPUS)]


def deal_scene(step: int) -> Scene:
    """The matrix as each GPU sees it: the rows that it trains, and the half that one of the two deals gives it."""
    marks: list[Mark] = []
    held = shard_boxes(SHAPE, HELD)
    wanted, arrived = shard_boxes(SHAPE, DEALS[step]), received_by(DEALS[step])
    for gpu in range(GPUS):
        x = 6 + 83 * gpu
        marks.append(Label(x + 36, 14, f"GPU {gpu}"))
        for band in range(SHAPE[0] // BAND):
            first = BAND * band
            mine = held[gpu][0] == first
            needs = wanted[gpu][0] <= first < wanted[gpu][1]
            text = f"{first}-{first + BAND - 1}"
            box = (x, 20 + 28 * band, 72, 24, text if mine or needs else "")
            tone, fill = ("accent", 0.8) if mine else ("right", 0.5) if needs else ("quiet", 0.0)
            marks.append(Box(*box, tone=tone, fill=fill, strong=needs, size=12))
        marks.append(Label(x + 36, 146, f"gets {arrived[gpu]}", size=11, quiet=True))
    says = (
        f"GPU r gets half r mod 2. GPU 1 wants rows 4-7 and holds none of them. {sum(arrived)} elements travel.",
        f"GPU r gets half r div 2. Every GPU keeps what it has. {sum(arrived)} elements travel.",
    )[step]
    told = "; ".join(f"GPU {gpu} holds rows {held[gpu][0]}-{held[gpu][1] - 1}" for gpu in range(GPUS))
    told += "; " + "; ".join(f"GPU {gpu} gets {count}" for gpu, count in enumerate(arrived))
    return Scene(336, 152, tuple(marks), says, f"{told}.")


# Buckets

#: Buckets, and the seconds of one of them in each stage.
BUCKETS = 4
STAGES = {"gather": 1, "send": 4, "broadcast": 1}


@dataclass(frozen=True)
class Span:
    """A bucket in a stage, from ``start`` to ``end`` in seconds; the buckets count from 0."""

    stage: str
    bucket: int
    start: int
    end: int


def spans(overlap: bool) -> list[Span]:
    """When each bucket is in each stage: a bucket after the other, or all stages at once."""
    free, clock, found = dict.fromkeys(STAGES, 0), 0, list[Span]()
    for bucket in range(BUCKETS):
        ready = 0 if overlap else clock
        for stage, seconds in STAGES.items():
            start = max(ready, free[stage])
            ready = free[stage] = start + seconds
            found.append(Span(stage, bucket, start, ready))
        clock = ready
    return found


def bucket_scene(step: int) -> Scene:
    """Both ways after ``step + 1`` buckets have arrived."""
    scale, left = 10.6, 74
    marks: list[Mark] = []
    for (name, overlap), top in ((("one bucket at a time", False), 0), (("all stages at once", True), 84)):
        marks.append(Label(4, top + 12, name, "start"))
        for row, stage in enumerate(STAGES):
            marks.append(Label(4, top + 32 + 21 * row, stage, "start", quiet=True))
        for span in spans(overlap):
            if span.bucket <= step:
                y = top + 18 + 21 * [*STAGES].index(span.stage)
                box = (left + scale * span.start, y, scale * (span.end - span.start) - 1, 19, f"{span.bucket + 1}")
                tone = "right" if span.stage == "send" else "accent"
                marks.append(Box(*box, tone=tone, fill=0.6, strong=span.bucket == step, size=11))
    ends = [next(s.end for s in reversed(spans(overlap)) if s.bucket == step) for overlap in (False, True)]
    says = f"Bucket {step + 1} is there after {ends[0]} s above and after {ends[1]} s below."
    if step == BUCKETS - 1:
        says += " Below, the slowest stage never waits once it has begun."
    return Scene(left + scale * spans(False)[-1].end + 6, 168, tuple(marks), says, says)


# A buffer that is written while it is read

#: The buffer, the second slot and the reader's copy, step by step; a blank is a cell without anything.
MOMENTS = (
    ("777777", "      ", "      "),
    ("888777", "      ", "888   "),
    ("888888", "      ", "888777"),
    ("777777", "8888  ", "777777"),
)
_TORN = (
    "Version 7 is in the buffer. The trainer begins to write version 8, the reader begins to copy.",
    "Three cells are written when the reader copies the third. From here on the reader is the faster one.",
    "The copy holds 8, 8, 8, 7, 7, 7. Nobody ever trained these weights, and nothing failed.",
    "Two slots: the trainer writes version 8 into the other one, and leaves slot 0 alone while it is pinned.",
)


def torn_scene(step: int) -> Scene:
    """The shared memory and the reader's copy; the last step has a second slot."""
    marks: list[Mark] = []
    names = ("buffer" if step < len(MOMENTS) - 1 else "slot 0, pinned", "slot 1", "copy")
    for row, (name, cells) in enumerate(zip(names, MOMENTS[step], strict=True)):
        y = 18 + 44 * row
        if cells.strip():
            marks.append(Label(6, y - 4, name, "start", quiet=True))
        for place, held in enumerate(cells):
            if held != " ":
                before = MOMENTS[step - 1][row][place] if step else held
                tone = "right" if held == "8" else "accent"
                new = before != held and step < len(MOMENTS) - 1
                marks.append(Box(6 + 46 * place, y, 42, 26, held, tone=tone, fill=0.6, strong=new))
    if 0 < step < len(MOMENTS) - 1:
        done = len(MOMENTS[step][2].strip())
        marks.append(Arrow(27 + 46 * (done - 1), 46, 27 + 46 * (done - 1), 104))
    held = [cells.replace(" ", "-") for cells in MOMENTS[step] if cells.strip()]
    return Scene(284, 138, tuple(marks), _TORN[step], f"Cells: {'; '.join(held)}.")
