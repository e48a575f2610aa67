"""A receive and a matrix product, one after the other or at once: what a stepper draws. Standard library only.

>>> [spans["product"] for spans in schedules(6, 10).values()]
[(6, 16), (0, 10)]
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene

#: Milliseconds that the message and the product take in the picture.
MESSAGE, PRODUCT = 6, 10

#: The instants that the pictures show, in milliseconds.
INSTANTS = (6, 10, 16)

#: Layout of the picture, pixels: margins, pixels for a millisecond, height of a bar and of a program's two rows.
LEFT, TOP = 66, 20
SCALE, HEIGHT, PROGRAM = 16, 20, 70

Span = tuple[int, int]


def schedules(message: int = MESSAGE, product: int = PRODUCT) -> dict[str, dict[str, Span]]:
    """For each program, from when to when the message and the product take place on rank 1, in milliseconds."""
    return {
        "recv, then the product": {"message": (0, message), "product": (message, message + product)},
        "irecv, the product, wait": {"message": (0, message), "product": (0, product)},
    }


def overlap_scene(step: int) -> Scene:
    """The picture at instant ``step``: for each program a row for the message and one for the product."""
    now = INSTANTS[step]
    marks: list[Box | Label] = []
    for number, (program, spans) in enumerate(schedules().items()):
        top = TOP + PROGRAM * number
        marks.append(Label(4, top - 6, program, "start"))
        for row, (name, (start, end)) in enumerate(spans.items()):
            y = top + row * (HEIGHT + 4)
            marks.append(Label(4, y + 14, name, "start", quiet=True))
            marks.append(Box(LEFT + SCALE * start, y, SCALE * (end - start), HEIGHT))
            if now > start:
                done = min(now, end) - start
                tone = "right" if now >= end else "accent"
                marks.append(Box(LEFT + SCALE * start, y, SCALE * done, HEIGHT, f"{done} ms", "", tone, 0.7))
    size = LEFT + SCALE * INSTANTS[-1] + 10, TOP + 2 * PROGRAM - 16
    return Scene(*size, tuple(marks), _says(now), _holds(now))


def _ends() -> list[int]:
    """When each program has both the message and the product, in milliseconds."""
    return [max(end for _, end in spans.values()) for spans in schedules().values()]


def _says(now: int) -> str:
    after, first = _ends()
    if now == 0:
        return "Start. The first program waits for its message; the second posts its receive and computes at once."
    if now == MESSAGE:
        return f"After {now} ms the message is there in both. Only the second program has also been computing."
    if now == first:
        return f"After {now} ms the second program has finished its product. Its wait returns immediately."
    return f"After {now} ms the first program is done, too: {after - first} ms later."


def _holds(now: int) -> str:
    """How far each program is, for readers who cannot see it."""
    parts = []
    for program, spans in schedules().items():
        done = {name: max(0, min(now, end) - start) for name, (start, end) in spans.items()}
        parts.append(f"{program}: {done['message']} ms of the message and {done['product']} ms of the product")
    return f"{'; '.join(parts)}."
