"""The milestone "survive": drawn jobs, and runs of several attempts, each but the last ended by a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any, Literal, get_args

from autograder.bank.ch15.survival_disk import OPERATIONS, Disk, Operation, content_of
from autograder.items import Case, Kill, NoQuestion, Play, Played, Tensor, lazily

unbroken = lazily("solutions.ch15.unbroken_run")

#: Most whole checkpoints that may be on a disk between two steps.
KEEP = 2
#: Rows of one rank in one step, and tokens that a row trains.
SHARE, TOKENS = 2, 5

#: What a driver says of a step.
Moment = Literal["begin", "middle"]


@dataclass(frozen=True)
class Drawn:
    """A job of all ranks.

    Attributes:
        settings: as :func:`rankzero.tiny.long_jobs.started` takes them.
        rows: sequences of tokens.
        ranks: in the run.
    """

    settings: dict[str, Any]
    rows: list[list[int]]
    ranks: int

    @property
    def steps(self) -> int:
        return self.settings["steps"]  # type: ignore[no-any-return]

    @property
    def every(self) -> int:
        return self.settings["every"]  # type: ignore[no-any-return]

    @property
    def saves(self) -> int:
        """Checkpoints of a run that is not killed: every so many steps, and after the last."""
        return -(-self.steps // self.every)

    @cached_property
    def weights(self) -> dict[str, list[float]]:
        """What a run that is not killed ends with."""
        return self.forgetting((), ())

    def forgetting(self, parts: Sequence[str], at: Sequence[int]) -> dict[str, list[float]]:
        """What a run ends with that is resumed after these steps without these parts of its state."""
        return unbroken.unbroken_weights(self.settings, self.rows, self.ranks, parts, at)  # type: ignore[no-any-return]

    def case(self) -> Case:
        """One attempt at this job: what each rank is handed."""
        rows = Tensor.of([token for row in self.rows for token in row], "int64", (len(self.rows), TOKENS + 1))
        return Case(tuple((self.settings, rows) for _ in range(self.ranks)))


def drawn(rng: Random, ranks: int = 1, whole: bool = False, **shape: int) -> Drawn:
    """A job of four checkpoints and a rest.

    A ``whole`` one has moments, rows in random orders, and random numbers in every step. Another one has plain SGD and
    all of its rows in every step: nothing but its weights and the number of its steps has to be saved.
    """
    every = rng.randint(3, 4)
    sizes = {"vocab": rng.randint(9, 14), "layers": 2, "heads": 4, "head_dim": 4, "ffn": 16, "context": TOKENS, **shape}
    settings = {
        "shape": sizes,
        "seed": rng.randrange(2**31),
        "optimizer": "AdamW" if whole else "SGD",
        "shuffled": whole,
        "blotted": 0.2 if whole else 0.0,
        "steps": 4 * every + rng.randint(1, every - 1),
        "every": every,
        "keep": KEEP,
    }
    rows = [[rng.randrange(sizes["vocab"]) for _ in range(TOKENS + 1)] for _ in range(11 if whole else SHARE * ranks)]
    return Drawn(settings, rows, ranks)


# Deaths.


@dataclass(frozen=True)
class Death:
    """When a run is killed, counted from the beginning of the attempt that it ends.

    Attributes:
        kind: what the rank is about to do.
        count: how many times it has then done it in this attempt, this time included.
        back: the step whose checkpoint is the newest that counts afterwards.
        again: steps that have to be repeated from there.
        where: in words, after "was killed".
        rank: whose moment it is; all ranks are killed with it.
        part: of a write, how much of it is on the disk; None if it has not begun.
        first: the rank that is ahead of the others.
        then: what happens to each disk afterwards.
        found: the same in words, or empty.
        who: the beginning of the sentence, on one rank.
    """

    kind: Moment | Operation
    count: int
    back: int
    again: int
    where: str
    rank: int = 0
    part: float | None = None
    first: int = 0
    then: Callable[[Disk], None] = field(default=lambda disk: None, compare=False)
    found: str = ""
    who: str = "it was killed"

    def victim(self, ranks: int) -> str:
        """Who met this death, in words."""
        return f"rank {self.rank} was killed" if ranks > 1 else self.who


def in_step(job: Drawn, step: int, since: int = 0, between: bool = False) -> Death:
    """A kill in the middle of a step, or just before it, in an attempt that was resumed after the step ``since``."""
    back = (step - 1) // job.every * job.every
    if between:
        return Death("begin", step - since, back, step - 1 - back, f"between steps {step - 1} and {step}")
    return Death("middle", step - since, back, step - back, f"in the middle of step {step}")


#: What may follow a write in a checkpoint.
AFTER_WRITE: Sequence[Operation] = ("sync", "rename", "remove")
#: Where a save is cut off.
SAVING: dict[Operation, str] = {
    "write": "before it wrote a checkpoint",
    "sync": "between a write and its sync",
    "rename": "before it renamed a checkpoint",
    "remove": "before it removed an old checkpoint",
}


def in_save(job: Drawn, kind: Operation, step: int, since: int, each: int, part: float | None = None) -> Death:
    """A kill in the checkpoint after a step; ``each``: how many such operations a checkpoint takes."""
    number = (step - since) // job.every
    where = SAVING[kind] if part is None else "in the middle of a write"
    return Death(kind, (number - 1) * each + 1, step - job.every, job.every, where, part=part)


def after_write(job: Drawn, straight: Attempt, step: int, since: int, rng: Random) -> Death:
    """A kill in the first checkpoint of an attempt, in one of the operations that follow a write if there are any."""
    seen = straight.seen[0]
    kinds = [kind for kind in AFTER_WRITE if kind in seen and (kind != "sync" or "rename" in seen)]
    kind: Operation = rng.choice(kinds or ["write"])
    death = in_save(job, kind, step, since, 1)
    return replace(death, back=step, again=0) if kind == "remove" and _saved_first(seen) else death


def _saved_first(seen: Sequence[str]) -> bool:
    """Whether a checkpoint has its place before an old one is removed."""
    before = seen[: seen.index("remove")]
    save = before[len(before) - before[::-1].index("middle") :] if "middle" in before else before
    return ("rename" if "rename" in seen else "write") in save


def crashed(death: Death, rng: Random) -> Death:
    """A crash of the whole machine instead of a kill."""
    found, who = "files that had not been synced were cut off", "the machine crashed"
    return replace(death, then=lambda disk: disk.crash(rng), found=found, who=who)


def damaged(death: Death, rng: Random, every: int) -> Death:
    """A kill after which the newest file is damaged, so that the checkpoint before it counts."""
    found = "then eight bytes of its newest file were corrupted"
    back, again = death.back - every, death.again + every
    return replace(death, back=back, again=again, then=lambda disk: disk.damage(rng), found=found)


# Attempts.


class Attempt:
    """The desk of one attempt: it counts what the ranks do, holds their disks, and kills them when the time has come.

    Attributes:
        seen: of each rank, what it has done, in order.
    """

    def __init__(self, disks: Sequence[Disk], death: Death | None = None) -> None:
        self.disks, self.death, self.first = disks, death, death.first if death else 0
        self.seen: list[list[str]] = [[] for _ in disks]

    def __call__(self, rank: int, question: Any) -> Any:
        if type(question) is not list or not question or question[0] not in (*get_args(Moment), *OPERATIONS):
            raise NoQuestion
        kind, *given = question
        self.seen[rank].append(kind)
        if self.death and (rank, kind) == (self.death.rank, self.death.kind):
            self._end(self.death, given)
        return self.disks[rank].answer(kind, given) if kind in OPERATIONS else {}

    def _end(self, death: Death, given: Sequence[Any]) -> None:
        """End this attempt if it is time."""
        if self.seen[death.rank].count(death.kind) < death.count:
            return
        if death.part is not None and len(given) == 2:
            self.disks[death.rank].cut(str(given[0]), content_of(given[1]), death.part)
        raise Kill

    def begun(self) -> int:
        """Steps that this attempt began, on all ranks; one before which it was killed does not count."""
        early = self.death is not None and self.death.kind == "begin"
        return min(seen.count("begin") for seen in self.seen) - early


@dataclass
class Run:
    """All attempts of a run.

    Attributes:
        deaths: that were meant to be.
        attempts: the last one may have ended before it could be killed, or failed.
        disks: of each rank, as they are at the end.
        played: how the last attempt ended.
    """

    deaths: Sequence[Death]
    attempts: list[Attempt]
    disks: list[Disk]
    played: Played

    @property
    def begun(self) -> int:
        """Steps that were begun in all attempts."""
        return sum(attempt.begun() for attempt in self.attempts)

    @property
    def history(self) -> str:
        """The deaths that came, as a sentence and a space; empty if there were none."""
        came = self.deaths[: len(self.attempts) - 1]
        told: list[str] = []
        for before, death in zip((None, *came), came, strict=False):
            again = "again " if before and before.where == death.where else ""
            alone = len(self.disks) == 1 and told
            told.append(f"{again}{death.where}" if alone else f"{death.victim(len(self.disks))} {death.where}")
        found = f" ({came[-1].found})" if came and came[-1].found else ""
        text = ", then ".join(told)
        return f"{text[0].upper()}{text[1:]}{found}. " if text else ""


def attempted(job: Drawn, play: Play, deaths: Sequence[Death] = ()) -> Run:
    """Play a job, attempt after attempt, until one ends by itself."""
    disks = [Disk() for _ in range(job.ranks)]
    attempts: list[Attempt] = []
    for death in (*deaths, None):
        attempts.append(Attempt(disks, death))
        played = play(job.case(), desk=attempts[-1])
        if not played.killed or death is None:
            break
        for disk in disks:
            death.then(disk)
    return Run(deaths, attempts, disks, played)
