"""What a layout is: how many GPUs each kind of parallelism takes, and the job that it is for. Standard library only.

>>> Layout(tp=8, cp=1, pp=16, dp=128).gpus
16384

The records hold inputs and nothing else: what a layout costs is computed in ``solutions.ch07.layout``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from rankzero.models import Model
from rankzero.units import GB


@dataclass(frozen=True)
class Layout:
    """How a model and its batch lie on GPUs. Ranks are numbered with TP innermost, then CP, EP, PP, and DP outermost.

    Attributes:
        tp: ranks that share every matrix (tensor parallelism), with the sequence cut between the blocks.
        cp: ranks that share every sequence (context parallelism).
        pp: stages of the pipeline.
        dp: replicas; each sees its own part of the batch.
        ep: ranks, of those that hold replicas, that share the experts of a mixture; 1 for a dense model. It divides
            ``dp`` and takes no GPUs of its own.
        zero: what the ``dp * cp`` ranks of one shard divide among them: 1 optimizer states, 2 gradients too,
            3 weights too.
        virtual_stages: chunks of layers on each rank of the pipeline.
        recompute: whether the backward computes every layer's activations again instead of keeping them.
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
        """GPUs that it takes."""
        return self.tp * self.cp * self.pp * self.dp

    def __str__(self) -> str:
        """As people write it: ``TP8 PP16 DP128 ZeRO-2``."""
        sizes = (("TP", self.tp), ("CP", self.cp), ("PP", self.pp), ("DP", self.dp), ("EP", self.ep))
        words = [f"{name}{size}" for name, size in sizes if size > 1] or ["1 GPU"]
        words.append(f"ZeRO-{self.zero}")
        if self.virtual_stages > 1:
            words.append(f"{self.virtual_stages} chunks")
        return " ".join([*words, *(["recompute"] if self.recompute else [])])


@dataclass(frozen=True, repr=False)
class Job:
    """One step of training: a model, a batch, and the GPUs that are there. The defaults are an H100's.

    Attributes:
        model: its shape.
        gpus: how many there are.
        global_batch: sequences of one optimizer step, over all replicas.
        sequence: tokens of one sequence.
        micro_batch: sequences that one replica runs at once.
        gpu_memory: of one GPU, bytes.
        peak: dense bf16 FLOP/s of one GPU.
        gpus_per_node: GPUs that the fast links join.
        node_bandwidth: of one GPU inside its node, one direction, bytes/s.
        network_bandwidth: of one GPU across nodes, one direction, bytes/s.
        efficiency: the share of ``peak`` that kernels reach while they run.
        reserve: the share of ``gpu_memory`` that is kept free.
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
        """The model by its name, and what differs from the defaults."""
        own = [(field.name, getattr(self, field.name), field.default) for field in fields(self)[1:]]
        given = [f"{name}={value!r}" for name, value, default in own if value != default]
        return f"Job({', '.join([self.model.name, *given])})"
