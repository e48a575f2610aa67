"""Train, be killed, resume: a run on real ranks that ends as if nothing had happened.

    run = survive(steps=40, every=8, kills=(Kill(2, after=13), Kill(0, after=21)))
    run.digest == survive(steps=40, every=8).digest

Each rank writes its part of a checkpoint into a folder under a working name and waits for the disk. When all are
through, rank 0 gives the folder its final name and only then drops the one before. So, once there is one, there is a
whole checkpoint at every moment, wherever a rank dies. A rank dies of SIGKILL, which no program can catch; whoever
watches over the world ends the others and says who it was; then all ranks start again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.tiny import GPT, GPTConfig, bundled_text, loss
from rankzero.tiny.long_jobs import Sampler
from rankzero.world import WorldError

CONFIG = GPTConfig(layers=2, heads=4, head_dim=8, context=32)
WINDOWS = 256  # pieces of the text; after that many a new order is drawn
SHARE = 2  # windows of one rank in one step
BLOTTED = 0.05  # share of the input tokens that a rank blots out at random
RATE, WARM_UP = 1e-2, 5
TIMEOUT = 60.0


@dataclass(frozen=True)
class Kill:
    """When a rank dies: of SIGKILL, in the middle of the step (or the write) that comes ``after`` so many steps.

    Attributes:
        rank: who.
        after: steps that are made between the start, or the restart before, and its death.
        writing: it dies in the middle of the next checkpoint's file, not of the next step.
    """

    rank: int
    after: int
    writing: bool = False


@dataclass(frozen=True)
class Survived:
    """A run that reached its last step.

    Attributes:
        losses: mean over the ranks, of every step that counts; steps that were lost and repeated appear once.
        windows: pieces of text that those steps have seen, step by step.
        digest: SHA-256 of all weights at the end, the same on every rank.
        deaths: what the world said about each rank that died.
        lost_steps: that were made and were in no checkpoint when a rank died.
        checkpoints: that were finished.
        useful, checkpoint, lost, restart: seconds; together the wall-clock from the first step to the last checkpoint.
    """

    losses: tuple[float, ...]
    windows: tuple[tuple[int, ...], ...]
    digest: str
    deaths: tuple[str, ...]
    lost_steps: int
    checkpoints: int
    useful: float
    checkpoint: float
    lost: float
    restart: float

    @property
    def wall(self) -> float:
        """Seconds from the first step to the end of the last checkpoint."""
        return self.useful + self.checkpoint + self.lost + self.restart

    @property
    def goodput(self) -> float:
        """Share of the wall-clock that was useful compute."""
        return self.useful / self.wall

    @property
    def repeated(self) -> int:
        """Of the first 256 windows that counted, those that had been seen before; a shuffled order has none."""
        seen = [window for step in self.windows for window in step]
        return len(seen[:WINDOWS]) - len(set(seen[:WINDOWS]))


def survive(
    steps: int = 40,
    every: int = 8,
    kills: Sequence[Kill] = (),
    ranks: int = 4,
    whole: bool = True,
    config: GPTConfig = CONFIG,
) -> Survived:
    """Train for ``steps`` steps on real ranks, through every death in ``kills``.

    Args:
        steps: of the optimizer.
        every: steps between checkpoints; the last step has one too.
        kills: one after the other; those that come after the last step never happen.
        ranks: in the world.
        whole: a checkpoint holds everything that the future depends on; else the weights alone (and the number of the
            step, in its name): moments, the order of the data and the random numbers start over after a restart.
        config: the model's shape.

    Raises:
        WorldError: the world failed for another reason.
    """
    checks.count(steps=steps, every=every)
    checks.count(0, ranks - 1, kills=[kill.rank for kill in kills])
    deaths: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        while True:
            kill = kills[len(deaths)] if len(deaths) < len(kills) else None
            job = _Job(config, steps, every, whole, folder, len(deaths), kill)
            try:
                digests = world.run(train, job, ranks=ranks, timeout=TIMEOUT).values
            except WorldError as error:
                deaths.append(_death(error, kill))
                continue
            if len(set(digests)) != 1:
                raise WorldError("the ranks' weights have drifted apart")
            return _accounted(Path(folder) / "diary", digests[0], deaths)


def _death(error: WorldError, kill: Kill | None) -> str:
    """What the world says of the rank that was to die; any other failure is raised."""
    if kill is not None and len(error.reports) > kill.rank and error.reports[kill.rank].state == "died":
        return f"rank {kill.rank} {error.reports[kill.rank].what}"
    raise error


@dataclass(frozen=True)
class _Job:
    """What every rank is told."""

    config: GPTConfig
    steps: int
    every: int
    whole: bool
    folder: str
    attempt: int
    kill: Kill | None

    def dies(self, rank: int, made: int, writing: bool) -> bool:
        """Whether this rank is to die now. If any is, all wait until the diary has what was done before."""
        kill = self.kill
        if kill is None or kill.writing != writing or made < kill.after:
            return False
        dist.barrier()
        return kill.rank == rank


class _Trainer:
    """One rank's model, optimizer, sampler and random numbers, and how they are saved and restored."""

    def __init__(self, config: GPTConfig) -> None:
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.model = GPT(config)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE)
        self.sampler, self.step = Sampler(WINDOWS, seed=0), 0
        torch.manual_seed(self.rank)  # every rank blots out other tokens

    def make_step(self, text: torch.Tensor, dies: bool) -> tuple[float, list[int]]:
        """One step of data parallelism; returns the mean loss and the windows of all ranks."""
        windows = self.sampler.take(SHARE * self.ranks)
        pieces = text[windows[self.rank :: self.ranks]]
        inputs = pieces[:, :-1].masked_fill(torch.rand(pieces[:, 1:].shape) < BLOTTED, 0)
        self.optimizer.zero_grad()
        value = loss(self.model, inputs, pieces[:, 1:])
        value.backward()
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        mean = _average(self.model, value.detach())
        self.step += 1
        self.optimizer.param_groups[0]["lr"] = RATE * min(1.0, self.step / WARM_UP)
        self.optimizer.step()
        return mean, windows

    def state(self, whole: bool) -> dict[str, Any]:
        """This rank's part: every so-many-th weight with its moments; all that is its own; what all ranks share."""
        mine = slice(self.rank, None, self.ranks)
        weights = dict(list(self.model.state_dict().items())[mine])
        if not whole:
            return {"weights": weights}
        moments = dict(list(self.optimizer.state_dict()["state"].items())[mine])
        sampler, random = self.sampler.state_dict(), torch.get_rng_state()
        return {"weights": weights, "moments": moments, "sampler": sampler, "random": random}

    def restore(self, folder: Path, step: int) -> None:
        """Take the checkpoint of ``step``: weights and moments from all parts, the rest from this rank's own."""
        parts = [torch.load(folder / f"rank-{rank}.pt") for rank in range(self.ranks)]
        self.model.load_state_dict({name: weight for part in parts for name, weight in part["weights"].items()})
        self.step, mine = step, parts[self.rank]
        if "moments" in mine:
            moments = {index: state for part in parts for index, state in part["moments"].items()}
            self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
            self.sampler.load_state_dict(mine["sampler"])
            torch.set_rng_state(mine["random"])


