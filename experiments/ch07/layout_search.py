"""The layouts that the advisor considers, and how many each rule discards. Standard library only.

>>> from rankzero.facts.layouts import Job
>>> from rankzero.facts.models import LLAMA3_405B
>>> found = search(Job(LLAMA3_405B, gpus=16384, global_batch=2048, sequence=8192))
>>> found.splits, found.layouts, found.too_large
(680, 302, 175)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rankzero.facts.layouts import Job, Layout
from rankzero.facts.units import GB
from solutions.ch07.layout import choose_layout, layout_memory
from solutions.ch07.layout_model import broken_rule, candidates, splits, step_time

#: Seconds of a step, bytes of the fullest GPU, and the layout.
Priced = tuple[float, float, Layout]


@dataclass(frozen=True)
class Search:
    """One search for the fastest layout that fits.

    Attributes:
        splits: ways to write the GPUs as TP x CP x PP x DP.
        pruned: how many of them each rule discards, the rule that discards most first.
        layouts: number of layouts that the remaining splits make with EP, ZeRO, chunks and recomputation.
        too_large: how many of these do not fit into the memory of a GPU.
        best: the fastest layout that fits; None if there is none.
    """

    splits: int
    pruned: Mapping[str, int]
    layouts: int
    too_large: int
    best: Layout | None


def search(job: Job) -> Search:
    """Find the fastest layout that fits, and count what was discarded."""
    rules = Counter(broken_rule(split, job) for split in splits(job.gpus))
    pruned = {rule: count for rule, count in rules.most_common() if rule}
    layouts = candidates(job)
    too_large = sum(not fits(layout, job) for layout in layouts)
    return Search(rules.total(), pruned, len(layouts), too_large, choose_layout(job))


def fits(layout: Layout, job: Job) -> bool:
    """Whether states and activations leave the job's reserve free on the fullest GPU."""
    return sum(layout_memory(layout, job)) <= job.gpu_memory * (1 - job.reserve)


def priced(job: Job) -> tuple[list[Priced], list[Priced]]:
    """The layouts that fit and those that do not: ``(seconds, bytes, layout)``, the fastest first."""
    found = [
        (step_time(candidate, job), sum(layout_memory(candidate, job)), candidate) for candidate in candidates(job)
    ]
    found.sort(key=lambda row: row[0])
    return [row for row in found if fits(row[2], job)], [row for row in found if not fits(row[2], job)]


def explained(layout: Layout, job: Job) -> str:
    """One sentence on a layout: why it is impossible, or how long it takes and whether it fits."""
    try:
        states, activations = layout_memory(layout, job)
    except ValueError as error:
        return f"{layout}: impossible, {error}"
    rule = broken_rule((layout.tp, layout.cp, layout.pp, layout.dp), job)
    if rule:
        return f"{layout}: impossible, {rule}"
    ending = "fits" if fits(layout, job) else f"more than {job.gpu_memory * (1 - job.reserve) / GB:.1f} GB"
    sizes = f"states {states / GB:.1f} GB, activations {activations / GB:.1f} GB"
    return f"{layout}: {step_time(layout, job):.3f} s; {sizes}, {ending}"
