"""What is published about the training of Llama 3.1 405B, what is not, and the source of each fact. Standard library.

>>> STAGES[1].gpus, STAGES[1].tokens_per_step
(16384, 16777216)

The shape is ``rankzero.facts.models.LLAMA3_405B``. Everything here is an input; whatever follows from it is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.plans import Checkpoints, Cluster, Costs, RunLayout
from rankzero.facts.units import TB, TFLOP, Gbit, day

PAPER = "Llama Team (2024), arXiv:2407.21783"
CARD = "Meta (2024), Llama 3.1 model card"

#: The training budget, FLOP, and the tokens, as the paper prints them.
BUDGET_FLOP, TOKENS = 3.8e25, 15.6e12

#: Tokens of the stage in which the context grows from 8,192 to 131,072 in six steps ("about 800 billion", section
#: 3.4.2). How many of them each length has is not published: all of them at the longest is an upper bound.
LONG_CONTEXT_TOKENS = 0.8e12

#: GPU-hours and watts per GPU that the model card prints, and its estimate of emissions, tonnes of CO2 equivalent by
#: the mix of the local grid.
GPU_HOURS, WATTS_PER_GPU, TONNES_CO2 = 30.84e6, 700, 8930

#: Interruptions in a window of so many seconds, and how many of them nobody had planned.
WINDOW, INTERRUPTIONS, UNEXPECTED = 54 * day, 466, 419

#: Storage, all GPUs together, bytes/s: sustained and peak. One GPU's network port, bytes/s in each direction.
STORAGE, STORAGE_PEAK, NETWORK = 2 * TB, 7 * TB, 400 * Gbit

#: Not published: assumed. Named as in ``rankzero.facts.plans``: dollars, a ratio, dollars, seconds.
ASSUMED = {"price_per_gpu_hour": 2.0, "pue": 1.1, "price_per_kwh": 0.05, "restart_time": 300.0, "stall": 60.0}

#: Nor this: chunks of layers on each pipeline rank.
ASSUMED_CHUNKS = 8


def plan(
    gpus: int = 16_384, mfu: float = 0.4, ranks: Sequence[int] = (8, 1, 16, 128)
) -> tuple[RunLayout, Cluster, Checkpoints, Costs]:
    """The inputs of ``run_report`` for a step of 16 micro-batches of one sequence, with what is assumed.

    Args:
        gpus: H100s, each of which fails as often as the published ones did.
        mfu: the share of the peak that the run sustains.
        ranks: of the four dimensions, TP, CP, PP and DP.
    """
    tp, cp, pp, dp = ranks
    mtbf = WINDOW / UNEXPECTED * 16_384 / gpus
    return (
        RunLayout(tp, cp, pp, dp, 16, 8192, 8192, ASSUMED_CHUNKS, recompute="cheap"),
        Cluster(gpus, H100_SXM.peak_bf16, mfu, mtbf, ASSUMED["restart_time"]),
        Checkpoints(gpus, NETWORK, STORAGE, ASSUMED["stall"]),
        Costs(ASSUMED["price_per_gpu_hour"], WATTS_PER_GPU / 1000, ASSUMED["pue"], ASSUMED["price_per_kwh"]),
    )


@dataclass(frozen=True)
class TableRow:
    """One row of the paper's table of layouts.

    Attributes:
        name: what the page calls it.
        gpus: H100s.
        tp, cp, pp, dp: ranks of each dimension.
        sequence: tokens of one sequence.
        batch_per_dp: sequences of one data-parallel replica in a step.
        flops_per_gpu: printed, FLOP/s (rounded to tens of TFLOP/s).
        mfu: printed, a fraction (rounded to hundredths).
    """

    name: str
    gpus: int
    tp: int
    cp: int
    pp: int
    dp: int
    sequence: int
    batch_per_dp: int
    flops_per_gpu: float
    mfu: float

    @property
    def ranks(self) -> int:
        """The product of the four dimensions."""
        return math.prod((self.tp, self.cp, self.pp, self.dp))

    @property
    def tokens_per_step(self) -> int:
        """Tokens of one optimizer step."""
        return self.batch_per_dp * self.dp * self.sequence

    @property
    def layout(self) -> RunLayout:
        """The same as the functions of a plan take it, with the assumed micro-batches of one sequence and chunks."""
        ranks = self.tp, self.cp, self.pp, self.dp
        return RunLayout(*ranks, self.batch_per_dp, self.sequence, self.sequence, ASSUMED_CHUNKS)


#: The paper's table 4. The third row's 8 data-parallel ranks are printed as 4 in the first version of the paper.
STAGES = (
    TableRow("A", 8192, 8, 1, 16, 64, 8192, 32, 430 * TFLOP, 0.43),
    TableRow("B", 16_384, 8, 1, 16, 128, 8192, 16, 400 * TFLOP, 0.41),
    TableRow("C", 16_384, 8, 16, 16, 8, 131_072, 16, 380 * TFLOP, 0.38),
)

#: The batch ramp: tokens of one step, tokens of one sequence, and the token count of the run at which it ends.
RAMP = ((4 * 2**20, 4096, 252e6), (8 * 2**20, 8192, 2.87e12), (16 * 2**20, 8192, TOKENS))


@dataclass(frozen=True)
class Cause:
    """A cause of unexpected interruptions: its name, its kind, how often it struck, and the printed percentage."""

    name: str
    kind: str
    count: int
    printed_percent: float


#: The paper's table 5.
CAUSES = (
    Cause("faulty GPU", "GPU", 148, 30.1),
    Cause("GPU HBM3 memory", "GPU", 72, 17.2),
    Cause("software bug", "dependency", 54, 12.9),
    Cause("network switch or cable", "network", 35, 8.4),
    Cause("host maintenance", "unplanned maintenance", 32, 7.6),
    Cause("GPU SRAM memory", "GPU", 19, 4.5),
    Cause("GPU system processor", "GPU", 17, 4.1),
    Cause("network card", "host", 7, 1.7),
    Cause("NCCL watchdog timeout", "unknown", 7, 1.7),
    Cause("silent data corruption", "GPU", 6, 1.4),
    Cause("GPU thermal interface and sensor", "GPU", 6, 1.4),
    Cause("SSD", "host", 3, 0.7),
    Cause("power supply", "host", 3, 0.7),
    Cause("server chassis", "host", 2, 0.5),
    Cause("IO expansion board", "host", 2, 0.5),
    Cause("dependency", "dependency", 2, 0.5),
    Cause("CPU", "host", 2, 0.5),
    Cause("system memory", "host", 2, 0.5),
)


@dataclass(frozen=True)
class Fact:
    """One line of the page's table: what, the value in words, and its status ("paper ...", "model card", "assumed")."""

    name: str
    value: str
    status: str


