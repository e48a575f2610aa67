"""What others have measured on pipelines, to compare with the chapter's formulas. Standard library only.

>>> run = ONE_F_ONE_B[0]
>>> run.stages, run.samples_per_second[24]
(8, 11.8)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """Training runs of one model on one pipeline, which differ in their number of micro-batches.

    Attributes:
        model: its size, as the source names it.
        stages: GPUs of the pipeline, one stage on each.
        samples_per_second: of one GPU, by the number of micro-batches of a step.
    """

    model: str
    stages: int
    samples_per_second: Mapping[int, float]


#: 1F1B in Megatron-LM on A100 GPUs, with micro-batches of one size: more of them are a larger batch.
#: Source: Qi et al. (2024), arXiv:2401.10241, table 4, rows "1F1B".
ONE_F_ONE_B = (
    Measured("1.5B", 8, {24: 11.8, 32: 12.5, 64: 13.6}),
    Measured("6.2B", 8, {24: 3.50, 32: 3.70, 64: 4.03}),
    Measured("14.6B", 16, {48: 1.40, 64: 1.49, 128: 1.64}),
    Measured("28.3B", 32, {96: 0.76, 128: 0.80, 256: 0.88}),
)

#: Memory of the fullest GPU in the runs of the same table, in GB: 1F1B, and interleaved with a layer in each chunk.
#: Source: Qi et al. (2024), arXiv:2401.10241, table 4, rows "Memory".
MEMORY = {"1.5B": (30, 40), "6.2B": (39, 48), "14.6B": (32, 39), "28.3B": (43, 58)}

#: How many times as fast a Transformer of 48 layers trained as with 2 stages and 1 micro-batch, by stages and
#: micro-batches. Source: Huang et al. (2019), arXiv:1811.06965, table 2.
GPIPE_SPEEDUPS = {
    **{(2, 1): 1.0, (4, 1): 1.07, (8, 1): 1.3},
    **{(2, 4): 1.7, (4, 4): 3.2, (8, 4): 4.8},
    **{(2, 32): 1.8, (4, 32): 3.4, (8, 32): 6.3},
}

#: Two rows of one run: GPUs, sequences of a replica in one step, and the share of the peak that was used. All have 16
#: stages and 8-way tensor parallelism, and the same global batch.
#: Source: Llama Team (2024), arXiv:2407.21783, table 4.
LLAMA3_405B = ((8192, 32, 0.43), (16384, 16, 0.41))