def train(job: _Job) -> str:
    """On each rank: train from the last complete checkpoint to the last step, and return the digest of the weights."""
    trainer, made = _Trainer(job.config), 0
    newest = _newest(Path(job.folder))
    if newest is not None:
        trainer.restore(newest, int(newest.name.removeprefix("step-")))
    text = _windows(job.config.context)
    diary = _Diary(Path(job.folder) / "diary", job.attempt)
    diary.write("start", trainer.step)
    while trainer.step < job.steps:
        value, windows = trainer.make_step(text, job.dies(trainer.rank, made, writing=False))
        made += 1
        diary.write("step", trainer.step, value, windows)
        if trainer.step % job.every == 0 or trainer.step == job.steps:
            save(trainer, job, job.dies(trainer.rank, made, writing=True))
            diary.write("checkpoint", trainer.step)
    return _digest(trainer.model)


def save(trainer: _Trainer, job: _Job, dies: bool) -> None:
    """Write the parts under a working name, wait for the disk, rename, then drop the checkpoint before."""
    draft = Path(job.folder) / f"draft-{job.attempt}-{trainer.step}"
    draft.mkdir(exist_ok=True)
    buffer = io.BytesIO()
    torch.save(trainer.state(job.whole), buffer)
    write_durably(draft / f"rank-{trainer.rank}.pt", buffer.getvalue(), dies)
    dist.barrier()  # every part is on the disk
    if trainer.rank == 0:
        _flush(draft)
        before = _newest(Path(job.folder))
        draft.rename(Path(job.folder) / f"step-{trainer.step:06d}")
        _flush(Path(job.folder))
        if before is not None:
            shutil.rmtree(before)
    dist.barrier()  # no rank continues before the checkpoint counts


