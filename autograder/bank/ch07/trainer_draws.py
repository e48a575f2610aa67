"""The milestone "trainer": drawn jobs, the cases that run them, and their plain twins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

from autograder.items import Case, Tensor, lazily

plain = lazily("solutions.ch07.plain_trainer")

#: Steps of a job, and tokens that a row trains.
STEPS, TOKENS = 10, 5
#: Learning rate and momentum: large enough that a wrong gradient shows in every weight after a step.
RATES = (0.25, 0.9)

#: Rows of a micro-batch, from its step, replica and place.
Counts = Callable[[int, int, int], int]


@dataclass(frozen=True)
class Drawn:
    """A job of all ranks.

    Attributes:
        shape: of the model, as :class:`rankzero.tiny.GPTConfig` takes it.
        seed: of its weights.
        plan: as :class:`rankzero.tiny.jobs.Plan` takes it.
        steps: rows of tokens by step, replica and micro-batch.
    """

    shape: dict[str, int]
    seed: int
    plan: dict[str, int]
    steps: list[list[list[list[list[int]]]]]

    @property
    def mesh(self) -> Any:
        """The plan as the course's own object."""
        return plain.Plan(**self.plan)

    def replica(self, rank: int) -> int:
        """The replica in which a rank works."""
        return rank // self.mesh.tp % self.mesh.dp

    def only(self, steps: slice) -> Drawn:
        """The same job with some of its steps."""
        return replace(self, steps=self.steps[steps])

    def weights(self, **mistake: Any) -> dict[str, list[float]]:
        """What the plain twin ends with, or one with a mistake."""
        return plain.plain_weights(self.shape, self.seed, self.steps, RATES, **mistake)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the whole model's parameters."""
        return plain.plain_shapes(self.shape)  # type: ignore[no-any-return]

    def case(self, saved: Sequence[Any] | None = None, watch: int = 0) -> Case:
        """The run of this job: what each rank is handed, after ``saved`` if it is resumed."""
        ranks = range(self.mesh.ranks)
        held = saved or [None for _ in ranks]
        arguments = [(self.shape, self.seed, self.plan, self._tokens(rank), RATES, held[rank], watch) for rank in ranks]
        return Case(tuple(arguments))

    def _tokens(self, rank: int) -> list[list[Tensor]]:
        mine = self.replica(rank)
        return [[_tensor(rows) for rows in step[mine]] for step in self.steps]


def _tensor(rows: list[list[int]]) -> Tensor:
    return Tensor.of([token for row in rows for token in row], "int64", (len(rows), TOKENS + 1))


def _equal(_step: int, _replica: int, _place: int) -> int:
    return 2


def drawn(rng: Random, plan: dict[str, int], counts: Counts = _equal, steps: int = STEPS, **shape: int) -> Drawn:
    """A job with a model of this shape and rows of tokens, so many in each micro-batch as ``counts`` says."""
    whole = {"vocab": rng.randint(9, 14), "layers": 2, "heads": 4, "kv_heads": 4, "head_dim": 4, "ffn": 16}
    whole |= {"context": TOKENS, **shape}
    mesh = {"dp": 1, "micro_batches": 1, **plan}

    def rows(step: int, replica: int, index: int) -> list[list[int]]:
        return [[rng.randrange(whole["vocab"]) for _ in range(TOKENS + 1)] for _ in range(counts(step, replica, index))]

    all_steps = [
        [[rows(s, r, m) for m in range(mesh["micro_batches"])] for r in range(mesh["dp"])] for s in range(steps)
    ]
    return Drawn(whole, rng.randrange(2**31), plan, all_steps)
