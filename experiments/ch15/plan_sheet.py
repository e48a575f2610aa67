"""The plan of a training run, six decisions, and its sheet: what each decision comes to, beside what is published.

>>> plan = Plan(gpus=8192)
>>> plan.dp, plan.microbatches
(64, 32)
>>> sheet = Sheet(plan)
>>> print(sheet.fill("layout", lambda plan: [Row("data-parallel ranks", plan.dp, "", 128)]).splitlines()[2])
layout     data-parallel ranks                       64        128        128   +0.0%

Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rankzero import checks
from rankzero.facts.models import LLAMA3_405B, Model
from rankzero.facts.plans import RunLayout
from solutions.ch15.run_plan import partition_layers

#: The decisions, in the order in which they are made.
DECISIONS = ("model", "batch", "layout", "memory", "checkpoint", "failures")

#: GPUs of one node of H100s: the sheet counts tensor parallelism on NVLink, which ends there.
NODE = 8

_COLUMNS = ("your plan", "Llama's", "published")
HEAD = f"{'decision':<11}{'what':<33}{''.join(f'{name:>11}' for name in _COLUMNS)}{'error':>8}"


@dataclass(frozen=True)
class Plan:
    """Six decisions. As they stand they are those of Llama 3.1 405B; ``saved`` and ``interval`` are not published.

    Attributes:
        model, tokens: what is trained, and on how much text.
        gpus, batch, sequence: GPUs of the job, sequences in one optimizer step, and tokens of one sequence.
        tp, cp, pp: ranks of tensor, context and pipeline parallelism; the rest of the GPUs are replicas.
        recompute: activations that are computed again: ``"none"``, ``"cheap"`` (what takes few FLOP) or ``"full"``.
        saved: bytes of one parameter in a checkpoint, 12 or, with the bf16 weights, 14 (assumed).
        interval: minutes of work between two saves (assumed).

    Raises:
        ValueError: the GPUs are no whole number of replicas, tensor parallelism leaves the node, a replica gets no
            whole number of sequences or, for the pipeline's stages, of rounds, or the model has experts.
    """

    model: Model = LLAMA3_405B
    tokens: float = 15.6e12
    gpus: int = 16_384
    batch: int = 2048
    sequence: int = 8192
    tp: int = 8
    cp: int = 1
    pp: int = 16
    recompute: str = "none"
    saved: float = 14
    interval: float = 20

    def __post_init__(self) -> None:
        """Refuse what the functions of the sheet do not count."""
        checks.count(gpus=self.gpus, batch=self.batch, sequence=self.sequence, tp=self.tp, cp=self.cp, pp=self.pp)
        checks.positive(tokens=self.tokens, saved=self.saved, interval=self.interval)
        checks.one_of(("none", "cheap", "full"), recompute=self.recompute)
        checks.require(self.tp <= NODE, f"be at most {NODE}, the GPUs of a node", tp=self.tp)
        ranks = self.tp * self.cp * self.pp
        checks.require(self.gpus % ranks == 0, f"be a multiple of tp * cp * pp = {ranks}", gpus=self.gpus)
        checks.require(self.batch % self.dp == 0, f"be a multiple of the {self.dp} replicas", batch=self.batch)
        least = self.pp * self.dp
        checks.require(self.batch >= least, f"be at least {least}: {self.pp} sequences a replica", batch=self.batch)
        whole = self.chunks == 1 or self.microbatches % self.pp == 0
        checks.require(whole, f"be a multiple of {least}: {self.pp} sequences a replica and round", batch=self.batch)
        checks.require(not self.model.experts, "be dense", model=self.model.name)

    @property
    def dp(self) -> int:
        """Replicas."""
        return self.gpus // (self.tp * self.cp * self.pp)

    @property
    def microbatches(self) -> int:
        """Micro-batches of a replica in one step, a sequence each (assumed)."""
        return self.batch // self.dp

    @property
    def chunks(self) -> int:
        """Chunks on a pipeline rank, a layer each (assumed)."""
        return math.ceil(self.model.layers / self.pp)

    @property
    def partition(self) -> list[int]:
        """Layers of each stage; the embedding and the head count as one each."""
        return partition_layers(self.model.layers, self.pp, 1, 1)

    def in_flight(self, stage: int) -> float:
        """Micro-batches whose activations a rank keeps when its chunks are interleaved."""
        before_backward = 2 * (self.pp - 1 - stage) + (self.chunks - 1) * self.pp + 1
        return min(self.chunks * self.microbatches, before_backward) / self.chunks

    @property
    def matrix(self) -> int:
        """Parameters without the look-up in the embedding; a table that is the head, too, multiplies."""
        looked_up = 0 if self.model.tied_embeddings else self.model.vocab * self.model.hidden
        return self.model.parameters - looked_up

    @property
    def layout(self) -> RunLayout:
        """How the model and one step are divided among the GPUs."""
        ranks = self.tp, self.cp, self.pp, self.dp
        return RunLayout(*ranks, self.microbatches, self.sequence, self.sequence, self.chunks, recompute=self.recompute)


@dataclass(frozen=True)
class Row:
    """A line of the sheet.

    Attributes:
        what: the quantity, in words.
        value: what a plan comes to, in ``unit``.
        unit: short, as printed; empty for a plain number.
        published: in the same unit; a pair of limits where a range is published (0 or infinity where one end is open),
            and None where nothing is.
    """

    what: str
    value: float
    unit: str = ""
    published: float | tuple[float, float] | None = None

    def beside(self, llama: Row) -> str:
        """The line, without its decision.

        What is published is Llama's: the error is that of Llama's plan, and so shows how good the functions are. Limits
        hold for every plan: the last column says on which side of them this one is.
        """
        name = f"{self.what}, {self.unit}" if self.unit else self.what
        values = f"{_number(self.value):>11}{_number(llama.value):>11}"
        return f"{name:<33}{values}{_published(self.published):>11}{self._error(llama):>8}".rstrip()

    def _error(self, llama: Row) -> str:
        if self.published is None:
            return ""
        if isinstance(self.published, tuple):
            low, high = self.published
            return "within" if low <= self.value <= high else "outside"
        return f"{llama.value / self.published - 1:+.1%}"


Filled = Callable[[Plan], Sequence[Row]]


class Sheet:
    """What a plan comes to, decision by decision, beside Llama's plan by the same functions."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._filled: dict[str, Filled] = {}

    def fill(self, decision: str, rows: Filled) -> str:
        """Add the rows of a decision, or replace them, and return them as text.

        Args:
            decision: a name in :data:`DECISIONS`.
            rows: the rows that a plan comes to, as many for every plan.
        """
        checks.one_of(DECISIONS, decision=decision)
        self._filled[decision] = rows
        return self.whole(self.plan, decision)

    def whole(self, plan: Plan | None = None, *decisions: str) -> str:
        """The rows of these decisions, or of all, for this plan or another one; "open" for a decision without rows."""
        return "\n".join((HEAD, "-" * len(HEAD), *self._lines(plan or self.plan, decisions or DECISIONS)))

    def _lines(self, plan: Plan, decisions: Sequence[str]) -> Iterator[str]:
        for decision in decisions:
            fill = self._filled.get(decision)
            if fill is None:
                yield f"{decision:<11}open"
                continue
            name = decision
            for row, llama in zip(fill(plan), fill(Plan()), strict=True):
                yield f"{name:<11}{row.beside(llama)}"
                name = ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.4g}"


def _published(value: float | tuple[float, float] | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, tuple):
        return _number(value)
    low, high = value
    if math.isinf(high):
        return f"over {_number(low)}"
    return f"{_number(low)} to {_number(high)}" if low else f"up to {_number(high)}"