def write_durably(path: Path, content: bytes, dies: bool = False) -> None:
    """Write a file and return when the disk has it; with ``dies``, be killed in the middle."""
    with path.open("wb") as file:
        if dies:
            file.write(content[: len(content) // 2])
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    """Return when the disk has the folder's names."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _newest(folder: Path) -> Path | None:
    """The newest whole checkpoint; working names do not count."""
    return max(folder.glob("step-*"), default=None)


def _windows(context: int) -> torch.Tensor:
    """The first pieces of the bundled text [windows, context + 1], each with the token after its last."""
    tokens = torch.tensor(list(bundled_text().encode()[: WINDOWS * context + 1]))
    return tokens.unfold(0, context + 1, context)


def _average(model: GPT, value: torch.Tensor) -> float:
    """Replace every gradient by its mean over the ranks, in one all-reduce; the loss travels with them."""
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    flat = torch.cat([*(gradient.flatten() for gradient in gradients), value.reshape(1)])
    dist.all_reduce(flat)
    *means, value = (flat / dist.get_world_size()).split([*(gradient.numel() for gradient in gradients), 1])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view_as(gradient))
    return value.item()


def _digest(model: GPT) -> str:
    """SHA-256 over the bytes of all weights."""
    found = hashlib.sha256()
    for weight in model.state_dict().values():
        found.update(weight.contiguous().numpy().tobytes())
    return found.hexdigest()


class _Diary:
    """What rank 0 has done and when, one line each; it outlives the rank."""

    def __init__(self, path: Path, attempt: int) -> None:
        self.path, self.attempt = path, attempt

    def write(self, what: str, step: int, value: float = 0.0, windows: Sequence[int] = ()) -> None:
        """Add a line, on rank 0."""
        if dist.get_rank() == 0:
            line = json.dumps([self.attempt, what, step, time.monotonic(), value, list(windows)])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def _accounted(path: Path, digest: str, deaths: Sequence[str]) -> Survived:
    """Read the diary: what counts, what was lost, and where the seconds went."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept: dict[int, tuple[float, tuple[int, ...]]] = {}
    seconds = dict.fromkeys(("useful", "checkpoint", "lost", "restart"), 0.0)
    pending: list[float] = []  # times of steps that no checkpoint holds yet
    lost_steps, checkpoints, before = 0, 0, lines[0][3]
    for _, what, step, now, value, windows in lines:
        span, before = now - before, now
        if what == "start":  # whatever no checkpoint held is gone
            seconds["restart"] += span
            seconds["lost"] += sum(pending)
            lost_steps, pending = lost_steps + len(pending), []
        elif what == "step":
            pending.append(span)
            kept[step] = value, tuple(windows)
        else:
            seconds["useful"] += sum(pending)
            seconds["checkpoint"] += span
            checkpoints, pending = checkpoints + 1, []
    losses, seen = zip(*(kept[step] for step in sorted(kept)), strict=True)
    return Survived(losses, seen, digest, tuple(deaths), lost_steps, checkpoints, **seconds)
