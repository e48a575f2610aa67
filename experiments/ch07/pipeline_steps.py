"""A pipeline schedule unit of time by unit of time: what a stepper draws. Standard library only.

Everything is read off a schedule that was played: who works, who waits, what was sent, and what is held.

>>> moment(played(ranks=3, microbatches=4), 3).doing
('F2', 'F1', 'F0')
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from rankzero.sim.schedules import Times, parse_op
from solutions.ch07.pipeline_charts import Chart, pipeline_chart

#: Layout of the picture, pixels: margins to the left and above; width of a unit of time, height of a bar, of a row.
LEFT, TOP = 94, 22
UNIT, HEIGHT, DOWN = 20, 20, 32
#: How far an arrow is drawn from the exact time of its message, so that two that cross do not hide each other.
BESIDE = 4


@dataclass(frozen=True)
class Moment:
    """What happens in one unit of time.

    Attributes:
        doing: by rank, ``"F2"`` for the forward of micro-batch 2, ``"B2"`` for its backward, or nothing.
        held: by rank, the micro-batches whose activations it keeps in this unit.
        sent: ``(from, to)``, the ranks of each message that was sent as this unit began.
        idle: units of time that all ranks together have idled, this one included.
    """

    doing: tuple[str, ...]
    held: tuple[int, ...]
    sent: tuple[tuple[int, int], ...]
    idle: int


def played(ranks: int = 3, microbatches: int = 4, schedule: str = "1f1b") -> Chart:
    """A schedule with a forward and a backward of one unit each, and messages that take no time."""
    return pipeline_chart(schedule, ranks, microbatches, forward=1.0, backward=1.0)


def moment(chart: Chart, step: int) -> Moment:
    """The unit of time that ends at ``step``; step 0 is the start, when nothing runs."""
    ranks = len(chart.orders)
    doing = tuple(
        next((op.lstrip("0123456789") for op in order if _runs(chart.times, op, step)), "") for order in chart.orders
    )
    started = [op for op, (start, _) in chart.times.items() if start < step]
    sent = [_message(op, ranks) for op, (_, end) in chart.times.items() if end == step - 1]
    return Moment(
        doing,
        tuple(_held(chart.times, order, step) for order in chart.orders),
        tuple(sorted(message for message in sent if message)),
        ranks * step - len(started),
    )


def _runs(times: Times, op: str, step: int) -> bool:
    """Whether an operation runs in the unit of time that ends at ``step``."""
    return times[op][0] < step <= times[op][1]


def _held(times: Times, order: list[str], step: int) -> int:
    """Forwards that have begun, without those whose backward had ended before this unit."""
    begun = sum(parse_op(op)[1] == "F" and times[op][0] < step for op in order)
    freed = sum(parse_op(op)[1] == "B" and times[op][1] < step for op in order)
    return begun - freed


def _message(op: str, ranks: int) -> tuple[int, int] | None:
    """Who sends what an operation made to whom: an activation goes down, a gradient goes up, the ends send nothing."""
    stage, kind, _ = parse_op(op)
    to = stage + 1 if kind == "F" else stage - 1
    return (stage, to) if 0 <= to < ranks else None


def gpipe_scene(step: int) -> Scene:
    """GPipe on 3 ranks with 4 micro-batches; a step is two units of time, and its sentence says what is held."""
    return _scene(played(schedule="gpipe"), 2 * step)


def one_f_one_b_scene(step: int) -> Scene:
    """1F1B on 3 ranks with 4 micro-batches; a step is two units of time, and its sentence says what is held."""
    return _scene(played(), 2 * step)


def _scene(chart: Chart, step: int) -> Scene:
    """The picture after ``step`` units of time: a row is a rank, a bar an operation, an arrow a message.

    The operations and messages of the last two units are new.
    """
    now, last, ranks = moment(chart, step), round(chart.makespan), len(chart.orders)
    new = range(max(0, step - 2) + 1, step + 1)
    height = TOP + DOWN * (ranks - 1) + HEIGHT + 20
    clock = [Label(LEFT + UNIT * time, 14, str(time), size=10, quiet=True) for time in range(0, last + 1, 2)]
    marks: list[Mark] = [*clock, *_names(now), *_bars(chart, step, new)]
    for time in new:
        marks += _messages(moment(chart, time), time)
    share = f" ({now.idle / (ranks * step):.0%})" if step else ""
    marks.append(Label(4, height - 6, f"idle so far: {now.idle} of {ranks * step} units{share}", "start"))
    return Scene(LEFT + UNIT * last + 6, height, tuple(marks), _says(chart, step, now), _shows(chart, step, now))


def _names(now: Moment) -> list[Label]:
    """The ranks, and what each holds."""
    labels = []
    for rank, held in enumerate(now.held):
        y = TOP + DOWN * rank
        labels += [
            Label(4, y + 14, f"rank {rank}", "start"),
            Label(49, y + 14, f"holds {held}", "start", 11, quiet=True),
        ]
    return labels


def _bars(chart: Chart, step: int, new: range) -> list[Box]:
    """A bar for each operation that has begun; those of the new units of time have a strong outline."""
    bars = []
    for op, (start, end) in chart.times.items():
        if start < step:
            stage, kind, microbatch = parse_op(op)
            x, y, width = LEFT + UNIT * start, TOP + DOWN * stage, UNIT * (end - start) - 2
            running = any(_runs(chart.times, op, time) for time in new)
            box = Box(x + 1, y, width, HEIGHT, f"{kind}{microbatch}", fill=0.5, strong=running, size=11)
            bars.append(box if kind == "F" else replace(box, tone="right", fill=1.0))
    return bars


def _messages(now: Moment, step: int) -> list[Arrow]:
    """An arrow for each message: an activation to the rank below, a gradient to the rank above."""
    arrows = []
    for rank, to in now.sent:
        x, y = LEFT + UNIT * (step - 1), TOP + DOWN * rank
        if to > rank:
            arrows.append(Arrow(x - BESIDE, y + HEIGHT + 2, x - BESIDE, y + DOWN - 2))
        else:
            arrows.append(Arrow(x + BESIDE, y - 2, x + BESIDE, y - DOWN + HEIGHT + 2))
    return arrows


def _holds(now: Moment) -> str:
    """The micro-batches that each rank holds."""
    *first, last = map(str, now.held)
    held = f"{', '.join(first)} and {last}" if first else last
    return f"In the last unit they hold {held} micro-batches."


def _says(chart: Chart, time: int, now: Moment) -> str:
    """What each rank does in the two units of time that end at ``time``, and holds in the second."""
    if not time:
        return "Start. Nothing has run; rank 0 has the inputs of all micro-batches, the last rank their targets."
    units = [moment(chart, time - 1).doing, moment(chart, time).doing]
    news = [f"rank {rank} {_says_of(chart, rank, time, *ops)}" for rank, ops in enumerate(zip(*units, strict=True))]
    return f"From {time - 2} to {time}: {'; '.join(news)}. {_holds(now)}"


def _says_of(chart: Chart, rank: int, time: int, first: str, second: str) -> str:
    """What a rank does, or waits for, in the two units of time that end at ``time``."""
    if first and second:
        return f"runs {first} and {second}"
    if second:
        return f"{_why(chart, rank, time - 1)}, then runs {second}"
    why = _why(chart, rank, time)
    return f"runs {first}{' and ' if why == 'is done' else ', then '}{why}" if first else why


def _why(chart: Chart, rank: int, step: int) -> str:
    """Why a rank does nothing: its next operation lacks its input, or there is none."""
    following = next((op for op in chart.orders[rank] if chart.times[op][0] >= step), None)
    if following is None:
        return "is done"
    _, kind, microbatch = parse_op(following)
    return f"waits for {'activation' if kind == 'F' else 'gradient'} {microbatch}"


def _shows(chart: Chart, step: int, now: Moment) -> str:
    """Everything in the picture, for readers who cannot see it."""
    rows = []
    for rank in range(len(chart.orders)):
        doing = [moment(chart, time).doing[rank] or "idle" for time in range(1, step + 1)]
        rows.append(
            f"rank {rank}: {', '.join(doing) or 'nothing'}, {'in the last unit ' * (step > 0)}holds {now.held[rank]}"
        )
    return f"After {step} units of time, {'; '.join(rows)}."
