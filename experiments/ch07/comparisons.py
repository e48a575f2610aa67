"""Chapter 7's bubble fraction and its advisor beside published runs. Standard library only."""

from __future__ import annotations

from collections.abc import Callable

from solutions.ch07.layout_model import step_time
from solutions.ch07.pipeline import bubble_fraction

from ..comparison import Compared, Comparison
from . import published, published_layouts


def useful(stages: int, microbatches: int) -> float:
    """The share of its time in which a stage works."""
    return 1 - bubble_fraction(stages, microbatches)


def more_microbatches(run: published.Measured) -> tuple[Compared, ...]:
    """Throughput over that with the fewest micro-batches."""
    (first, base), *others = run.samples_per_second.items()
    name = f"{run.model}, {run.stages} stages, {first} to"
    return tuple(
        Compared(f"{name} {m}", speed / base, useful(run.stages, m) / useful(run.stages, first), "x")
        for m, speed in others
    )


def gpipe(stages: int, microbatches: int) -> float:
    """How many times as fast as two stages with one micro-batch."""
    return stages * useful(stages, microbatches) / (2 * useful(2, 1))


def runs(chosen: Callable[[published_layouts.Run], bool]) -> tuple[Compared, ...]:
    """Steps of the chosen runs by the advisor."""
    return tuple(
        Compared(f"{series.name}, {run.job.gpus:,} GPUs", run.seconds, step_time(run.layout, run.job), "s")
        for series in published_layouts.SERIES
        for run in series.runs
        if chosen(run)
    )


_SOURCES = "; ".join(dict.fromkeys(series.source for series in published_layouts.SERIES))

COMPARISONS = (
    Comparison(
        "7.3",
        "Throughput of 1F1B with more micro-batches, over that with the fewest",
        "ch07.pipeline.bubble_fraction",
        "measured",
        "Qi et al. (2024), arXiv:2401.10241, table 4",
        tuple(row for run in published.ONE_F_ONE_B for row in more_microbatches(run)),
        "Messages and uneven stages; what lengthens every slot alike cancels.",
        "the gain from more micro-batches of the same size",
    ),
    Comparison(
        "7.2",
        "Speed of GPipe over two stages with one micro-batch",
        "ch07.pipeline.bubble_fraction",
        "measured",
        "Huang et al. (2019), arXiv:1811.06965, table 2",
        tuple(
            Compared(f"{stages} stages, {m} micro-batch{'es' * (m > 1)}", speed, gpipe(stages, m), "x")
            for (stages, m), speed in published.GPIPE_SPEEDUPS.items()
            if (stages, m) != (2, 1)
        ),
        "With 32 micro-batches: messages and uneven stages. With fewer the runs differ in more than idle time: their "
        "batches were cut to what fits, and layers were computed again while a stage waited.",
        "many micro-batches",
    ),
    Comparison(
        "7.12",
        "Time of a training step with pipeline stages and TP 8",
        "ch07.layout_model.step_time",
        "measured",
        _SOURCES,
        runs(lambda run: run.layout.pp > 1),
        "Stragglers, the optimizer step and small kernels are left out; 530B's chunks are not published.",
        "stages with TP 8",
    ),
    Comparison(
        "7.12",
        "Time of a training step with ZeRO-3 alone",
        "ch07.layout_model.step_time",
        "measured",
        _SOURCES,
        runs(lambda run: run.layout.pp == 1),
        "Computation is assumed to hide the gathering; in these runs of 2021 it did not.",
        "nothing: measure",
    ),
)
