"""The milestone of the capstone: a run that is killed at drawn moments and resumes bit for bit, graded level by level.

Every level draws a job and plays it on real ranks, first without a kill, then through several deaths. The grader holds
the disk: it answers every operation, or ends the processes with SIGKILL instead. Then weights are compared bit for bit,
and repeated steps are counted. A mistake costs the level that is about it: only one level has a state of more than the
weights and a number of steps, only in one is a write cut off in the middle, and only in one does the machine crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from autograder.bank.ch07.trainer_weights import alike
from autograder.bank.ch15.survival_attempts import (
    KEEP,
    Drawn,
    Run,
    after_write,
    attempted,
    crashed,
    damaged,
    drawn,
    in_save,
    in_step,
)
from autograder.items import Build, Cost, Level, LevelCosts, Play, Slip, System, Verdict

#: How far above the least bytes a run may be: names, random states, what a file format adds.
SLACK = 1.5


def _in_steps(rng: Random, play: Play) -> Verdict:
    """Killed between two steps, resumed, and killed in the middle of a step."""
    job = drawn(rng)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    first = in_step(job, rng.randint(job.every + 2, 2 * job.every), between=True)
    second = in_step(job, rng.randint(2 * job.every + 1, 3 * job.every), first.back)
    return _judged(job, straight, attempted(job, play, (first, second)))


def _whole_state(rng: Random, play: Play) -> Verdict:
    """Moments, random orders of rows and random numbers have to come back."""
    job = drawn(rng, whole=True)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    death = in_step(job, rng.randint(2 * job.every + 1, 3 * job.every))
    return _judged(job, straight, attempted(job, play, (death,)))


def _in_writes(rng: Random, play: Play) -> Verdict:
    """Killed in the middle of a write, twice in a row; in another run, between a write and what follows it."""
    job = drawn(rng)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    every, each = job.every, _each(job, straight, 0)
    cuts = [in_save(job, "write", 2 * every, since, each, rng.uniform(0.1, 0.9)) for since in (0, every)]
    verdict = _judged(job, straight, attempted(job, play, cuts))
    if verdict.wrong:
        return verdict
    whole = in_step(job, KEEP * every + 1)
    between = after_write(job, straight.attempts[0], whole.back + every, whole.back, rng)
    return _joined(verdict, _judged(job, straight, attempted(job, play, (whole, between))))


def _damaged(rng: Random, play: Play) -> Verdict:
    """The newest file is damaged, twice: the one before it counts."""
    job = drawn(rng)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    every = job.every
    one, other = rng.choice(((1, 1), (1, 2), (2, 1)))  # steps after a save; one that saves more often gets there, too
    first = damaged(in_step(job, 2 * every + one), rng, every)
    second = damaged(in_step(job, 3 * every + other, first.back), rng, every)
    return _judged(job, straight, attempted(job, play, (first, second)))


def _two_ranks(rng: Random, play: Play) -> Verdict:
    """One rank has saved a step that the other has not; in another run it is the other way round."""
    job = drawn(rng, ranks=2)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    writing = [rank for rank in (0, 1) if "write" in straight.attempts[0].seen[rank]] or [0]
    found = []
    for rank in (writing[-1], writing[0]):
        step = rng.randint(2, 4) * job.every
        death = in_save(job, "write", step, 0, _each(job, straight, rank))
        death = replace(death, rank=rank, first=1 - rank)
        found.append(_judged(job, straight, attempted(job, play, (death,))))
        if found[-1].wrong:
            return found[-1]
    return _joined(*found)


def _bounded(rng: Random, play: Play) -> Verdict:
    """The machine crashes; bytes and files are counted."""
    job = drawn(rng, head_dim=8, ffn=64)
    straight = attempted(job, play)
    if wrong := _crooked(job, straight):
        return Verdict(wrong)
    written = Cost(straight.disks[0].written, job.saves * 8 * sum(map(len, job.weights.values())))
    if wrong := _too_much(job, written):
        return Verdict(wrong)
    every, step = job.every, rng.randint(2 * job.every + 1, 3 * job.every)
    latest = min(4 * every, 6 * every + 2 - step)  # one that saves more often gets there, too
    first = crashed(in_step(job, step), rng)
    second = crashed(in_step(job, rng.randint(3 * every + 1, latest), first.back), rng)
    run = attempted(job, play, (first, second))
    verdict = _judged(job, straight, run)
    files = Cost(max(straight.disks[0].most, run.disks[0].most), KEEP + 1)
    wrong = verdict.wrong or _too_many(files)
    return Verdict(wrong, LevelCosts() if wrong else replace(verdict.costs, written=written, files=files))


# What is wrong with a run.


def _joined(one: Verdict, other: Verdict) -> Verdict:
    """Of two runs of a level: what is wrong with the other, or the steps of both."""
    first, second = one.costs.repeated, other.costs.repeated
    if first is None or second is None:
        return other
    return Verdict(costs=LevelCosts(repeated=Cost(first.spent + second.spent, first.least + second.least)))


def _each(job: Drawn, straight: Run, rank: int) -> int:
    """Writes of one checkpoint."""
    return max(1, round(straight.attempts[0].seen[rank].count("write") / job.saves))


def _crooked(job: Drawn, straight: Run) -> str:
    """Why a run that nobody killed is not the job's; empty if it is."""
    if straight.played.failure:
        return straight.played.failure
    for rank, value in enumerate(straight.played.values):
        if not _like(job.weights, value):
            return (
                f"Without a kill, rank {rank} does not end with the weights that {job.steps} calls of job.step() give."
            )
    return ""


