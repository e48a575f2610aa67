"""What the steppers of chapter 14 draw about runs: three regimes, a gate, and samples that are weighted.

Standard library only. The runs come from the chapter's simulator.

>>> [round(period(way), 2) for way in WAYS]
[9.0, 6.0, 4.5, 3.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from solutions.ch14.rlhf_profile import Response, response_spans
from solutions.ch14.rlhf_schedule import simulate_async

# In turn, or side by side

#: Slots, seconds of the responses of a batch and of a step of the trainer; how many batches are run.
SLOTS, LENGTHS, TRAIN, BATCHES = 4, (6, 2, 2, 2), 3, 40
#: The ways of the stepper: in turn, one batch ahead behind a barrier, and the simulator's bounds 1 and 2.
WAYS = ("in turn", "barrier", "bound 1", "bound 2")
#: Seconds that are drawn.
SHOWN = 18


@dataclass(frozen=True)
class Course:
    """A run: its responses, and start and end of each step of the trainer, seconds."""

    responses: tuple[Response, ...]
    steps: tuple[tuple[float, float], ...]


def course(way: str) -> Course:
    """A run of many batches.

    Raises:
        ValueError: an unknown way.
    """
    if way not in WAYS:
        raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")
    if way == "barrier":
        longest = max(LENGTHS)
        written = tuple(
            Response(slot, longest * number, longest * number + length, max(0, number - 1))
            for number in range(BATCHES)
            for slot, length in enumerate(LENGTHS)
        )
        ends = [longest * (number + 1) for number in range(BATCHES)]
        return Course(written, tuple((end, end + TRAIN) for end in ends))
    bound, lengths = (0 if way == "in turn" else int(way[-1])), LENGTHS * BATCHES
    run = simulate_async(lengths, SLOTS, len(LENGTHS), 1.0, TRAIN, 0.0, bound)
    written = tuple(response_spans(lengths, SLOTS, len(LENGTHS), 1.0, bound, run.steps))
    return Course(written, tuple((start, end) for start, end, _ in run.steps))


def period(way: str) -> float:
    """Seconds from update to update, once the run is under way and before its responses run out."""
    ends = [end for _, end in course(way).steps]
    first, last = BATCHES // 4, 3 * BATCHES // 4
    return (ends[last] - ends[first]) / (last - first)


def busy(way: str) -> float:
    """Share of the slots' time in which a response is written, in the long run."""
    return sum(LENGTHS) / (SLOTS * period(way))


def regime_scene(step: int) -> Scene:
    """The slots and the trainer in one of the four ways; a number is the version that wrote, or the update."""
    way = WAYS[step]
    run, scale, left = course(way), 15, 60
    marks: list[Mark] = [Label(4, 12, way, "start")]
    for slot in range(SLOTS):
        marks.append(Label(4, 33 + 24 * slot, f"slot {slot}", "start", quiet=True))
    marks.append(Label(4, 33 + 24 * SLOTS + 6, "trainer", "start", quiet=True))
    for one in run.responses:
        end = min(one.end, SHOWN)
        if one.start < end:
            tone: Tone = "accent" if one.version % 2 else "right"
            box = (left + scale * one.start, 18 + 24 * one.slot, scale * (end - one.start) - 1.5, 21, f"{one.version}")
            marks.append(Box(*box, tone=tone, fill=0.6, size=12))
    for number, (start, end) in enumerate(run.steps, 1):
        if start < SHOWN:
            box = (left + scale * start, 24 + 24 * SLOTS, scale * (min(end, SHOWN) - start) - 1.5, 21, f"{number}")
            marks.append(Box(*box, tone="quiet", fill=0.7, size=12))
    return Scene(left + scale * SHOWN + 6, 50 + 24 * SLOTS, tuple(marks), _regime_says(way), _regime_holds(way))


def _regime_says(way: str) -> str:
    told = f"{period(way):g} s from update to update, slots {busy(way):.0%} busy."
    return {
        "in turn": f"In turn: the longest response, then training. {told}",
        "barrier": f"One batch ahead behind a barrier: the next batch begins when this one is finished. {told}",
        "bound 1": f"No barrier, at most one batch ahead: a free slot begins the next response. {told}",
        "bound 2": f"At most two batches ahead. In the long run {told} The trainer never waits.",
    }[way]


def _regime_holds(way: str) -> str:
    ends = ", ".join(f"{end:g}" for _, end in course(way).steps if end <= SHOWN)
    return f"{way}: updates end after {ends} s."


# The gate

#: Two slots and batches of two; responses of one second, steps of two; one batch ahead.
GATED = ([1] * 8, 2, 2, 1.0, 2.0, 0.0, 1)
INSTANTS = (0, 1, 3, 5)


