"""Published figures for chapter 6: four models on A100 GPUs, and one all-reduce. Standard library only.

Korthikanti et al. trained GPT-like models with sequences of 2,048 tokens on nodes of eight A100 GPUs, each layer split
over the eight GPUs of a node.

>>> [run.hidden for run in MEGATRON]
[6144, 12288, 20480, 25600]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.models import Model
from rankzero.facts.units import GB, GiB, KiB, MiB, ms

SOURCE = "Korthikanti et al. (2022), arXiv:2205.05198, tables 3 to 5 and section 5"
ALL_REDUCE_SOURCE = (
    "S. Bekman, ml-engineering, network/benchmarks/results/all-reduce-8xH200.md, commit c53741b, measured 2026-08-04"
)

RANKS, SEQUENCE = 8, 2048


@dataclass(frozen=True)
class Megatron:
    """A model of tables 3 and 5.

    Attributes:
        name: as printed.
        hidden: width of the model.
        heads: query heads.
        utilization: model FLOPs utilization, with sequence parallelism and selective recomputation.
    """

    name: str
    hidden: int
    heads: int
    utilization: float

    @property
    def model(self) -> Model:
        """One layer of it: classic, four times as wide inside."""
        shape = (self.hidden, self.heads, self.heads, self.hidden // self.heads, 4 * self.hidden)
        return Model(self.name, 1, *shape, vocab=51_200, gated=False)


MEGATRON = (
    Megatron("22B", 6144, 64, 0.415),
    Megatron("175B (GPT-3)", 12_288, 96, 0.514),
    Megatron("530B (MT-NLG)", 20_480, 128, 0.560),
    Megatron("1T", 25_600, 160, 0.563),
)

#: Section 5: the share of the memory for activations that selective recomputation saves, by model.
SAVED = {"175B (GPT-3)": 0.70, "530B (MT-NLG)": 0.65}

#: Table 4: forward and backward pass of one layer of the 22B model, seconds.
LAYER_TIMES = {"none": 19.6 * ms, "selective": 20.9 * ms, "full": 27.2 * ms}

#: An all-reduce of 64 MiB on eight H200 GPUs in one node, seconds; the table prints size over time, 198.01 GB/s. It was
#: no ring: from 2 MiB on, the switches between the GPUs did the adding (NVLS).
ALL_REDUCE_SIZE = 64 * MiB
ALL_REDUCE_TIME = ALL_REDUCE_SIZE / (198.01 * GB)

#: All-reduces on nodes of eight B200 GPUs, each with an NVLink of 900 GB/s and a network port of 50 GB/s: by the size
#: of the tensor, the bus bandwidth (2 (N - 1) / N times size over time) on one node and on four, bytes/s.
CROSSING_SOURCE = "S. Bekman, ml-engineering, network/README.md, commit c53741b, AWS P6-B200, NCCL 2.27.7"
CROSSING = {
    32 * KiB: (1.20 * GB, 0.01 * GB),
    64 * MiB: (400.60 * GB, 156.74 * GB),
    4 * GiB: (740.64 * GB, 377.34 * GB),
}
