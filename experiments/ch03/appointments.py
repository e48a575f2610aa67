"""All-reduces as appointments: ranks that arrive at different times leave together. Standard library only.

>>> [(one.starts, one.waits) for one in meetings(WORK)]
[(5.0, [3.0, 0.0, 2.0]), (10.0, [2.0, 3.0, 0.0])]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

#: Milliseconds that each rank works before each of its two all-reduces: ``[call][rank]``.
WORK = ((2.0, 5.0, 3.0), (2.0, 1.0, 4.0))
#: Milliseconds that an all-reduce takes once all ranks are there.
TAKES = 1.0

#: Layout of the picture, pixels: margins, a millisecond, the distance between ranks, the height of a box.
LEFT, TOP = 48, 28
MILLISECOND, DOWN, HEIGHT = 24, 34, 26


@dataclass(frozen=True)
class Meeting:
    """One all-reduce.

    Attributes:
        arrives: by rank, when it makes its call, milliseconds.
        starts: when the last rank has arrived.
    """

    arrives: list[float]
    starts: float

    @property
    def ends(self) -> float:
        """When all ranks leave it."""
        return self.starts + TAKES

    @property
    def waits(self) -> list[float]:
        """By rank, how long it waits for the last one."""
        return [self.starts - arrival for arrival in self.arrives]


def meetings(work: Sequence[Sequence[float]]) -> list[Meeting]:
    """When each collective happens, if the ranks work ``work[call][rank]`` before it and begin together."""
    found: list[Meeting] = []
    for times in work:
        begun = found[-1].ends if found else 0.0
        arrives = [begun + time for time in times]
        found.append(Meeting(arrives, max(arrives)))
    return found


def appointments_scene(step: int) -> Scene:
    """Three ranks over time, up to the end of all-reduce ``step``; at step 0, up to the first call of the first."""
    held = meetings(WORK)
    marks: list[Box | Label] = [*_axis(held[-1].ends), *_row_names()]
    for index, meeting in enumerate(held[:step] or held[:1]):
        begun = held[index - 1].ends if index else 0.0
        marks += _boxes(begun, meeting, joined=bool(step))
    width = LEFT + MILLISECOND * held[-1].ends + 4
    return Scene(width, TOP + 3 * DOWN + 20, tuple(marks), _says(held, step), _holds(held[:step]))


def _x(time: float) -> float:
    return LEFT + MILLISECOND * time


def _row_names() -> list[Label]:
    return [Label(4, TOP + DOWN * rank + 17, f"rank {rank}", "start", quiet=True) for rank in range(3)]


def _axis(end: float) -> list[Label]:
    times = [Label(_x(time), 16, f"{time}", quiet=True, size=11) for time in range(0, int(end) + 1, 2)]
    return [*times, Label(LEFT, TOP + 3 * DOWN + 12, "milliseconds from left to right", "start", quiet=True)]


def _box(rank: int, begins: float, ends: float, text: str, tone: Tone, fill: float) -> Box:
    return Box(_x(begins), TOP + DOWN * rank, MILLISECOND * (ends - begins), HEIGHT, text, "", tone, fill, size=11)


def _boxes(begun: float, meeting: Meeting, joined: bool) -> list[Box]:
    """What each rank does until the end of a meeting; only its work, unless it is ``joined``."""
    result = []
    for rank, arrival in enumerate(meeting.arrives):
        result.append(_box(rank, begun, arrival, _short("works", arrival - begun), "accent", 0.6))
        if joined:
            if arrival < meeting.starts:
                result.append(
                    _box(rank, arrival, meeting.starts, _short("waits", meeting.starts - arrival), "quiet", 0)
                )
            result.append(_box(rank, meeting.starts, meeting.ends, "sum", "right", 1.0))
    return result


def _short(text: str, width: float) -> str:
    """``text`` where it has room."""
    return text if width > 1 else ""


def _says(held: Sequence[Meeting], step: int) -> str:
    if step == 0:
        times = ", ".join(f"rank {rank} at {arrival:g} ms" for rank, arrival in enumerate(held[0].arrives))
        return f"Start. Three ranks work, and each calls all_reduce when it is done: {times}."
    meeting = held[step - 1]
    last = meeting.arrives.index(meeting.starts)
    waits = " and ".join(f"rank {rank} waits {wait:g} ms" for rank, wait in enumerate(meeting.waits) if wait)
    return (
        f"All-reduce {step} of {len(held)} starts at {meeting.starts:g} ms, when rank {last} arrives; {waits}. "
        f"At {meeting.ends:g} ms all ranks leave with the same sum."
    )


def _holds(held: Sequence[Meeting]) -> str:
    """When every rank arrives at each all-reduce, for readers who cannot see it."""
    rows = [
        f"all-reduce {place} at {meeting.starts:g} ms, arrivals at {', '.join(f'{time:g}' for time in meeting.arrives)}"
        for place, meeting in enumerate(held, 1)
    ]
    return f"{'; '.join(rows).capitalize()}." if rows else "Three ranks at work."
