"""The capstone: ``simulate_run``, a run with failures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Iterator, Promise, Right, Slip

# Every time is a multiple of a quarter, so that sums are exact.


def _plan(rng: Random, rest: bool = True) -> tuple[float, float, float, float]:
    """Work, interval, checkpoint and restart time; with ``rest`` the last segment is shorter."""
    interval, checkpoint = rng.randint(40, 400) / 4, rng.randint(4, 40) / 4
    work = rng.randint(3, 6) * interval + (rng.randint(1, int(4 * interval) - 1) / 4 if rest else 0)
    return work, interval, checkpoint, rng.randint(8, 80) / 4


def _gaps(rng: Random, longest: float, count: int) -> list[float]:
    return [rng.randint(1, int(4 * longest)) / 4 for _ in range(count)]


def _given(rng: Random, plan: Sequence[float], gaps: Sequence[float]) -> Case:
    return Case((*plan, Iterator(tuple(gaps)) if rng.random() < 0.5 else list(gaps)))


def _failing(rng: Random) -> Case:
    plan = _plan(rng, rest=rng.random() < 0.7)
    return _given(rng, plan, _gaps(rng, 1.5 * (plan[1] + plan[2]), rng.randint(3, 9)))


def _one_by_one(rng: Random) -> list[Case]:
    """Gaps longer than a segment, so that one runs on over its end; then shorter ones."""
    cases = []
    for _ in range(4):
        plan = _, interval, checkpoint, restart = _plan(rng)
        first = interval + checkpoint + rng.randint(4, int(2 * interval)) / 4
        cases.append(_given(rng, plan, [first, restart + rng.randint(4, int(4 * interval)) / 4, first, restart + 1]))
    return cases


def _in_the_checkpoint(rng: Random) -> Case:
    plan = _, interval, checkpoint, restart = _plan(rng)
    inside = rng.randint(1, int(4 * checkpoint) - 1) / 4
    return _given(rng, plan, [interval + inside, restart + interval + inside])


def _in_the_restart(rng: Random) -> Case:
    plan = _, interval, _, restart = _plan(rng)
    gaps = [rng.randint(1, int(4 * restart) - 1) / 4 for _ in range(rng.randint(1, 3))]
    return _given(rng, plan, [rng.randint(4, int(4 * interval)) / 4, *gaps, 1000.0, 1.0])


def _at_the_end(rng: Random) -> Case:
    """Exactly at the end of a checkpoint, perhaps the last one."""
    plan = work, interval, checkpoint, restart = _plan(rng, rest=False)
    whole = interval + checkpoint
    segments = round(work / interval)
    return _given(rng, plan, rng.choice(([whole * segments], [2 * whole], [whole, restart + whole])))


def _quiet_ones(rng: Random) -> list[Case]:
    """Whole segments whose quotient is rounded up, an interval that never ends, and an infinite gap."""
    hundredths, count = 1, 1
    while (count * hundredths / 100) / (hundredths / 100) <= count:
        hundredths, count = rng.randint(300, 9000), rng.randint(3, 9)
    whole = _given(rng, (count * hundredths / 100, hundredths / 100, 2.5, 10.0), [])
    long = _given(rng, (900.0 * rng.randint(1, 8), 1e13, 2.5, 10.0), [])
    plan = _plan(rng)
    return [whole, long, _given(rng, plan, [plan[1] / 2, inf])]


def _quiet(rng: Random) -> Case:
    """No failures, or one short segment."""
    interval = rng.randint(40, 400) / 4
    return _given(rng, (rng.choice((interval / 2, 2.5 * interval)), interval, 2.5, rng.choice((0, 10.0))), [])


def _never_needed(rng: Random) -> Case:
    """The run is over long before the last gap, which is none."""
    plan = _plan(rng)
    gaps = _gaps(rng, 1.5 * (plan[1] + plan[2]), rng.randint(1, 3))
    return Case((*plan, Iterator((*gaps, 1e6, rng.choice((0.0, -1.0))))))


def _never_ending(rng: Random) -> Case:
    """The same with more gaps, any of which would do."""
    plan = _plan(rng)
    gaps = _gaps(rng, 1.5 * (plan[1] + plan[2]), rng.randint(1, 3))
    return Case((*plan, Iterator((*gaps, 1e6, *_gaps(rng, 99.0, 40)))))


def run_by_events(work, interval, checkpoint_time, restart_time, failure_gaps):
    """By the clock: the times of failures, and of what would end next."""
    gaps = iter(failure_gaps)

    def following(now):
        gap = next(gaps, math.inf)
        return now + gap

    clock, lost, restart, failures = 0.0, 0.0, 0.0, 0
    strike = following(clock)
    left = [interval] * (max(1, math.ceil(work / interval - 1e-9)) - 1)
    left.append(work - interval * len(left))
    count = len(left)
    while left or strike == clock:
        if strike == clock:
            failures += 1
            strike = following(clock)
            ready = min(strike, clock + restart_time)
            restart += ready - clock
            clock = ready
            continue
        end = clock + left[0] + checkpoint_time
        if strike < end:
            lost += strike - clock
            clock = strike
        else:
            clock = end
            left.pop(0)
    parts = {"useful": work, "checkpoint": count * checkpoint_time, "lost": lost, "restart": restart}
    return {"wall": clock, **parts, "failures": failures}


EXERCISE = Build(
    "cap failing_runs.simulate_run",
    section="15.22",
    topic="a run with failures",
    bonus=True,
    probe="cap.failing",
    cases=(
        Case((100, 30, 5, 10, [])),
        Case((100, 30, 5, 10, [50])),
        Case((100, 30, 5, 10, [35, 3, 100])),
        Case((100, 30, 5, 10, [20, 4, 4, 60])),
        Case((60, 30, 5, 0, [33, 33])),
        Case((10, 100, 5, 1, [14, 1000])),
        Case((100, 50, 5, 10, [110])),
        Case((100, 30, 5, 10, Iterator((50.0, 1000.0, -1.0)))),  # the run is over before the last gap is needed
    ),
    groups=(
        Group(
            "failures",
            _failing,
            8,
            "Follow the clock from failure to failure; the four parts add up to it.",
            _one_by_one,
        ),
        Group("in a checkpoint", _in_the_checkpoint, 3, "A segment is safe once its checkpoint is finished."),
        Group("in a restart", _in_the_restart, 4, "A failure in a restart begins the restart anew."),
        Group("at an end", _at_the_end, 4, "A failure at the very end of a checkpoint loses nothing, and restarts."),
        listed(
            "gaps to spare",
            lambda rng: [_never_needed(rng), _never_needed(rng), _never_ending(rng), _never_ending(rng)],
            "Take a gap when it is needed and none before: they may never end.",
        ),
        Group(
            "no failure",
            _quiet,
            6,
            "Segments and checkpoints alone. There are ceil(work / interval - 1e-9) segments, at least one.",
            _quiet_ones,
        ),
    ),
    slips=(
        Slip(
            "You stop the clock during a restart, but failures strike then, too.",
            edit=(
                '                spent["restart"] += min(left, restart_time)\n'
                "                left -= min(left, restart_time)",
                '                spent["restart"] += restart_time',
            ),
        ),
        Slip(
            "A failure in the checkpoint loses the segment: it is safe only when the checkpoint is.",
            edits=(
                ("saved = left >= useful + checkpoint_time", "saved = left >= useful"),
                (
                    '                spent["checkpoint"] += checkpoint_time\n'
                    "                left -= useful + checkpoint_time",
                    '                spent["checkpoint"] += min(left - useful, checkpoint_time)\n'
                    "                left -= min(left, useful + checkpoint_time)",
                ),
            ),
        ),
        Slip(
            "Each gap counts from the last failure; you read them as times since the start.",
            edit=(
                "failures, left = failures + 1, _next_gap(gaps)",
                "failures, left = failures + 1, max(0.0, _next_gap(gaps) - sum(spent.values()))",
            ),
        ),
        Slip(
            "A gap runs on over the end of a segment; you take a new one for each segment.",
            edit=(
                "        saved = False\n        while not saved:",
                "        left = left if segment == 0 else _next_gap(gaps)\n        saved = False\n        while "
                "not saved:",
            ),
        ),
        Slip(
            "The last segment is saved, too.",
            edit=(
                "    for segment in range(segments):\n",
                "    for segment in range(segments):\n"
                "        checkpoint_time = checkpoint_time if segment < segments - 1 else 0.0\n",
            ),
        ),
        Slip(
            "A failure exactly at the end of a checkpoint loses nothing.",
            edit=("saved = left >= useful + checkpoint_time", "saved = left > useful + checkpoint_time"),
        ),
        Slip(
            "The last segment may be shorter than the interval.",
            edit=("interval if segment < segments - 1 else work - (segments - 1) * interval", "interval"),
        ),
        Slip(
            "All gaps are read before the run begins: they may never end, so take each when it is needed.",
            edit=("iter(failure_gaps)", "iter([_next_gap([gap]) for gap in failure_gaps])"),
        ),
    ),
    rights=(
        Right("by the clock", program=run_by_events),
        Right(
            "the lost time found from the wall-clock",
            edit=(
                'spent["useful"] += useful\n',
                'spent["useful"] = work if segment == segments - 1 else spent["useful"] + useful\n',
            ),
        ),
    ),
    promises=(
        Promise(
            "A failure exactly at that end loses nothing",
            edit=("saved = left >= useful + checkpoint_time", "saved = left > useful + checkpoint_time"),
        ),
        Promise(
            "A failure exactly at that end loses nothing, but the job restarts all the same, "
            "also after the last segment.",
            edit=("while left == 0:", "while left == 0 and (segment < segments - 1 or not saved):"),
        ),
        Promise(
            "seconds to the first failure, then from each failure to the next, in wall-clock, "
            "whatever the job is doing",
            edit=(
                (
                    '                spent["restart"] += min(left, restart_time)\n'
                    "                left -= min(left, restart_time)"
                ),
                '                spent["restart"] += restart_time',
            ),
        ),
        Promise(
            "then from each failure to the next",
            edit=(
                ("        saved = False\n        while not saved:"),
                (
                    "        left = left if segment == 0 else _next_gap(gaps)\n"
                    "        saved = False\n"
                    "        while not saved:"
                ),
            ),
        ),
        Promise(
            "They may never end: take one at a time, and none before it is needed.",
            edit=("gaps = iter(failure_gaps)", "gaps = iter(list(failure_gaps))"),
        ),
        Promise(
            "an infinite one if no failure follows",
            edit=(
                "gap = next(iter(gaps), math.inf)\n    checks.require(gap > 0,",
                "gap = next(iter(gaps), None)\n    if gap is None:\n        return math.inf\n"
                "    checks.require(0 < gap < math.inf,",
            ),
        ),
        Promise(
            "``wall``, the seconds until the last checkpoint is safe and no restart is left to do, and its four parts "
            "``useful`` (equal to ``work``), ``checkpoint`` (only those that were finished)",
            edit=(
                '                spent["lost"] += left\n',
                '                spent["lost"] += min(left, useful)\n'
                '                spent["checkpoint"] += max(0.0, left - useful)\n',
            ),
        ),
        Promise("``ceil(work / interval - 1e-9)`` of them, at least one", edit=(" - 1e-9))", "))")),
        Promise("of them, at least one", edit=("max(1, math.ceil(", "max(0, math.ceil(")),
        Promise(
            "the last one perhaps shorter",
            edit=("interval if segment < segments - 1 else work - (segments - 1) * interval", "interval"),
        ),
        Promise(
            "then saved, the last one too",
            edit=(
                "    for segment in range(segments):\n",
                (
                    "    for segment in range(segments):\n"
                    "        checkpoint_time = checkpoint_time if segment < segments - 1 else 0.0\n"
                ),
            ),
        ),
        Promise(
            "A failure during a restart begins the restart again",
            edits=(
                ("            while left == 0:", "            rest = restart_time\n            while left == 0:"),
                (
                    "min(left, restart_time)\n                left -= min(left, restart_time)",
                    "min(left, rest)\n                left, rest = left - min(left, rest), rest - min(left, rest)",
                ),
            ),
        ),
    ),
)
