"""The inputs of a training run: how the model is split, the machines, the checkpoints and the running costs.

>>> layout = RunLayout(tp=8, cp=1, pp=16, dp=128, microbatches=16, micro_tokens=8192, sequence=8192)
>>> layout.tp * layout.cp * layout.pp * layout.dp
16384

The records hold inputs and nothing else: what a plan comes to is computed in ``solutions.ch15.run_sheet``. Standard
library only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunLayout:
    """How the model and one optimizer step are divided among the GPUs.

    Attributes:
        tp, cp, pp, dp: ranks of tensor, context, pipeline and data parallelism; integers >= 1.
        microbatches: that one replica runs in a step, an integer >= 1.
        micro_tokens: tokens of one micro-batch; positive, finite.
        sequence: tokens of one sequence, an integer >= 1.
        virtual_stages: chunks of layers on each pipeline rank, an integer >= 1.
        shard: what the ``cp * dp`` replicas share: ``"optimizer"``, ``"optimizer+gradients"`` or ``"all"``.
        gradient_bytes: of one gradient; not negative, finite.
        recompute: which activations are recomputed: ``"none"``, ``"cheap"`` or ``"full"``.
    """

    tp: int
    cp: int
    pp: int
    dp: int
    microbatches: int
    micro_tokens: float
    sequence: int
    virtual_stages: int = 1
    shard: str = "optimizer+gradients"
    gradient_bytes: float = 4
    recompute: str = "none"


@dataclass(frozen=True)
class Cluster:
    """The GPUs of a run, how well they are used, and how often they fail.

    Attributes:
        gpus: of the job, an integer >= 1.
        peak: of one GPU, dense, FLOP/s; positive, finite.
        mfu: the share of the peak that the run sustains while it computes, with the operations of causal attention
            counted; above 0 and at most 1.
        mtbf: mean time between failures of the whole job, seconds; positive, finite.
        restart_time: from a failure until the job computes again, seconds; not negative, finite.
    """

    gpus: int
    peak: float
    mfu: float
    mtbf: float
    restart_time: float


@dataclass(frozen=True)
class Checkpoints:
    """How a run saves its state.

    Attributes:
        writers: ranks that write, an integer >= 1.
        writer_bandwidth: of one writer, bytes/s; positive, finite.
        storage_bandwidth: of the storage as a whole, bytes/s; positive, finite.
        stall: how long the job stops for one checkpoint, seconds; positive, finite. None: until it is written.
        bytes_per_parameter: 14 stores the bf16 weights beside the fp32 states, 12 only the states.
    """

    writers: int
    writer_bandwidth: float
    storage_bandwidth: float
    stall: float | None = None
    bytes_per_parameter: float = 14.0


@dataclass(frozen=True)
class Costs:
    """Rent and electricity.

    Attributes:
        price_per_gpu_hour: dollars; not negative, finite.
        kw_per_gpu: kilowatts that one GPU draws; not negative, finite.
        pue: power usage effectiveness, the power of the building over that of its computers; at least 1, finite.
        price_per_kwh: dollars; not negative, finite.
    """

    price_per_gpu_hour: float
    kw_per_gpu: float
    pue: float
    price_per_kwh: float