def started(clock: float) -> int:
    """Responses that have begun by this time, at the latest now."""
    return sum(one.start <= clock for one in _gated_responses())


def version(clock: float) -> int:
    """Steps of the trainer that have ended by now."""
    return sum(end <= clock for _, end, _ in simulate_async(*GATED).steps)


def limit(clock: float) -> int:
    """Responses that may have begun by now: those of the batches that were used, of the next, and of those ahead."""
    _, _, batch, *_, ahead = GATED
    return (ahead + version(clock) + 1) * batch


def _gated_responses() -> Sequence[Response]:
    lengths, slots, batch, token, _, _, ahead = GATED
    return response_spans(lengths, slots, batch, token, ahead, simulate_async(*GATED).steps)


def gate_scene(step: int) -> Scene:
    """What has begun until one instant: slots above, the trainer below, and the count against its limit."""
    clock, scale, left = INSTANTS[step], 30, 60
    marks: list[Mark] = []
    for row, name in enumerate(("slot 0", "slot 1", "trainer")):
        marks.append(Label(4, 20 + 32 * row, name, "start", quiet=True))
    for number, one in enumerate(_gated_responses(), 1):
        if one.start <= clock:
            new = one.start == clock
            tone: Tone = "accent" if one.version % 2 else "right"
            box = (left + scale * one.start, 4 + 32 * one.slot, scale * (one.end - one.start) - 2, 26, f"{number}")
            marks.append(Box(*box, tone=tone, fill=0.6, strong=new))
    for number, (start, end, _) in enumerate(simulate_async(*GATED).steps, 1):
        if start <= clock:
            box = (left + scale * start, 68, scale * (end - start) - 2, 26, f"update {number}")
            marks.append(Box(*box, tone="quiet", fill=0.7, strong=start == clock, size=12))
    count, most = started(clock), limit(clock)
    marks.append(Label(4, 118, f"started {count} of ({GATED[-1]} + {version(clock)} + 1) · 2 = {most}", "start"))
    says = f"After {clock} s, version {version(clock)}: {count} have started, {most} may."
    says += " The gate is shut." if count == most and count < len(GATED[0]) else ""
    return Scene(left + scale * 9 + 6, 126, tuple(marks), says, says)


# Samples that are weighted

#: Three outcomes: what each is worth, how likely the policy that is meant and the one that wrote draw it.
WORTH, MEANT, WROTE = (4, 2, 0), (0.5, 0.3, 0.2), (0.25, 0.25, 0.5)
#: Samples that are drawn, in the shares of the policy that wrote; a cap on weights.
SAMPLES, CAP = 20, 1.5


def counts(step: int) -> list[float]:
    """Samples of each outcome: as drawn, as meant, weighted, weighted with a cap."""
    drawn = [SAMPLES * chance for chance in WROTE]
    weights = [meant / wrote for meant, wrote in zip(MEANT, WROTE, strict=True)]
    if step == 0:
        return drawn
    if step == 1:
        return [SAMPLES * chance for chance in MEANT]
    capped = [min(weight, CAP) if step == 3 else weight for weight in weights]
    return [count * weight for count, weight in zip(drawn, capped, strict=True)]


def average(step: int) -> float:
    """Worth of the samples, counted in this way, divided by their number as drawn."""
    return sum(count * worth for count, worth in zip(counts(step), WORTH, strict=True)) / SAMPLES


def weight_scene(step: int) -> Scene:
    """A bar for each outcome: how many samples it counts for."""
    marks: list[Mark] = []
    shown = counts(step)
    for row, (worth, count) in enumerate(zip(WORTH, shown, strict=True)):
        y = 6 + 30 * row
        marks.append(Label(4, y + 17, f"worth {worth}", "start", quiet=True))
        changed = step == 3 and count != counts(2)[row]
        tone: Tone = "right" if step == 1 else "accent"
        marks.append(Box(66, y, 24 * count, 24, f"{count:g}", tone=tone, fill=0.6, strong=changed))
    says = (
        f"{SAMPLES} samples, drawn by the policy that wrote. On average they are worth {average(0):g}.",
        f"So many would the policy that is meant have drawn. On average they would be worth {average(1):g}.",
        f"Each sample that was drawn counts 2, 1.2 or 0.4 times. The average is {average(2):g} again.",
        f"No sample may count more than {CAP:g} times: calmer, and wrong, with an average of {average(3):g}.",
    )[step]
    told = ", ".join(f"{count:g} worth {worth}" for count, worth in zip(shown, WORTH, strict=True))
    return Scene(316, 94, tuple(marks), says, f"{told}.")
