"""The bill of a training run, and the report that computes a whole plan. Standard library only."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankzero import checks

from ..ch07 import pipeline
from .checkpointing import checkpoint_waste, checkpoint_write_time, optimal_checkpoint_interval
from .flops import parameter_count, training_flops
from .run_plan import memory_per_stage, partition_layers, traffic_per_gpu

if TYPE_CHECKING:
    from rankzero.facts.models import Model
    from rankzero.facts.plans import Checkpoints, Cluster, Costs, RunLayout


def run_bill(
    gpus: int, seconds: float, price_per_gpu_hour: float, kw_per_gpu: float, pue: float, price_per_kwh: float
) -> dict[str, float]:
    """What a run costs: the rent of its GPUs, and the electricity that they take.

    Args:
        gpus: of the run; at least 1.
        seconds: wall-clock; not negative.
        price_per_gpu_hour: dollars; not negative.
        kw_per_gpu: kilowatts that one GPU draws; not negative.
        pue: power usage effectiveness, what the building draws over what its computers draw; at least 1.
        price_per_kwh: dollars; not negative.

    Returns:
        ``gpu_hours``, ``dollars``, ``kwh`` and ``electricity_dollars`` (already included in the rent of rented GPUs).
    """
    checks.count(gpus=gpus)
    checks.amount(seconds=seconds, price_per_gpu_hour=price_per_gpu_hour)
    checks.amount(kw_per_gpu=kw_per_gpu, price_per_kwh=price_per_kwh)
    checks.require(1 <= pue < math.inf, "be a finite number >= 1", pue=pue)
    gpu_hours = gpus * seconds / 3600
    kwh = gpu_hours * kw_per_gpu * pue
    return {
        "gpu_hours": gpu_hours,
        "dollars": gpu_hours * price_per_gpu_hour,
        "kwh": kwh,
        "electricity_dollars": kwh * price_per_kwh,
    }


@dataclass(frozen=True)
class RunReport:
    """The sheet of a plan.

    Attributes:
        parameters: of the model, all of them.
        flops: of the whole run.
        step_seconds: of one optimizer step.
        compute_days, days: of the run, without checkpoints and failures and with them.
        layers_max, memory_bytes: the most layers on a stage, and the most memory of a GPU.
        bubble_fraction: idle time over total time of the pipeline.
        tp_bytes, cp_bytes, pp_bytes, dp_bytes: sent by one GPU in one step.
        checkpoint_bytes, write_seconds: of one checkpoint.
        interval: seconds of computing between two checkpoints.
        waste: the share of the wall-clock time that checkpoints and failures take.
        failures: how many are expected.
        gpu_hours, dollars, kwh, electricity_dollars: the bill.
        dollars_lost: how many of the dollars are wasted.
    """

    parameters: int
    flops: float
    step_seconds: float
    compute_days: float
    days: float
    layers_max: int
    memory_bytes: float
    bubble_fraction: float
    tp_bytes: float
    cp_bytes: float
    pp_bytes: float
    dp_bytes: float
    checkpoint_bytes: float
    write_seconds: float
    interval: float
    waste: float
    failures: float
    gpu_hours: float
    dollars: float
    kwh: float
    electricity_dollars: float
    dollars_lost: float


def run_report(
    model: "Model", tokens: float, layout: "RunLayout", cluster: "Cluster", checkpoints: "Checkpoints", costs: "Costs"
) -> RunReport:
    """A training run on one sheet: every number that the chapter computes, for one plan.

    It only composes: ``parameter_count``, ``training_flops``, ``partition_layers``, ``memory_per_stage``,
    ``bubble_fraction``, ``traffic_per_gpu``, ``checkpoint_write_time``, ``optimal_checkpoint_interval``,
    ``checkpoint_waste`` and ``run_bill``.

    Args:
        model: the shape, with gated feed-forward blocks and a head of its own. The records of a plan are those of
            ``rankzero.facts.plans``; in grading, they and the model have fields and no methods.
        tokens: of the whole run; positive.
        layout: how the model and a step are divided among the GPUs; ``tp * cp * pp * dp`` is ``cluster.gpus``.
        cluster: the GPUs, how well they are used (``mfu`` is above 0 and at most 1), and how often they fail: rarely
            enough for the job to make progress.
        checkpoints: who writes them, how fast, and how large they are: 14 bytes per parameter store the bf16 weights
            beside the fp32 states, 12 the states alone. The job stops for ``stall`` seconds, or with a ``stall`` of
            None as long as the write takes.
        costs: rent and electricity.

    Returns:
        * ``flops``: with causal attention, all tokens in sequences of ``sequence``. The parameters that count are those
          in matrices, without the look-up in the embedding and the weights of norms.
        * ``step_seconds``: for ``dp * microbatches * micro_tokens`` tokens.
        * ``layers_max`` and ``memory_bytes``: most layers on a stage, and the memory of the fullest stage. Embedding
          and head are counted as a layer each when layers are spread.
        * ``interval``: the exact optimum; ``waste``: at this interval.
        * ``failures``: expected over the run's wall-clock time. The bill is for that time, too, and ``dollars_lost`` is
          the part of ``dollars`` that is waste.
    """
    checks.positive(tokens=tokens, peak=cluster.peak, mfu=cluster.mfu)
    checks.between(0, 1, mfu=cluster.mfu)
    gpus = layout.tp * layout.cp * layout.pp * layout.dp
    checks.require(cluster.gpus == gpus, f"be tp * cp * pp * dp = {gpus}", gpus=cluster.gpus)
    fullest, sent = _fullest(model, layout), _sent(model, layout)
    saving = _saving(model, cluster, checkpoints)
    flops = _flops(model, tokens, layout)
    step = _flops(model, layout.dp * layout.microbatches * layout.micro_tokens, layout)
    rate = cluster.gpus * cluster.peak * cluster.mfu
    waste = saving["waste"]
    wall = flops / rate / (1 - waste)
    bill: dict[str, Any] = run_bill(
        cluster.gpus, wall, costs.price_per_gpu_hour, costs.kw_per_gpu, costs.pue, costs.price_per_kwh
    )
    return RunReport(
        parameters=_count(model),
        flops=flops,
        step_seconds=step / rate,
        compute_days=flops / rate / 86_400,
        days=wall / 86_400,
        failures=wall / cluster.mtbf,
        dollars_lost=waste * bill["dollars"],
        **fullest,
        **sent,
        **saving,
        **bill,
    )


def _fullest(model: "Model", layout: "RunLayout") -> dict[str, Any]:
    """Layers and memory of the fullest stages, and how long the pipeline idles."""
    partition = partition_layers(model.layers, layout.pp, 1, 1)
    memory = memory_per_stage(
        model,
        partition,
        layout.tp,
        layout.cp,
        layout.dp,
        layout.microbatches,
        layout.micro_tokens,
        layout.shard,
        layout.gradient_bytes,
        layout.recompute,
    )
    return {
        "layers_max": max(partition),
        "memory_bytes": max(row["total"] for row in memory),
        "bubble_fraction": pipeline.bubble_fraction(layout.pp, layout.microbatches, layout.virtual_stages),
    }


def _sent(model: "Model", layout: "RunLayout") -> dict[str, Any]:
    """What one GPU sends in one step."""
    sent = traffic_per_gpu(model, layout)
    return {f"{dimension}_bytes": size for dimension, size in sent.items()}


def _saving(model: "Model", cluster: "Cluster", checkpoints: "Checkpoints") -> dict[str, Any]:
    """The size of a checkpoint and its write, and what saving at the best interval costs."""
    parameters, each = _count(model), checkpoints.bytes_per_parameter
    write = checkpoint_write_time(
        parameters, each, checkpoints.writers, checkpoints.writer_bandwidth, checkpoints.storage_bandwidth
    )
    stall = write if checkpoints.stall is None else checkpoints.stall
    interval = optimal_checkpoint_interval(stall, cluster.mtbf, "exact")
    waste = checkpoint_waste(interval, stall, cluster.mtbf, cluster.restart_time)
    checks.require(waste < 1, "be long enough for the job to make progress", mtbf=cluster.mtbf)
    return {"checkpoint_bytes": parameters * each, "write_seconds": write, "interval": interval, "waste": waste}


def _count(model: "Model") -> int:
    return parameter_count(
        model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim, model.ffn, model.vocab
    )


def _flops(model: "Model", tokens: float, layout: "RunLayout") -> float:
    """FLOP of a run on ``tokens``, counting the parameters in matrices that a token is multiplied by."""
    norms = (2 * model.layers + 1) * model.hidden
    multiplied = _count(model) - model.vocab * model.hidden - norms
    width = model.heads * model.head_dim
    return training_flops(multiplied, [(tokens, layout.sequence)], model.layers, width, causal=True)
