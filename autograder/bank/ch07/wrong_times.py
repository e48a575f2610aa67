"""Players of ``simulate_schedule`` that get one rule wrong, each complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated,index"

from __future__ import annotations


def slip_any_order(orders, durations, transfer_time=0.0):
    import re

    ops = [[re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", op) for op in order] for order in orders]
    if not all(op for order in ops for op in order) or len({op for o in orders for op in o}) < sum(map(len, orders)):
        raise ValueError("an operation")
    if not all(0 <= value < float("inf") for value in (transfer_time, *durations.values())):
        raise ValueError("a time")
    todo = [[(int(op[1]), op[2], int(op[3])) for op in order] for order in ops]
    home = {op: rank for rank, order in enumerate(todo) for op in order}
    last = max((op[0] for op in home), default=-1)
    numbers = range(1 + max((op[2] for op in home), default=-1))
    kinds = {"".join(k for k in "FBIW" if (s, k, i) in home) for s in range(last + 1) for i in numbers}
    if not (kinds <= {"FB", "FIW"} or kinds == {"F"}):
        raise ValueError("an operation is missing")
    if any(f"{s}{kind}" not in durations and kind not in durations for s, kind, _ in home):
        raise ValueError("a duration is missing")
    clock, end, times = [0.0] * len(todo), {}, {}
    while any(todo):
        free = []
        for rank, order in enumerate(todo):
            for place, (s, kind, i) in enumerate(order):
                needs = [(s - 1, "F", i)] * (s > 0) if kind == "F" else [(s, "I" if kind == "W" else "F", i)]
                if kind in "BI" and s < last:
                    needs.append((s + 1, "B", i) if (s + 1, "B", i) in home else (s + 1, "I", i))
                if all(need in end for need in needs):
                    arrivals = [end[need] + transfer_time * (home[need] != rank) for need in needs]
                    free.append((max([clock[rank], *arrivals]), rank, place))
        start, rank, place = min(free)
        s, kind, i = todo[rank].pop(place)
        end[s, kind, i] = clock[rank] = start + durations.get(f"{s}{kind}", durations.get(kind, 0.0))
        times[f"{s}{kind}{i}"] = (start, end[s, kind, i])
    return times


def slip_any_list(orders, durations, transfer_time=0.0):
    import re

    ops = [[re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", op) for op in order] for order in orders]
    ops = [[op for op in order if op] for order in ops]
    todo = [[(int(op[1]), op[2], int(op[3])) for op in order] for order in ops]
    home = {op: rank for rank, order in enumerate(todo) for op in order}
    last = max((op[0] for op in home), default=-1)
    clock, end, times = [0.0] * len(todo), {}, {}
    moved = True
    while moved:
        moved = False
        for rank, order in enumerate(todo):
            while order:
                op = s, kind, i = order[0]
                needs = [(s - 1, "F", i)] * (s > 0) if kind == "F" else [(s, "I" if kind == "W" else "F", i)]
                if kind in "BI" and s < last:
                    needs.append((s + 1, "B", i) if (s + 1, "B", i) in home else (s + 1, "I", i))
                if not all(need in end for need in needs):
                    break
                arrivals = [end[need] + transfer_time * (home[need] != rank) for need in needs]
                start = max([clock[rank], *arrivals])
                end[op] = clock[rank] = start + durations.get(f"{s}{kind}", durations.get(kind, 0.0))
                times[f"{s}{kind}{i}"] = (start, end[op])
                moved = bool(order.pop(0))
    if any(todo):
        raise ValueError("deadlock")
    return times
