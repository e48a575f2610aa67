"""The run that survives: killed at every single moment, on real files; two ranks of the library's own backend."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import torch.distributed as dist

from rankzero import world
from rankzero.tiny.long_jobs import FolderDisk, LongJob, started
from solutions.ch15.survivor import run_job
from solutions.ch15.unbroken_run import unbroken_weights

SETTINGS = {
    "shape": {"vocab": 9, "layers": 1, "heads": 2, "head_dim": 2, "ffn": 8, "context": 4},
    "seed": 5,
    "optimizer": "AdamW",
    "shuffled": True,
    "blotted": 0.3,
    "steps": 8,
    "every": 3,
    "keep": 2,
}
ROWS = [[Random(5 * row + place).randrange(9) for place in range(5)] for row in range(7)]
MOMENTS = 2 * 8 + 1 + 3 * 4 + 1  # two in each step, names on resuming, four operations in a save, and one old file


class Killed(BaseException):
    """The end of a life."""


class Mortal:
    """A disk, and the moments of a job, of which the one with this number is the last; a write is cut off in it."""

    def __init__(self, disk: FolderDisk, left: int) -> None:
        self.disk, self.left = disk, left

    def tick(self, moment: str = "") -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def __getattr__(self, name: str) -> Any:
        def operation(*given: Any) -> Any:
            if self.left == 0 and name == "write":
                self.disk.write(given[0], given[1][: len(given[1]) // 2])
            self.tick()
            return getattr(self.disk, name)(*given)

        return operation


def lived(disk: FolderDisk, left: int) -> LongJob | None:
    """One life that ends after so many moments; the job if it has come to its last step."""
    mortal = Mortal(disk, left)
    job = started(SETTINGS, torch.tensor(ROWS), at=mortal.tick)
    try:
        run_job(job, mortal)
    except Killed:
        return None
    return job


def weights(job: LongJob) -> dict[str, list[float]]:
    return {name: weight.flatten().tolist() for name, weight in job.model.named_parameters()}


@pytest.mark.parametrize("gap", [5, pytest.param(17, marks=pytest.mark.proof(part="runs"))])
@pytest.mark.proof(part="runs")
def test_it_survives_any_kill_and_another_one_soon_after(gap, tmp_path: Path):
    """Every moment of a run, the middle of its writes included, and then one a few moments later."""
    whole = unbroken_weights(SETTINGS, ROWS)
    with torch.random.fork_rng(devices=[]):
        for left in range(MOMENTS):
            disk = FolderDisk(tmp_path / f"{gap}-{left}")
            assert lived(disk, left) is None
            job = lived(disk, gap) or lived(disk, 10_000)
            assert job is not None
            assert weights(job) == whole
            assert disk.names() == ["step-00000006", "step-00000008"]
        assert lived(FolderDisk(tmp_path / f"{gap}-all"), 10_000) is not None


def test_the_moments_are_all_there_are(tmp_path: Path):
    """Kills: a count above that leaves some out."""
    with torch.random.fork_rng(devices=[]):
        assert lived(FolderDisk(tmp_path / "one"), 2 * MOMENTS) is not None
        mortal = Mortal(FolderDisk(tmp_path / "two"), 10_000)
        run_job(started(SETTINGS, torch.tensor(ROWS), at=mortal.tick), mortal)
    assert 10_000 - mortal.left == MOMENTS


def test_a_kill_between_a_rename_and_the_end_of_its_save_leaves_nothing_behind(tmp_path: Path):
    """Kills: a program that resumes with one file too many, so that the next such kill makes it two."""
    disk = FolderDisk(tmp_path)
    with torch.random.fork_rng(devices=[]):
        assert lived(disk, MOMENTS - 1) is None
        assert disk.names() == ["step-00000003", "step-00000006", "step-00000008"]
        assert lived(disk, 10_000) is not None
    assert disk.names() == ["step-00000006", "step-00000008"]


def both(folder: str, steps: int) -> dict[str, list[float]]:
    """On one rank: the weights after a run with a disk of its own."""
    torch.set_num_threads(1)
    settings = {**SETTINGS, "steps": steps}
    job = started(settings, torch.tensor(ROWS), dist.get_rank(), dist.get_world_size())
    run_job(job, FolderDisk(Path(folder) / str(job.rank)))
    return weights(job)


def test_two_ranks_resume_from_a_step_that_both_have(tmp_path: Path):
    whole = unbroken_weights(SETTINGS, ROWS, ranks=2)
    world.run(both, str(tmp_path), 6, ranks=2, timeout=120)
    FolderDisk(tmp_path / "0").write("step-00000005", b"damaged")
    FolderDisk(tmp_path / "1").remove("step-00000006")
    for value in world.run(both, str(tmp_path), 8, ranks=2, timeout=120).values:
        assert value.keys() == whole.keys()
        assert all(value[name] == pytest.approx(whole[name], rel=1e-9, abs=1e-12) for name in whole)
    for rank in "01":
        assert FolderDisk(tmp_path / rank).names() == ["step-00000006", "step-00000008"]


@pytest.mark.parametrize("part", ["optimizer", "sampler", "random"])
def test_a_twin_that_forgets_ends_elsewhere_and_one_that_resumes_whole_does_not(part):
    whole = unbroken_weights(SETTINGS, ROWS)
    assert unbroken_weights(SETTINGS, ROWS, at=(3, 6)) == whole
    assert unbroken_weights(SETTINGS, ROWS, forgets=(part,)) == whole
    assert unbroken_weights(SETTINGS, ROWS, forgets=(part,), at=(3,)) != whole
