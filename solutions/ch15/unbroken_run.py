"""The twin of a run that is killed: all ranks in one process that nobody kills, and what a forgetful run ends with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import torch

from rankzero.tiny import one_thread
from rankzero.tiny.long_jobs import LongJob, started

#: What a checkpoint can lack.
Part = Literal["optimizer", "sampler", "random"]


def unbroken_weights(
    settings: Mapping[str, Any],
    rows: Sequence[Sequence[int]],
    ranks: int = 1,
    forgets: Collection[Part] = (),
    at: Collection[int] = (),
) -> dict[str, list[float]]:
    """The weights after all steps, by name; each is a flat list.

    Args:
        settings: as :func:`rankzero.tiny.long_jobs.started` takes them.
        rows: sequences of tokens.
        ranks: in the run.
        forgets: parts that begin anew when the run is resumed, as in a new process.
        at: the steps after which it is resumed.
    """
    with torch.random.fork_rng(devices=[]), one_thread():
        crew = [_Rank(settings, rows, rank, ranks) for rank in range(ranks)]
        for done in range(settings["steps"]):
            for one in crew if done in at else []:
                one.resume(forgets)
            for one in crew:
                one.backward()
            mean = sum(one.job.gradients() for one in crew) / ranks
            for one in crew:
                one.job.spread(mean)  # type: ignore[arg-type]
                one.job.update()
    return {name: weight.flatten().tolist() for name, weight in crew[0].job.model.named_parameters()}


class _Rank:
    """A rank's job and random numbers."""

    def __init__(self, settings: Mapping[str, Any], rows: Sequence[Sequence[int]], rank: int, ranks: int) -> None:
        self.given = settings, torch.tensor(rows), rank, ranks
        self.job, self.random = self._new()

    def _new(self) -> tuple[LongJob, torch.Tensor]:
        return started(*self.given), torch.get_rng_state()

    def resume(self, forgets: Collection[Part]) -> None:
        """Go on in a new process whose checkpoint lacks these parts."""
        job, random = self._new()
        if "random" in forgets:
            self.random = random
        if "sampler" in forgets:
            self.job.sampler = job.sampler
        if "optimizer" in forgets:
            self.job.optimizer.load_state_dict(job.optimizer.state_dict())

    def backward(self) -> None:
        """The gradients of the rank's own rows, with its own random numbers."""
        torch.set_rng_state(self.random)
        self.job.backward()
        self.random = torch.get_rng_state()