def _like(weights: dict[str, list[float]], value: Any) -> bool:
    """Whether a rank ended with these weights, up to rounding."""
    return weights.keys() == value.keys() and all(alike(weights[name], value[name].tolist()) for name in weights)


def _judged(job: Drawn, straight: Run, run: Run) -> Verdict:
    """The verdict on a run that was killed."""
    wrong = _early(job, run) or _failed(run) or _other_weights(job, straight, run)
    again = Cost(run.begun - job.steps, sum(death.again for death in run.deaths))
    wrong = wrong or _too_far_back(job, run, again)
    least = min(again)  # a run that saves more often than it has to repeats fewer steps than any other
    return Verdict(wrong, LevelCosts() if wrong else LevelCosts(repeated=Cost(again.spent, least)))


#: What is wrong with a run that loads everything.
BLIND = (
    "Most likely it resumed from a file that was not intact: check a checkpoint before loading it, and fall back to an "
    "older one."
)


#: What is wrong with a run that loads a checkpoint and counts from 0 again.
ANEW = (
    "The last attempt made all {} steps, and ended with other weights: after a checkpoint is loaded, `job.done` has to "
    "be the step at which it was saved, and the steps before it are not made again."
)


def _early(job: Drawn, run: Run) -> str:
    """Whether the run ended before its next death; else empty."""
    came = len(run.attempts) - 1
    if run.played.failure or came == len(run.deaths):
        return ""
    if came and run.deaths[came - 1].found:
        return f"{run.history}{BLIND}"
    missing = run.deaths[came]
    step = missing.kind in ("begin", "middle")
    advice = "make every step with job.step()" if step else f"save after every {job.every} steps"
    return f"{run.history}The run ended before it could be killed {missing.where}: {advice}."


def _failed(run: Run) -> str:
    """Why the last attempt failed; empty if it did not."""
    failure = run.played.failure
    if not failure:
        return ""
    begun = {seen.count("begin") for seen in run.attempts[-1].seen}
    if len(run.attempts) > 1 and len(begun) > 1 and failure.startswith("deadlock"):
        return (
            f"{run.history}The ranks resumed from different steps: one finished after {min(begun)} more while the "
            f"other still waited for it ({failure}). Agree on a step that every rank has."
        )
    return f"{run.history}{'The next attempt failed: ' if len(run.attempts) > 1 else ''}{failure}"


#: What a checkpoint can lack, and what happens then.
FORGOTTEN: Sequence[tuple[tuple[str, ...], str]] = (
    (("optimizer",), "the optimizer had lost its moments"),
    (("sampler",), "the sampler had lost its place and started over"),
    (("random",), "the random numbers started over from the seed"),
    (("sampler", "random"), "the sampler and the random numbers both started over"),
    (("optimizer", "sampler", "random"), "everything except the weights started over"),
)


def _other_weights(job: Drawn, straight: Run, run: Run) -> str:
    """Why the run did not end with the bits of one that was never killed; empty if it did."""
    got = run.played.values
    if all(one == other for one, other in zip(straight.played.values, got, strict=True)):
        return ""
    if run.deaths and run.attempts[-1].begun() >= job.steps:
        return f"{run.history}{ANEW.format(job.steps)}"
    if job.settings["shuffled"]:
        at = [death.back for death in run.deaths]
        for parts, sentence in FORGOTTEN:
            if all(_like(job.forgetting(parts, at), value) for value in got):
                return f"{run.history}It resumed from step {at[-1]}, but {sentence}."
    if all(_like(job.weights, value) for value in got):
        return f"{run.history}Its final weights differ from the uninterrupted run's in their last bits only."
    if run.deaths[-1].found:
        return f"{run.history}{BLIND}"
    return f"{run.history}Its final weights are not those of the uninterrupted run."


