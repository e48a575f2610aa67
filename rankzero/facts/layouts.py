"""Layouts, the number of ways each kind of parallelism splits a job, and the jobs they are for. Standard library only.

>>> Layout(tp=8, cp=1, pp=16, dp=128).gpus
16384

These records hold only inputs; ``solutions.ch07.layout`` computes what a layout costs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from rankzero.facts.models import Model
from rankzero.facts.units import GB


@dataclass(frozen=True)
class Layout:
    """How a model and its batch are split over GPUs. Ranks are numbered with TP innermost, then CP, EP, PP, then DP.

    Attributes:
        tp: ranks that split every matrix (tensor parallelism) and, between the blocks, the sequence.
        cp: ranks that split every sequence (context parallelism).
        pp: stages of the pipeline.
        dp: replicas; each processes its own part of the batch.
        ep: data-parallel ranks that split the experts of a mixture among them; 1 for a dense model. It divides ``dp``
            and takes no additional GPUs.
        zero: what the ``dp * cp`` ranks of a shard split among them: 1 optimizer states, 2 gradients as well,
            3 weights as well.
        virtual_stages: chunks of layers on each rank of the pipeline.
        recompute: whether the backward pass recomputes every layer's activations instead of storing them.
    """

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int = 1
    zero: int = 1
    virtual_stages: int = 1
    recompute: bool = False

    @property
    def gpus(self) -> int:
        """Number of GPUs in use."""
        return self.tp * self.cp * self.pp * self.dp

    def __str__(self) -> str:
        """The usual notation: ``TP8 PP16 DP128 ZeRO-2``."""
        sizes = (("TP", self.tp), ("CP", self.cp), ("PP", self.pp), ("DP", self.dp), ("EP", self.ep))
        words = [f"{name}{size}" for name, size in sizes if size > 1] or ["1 GPU"]
        words.append(f"ZeRO-{self.zero}")
        if self.virtual_stages > 1:
            words.append(f"{self.virtual_stages} chunks")
        return " ".join([*words, *(["recompute"] if self.recompute else [])])


@dataclass(frozen=True, repr=False)
class Job:
    """One step of training: a model, a batch, and the available GPUs. The defaults describe H100s in nodes of eight.

    Attributes:
        model: shape of the model.
        gpus: number of available GPUs.
        global_batch: sequences in one optimizer step, over all replicas.
        sequence: tokens in one sequence.
        micro_batch: sequences that one replica processes at once.
        gpu_memory: memory of one GPU, bytes.
        peak: dense bf16 FLOP/s of one GPU.
        gpus_per_node: GPUs joined by the fast links.
        node_bandwidth: bandwidth of one GPU within its node, one direction, bytes/s.
        network_bandwidth: bandwidth of one GPU to other nodes, one direction, bytes/s.
        efficiency: fraction of ``peak`` that kernels reach while they run.
        reserve: fraction of ``gpu_memory`` that is kept free.
    """

    model: Model
    gpus: int
    global_batch: int
    sequence: int
    micro_batch: int = 1
    gpu_memory: float = 80 * GB
    peak: float = 989.4e12
    gpus_per_node: int = 8
    node_bandwidth: float = 450 * GB
    network_bandwidth: float = 50 * GB
    efficiency: float = 0.6
    reserve: float = 0.1

    def __repr__(self) -> str:
        """The model's name, and every field that differs from its default."""
        own = [(field.name, getattr(self, field.name), field.default) for field in fields(self)[1:]]
        given = [f"{name}={value!r}" for name, value, default in own if value != default]
        return f"Job({', '.join([self.model.name, *given])})"
