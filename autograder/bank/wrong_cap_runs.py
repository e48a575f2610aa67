"""Wrong programs for ``simulate_run``: each gets one rule wrong, is right in everything else and complete in itself."""

# mypy: ignore-errors

from __future__ import annotations

from autograder.items import Slip


def clock_stops(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, lost, failures = iter(failure_gaps), 0.0, 0
    left, count = next(gaps, inf), ceil(work / interval - 1e-9)
    for segment in range(count):
        length = (interval if segment < count - 1 else work - segment * interval) + checkpoint_time
        while left < length:
            lost, failures, left = lost + left, failures + 1, next(gaps, inf)
            if not left > 0:
                raise ValueError("out of range")
        left -= length
        if left == 0:
            failures, left = failures + 1, next(gaps, inf)
    parts = {"useful": work, "checkpoint": count * checkpoint_time, "lost": lost, "restart": failures * restart_time}
    return {"wall": sum(parts.values()), **parts, "failures": failures}


def checkpoint_is_safe(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": work, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        kept = False
        while not kept:
            kept = left >= useful
            used = min(left, useful + checkpoint_time)
            spent["checkpoint" if kept else "lost"] += used - useful if kept else used
            left -= used
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                if not left > 0:
                    raise ValueError("out of range")
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
    return {"wall": sum(spent.values()), **spent, "failures": failures}


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


def drawn_again(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent = {"useful": work, "checkpoint": count * checkpoint_time, "lost": 0.0, "restart": 0.0}
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        left = next(gaps, inf)
        if not left > 0:
            raise ValueError("out of range")
        while left <= useful + checkpoint_time:
            spent["lost"] += left if left < useful + checkpoint_time else 0.0
            done, left = left == useful + checkpoint_time, 0.0
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                if not left > 0:
                    raise ValueError("out of range")
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
            if done:
                break
    return {"wall": sum(spent.values()), **spent, "failures": failures}


def last_not_saved(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": work, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for segment in range(count):
        last = segment == count - 1
        useful, stall = (work - segment * interval, 0.0) if last else (interval, checkpoint_time)
        saved = False
        while not saved:
            saved = left >= useful + stall
            spent["checkpoint" if saved else "lost"] += stall if saved else left
            left -= useful + stall if saved else left
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                if not left > 0:
                    raise ValueError("out of range")
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
    return {"wall": sum(spent.values()), **spent, "failures": failures}


def end_loses(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": work, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for segment in range(count):
        useful = interval if segment < count - 1 else work - segment * interval
        saved = False
        while not saved:
            saved = left > useful + checkpoint_time
            spent["checkpoint" if saved else "lost"] += checkpoint_time if saved else left
            left -= useful + checkpoint_time if saved else left
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                if not left > 0:
                    raise ValueError("out of range")
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
    return {"wall": sum(spent.values()), **spent, "failures": failures}


def whole_last_segment(work, interval, checkpoint_time, restart_time, failure_gaps):
    from math import ceil, inf

    if not (0 < work < inf and 0 < interval < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    gaps, failures, count = iter(failure_gaps), 0, ceil(work / interval - 1e-9)
    spent, left = {"useful": 0.0, "checkpoint": 0.0, "lost": 0.0, "restart": 0.0}, next(gaps, inf)
    for _ in range(count):
        saved = False
        while not saved:
            saved = left >= interval + checkpoint_time
            spent["useful"] += interval if saved else 0.0
            spent["checkpoint" if saved else "lost"] += checkpoint_time if saved else left
            left -= interval + checkpoint_time if saved else left
            while left == 0:
                failures, left = failures + 1, next(gaps, inf)
                if not left > 0:
                    raise ValueError("out of range")
                spent["restart"] += min(left, restart_time)
                left -= min(left, restart_time)
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
    Slip("The clock stands still during a restart: failures strike then, too.", clock_stops),
    Slip("A failure in the checkpoint loses the segment: it is safe only when the checkpoint is.", checkpoint_is_safe),
    Slip("Each gap counts from the last failure; you read them as times since the start.", absolute_times),
    Slip("A gap runs on over the end of a segment; you take a new one for each segment.", drawn_again),
    Slip("The last segment is saved, too.", last_not_saved),
    Slip("A failure exactly at the end of a checkpoint loses nothing.", end_loses),
    Slip("The last segment may be shorter than the interval.", whole_last_segment),
    Slip(
        "All gaps are read before the run begins: they may never end, so take each when it is needed.", all_gaps_first
    ),
    Slip("Impossible arguments were accepted.", run_unchecked),
)
