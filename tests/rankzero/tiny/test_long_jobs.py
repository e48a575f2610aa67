"""A long job: its sampler, what one step depends on, and its disk beside the grader's."""

from __future__ import annotations

import base64
from itertools import chain
from pathlib import Path
from random import Random

import pytest
import torch

from autograder.bank.ch15.survival_disk import Disk
from rankzero.tiny.long_jobs import FolderDisk, LongJob, Sampler, started

SETTINGS = {
    "shape": {"vocab": 9, "layers": 1, "heads": 2, "head_dim": 2, "ffn": 8, "context": 4},
    "seed": 5,
    "optimizer": "AdamW",
    "shuffled": True,
    "blotted": 0.3,
    "steps": 6,
    "every": 2,
    "keep": 2,
}
ROWS = torch.tensor([[Random(row).randrange(9) for _ in range(5)] for row in range(7)])


def test_every_pass_of_a_shuffled_sampler_has_every_row_once():
    sampler = Sampler(7, seed=1)
    taken = [sampler.take(3) for _ in range(7)]
    order = list(chain.from_iterable(taken))
    passes = [order[start : start + 7] for start in (0, 7, 14)]
    assert [sorted(one) for one in passes] == [list(range(7))] * 3
    assert passes[0] != passes[1]


def test_a_sampler_goes_on_where_another_stopped_even_in_the_middle_of_a_pass():
    """Kills: a state without what is left of the order, or without the generator that draws the next one."""
    one = Sampler(7, seed=1)
    one.take(5)
    other = Sampler(7, seed=2)
    other.load_state_dict(one.state_dict())
    assert [one.take(4) for _ in range(5)] == [other.take(4) for _ in range(5)]


def after(steps: int, job: LongJob | None = None) -> torch.Tensor:
    """The weights after so many steps."""
    job = job or started(SETTINGS, ROWS)
    for _ in range(steps):
        job.step()
    return torch.cat([weight.detach().flatten() for weight in job.model.parameters()])


@pytest.mark.parametrize("part", ["model", "optimizer", "sampler", "random"])
def test_a_step_depends_on_each_part_of_the_state(part):
    """Kills: a job in which something that a checkpoint should hold makes no difference."""
    with torch.random.fork_rng(devices=[]):
        whole = after(6)
        job = started(SETTINGS, ROWS)
        after(3, job)
        states = {name: getattr(job, name).state_dict() for name in ("model", "optimizer", "sampler")}
        random = torch.get_rng_state()
        new = started(SETTINGS, ROWS)
        for name, state in states.items():
            if name != part:
                getattr(new, name).load_state_dict(state)
        if part != "random":
            torch.set_rng_state(random)
        assert not torch.equal(after(3, new), whole)


def test_the_moments_of_a_step_are_told_in_order():
    told: list[str] = []
    with torch.random.fork_rng(devices=[]):
        after(2, started(SETTINGS, ROWS, at=told.append))
    assert told == ["begin", "middle", "begin", "middle"]


def test_a_folder_is_a_disk_as_the_grader_has_it(tmp_path: Path):
    """The same operations leave the same files."""
    folder, disk, rng = FolderDisk(tmp_path / "disk"), Disk(), Random(3)
    for number in range(60):
        kind, name = rng.choice(("write", "sync", "rename", "remove")), rng.choice("abc")
        data = bytes([number]) * 3
        given = {"write": [name, data], "rename": [name, rng.choice("abc")]}.get(kind, [name])
        asked = [given[0], base64.b64encode(data).decode()] if kind == "write" else given
        if "missing" in disk.answer(kind, asked):  # type: ignore[arg-type]
            with pytest.raises(FileNotFoundError):
                getattr(folder, kind)(*given)
        else:
            getattr(folder, kind)(*given)
        assert {name: folder.read(name) for name in folder.names()} == disk.files
    assert disk.files
