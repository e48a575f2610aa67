"""The capstone: shares of a table, a saver and a resume to mend."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip

# --- debug_shares


def wrong_shares(counts, planned=()):
    total = sum(counts.values())
    return {cause: 100 * count / total for cause, count in counts.items() if cause not in planned}


def slip_planned_listed(counts, planned=()):
    total = sum(count for cause, count in counts.items() if cause not in planned)
    return {cause: 100 * count / total for cause, count in counts.items()}


def slip_rounded_shares(counts, planned=()):
    total = sum(count for cause, count in counts.items() if cause not in planned)
    return {cause: round(100 * count / total, 1) for cause, count in counts.items() if cause not in planned}


def slip_plain_fractions(counts, planned=()):
    total = sum(count for cause, count in counts.items() if cause not in planned)
    return {cause: count / total for cause, count in counts.items() if cause not in planned}


CAUSES = ("faulty GPU", "GPU memory", "software", "network", "host", "storage", "power", "unknown")


def _log_of_causes(rng: Random) -> Case:
    counts = {cause: rng.randint(3, 150) for cause in rng.sample(CAUSES, rng.randint(4, 8))}
    return Case(
        (counts | {"maintenance": rng.randint(9, 60), "upgrade": rng.randint(3, 20)}, ["maintenance", "upgrade"])
    )


def _all_unexpected(rng: Random) -> Case:
    return Case(({cause: rng.randint(1, 150) for cause in rng.sample(CAUSES, rng.randint(1, 5))},))


DEBUG_SHARES = Debug(
    id="cap-debug-shares",
    module="run_plan",
    function="debug_shares",
    grade="call",
    section="15.10",
    topic="shares of a table",
    cases=(
        # Llama 3.1 405B: 148 of 419 unexpected interruptions were faulty GPUs; 47 of 466 were planned
        Case(({"faulty GPU": 148, "GPU memory": 72, "others": 199, "planned": 47}, ["planned"])),
        Case(({"software": 3, "network": 1},)),
    ),
    groups=(
        Group("some planned", _log_of_causes, 5, "Planned interruptions count neither above nor below the line."),
        Group("none planned", _all_unexpected, 3, "Without planned ones the shares are of all; nothing is rounded."),
    ),
    slips=(
        Slip("The planned interruptions are still in the total.", wrong_shares),
        Slip("The planned interruptions are still in the list.", slip_planned_listed),
        Slip("Rounded shares need not sum to 100: leave rounding to the printing.", slip_rounded_shares),
        Slip("Those are fractions; per cent were asked for.", slip_plain_fractions),
    ),
    wrong=wrong_shares,
)

# --- debug_atomic


def wrong_saver(disk, name, data):
    disk.write(name, data)


def slip_in_place_synced(disk, name, data):
    disk.write(name, data)
    disk.sync(name)


def slip_delete_first(disk, name, data):
    import contextlib

    with contextlib.suppress(FileNotFoundError):
        disk.remove(name)
    disk.write(name + ".part", data)
    disk.sync(name + ".part")
    disk.rename(name + ".part", name)


def slip_delete_late(disk, name, data):
    disk.write(name + ".part", data)
    disk.sync(name + ".part")
    disk.remove(name)
    disk.rename(name + ".part", name)


def slip_not_synced(disk, name, data):
    disk.write(name + ".part", data)
    disk.rename(name + ".part", name)


def slip_synced_late(disk, name, data):
    disk.write(name + ".part", data)
    disk.rename(name + ".part", name)
    disk.sync(name)


def slip_copied(disk, name, data):
    disk.write(name + ".part", data)
    disk.sync(name + ".part")
    disk.write(name, data)
    disk.sync(name)
    disk.remove(name + ".part")


def slip_never_renamed(disk, name, data):
    disk.write(name + ".part", data)
    disk.sync(name + ".part")


def _next_save(rng: Random) -> Case:
    step = rng.randint(2, 900)
    return Case(({"latest.pt": f"step {step}"}, "latest.pt", f"step {step + rng.randint(1, 99)}"))


def _first_save(rng: Random) -> Case:
    return Case(({}, rng.choice(("latest.pt", "model.pt")), f"step {rng.randint(1, 99)}"))


DEBUG_ATOMIC = Debug(
    id="cap-debug-atomic",
    module="crash_safe",
    function="debug_atomic",
    grade="call",
    section="15.14",
    topic="a checkpoint that survives a crash",
    probe="cap.crashed",
    cases=(Case(({"latest.pt": "step 10"}, "latest.pt", "step 20")), Case(({}, "latest.pt", "step 10"))),
    groups=(
        Group("the next save", _next_save, 3, "At any moment a whole checkpoint stands under the name."),
        Group("the first save", _first_save, 2, "Nothing stands there yet: then nothing, or a whole one."),
    ),
    slips=(
        Slip(
            "It is still written in place: a crash in the middle leaves neither the old one nor the new.", wrong_saver
        ),
        Slip("In place and synced: it is safe in the end, but not in the middle.", slip_in_place_synced),
        Slip("The old one was deleted first: a crash then leaves nothing.", slip_delete_first),
        Slip(
            "The old one was deleted before the rename, which replaces it: a crash between leaves none.",
            slip_delete_late,
        ),
        Slip("Sync before you rename: a name may reach the disk before the data does.", slip_not_synced),
        Slip("The sync comes too late: between rename and sync a part may stand under the name.", slip_synced_late),
        Slip("A copy over the old one is a write in place again: rename.", slip_copied),
        Slip("The new one never gets its name.", slip_never_renamed),
    ),
    wrong=wrong_saver,
)

# --- debug_resume


def wrong_resume(fresh, saved):
    state = dict(fresh)
    for name in ("step", "weights", "optimizer"):
        state[name] = saved[name]
    return state


def slip_sampler_starts_over(fresh, saved):
    return {**saved, "sampler": fresh["sampler"]}


def slip_rng_starts_over(fresh, saved):
    return {**saved, "rng": fresh["rng"]}


def slip_seeded_with_step(fresh, saved):
    return {**saved, "rng": {"seed": saved["step"], "drawn": 0}}


def slip_scaler_starts_over(fresh, saved):
    return {**saved, "scaler": fresh["scaler"]}


def slip_momentum_starts_over(fresh, saved):
    return {**saved, "optimizer": fresh["optimizer"]}


def slip_start_again(fresh, saved):
    return fresh


def _killed(rng: Random) -> Case:
    every = rng.randint(5, 9)
    kill_at = every * rng.randint(2, 3) + rng.randint(0, every - 1)
    return Case((rng.randint(1, 999), rng.randint(23, 31), 48, every, kill_at))


DEBUG_RESUME = Debug(
    id="cap-debug-resume",
    module="crash_safe",
    function="debug_resume",
    grade="call",
    section="15.14",
    topic="what a checkpoint holds",
    probe="cap.killed",
    cases=(Case((7, 29, 40, 8, 21)), Case((1, 29, 40, 5, 12))),
    groups=(Group("killed jobs", _killed, 6, "Whatever changes from step to step must be restored."),),
    slips=(
        Slip("Sampler, random generator and loss scale still start over.", wrong_resume),
        Slip("The sampler starts over: the job sees examples again.", slip_sampler_starts_over),
        Slip("The random generator starts over: the noise repeats.", slip_rng_starts_over),
        Slip(
            "A seed made of the step is reproducible, but it is not the stream that was cut off.", slip_seeded_with_step
        ),
        Slip("The loss scale starts over: the first steps overflow and are skipped again.", slip_scaler_starts_over),
        Slip("The momentum starts over.", slip_momentum_starts_over),
        Slip("Nothing is restored: the job begins again.", slip_start_again),
    ),
    wrong=wrong_resume,
)