def _row(row: TableRow) -> str:
    layout = f"TP {row.tp}, CP {row.cp}, PP {row.pp}, DP {row.dp}"
    batch = f"{row.batch_per_dp} sequences of {row.sequence:,} per replica"
    return f"{row.gpus:,} H100: {layout}; {batch}; {row.flops_per_gpu / TFLOP:.0f} TFLOP/s per GPU, {row.mfu:.0%}"


_MISPRINT = " (its first version prints DP 4, which would be half of the GPUs)"

FACTS = (
    Fact(
        "shape",
        f"{LLAMA3_405B.layers} layers, hidden size {LLAMA3_405B.hidden:,}, feed-forward size {LLAMA3_405B.ffn:,} "
        f"(gated), {LLAMA3_405B.heads} heads, {LLAMA3_405B.kv_heads} key-value heads of width {LLAMA3_405B.head_dim}",
        "paper, table 3",
    ),
    Fact("vocabulary", "128,256, not tied", "released configuration (the paper's table 3 prints 128,000)"),
    Fact("budget", f"{BUDGET_FLOP:.2g} FLOP, {TOKENS / 1e12:.1f} trillion tokens", "paper, section 3.2"),
    *(Fact(f"stage {r.name}", _row(r), "paper, table 4" + (_MISPRINT if r.name == "C" else "")) for r in STAGES),
    Fact(
        "batch ramp",
        "4M tokens a step (sequences of 4,096); 8M (of 8,192) after 252M tokens; 16M after 2.87T",
        "paper, section 3.4.1 (it writes sequences where tokens are meant)",
    ),
    Fact(
        "schedule",
        "peak learning rate 8e-5, 8,000 steps of warm-up, cosine to 8e-7 over 1,200,000 steps; about 800 billion "
        "tokens while the context grows from 8K to 128K in six steps",
        "paper, section 3.4",
    ),
    Fact(
        "sharding",
        "dimensions in the order TP, CP, PP, DP; optimizer and gradients sharded, weights not resharded after the "
        "forward pass; gradients accumulated and reduce-scattered in fp32; context parallelism by an all-gather of "
        "keys and values; one layer fewer on the first and on the last stage; no recomputation at 8,192",
        "paper, section 3.3.2",
    ),
    Fact(
        "reliability",
        f"{WINDOW / day:.0f} days: {INTERRUPTIONS} interruptions, {INTERRUPTIONS - UNEXPECTED} planned, {UNEXPECTED} "
        "not, about 78 % of these of hardware; more than 90 % effective time; 3 manual interventions",
        "paper, section 3.3.4 and table 5",
    ),
    Fact(
        "storage and network",
        f"{STORAGE / TB:.0f} TB/s sustained, {STORAGE_PEAK / TB:.0f} TB/s peak; 1 MB to 4 GB per GPU and checkpoint; "
        f"Ethernet (RoCE), {NETWORK / Gbit:.0f} Gb/s per GPU; pods of 3,072 GPUs, 1:7 oversubscribed above",
        "paper, section 3.3.1",
    ),
    Fact("GPU-hours", f"{GPU_HOURS / 1e6:.2f} million, {WATTS_PER_GPU} W per GPU", "model card"),
    Fact("emissions", f"{TONNES_CO2:,} t of CO2 equivalent, by location", "model card"),
    Fact("optimizer states", "Adam in fp32, 12 bytes per parameter", "assumed: not published"),
    Fact("chunks per pipeline rank", f"{ASSUMED_CHUNKS}", "assumed: not published"),
    Fact("micro-batch", "1 sequence", "assumed: not published, and it fits the batch per replica"),
    Fact("stall of a checkpoint", f"{ASSUMED['stall']:g} s", "assumed: not published"),
    Fact("restart", f"{ASSUMED['restart_time']:g} s", "assumed: not published"),
    Fact(
        "price",
        f"{ASSUMED['price_per_gpu_hour']:g} dollars per GPU-hour, {ASSUMED['price_per_kwh']:g} dollars per kWh",
        "assumed: not published",
    ),
    Fact("power usage effectiveness (PUE), building over computers", f"{ASSUMED['pue']:g}", "assumed: not published"),
    Fact("days in each stage", "unknown", "uncertain: not published"),
)
