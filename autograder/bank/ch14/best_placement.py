"""Chapter 14: ``best_placement``, placement."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

#: Llama 3 70B: states of two trained models and two frozen ones, and a rollout copy over 8 GPUs of 80 GB.
LLAMA = {
    "train_bytes": 36 * LLAMA3_70B.parameters,
    "rollout_bytes": 2 * LLAMA3_70B.parameters,
    "rollout_tp": 8,
    "gpu_memory": 80 * GB,
    "reserve": 20 * GB,
}

FREE = LLAMA | {"reserve": 0.0}


def _work(rng: Random, gpus: int, least: float = 40, most: float = 90) -> tuple[float, float]:
    """GPU-seconds of generating and training: so many seconds on all GPUs."""
    return tuple(round(gpus * rng.uniform(least, most), 1) for _ in range(2))  # type: ignore[return-value]


BARRIER = {"barrier": True}


def _no_tail(rng: Random) -> Case:
    gpus = rng.randint(2, 128)
    return Case((gpus, *_work(rng, gpus)))


def _tail(rng: Random) -> Case:
    """A barrier, and a tail so long that two pools may win, or not."""
    gpus = rng.randint(16, 128)
    generate, train = _work(rng, gpus)
    return Case((gpus, generate, train, round(generate / gpus * rng.uniform(0.8, 2.5), 1)), BARRIER)


def _no_barrier(rng: Random) -> Case:
    """A tail longer than any update."""
    gpus = rng.randint(16, 128)
    generate, train = _work(rng, gpus)
    return Case((gpus, generate, train, round((generate + train) / gpus * rng.uniform(1.2, 2.5), 1)))


def _floor(rng: Random) -> Case:
    """Most of the time of generation is a floor: a small rollout pool is nearly as fast as a large one."""
    gpus = rng.randint(16, 128)
    _, train = _work(rng, gpus)
    floor = round(train / gpus * rng.uniform(0.8, 1.6), 1)
    work = round(gpus * rng.uniform(5, 15), 1)
    return Case((gpus, work, train), {"generate_floor": floor})


def _long_tail(rng: Random) -> Case:
    """Several pools are equally fast: the tail decides."""
    gpus = rng.randint(16, 96)
    generate, train = _work(rng, gpus, 20, 40)
    return Case((gpus, generate, train, 120.0), BARRIER)


def _memory(rng: Random) -> Case:
    """States, copies and the reserve; with the tail, two pools would win if there were room."""
    gpus, tp = 8 * rng.randint(4, 12), rng.choice((2, 4, 8))
    memory, reserve = 80 * GB, rng.choice((10, 15, 20)) * GB
    copy = rng.uniform(0.2, 0.6) * (memory - reserve) * tp
    states = rng.uniform(0.3, 0.75) * (memory - reserve) * gpus
    sizes = {"train_bytes": round(states), "rollout_bytes": round(copy), "rollout_tp": tp}
    tail = rng.choice((0.0, 150.0))
    return Case((gpus, *_work(rng, gpus), tail), sizes | {"gpu_memory": memory, "reserve": reserve} | BARRIER)


def _tight(rng: Random) -> Case:
    """The fastest pools fit without the reserve, and not with it."""
    rollout, train = 8 * rng.randint(3, 5), 8 * rng.randint(4, 6)
    states = round(rng.uniform(69, 78) * GB * train)
    sizes = {"train_bytes": states, "rollout_bytes": 80 * GB, "rollout_tp": 8}
    work = 190.0 * rollout, rng.uniform(150, 189) * train
    return Case((rollout + train, *work, 150.0), sizes | {"gpu_memory": 80 * GB, "reserve": 15 * GB} | BARRIER)


def _large_copy(rng: Random) -> Case:
    """The rollout copy alone is too large for a GPU, or leaves no room for the states."""
    gpus, tp = 8 * rng.randint(3, 8), rng.choice((2, 4))
    share = rng.choice((62, 75)) * GB
    sizes = {"train_bytes": gpus * 10 * GB, "rollout_bytes": share * tp, "rollout_tp": tp}
    return Case((gpus, *_work(rng, gpus)), sizes | {"gpu_memory": 80 * GB, "reserve": 15 * GB})


def _to_the_last_byte(rng: Random) -> list[Case]:
    """What fills the memory of a GPU to the last byte fits: all three on one, the states, the copy."""
    train, tp = 8 * rng.randint(2, 6), rng.choice((2, 4))
    both = {"train_bytes": 2 * train * 40 * GB, "rollout_bytes": 25 * GB * tp, "rollout_tp": tp}
    states = {"train_bytes": train * 65 * GB, "rollout_bytes": 65 * GB * tp, "rollout_tp": tp}
    room = {"gpu_memory": 80 * GB, "reserve": 15 * GB}
    return [
        Case((2 * train, *_work(rng, 2 * train)), both | room),
        Case((train + tp, *_work(rng, train + tp)), states | room),
    ]


def _odd(rng: Random) -> Case:
    """A number of GPUs that is not a multiple of the tensor parallelism."""
    tp = rng.choice((4, 8))
    gpus = tp * rng.randint(2, 9) + rng.randint(1, tp - 1)
    return Case((gpus, *_work(rng, gpus)), {"rollout_tp": tp})


def placement_by_a_loop(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=math.inf,
    reserve=0.0,
    generate_floor=0.0,
    barrier=False,
):
    """The best so far is kept; bytes are compared in sum."""
    from solutions.ch14 import rlhf_schedule
    from solutions.ch14.rlhf_schedule import Placement

    rlhf_schedule.best_placement(
        gpus,
        generate_work,
        train_work,
        tail,
        train_bytes,
        rollout_bytes,
        rollout_tp,
        gpu_memory,
        reserve,
        generate_floor,
    )
    copy, best = rollout_bytes / rollout_tp, None
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy + reserve <= gpu_memory:
        best = Placement("colocated", gpus, gpus, train_work / gpus + max(tail, generate_work / gpus + generate_floor))
    for pools in range(1, gpus):
        rollout, train = pools, gpus - pools
        if rollout % rollout_tp or copy + reserve > gpu_memory or train_bytes / train + reserve > gpu_memory:
            continue
        seconds = max(tail * barrier, train_work / train, generate_work / rollout + generate_floor)
        if best is None or seconds < best.iteration_time:
            best = Placement("disaggregated", rollout, train, float(seconds))
    return best


EXERCISE = Build(
    "14 rlhf_schedule.best_placement",
    section="14.21",
    bonus=True,
    topic="placement",
    cases=(
        Case((100, 6000, 3500)),
        Case((100, 6000, 3500, 60)),
        Case((100, 6000, 3500, 100)),
        Case((100, 6000, 3500, 100), BARRIER),
        Case((256, 1717, 6053), {"generate_floor": 43.1}),
        Case((64, 3840, 3840), LLAMA),
        Case((64, 3840, 3840, 90), FREE),
        Case((64, 3840, 3840, 90), LLAMA | BARRIER),
        Case((40, 3840, 3840), FREE),
        Case((32, 3840, 3840), FREE),
    ),
    groups=(
        Group("tails", _tail, 6, "Compare all GPUs in turn with every split into two pools."),
        Group("no barrier", _no_barrier, 3, "Without a barrier the longest response delays no update of two pools."),
        Group("floors", _floor, 3, "Generation has a floor, in turn and in a pool, that no number of GPUs shortens."),
        Group("no tail", _no_tail, 3, "With perfect scaling and no tail, two pools are never faster."),
        Group("long tails", _long_tail, 3, "Where the tail decides, several splits are equally fast: mind the ties."),
        Group("memory", _memory, 5, "Every GPU of every pool must hold its share and the reserve."),
        Group(
            "a tight fit",
            _tight,
            5,
            "Training needs the reserve, too; what fills a GPU to the last byte fits.",
            _to_the_last_byte,
        ),
        Group(
            "large copies", _large_copy, 3, "A rollout GPU holds its slice of the copy, a colocated one states as well."
        ),
        Group("odd counts", _odd, 3, "A rollout pool holds whole copies."),
    ),
    slips=(
        Slip(
            "Generation is shared by the GPUs that generate: divide its work by them.",
            edits=(
                ("generate_floor + generate_work / gpus, tail)", "generate_floor + generate_work, tail)"),
                ("generate_floor + generate_work / rollout, wait", "generate_floor + generate_work, wait"),
            ),
        ),
        Slip(
            "The pools need not be equal: try every split.",
            edit=(
                "range(rollout_tp, gpus, rollout_tp)",
                "[gpus // 2 // rollout_tp * rollout_tp] * (gpus // 2 >= rollout_tp)",
            ),
        ),
        Slip(
            "The longest response cannot be split: the tail stays as it is.",
            edits=(
                ("generate_work / gpus, tail)", "generate_work / gpus, tail / gpus)"),
                ("generate_work / rollout, wait,", "generate_work / rollout, wait / rollout,"),
            ),
        ),
        Slip(
            "Memory counts on each GPU, not in total.",
            edits=(
                ("train_bytes / gpus + copy <= room", "train_bytes + rollout_bytes + reserve <= gpus * gpu_memory"),
                (
                    "train_bytes / train <= room and copy <= room",
                    "train_bytes + rollout_bytes + reserve <= gpus * gpu_memory",
                ),
            ),
        ),
        Slip(
            "Two pools work side by side: the slower one sets the time.",
            edit=(
                "max(generate_floor + generate_work / rollout, wait, train_work / train)",
                "max(generate_floor + generate_work / rollout, wait) + train_work / train",
            ),
        ),
        Slip(
            "Without a barrier a pool goes on while the longest response is written: the tail delays no update.",
            edit=("wait = tail if barrier else 0.0", "wait = tail"),
        ),
        Slip(
            "With a barrier the pool waits for the longest response before it begins the next batch.",
            edit=("wait = tail if barrier else 0.0", "wait = 0.0"),
        ),
        Slip(
            "The floor is not shared: more GPUs read the weights as often for each token.",
            edits=(
                ("generate_floor + generate_work / gpus", "(generate_floor + generate_work) / gpus"),
                ("generate_floor + generate_work / rollout", "(generate_floor + generate_work) / rollout"),
            ),
        ),
        Slip(
            "The rollout pool has the floor, too: generation takes floor and work, wherever it runs.",
            edit=("generate_floor + generate_work / rollout", "generate_work / rollout"),
        ),
        Slip(
            "A training GPU keeps the reserve free, too: activations need room.",
            edit=("train_bytes / train <= room", "train_bytes / train <= gpu_memory"),
        ),
        Slip(
            "A rollout pool holds whole copies: a multiple of rollout_tp GPUs.",
            edits=(
                ("if gpus % rollout_tp == 0 and train_bytes", "if train_bytes"),
                ("range(rollout_tp, gpus, rollout_tp)", "range(1, gpus)"),
            ),
        ),
        Slip(
            "Of equally fast placements the colocated one is asked for, then the smaller rollout pool.",
            edit=("min(found, key", "min(found[::-1], key"),
        ),
        Slip(
            "All GPUs may do both, one after the other.",
            edit=("if gpus % rollout_tp == 0 and train_bytes / gpus + copy <= room:", "if False:"),
        ),
    ),
    rights=(
        Right("a loop that keeps the best", program=placement_by_a_loop),
        Right(
            "sorted by time, then by kind",
            edit=(
                "min(found, key=lambda one: one.iteration_time, default=None)",
                "next(iter(sorted(found, key=lambda one: (one.iteration_time, one.kind, one.rollout_gpus))), None)",
            ),
        ),
    ),
    promises=(
        Promise("one copy of the rollout weights, split over", edit=("rollout_bytes / rollout_tp", "rollout_bytes")),
        Promise(
            "GPUs that hold one copy of the rollout weights",
            edit=("range(rollout_tp, gpus, rollout_tp)", "range(1, gpus)"),
        ),
        Promise("may be infinite", edit=("gpu_memory > 0,", "0 < gpu_memory < math.inf,")),
        Promise("of equally fast ones the colocated", edit=("min(found,", "min(found[::-1],")),
        Promise("None if nothing fits", edit=("default=None)", "default=Placement('colocated', gpus, gpus, 0.0))")),
    ),
)
