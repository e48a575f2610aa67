"""Chapter 07: how a layout that a reader designed is judged: does it divide, fit, finish in time, and what binds.

The costs come from the chapter's own functions: ``layout_memory`` for the bytes of the fullest GPU, ``step_parts``
for the time of a step. A sentence names the constraint that a layout breaks, or what costs it the most time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from autograder.items import Knob, Simulated, lazily
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.units import GB

memory = lazily("solutions.ch07.layout")
groups = lazily("solutions.ch07.placed_groups")
model_of_time = lazily("solutions.ch07.layout_model")

#: Losses that are told: at least this share of a step.
TOLD = 0.005


@dataclass(frozen=True)
class Task:
    """A training job to lay out on its GPUs.

    Attributes:
        job: the model, its batch and the cluster.
        limit: the longest that a step may take, seconds.
        knobs: what is chosen, by the names of :class:`Layout`, and ``replicas_inside`` of ``step_parts``. What is not
            chosen is 1 (ZeRO-1, no pipeline ...) or no (recomputation). DP is what remains of the GPUs.
    """

    job: Job
    limit: float
    knobs: tuple[Knob, ...]

    @property
    def room(self) -> float:
        """Bytes of a GPU that may be used."""
        return self.job.gpu_memory * (1 - self.job.reserve)

    def simulate(self, **choices: int) -> Simulated:
        """What comes of a layout."""
        refused = indivisible(choices, self.job)
        if refused:
            return Simulated(f"{_chosen(choices)}:", (math.inf, math.inf), refused)
        found = priced(self, **choices)
        broken = self.broken(found)
        told = found.told() if broken else f"{found.told()} {self.compared(found)}"
        return Simulated(told, (found.seconds, found.memory / GB), broken)

    def broken(self, found: Priced) -> str:
        """The sentence about what a layout that divides lacks, memory or time; empty if it lacks nothing."""
        if found.memory > self.room:
            larger = "model states" if found.states > found.activations else "activations"
            return (
                f"But that is {found.memory / GB:.3g} GB, and only {self.room / GB:.3g} GB of the GPU's "
                f"{self.job.gpu_memory / GB:.3g} GB may be used. Most of it is {larger}."
            )
        if found.seconds > self.limit:
            name, lost = max(found.losses.items(), key=lambda loss: loss[1])
            cause = found.cause(name)
            return f"But a step may take {self.limit:g} s at most. The largest loss, {lost:.3g} s, comes from {cause}."
        return ""

    def compared(self, found: Priced) -> str:
        """Where a layout that can be built lies between the best ones."""
        seconds, size = least(self)
        return (
            f"That is {found.seconds / seconds:.2f} times the shortest step and {found.memory / size:.2f} times the "
            f"smallest memory of all layouts that can be built."
        )

    def combinations(self) -> Iterator[dict[str, int]]:
        """Every choice of options, by the names of the knobs."""
        for values in itertools.product(*(knob.options for knob in self.knobs)):
            yield {knob.name: value for knob, value in zip(self.knobs, values, strict=True)}


@dataclass(frozen=True)
class Priced:
    """What a layout costs.

    Attributes:
        layout: how the job is split.
        microbatches: of one replica in a step.
        states, activations: of the fullest GPU, bytes.
        parts: the time of a step by what it is spent on, seconds, as ``step_parts`` has it.
        work: seconds of a step in which every GPU did an equal share of the model's own operations and nothing else.
        across: the axes whose groups span nodes.
        layers: of the model.
    """

    layout: Layout
    microbatches: int
    states: float
    activations: float
    parts: Mapping[str, float]
    work: float
    across: frozenset[str]
    layers: int

    @property
    def memory(self) -> float:
        """Bytes of the fullest GPU."""
        return self.states + self.activations

    @property
    def seconds(self) -> float:
        """The time of a step."""
        return sum(self.parts.values())

    @property
    def losses(self) -> dict[str, float]:
        """Seconds beyond ``work``, by their cause."""
        again = self.work / 3 if self.layout.recompute else 0.0
        found = {name: seconds for name, seconds in self.parts.items() if name != "compute"}
        return {"recompute": again, "uneven": max(0.0, self.parts["compute"] - self.work - again), **found}

    def told(self) -> str:
        """The layout, its memory and where its time goes."""
        shares = [
            f"{lost:.2g} s for {NAMES[name]}" for name, lost in self.losses.items() if lost >= TOLD * self.seconds
        ]
        spent = ", ".join([f"{self.work:.3g} s for the model's own operations", *shares])
        few = _counted(self.microbatches, "micro-batch", "micro-batches")
        return (
            f"{self.layout} runs {few} per replica. A GPU holds {self.states / GB:.3g} GB of states and "
            f"{self.activations / GB:.3g} GB of activations. A step takes {self.seconds:.3g} s: {spent}."
        )

    def cause(self, name: str) -> str:
        """What a loss comes from, in words."""
        one, few = self.layout, _counted(self.microbatches, "micro-batch", "micro-batches")
        where = ", which cross the node boundary" if name in self.across else ", which nothing hides"
        return {
            "recompute": "the forward pass that recomputation repeats",
            "uneven": f"uneven stages: {self.layers} layers and the output head cannot be divided evenly by {one.pp}",
            "TP": f"the all-reduces of TP {one.tp}{where}",
            "CP": f"the keys and values of CP {one.cp}{where}",
            "EP": f"the all-to-alls of EP {one.ep}{where}",
            "PP": f"the messages between {one.pp} stages{where}",
            "idle": f"idle stages: a replica has only {few} for {one.pp} stages",
            "DP": f"the {'weights and gradients' if one.zero == 3 else 'gradients'} of DP {one.dp}{where}",
        }[name]


def _counted(number: int, one: str, several: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else several}"


#: What a loss is called in a list.
NAMES = {
    "recompute": "recomputation",
    "uneven": "uneven stages",
    "TP": "TP messages",
    "CP": "CP messages",
    "EP": "EP messages",
    "PP": "PP messages",
    "idle": "idle stages",
    "DP": "exposed DP messages",
}


def indivisible(choices: Mapping[str, int], job: Job) -> str:
    """The sentence about what a choice does not divide; empty for a layout that exists."""
    tp, cp, pp, ep = (choices.get(name, 1) for name in ("tp", "cp", "pp", "ep"))
    model, taken = job.model, tp * cp * pp
    if job.gpus % taken:
        return f"one replica would take {taken} GPUs, and there are {job.gpus}."
    if model.heads % tp or (model.kv_heads % tp and tp % model.kv_heads):
        return f"TP {tp} does not divide the {model.heads} attention heads."
    least_tokens = model_of_time.LEAST_TOKENS
    if cp > 1 and (job.sequence % (2 * cp) or job.sequence // cp < least_tokens):
        return f"CP {cp} leaves {job.sequence // cp:,} tokens of a sequence to a rank, fewer than {least_tokens:,}."
    if pp > model.layers:
        return f"{pp} stages are more than the {model.layers} layers."
    replicas = job.gpus // taken
    if job.global_batch % (replicas * job.micro_batch):
        return f"the batch of {job.global_batch} sequences cannot be divided evenly among {replicas} replicas."
    if ep > 1 and model.experts % ep:
        return f"EP {ep} does not divide the {model.experts} experts."
    if replicas % ep:
        return f"EP {ep} needs as many replicas to divide the experts among, and DP is {replicas}."
    return ""


def _chosen(choices: Mapping[str, int]) -> str:
    """The splits of a choice in the usual notation."""
    return " ".join(f"{name.upper()}{size}" for name, size in choices.items() if name in ("tp", "cp", "pp", "ep"))


def layout_of(choices: Mapping[str, int], job: Job) -> Layout:
    """The layout of a choice that divides."""
    tp, cp, pp, ep, zero = (choices.get(name, 1) for name in ("tp", "cp", "pp", "ep", "zero"))
    return Layout(tp, cp, pp, job.gpus // (tp * cp * pp), ep, zero, recompute=bool(choices.get("recompute", 0)))


@cache
def priced(task: Task, **choices: int) -> Priced:
    """The costs of a choice that divides."""
    job, layout = task.job, layout_of(choices, task.job)
    inside = bool(choices.get("replicas_inside", 0))
    states, activations = memory.layout_memory(layout, job)
    sizes = groups.placement(layout, inside)
    axes = {"TP": ["tp"], "CP": ["cp"], "EP": ["ep"], "PP": ["pp"], "DP": ["cp", "ep", "dp"]}
    near = {name: groups.members_in_node(sizes, axis, job.gpus_per_node) for name, axis in axes.items()}
    whole = {name: math.prod(sizes[axis] for axis in group) for name, group in axes.items()}
    return Priced(
        layout,
        job.global_batch // (layout.dp * job.micro_batch),
        states,
        activations,
        model_of_time.step_parts(layout, job, inside),
        _work(job),
        frozenset(name for name in axes if near[name] < whole[name]),
        job.model.layers,
    )


def _work(job: Job) -> float:
    """Seconds of the model's operations in a step, divided evenly among the GPUs."""
    alone = Job(job.model, 1, job.micro_batch, job.sequence, job.micro_batch, peak=job.peak, efficiency=job.efficiency)
    once = model_of_time.step_parts(Layout(1, 1, 1, 1), alone)["compute"]
    return once * job.global_batch / job.micro_batch / job.gpus


@cache
def least(task: Task) -> tuple[float, float]:
    """The shortest step, seconds, and the smallest memory, bytes, of all layouts that can be built."""
    divide = (choices for choices in task.combinations() if not indivisible(choices, task.job))
    found = [one for choices in divide if not task.broken(one := priced(task, **choices))]
    return min(one.seconds for one in found), min(one.memory for one in found)
