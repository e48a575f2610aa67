"""Layouts that others trained with, and how long a step took: what the advisor is held against. Standard library only.

Every step time is a measurement, printed in seconds or as FLOP/s per GPU. FLOP/s become seconds by the FLOPs that the
source counts: for Narayanan et al. equation (3), which includes recomputation; for Llama 3, whose count is not printed,
``training_flops_per_token`` with the whole attention matrix. The hardware is that of the source: H100, or A100 80GB in
nodes of eight with eight 200 Gbit/s ports.

Not printed, so assumed: that the 96 model-parallel GPUs of Narayanan et al. are 8 (TP) by 12, and that a rank has one
chunk there (with 3, the times of 530B are 3.9, 2.6 and -0.2 percent off, not 5.0, 5.7 and 6.6); one sequence per
micro-batch and no recomputation in the runs of Jiang et al. and of Llama 3; 8 chunks in Llama 3's; ZeRO-1 for Jiang et
al. The replicas of Narayanan et al. sharded nothing: a ``Layout`` has no such stage, and ZeRO-1 takes as long here.

>>> [len(series.runs) for series in SERIES]
[3, 3, 3, 3, 8, 2]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rankzero.facts.hardware import DGX_A100
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import GPT3_175B, LLAMA3_405B, Model
from rankzero.facts.units import TFLOP
from solutions.ch01.scale import training_flops_per_token


@dataclass(frozen=True)
class Run:
    """One measured training run.

    Attributes:
        layout: how it lay on the GPUs.
        job: what was trained, and on what.
        seconds: of one step, measured.
    """

    layout: Layout
    job: Job
    seconds: float


@dataclass(frozen=True)
class Series:
    """Runs of one model in one source, which differ in their number of GPUs.

    Attributes:
        name: the model and the software.
        runs: from the fewest GPUs to the most.
        source: where the measurements are printed.
    """

    name: str
    runs: tuple[Run, ...]
    source: str


_NARAYANAN = "Narayanan et al. (2021), arXiv:2104.04473, table 2"
_JIANG = "Jiang et al. (2024), MegaScale, arXiv:2402.15627, tables 1 and 2, rows Megatron-LM"
_LLAMA = "Llama Team (2024), arXiv:2407.21783, table 4"


def _a100(model: Model, gpus: int, batch: int, micro_batch: int = 1) -> Job:
    """A step of sequences of 2,048 tokens on A100s."""
    gpu = DGX_A100.gpu
    return Job(
        model,
        gpus,
        batch,
        2048,
        micro_batch,
        gpu_memory=gpu.memory,
        peak=gpu.peak_bf16,
        gpus_per_node=DGX_A100.gpus,
        node_bandwidth=gpu.nvlink.bandwidth,
        network_bandwidth=DGX_A100.port.bandwidth,
    )


def _megatron_flops(job: Job) -> float:
    """FLOPs of a step as Narayanan et al. count them, equation (3): with a second forward pass."""
    model = job.model
    per_layer = 1 + job.sequence / (6 * model.hidden) + model.vocab / (16 * model.layers * model.hidden)
    return 96 * job.global_batch * job.sequence * model.layers * model.hidden**2 * per_layer


def _narayanan(layout: Layout, job: Job, speed: float) -> Run:
    """A run whose speed is printed, FLOP/s per GPU."""
    return Run(layout, job, _megatron_flops(job) / (job.gpus * speed))


def _zero_3(model: Model, rows: Mapping[int, tuple[int, int, float]]) -> tuple[Run, ...]:
    """Runs with ZeRO-3 alone: by GPUs, sequences in a step and in a micro-batch, TFLOP/s."""
    return tuple(
        _narayanan(Layout(1, 1, 1, gpus, zero=3, recompute=True), _a100(model, gpus, batch, micro), speed * TFLOP)
        for gpus, (batch, micro, speed) in rows.items()
    )


def _stages(model: Model, stages: int, batch: int, rows: Mapping[int, float]) -> tuple[Run, ...]:
    """Runs with TP 8, a pipeline and replicas: by GPUs, TFLOP/s."""
    return tuple(
        _narayanan(Layout(8, 1, stages, gpus // (8 * stages), recompute=True), _a100(model, gpus, batch), speed * TFLOP)
        for gpus, speed in rows.items()
    )


_GPT_175B = replace(GPT3_175B, vocab=51_200)
_GPT_530B = replace(
    _GPT_175B, name="GPT 530B", layers=105, hidden=20_480, heads=128, kv_heads=128, head_dim=160, ffn=4 * 20_480
)
_MEGASCALE_175B = replace(GPT3_175B, heads=128, kv_heads=128, head_dim=96, vocab=64_000)

#: By GPUs: sequences in a step, and its seconds.
_MEGASCALE_ROWS = {
    256: (768, 40.0),
    512: (768, 21.2),
    768: (768, 15.2),
    1024: (768, 11.9),
    3072: (6144, 29.02),
    6144: (6144, 14.78),
    8192: (6144, 12.24),
    12_288: (6144, 8.57),
}


def _llama(dp: int, speed: float) -> Run:
    """Llama 3 405B with 16 million tokens in a step."""
    job = Job(LLAMA3_405B, gpus=128 * dp, global_batch=2048, sequence=8192)
    flops = training_flops_per_token(job.model.parameters, job.model.layers, job.model.hidden, job.sequence)
    seconds = flops * job.global_batch * job.sequence / (job.gpus * speed * TFLOP)
    return Run(Layout(8, 1, 16, dp, zero=2, virtual_stages=8), job, seconds)


SERIES = (
    Series(
        "175B, DeepSpeed",
        _zero_3(_GPT_175B, {384: (1536, 4, 144), 768: (1536, 2, 88), 1536: (1536, 1, 44)}),
        _NARAYANAN,
    ),
    Series(
        "530B, DeepSpeed",
        _zero_3(_GPT_530B, {640: (2560, 4, 138), 1120: (2240, 2, 98), 2240: (2240, 1, 48)}),
        _NARAYANAN,
    ),
    Series("175B, Megatron", _stages(_GPT_175B, 12, 1536, {384: 153, 768: 149, 1536: 141}), _NARAYANAN),
    Series("530B, Megatron", _stages(_GPT_530B, 35, 2240, {560: 171, 1120: 167, 2240: 159}), _NARAYANAN),
    Series(
        "175B, ByteDance",
        tuple(
            Run(Layout(8, 1, 8, gpus // 64, virtual_stages=6), _a100(_MEGASCALE_175B, gpus, batch), seconds)
            for gpus, (batch, seconds) in _MEGASCALE_ROWS.items()
        ),
        _JIANG,
    ),
    Series("Llama 3 405B", (_llama(64, 430), _llama(128, 400)), _LLAMA),
)
