"""Wrong versions of ``best_placement``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_unscaled(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_halves(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in [gpus // 2 // rollout_tp * rollout_tp] * (gpus // 2 >= rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_divided_tail(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, (max(generate_work, tail) / gpus) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail / g, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_memory_in_total(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    found = []
    if gpus % rollout_tp == 0 and train_bytes + rollout_bytes + reserve <= gpus * gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if train_bytes + rollout_bytes + reserve <= gpus * gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_pools_in_turn(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail) + train_work / (gpus - g)
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_no_reserve_in_training(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g), copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_any_pool(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(1, gpus):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_two_pools_first(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found[::-1], key=lambda one: one.iteration_time, default=None)


def slip_two_pools_only(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    if min(gpus, rollout_tp) < 1 or gpu_memory <= 0 or min(generate_work, train_work, tail, train_bytes, reserve) < 0:
        raise ValueError("out of range")
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)


def slip_unchecked(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=float("inf"),
    reserve=0.0,
):
    from dataclasses import make_dataclass

    gpus, rollout_tp = max(1, gpus), max(1, rollout_tp)
    place = make_dataclass("Placement", ["kind", "rollout_gpus", "train_gpus", "iteration_time"])
    copy, found = rollout_bytes / rollout_tp + reserve, []
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= gpu_memory:
        found.append(place("colocated", gpus, gpus, max(generate_work / gpus, tail) + train_work / gpus))
    for g in range(rollout_tp, gpus, rollout_tp):
        if max(train_bytes / (gpus - g) + reserve, copy) <= gpu_memory:
            seconds = max(generate_work / g, tail, train_work / (gpus - g))
            found.append(place("disaggregated", g, gpus - g, seconds))
    return min(found, key=lambda one: one.iteration_time, default=None)
