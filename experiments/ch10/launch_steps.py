"""What the steppers of chapter 10 draw about CPU and GPU: launches and kernels, a graph's buffers, the loop.

Standard library only.

>>> [time_of(kernels) for kernels in (SHORT, LONG)]
[22, 45]
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time

from .timelines import Span, eager_rows, step_rows

#: Microseconds: a launch on the CPU, the kernels of two programs, and the launch of a graph.
LAUNCH, SHORT, LONG, REPLAY = 5, (2, 2, 2, 2), (10, 10, 10, 10), 10


def time_of(kernels: Sequence[int]) -> int:
    """Microseconds from the first launch to the end of the last kernel, one by one."""
    return round(eager_time(kernels, LAUNCH))


def graph_of(kernels: Sequence[int]) -> int:
    """Microseconds of the same kernels as a graph."""
    return round(graph_time(kernels, REPLAY))


def launch_scene(step: int) -> Scene:
    """Both programs after ``step + 1`` launches, and their kernels."""
    scale, left = 5.6, 78
    marks: list[Mark] = []
    for (name, kernels), top in ((("short kernels", SHORT), 0), (("long kernels", LONG), 96)):
        cpu, gpu = eager_rows(kernels, LAUNCH)
        marks.append(Label(4, top + 14, name, "start", 12))
        for row, (place, spans) in enumerate((("CPU", cpu), ("GPU", gpu))):
            y = top + 22 + 32 * row
            marks.append(Label(4, y + 18, place, "start", 12, quiet=True))
            for number, (_, start, end) in enumerate(spans[: step + 1]):
                tone = "right" if row else "accent"
                box = (left + scale * start, y, scale * (end - start) - 1.5, 26)
                text = f"{number}" if end - start > 3 else ""
                marks.append(Box(*box, text, tone=tone, fill=0.7, strong=number == step))
    return Scene(left + scale * time_of(LONG) + 6, 182, tuple(marks), _launch_says(step), _launch_holds(step))


def _launch_says(step: int) -> str:
    ends = [round(eager_rows(kernels, LAUNCH)[1][step][2]) for kernels in (SHORT, LONG)]
    launched = LAUNCH * (step + 1)
    said = f"Launch {step} ends at {launched} µs, its short kernel at {ends[0]} µs, its long one at {ends[1]} µs."
    if step == 0:
        return said
    if step < len(SHORT) - 1:
        return f"{said} Above, the GPU has waited for the launch; below, the kernel for the GPU."
    return f"{said} Above, the CPU sets the pace; below, the GPU does."


def _launch_holds(step: int) -> str:
    return f"Launches of {LAUNCH} µs, {step + 1} so far; kernels of {SHORT[0]} µs above and {LONG[0]} µs below."


# A graph's buffers

#: What the boxes hold, step by step: the buffer x, the buffer y, the caller's copy, and a tensor that is new.
BUFFERS = (
    (("x", "1, 2"), ("y", "3, 5"), ("", ""), ("", "")),
    (("x", "4, 6"), ("y", "3, 5"), ("", ""), ("", "")),
    (("x", "4, 6"), ("y", "9, 13"), ("", ""), ("", "")),
    (("x", "4, 6"), ("y", "9, 13"), ("answer", "9, 13"), ("", "")),
    (("", "4, 6"), ("y", "9, 13"), ("answer", "9, 13"), ("x", "0, 0")),
)
SAYS = (
    "Captured: the graph is the list of its operations with the addresses that they read and wrote, here 100 and 200.",
    "Copy in: x.copy_(...) writes new numbers to address 100. Nothing is computed yet.",
    "Replay: the graph reads address 100, computes 2x + 1, and writes address 200.",
    "Copy out: y.clone() takes the answer to address 300, where the next replay cannot reach it.",
    "x = torch.zeros(2): the name x now belongs to address 400. A replay would still read address 100.",
)


def buffer_scene(step: int) -> Scene:
    """Four addresses after part ``step`` of 4: what lies there, and which name points to it."""
    marks: list[Mark] = []
    for place, (name, held) in enumerate(BUFFERS[step]):
        x = 6 + 83 * place
        old = BUFFERS[step - 1][place] if step else (name, held)
        if name:
            marks.append(Label(x + 36, 15, name, size=13))
            marks.append(Arrow(x + 36, 20, x + 36, 36))
        if held:
            tone = "right" if place in (1, 2) else "accent"
            marks.append(Box(x, 40, 72, 34, held, f"{100 * (place + 1)}", tone=tone, fill=0.6, strong=old[1] != held))
    marks.append(Box(6, 92, 155, 26, "read 100, write 200", tone="quiet", fill=0.4, strong=step == 2, size=12))
    marks.append(Label(170, 109, "the graph", "start", 12, quiet=True))
    holds = "; ".join(f"address {100 * (p + 1)} holds {held}" for p, (_, held) in enumerate(BUFFERS[step]) if held)
    return Scene(336, 124, tuple(marks), SAYS[step], f"{holds}.")


# The loop around the model

#: Milliseconds of a step: scheduling, computing, processing; and the steps that are drawn.
PARTS, STEPS = (2, 5, 1), 3


def loop_time(parts: Sequence[int] = PARTS, overlap: bool = True, steps: int = STEPS) -> int:
    """Milliseconds of so many steps."""
    return round(overlap_time(steps, *parts, overlap=overlap))


def loop_scene(step: int) -> Scene:
    """Both loops after ``step + 1`` steps have been computed."""
    scale, left = 10.4, 82
    marks: list[Mark] = []
    for (name, overlap), top in ((("in turn", False), 0), (("overlapped", True), 96)):
        marks.append(Label(4, top + 14, name, "start", 12))
        for row, (place, spans) in enumerate(
            zip(("CPU", "GPU"), step_rows(STEPS, *PARTS, overlap=overlap), strict=True)
        ):
            y = top + 22 + 32 * row
            marks.append(Label(4, y + 18, place, "start", 12, quiet=True))
            for what, start, end, number in _numbered(spans):
                if number <= step:
                    tone = "right" if what == "compute" else "accent" if what == "schedule" else "quiet"
                    box = (left + scale * start, y, scale * (end - start) - 1.5, 26, f"{number + 1}")
                    marks.append(
                        Box(*box, tone=tone, fill=0.7, strong=number == step, size=12 if end - start > 1 else 10)
                    )
    width = left + scale * loop_time(overlap=False) + 4
    return Scene(width, 182, tuple(marks), _loop_says(step), f"Steps so far: {step + 1}, in both loops.")


def _numbered(spans: Sequence[Span]) -> list[tuple[str, float, float, int]]:
    """The spans, each with the number of its step."""
    seen: dict[str, int] = {}
    found = []
    for what, start, end in spans:
        found.append((what, start, end, seen.get(what, 0)))
        seen[what] = seen.get(what, 0) + 1
    return found


def _loop_says(step: int) -> str:
    schedule, compute, post = PARTS
    if step == 0:
        return f"The CPU schedules for {schedule} ms, the GPU computes for {compute}, the CPU processes for {post}."
    if step < STEPS - 1:
        return f"Overlapped, step {step + 1} is scheduled while step {step} runs, and starts when it has ended."
    return f"{STEPS} steps take {loop_time(overlap=False)} ms in turn and {loop_time()} ms overlapped."