def _too_far_back(job: Drawn, run: Run, again: Cost) -> str:
    """Whether steps were repeated that a checkpoint held; else empty."""
    if again.spent <= again.least:
        return ""
    were = "step was" if again.spent == 1 else "steps were"
    told = f"{run.history}In all, {again.spent:g} {were} repeated where {again.least:g} would do: "
    if torn := next((disk.overwritten for disk in run.disks if disk.overwritten), ""):
        return f"{told}the interrupted write was overwriting {torn[:40]!r}, an existing file."
    if lost := next((disk.lost for disk in run.disks if disk.lost), ""):
        return f"{told}{lost[:40]!r} had not reached the disk: sync a file before you rename it."
    if run.attempts[-1].begun() >= job.steps:
        return f"{told}the last attempt started from scratch."
    return f"{told}it did not resume from the newest intact checkpoint."


def _too_much(job: Drawn, written: Cost) -> str:
    """Why a run wrote more bytes than it may; empty if it did not."""
    if written.spent <= SLACK * written.least:
        return ""
    return (
        f"A run of {job.steps} steps wrote {written.spent:,.0f} bytes, {written.spent / written.least:.2g} times what "
        f"{job.saves} checkpoints take: save every {job.every} steps, and not more often."
    )


def _too_many(files: Cost) -> str:
    """Why a run kept more files than it may; empty if it did not."""
    if files.spent <= files.least:
        return ""
    return (
        f"At one point there were {files.spent:g} files on the disk; {files.least:g} are allowed: {KEEP} whole "
        "checkpoints and one that is being written."
    )


SURVIVE = System(
    item=Build(
        "cap survivor.run_job",
        named="survive",
        grade="world",
        section="15.8",
        topic="a run that is killed",
        cases=(),
        groups=(),
        slips=(
            Slip(
                "The checkpoint has no optimizer state.",
                edits=(
                    ('        "optimizer": job.optimizer.state_dict(),\n', ""),
                    ('    job.optimizer.load_state_dict(state["optimizer"])\n', ""),
                ),
            ),
            Slip(
                "The checkpoint has no random numbers.",
                edits=(
                    ('        "random": torch.get_rng_state(),\n', ""),
                    ('    torch.set_rng_state(state["random"])\n', ""),
                ),
            ),
            Slip(
                "The checkpoint has no place in the data.",
                edits=(
                    ('        "sampler": job.sampler.state_dict(),\n', ""),
                    ('    job.sampler.load_state_dict(state["sampler"])\n', ""),
                ),
            ),
            Slip(
                "Checkpoints are written in place, in two files by turns, and the turns begin anew with the process.",
                edits=(
                    (
                        "    _resume(job, disk)\n    while",
                        "    _resume(job, disk)\n    job.began = job.done\n    while",
                    ),
                    ('f"step-{job.done:08d}"', 'f"step-{(job.done - job.began) // job.every % 2}"'),
                    ('disk.write("draft", ', "disk.write(name, "),
                    ('disk.sync("draft")\n    disk.rename("draft", name)\n', "disk.sync(name)\n"),
                ),
            ),
            Slip(
                "The newest file is taken without a look at it.",
                edit=("    if hashlib.sha256(content).digest() != digest:\n        return None\n", ""),
            ),
            Slip("Each rank resumes from its own newest step.", edit=("    if job.ranks == 1:\n", "    if True:\n")),
            Slip("A checkpoint is renamed before it is on the disk.", edit=('    disk.sync("draft")\n', "")),
            Slip("No old checkpoint is ever removed.", edit=("        disk.remove(old)\n", "        pass\n")),
            Slip("A checkpoint is saved after every step.", edit=("job.done % job.every == 0 or", "True or")),
        ),
        probe="trainer.survived",
    ),
    levels=(
        Level("killed between two saves", _in_steps),
        Level("the whole state", _whole_state),
        Level("killed during a write", _in_writes),
        Level("a damaged checkpoint", _damaged),
        Level("two ranks agree", _two_ranks),
        Level("machine crash, disk use", _bounded),
    ),
    lines=150,
    seconds=30.0,
    measured="steps redone over all attempts; bytes and files of one disk",
    columns={"repeated": "steps redone / least", "written": "bytes saved / least", "files": "files / most"},
)
