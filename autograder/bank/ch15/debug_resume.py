"""The capstone: ``debug_resume``, what a checkpoint holds."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Right, Slip


def wrong_resume(fresh, saved):
    state = dict(fresh)
    for name in ("step", "weights", "optimizer"):
        state[name] = saved[name]
    return state


def _killed(rng: Random) -> Case:
    every = rng.randint(5, 9)
    kill_at = every * rng.randint(2, 3) + rng.randint(0, every - 1)
    return Case((rng.randint(1, 999), rng.randint(23, 31), 48, every, kill_at))


EXERCISE = Debug(
    "cap crash_safe.debug_resume",
    section="15.23",
    topic="what a checkpoint holds",
    bonus=True,
    probe="cap.killed",
    wrong=wrong_resume,
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
    rights=(
        Right("everything that was saved", edit=("{name: saved[name] for name in fresh}", "dict(saved)")),
        Right("fresh, then saved", edit=("{name: saved[name] for name in fresh}", "fresh | saved")),
    ),
    promises=(
        Promise(
            "so that it ends as if it had never been killed, bit for bit",
            edit=("{name: saved[name] for name in fresh}", '{**saved, "rng": fresh["rng"]}'),
        ),
        Promise("fresh: the state that a new process starts with", why="what the argument holds"),
    ),
)
