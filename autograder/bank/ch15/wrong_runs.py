"""Wrong programs for ``simulate_run``: each gets one rule wrong, is right in everything else and complete in itself."""

# mypy: ignore-errors

from __future__ import annotations

from autograder.items import Slip


def absolute_times(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    times, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, clock = {"useful": 0.0, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, 0.0
    strike = next(times, inf)
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        saved = False
        while not saved:
            end = clock + useful + checkpoint_time
            saved = strike >= end
            if saved:
                spent["useful"] += useful
                spent["checkpoint"] += checkpoint_time
                clock = end
            else:
                spent["lost"] += strike - clock
                clock = strike
            while strike <= clock:
                failures, last, strike = failures + 1, strike, next(times, inf)
                if not strike > 0:
                    raise ValueError("out of range")
                strike = max(strike, last)
                used = min(strike - clock, restart_time)
                spent["restart"] += used
                clock += used
                if strike > clock or strike == last:
                    break
    return {"wall": sum(spent.values()), **spent, "failures": failures}


def all_gaps_first(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    known = list(failure_gaps)
    if not all(gap > 0 for gap in known):
        raise ValueError("out of range")
    gaps, failures, count = iter(known), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": work, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        saved = False
        while not saved:
            saved = left >= useful + checkpoint_time
            spent["checkpoint" if saved else "lost"] += checkpoint_time if saved else left
            left -= useful + checkpoint_time if saved else left
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
    return {"wall": sum(spent.values()), **spent, "failures": failures}


def run_unchecked(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": work, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        saved = False
        while not saved:
            saved = not left < useful + checkpoint_time  # also when a time is nan: the loop ends
            spent["checkpoint" if saved else "lost"] += checkpoint_time if saved else left
            left -= useful + checkpoint_time if saved else left
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
    return {"wall": sum(spent.values()), **spent, "failures": failures}


SIMULATE_RUN = (
    Slip(
        "The clock stands still during a restart: failures strike then, too.",
        edit=(
            (
                '                spent["restart"] += min(left, restart_time)\n'
                "                left -= min(left, restart_time)"
            ),
            '                spent["restart"] += restart_time',
        ),
    ),
    Slip(
        "A failure in the checkpoint loses the segment: it is safe only when the checkpoint is.",
        edits=(
            ("saved = left >= useful + checkpoint_time", "saved = left >= useful"),
            (
                (
                    '                spent["checkpoint"] += checkpoint_time\n'
                    "                left -= useful + checkpoint_time"
                ),
                (
                    '                spent["checkpoint"] += min(left - useful, checkpoint_time)\n'
                    "                left -= min(left, useful + checkpoint_time)"
                ),
            ),
        ),
    ),
    Slip("Each gap counts from the last failure; you read them as times since the start.", absolute_times),
    Slip(
        "A gap runs on over the end of a segment; you take a new one for each segment.",
        edit=(
            "        saved = False\n        while not saved:",
            (
                "        left = left if segment == 0 else _next_gap(gaps)\n"
                "        saved = False\n"
                "        while not saved:"
            ),
        ),
    ),
    Slip(
        "The last segment is saved, too.",
        edit=(
            "    for segment in range(segments):\n",
            (
                "    for segment in range(segments):\n"
                "        checkpoint_time = checkpoint_time if segment < segments - 1 else 0.0\n"
            ),
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
        "All gaps are read before the run begins: they may never end, so take each when it is needed.", all_gaps_first
    ),
    Slip("Arguments outside their ranges were accepted, or raised another exception than ValueError.", run_unchecked),
)
