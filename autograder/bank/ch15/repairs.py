"""The capstone: shares of a table, a saver and a resume to fix."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip

# --- debug_shares


def wrong_shares(counts, planned=()):
    total = sum(counts.values())
    return {cause: 100 * count / total for cause, count in counts.items() if cause not in planned}


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
    section="15.19",
    bonus=True,
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
        Slip("The planned interruptions are still in the list.", edit=("unexpected.items", "counts.items")),
        Slip(
            "Rounded shares need not sum to 100: leave rounding to the printing.",
            edit=("100 * count / sum(unexpected.values())", "round(100 * count / sum(unexpected.values()), 1)"),
        ),
        Slip("Those are fractions; percentages were asked for.", edit=("100 * count / sum", "count / sum")),
    ),
    wrong=wrong_shares,
)

# --- debug_atomic


def wrong_saver(disk, name, data):
    disk.write(name, data)


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
    section="15.7",
    topic="a checkpoint that survives a crash",
    probe="cap.crashed",
    cases=(Case(({"latest.pt": "step 10"}, "latest.pt", "step 20")), Case(({}, "latest.pt", "step 10"))),
    groups=(
        Group("the next save", _next_save, 3, "At any moment there is a whole checkpoint under the name."),
        Group("the first save", _first_save, 2, "There is no checkpoint yet: a crash leaves none, or a whole one."),
    ),
    slips=(
        Slip(
            "It is still written in place: a crash in the middle leaves neither the old one nor the new.", wrong_saver
        ),
        Slip(
            "In place and synced: it is safe in the end, but not in the middle.",
            edits=(
                ("disk.write(part", "disk.write(name"),
                ("disk.sync(part", "disk.sync(name"),
                ("disk.rename(part, name)", ""),
            ),
        ),
        Slip(
            "The old one was deleted first: a crash then leaves nothing.",
            edit=(
                "    disk.write(part, data)\n",
                "    try:\n"
                "        disk.remove(name)\n"
                "    except FileNotFoundError:\n"
                "        pass\n"
                "    disk.write(part, data)\n",
            ),
        ),
        Slip(
            "The old one was deleted before the rename, which replaces it: a crash between leaves none.",
            edit=("disk.rename", "disk.remove(name)\n    disk.rename"),
        ),
        Slip("Sync before you rename: a name may reach the disk before the data does.", edit=("disk.sync(part)", "")),
        Slip(
            "The sync comes too late: between rename and sync, only a part may be under the name.",
            edits=(
                ("disk.sync(part)", ""),
                ("disk.rename(part, name)", "disk.rename(part, name)\n    disk.sync(name)"),
            ),
        ),
        Slip(
            "A copy over the old one is a write in place again: rename.",
            edit=("disk.rename(part, name)", "disk.write(name, data)\n    disk.sync(name)\n    disk.remove(part)"),
        ),
        Slip("The new one never gets its name.", edit=("disk.rename(part, name)", "")),
    ),
    wrong=wrong_saver,
)

# --- debug_resume


def wrong_resume(fresh, saved):
    state = dict(fresh)
    for name in ("step", "weights", "optimizer"):
        state[name] = saved[name]
    return state


def _killed(rng: Random) -> Case:
    every = rng.randint(5, 9)
    kill_at = every * rng.randint(2, 3) + rng.randint(0, every - 1)
    return Case((rng.randint(1, 999), rng.randint(23, 31), 48, every, kill_at))


DEBUG_RESUME = Debug(
    id="cap-debug-resume",
    module="crash_safe",
    function="debug_resume",
    grade="call",
    section="15.23",
    bonus=True,
    topic="what a checkpoint holds",
    probe="cap.killed",
    cases=(Case((7, 29, 40, 8, 21)), Case((1, 29, 40, 5, 12))),
    groups=(Group("killed jobs", _killed, 6, "Whatever changes from step to step must be restored."),),
    slips=(
        Slip("Sampler, random generator and loss scale still start over.", wrong_resume),
        Slip(
            "The sampler starts over: the job sees examples again.",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "sampler": fresh["sampler"]}'),
        ),
        Slip(
            "The random generator starts over: the noise repeats.",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "rng": fresh["rng"]}'),
        ),
        Slip(
            "A seed made of the step is reproducible, but it is not the stream that was cut off.",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "rng": {"seed": saved["step"], "drawn": 0}}'),
        ),
        Slip(
            "The loss scale starts over: the first steps overflow and are skipped again.",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "scaler": fresh["scaler"]}'),
        ),
        Slip(
            "The momentum starts over.",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "optimizer": fresh["optimizer"]}'),
        ),
        Slip("Nothing is restored: the job begins again.", edit=("{name: saved[name] for name in fresh}", "fresh")),
    ),
    wrong=wrong_resume,
)
