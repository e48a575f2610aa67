"""The bill of a training run, and the sheet that puts a whole plan together. Standard library only."""

from __future__ import annotations

import math
from typing import Any

from .checkpointing import checkpoint_waste, checkpoint_write_time, optimal_checkpoint_interval
from .flops import parameter_count, training_flops
from .run_plan import memory_per_stage, partition_layers, traffic_per_gpu


def run_bill(
    gpus: int, seconds: float, price_per_gpu_hour: float, kw_per_gpu: float, pue: float, price_per_kwh: float
) -> dict[str, float]:
    """What a run costs: the rent of its GPUs, and the electricity that they take.

    Args:
        gpus: an integer >= 1.
        seconds: wall-clock; not negative, finite.
        price_per_gpu_hour: dollars; not negative, finite.
        kw_per_gpu: kilowatts that one GPU draws; not negative, finite.
        pue: power usage effectiveness, what the building draws over what its computers draw; at least 1, finite.
        price_per_kwh: dollars; not negative, finite.

    Returns:
        ``gpu_hours``, ``dollars``, ``kwh`` and ``electricity_dollars`` (who rents has paid it with the rent).

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.
    """
    if isinstance(gpus, bool) or not isinstance(gpus, int) or gpus < 1:
        raise ValueError(f"gpus must be an integer >= 1, got {gpus!r}")
    amounts = {"seconds": seconds, "price_per_gpu_hour": price_per_gpu_hour, "kw_per_gpu": kw_per_gpu}
    for name, amount in (amounts | {"price_per_kwh": price_per_kwh}).items():
        if not 0 <= amount < math.inf:
            raise ValueError(f"{name} must be a finite number >= 0, got {amount!r}")
    if not 1 <= pue < math.inf:
        raise ValueError(f"pue must be a finite number >= 1, got {pue!r}")
    gpu_hours = gpus * seconds / 3600
    kwh = gpu_hours * kw_per_gpu * pue
    return {
        "gpu_hours": gpu_hours,
        "dollars": gpu_hours * price_per_gpu_hour,
        "kwh": kwh,
        "electricity_dollars": kwh * price_per_kwh,
    }


def run_report(
    model: Any,
    tokens: float,
    *,
    gpus: int,
    peak: float,
    mfu: float,
    tp: int,
    cp: int,
    pp: int,
    dp: int,
    microbatches: int,
    micro_tokens: float,
    sequence: int,
    mtbf: float,
    restart_time: float,
    writers: int,
    writer_bandwidth: float,
    storage_bandwidth: float,
    price_per_gpu_hour: float,
    kw_per_gpu: float,
    pue: float,
    price_per_kwh: float,
    stall: float | None = None,
    checkpoint_bytes_per_parameter: float = 14.0,
    virtual_stages: int = 1,
    shard: str = "optimizer+gradients",
    gradient_bytes: float = 4,
    recompute: str = "none",
) -> dict[str, float]:
    """A training run on one sheet: every number that the chapter computes, for one plan.

    It only composes: ``parameter_count``, ``training_flops``, ``partition_layers``, ``memory_per_stage``,
    ``traffic_per_gpu``, ``checkpoint_write_time``, ``optimal_checkpoint_interval``, ``checkpoint_waste``, ``run_bill``.

    Args:
        model: the shape: ``layers``, ``hidden``, ``heads``, ``kv_heads``, ``head_dim``, ``ffn`` and ``vocab``; gated
            feed-forward blocks, a head of its own.
        tokens: of the whole run; positive, finite.
        gpus: of the job; ``tp * cp * pp * dp``.
        peak: of one GPU, dense, FLOP/s; positive, finite.
        mfu: the share of the peak that the run sustains while it computes, above 0 and at most 1; measured against
            ``flops`` below, where attention is causal.
        tp, cp, pp, dp: ranks of each dimension, integers >= 1.
        microbatches: of one replica and step, an integer >= 1.
        micro_tokens: tokens of one micro-batch; positive, finite.
        sequence: tokens of one sequence, an integer >= 1.
        mtbf: mean seconds between failures of the whole job; positive, finite.
        restart_time: seconds from a failure until the job computes again; not negative, finite.
        writers, writer_bandwidth, storage_bandwidth: of ``checkpoint_write_time``.
        price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh: of ``run_bill``.
        stall: seconds that the job stands still for a checkpoint; positive, finite. None: as long as the write takes.
        checkpoint_bytes_per_parameter: 14 stores the bf16 weights beside the fp32 states, 12 the states alone.
        virtual_stages: chunks of layers on each pipeline stage, an integer >= 1.
        shard, gradient_bytes, recompute: of ``memory_per_stage``.

    Returns:
        * ``parameters``: all of them.
        * ``flops``: of the run, causal, all tokens in sequences of ``sequence``. The parameters that count are those in
          matrices, without the look-up in the embedding and the weights of norms.
        * ``step_seconds``: of one optimizer step, ``dp * microbatches * micro_tokens`` tokens.
        * ``compute_days``: of the run without checkpoints and failures. ``days``: with them.
        * ``layers_max`` and ``memory_bytes``: most layers on a stage, and the memory of the fullest stage. Embedding
          and head are counted as a layer each when layers are spread.
        * ``bubble_fraction``: idle over total time of the pipeline, ``(pp - 1) / (v m + pp - 1)``.
        * ``tp_bytes``, ``cp_bytes``, ``pp_bytes``, ``dp_bytes``: sent by one GPU in one step.
        * ``checkpoint_bytes``, ``write_seconds``; ``interval``: the exact optimum, seconds; ``waste``: there.
        * ``failures``: expected over the run's wall-clock.
        * ``gpu_hours``, ``dollars``, ``kwh``, ``electricity_dollars``: of the wall-clock; ``dollars_lost``: the part of
          ``dollars`` that is waste.

    Raises:
        ValueError: an argument is outside its range, here or in the function that it is passed to; the four dimensions
            do not multiply to ``gpus``; or failures come so fast that the waste is 1.
    """
    _check_plan(gpus, (tp, cp, pp, dp), peak, mfu, tokens)
    parameters = _count(model)
    rate = gpus * peak * mfu
    flops = _flops(model, tokens, sequence)
    step = _flops(model, dp * microbatches * micro_tokens, sequence)
    partition = partition_layers(model.layers, pp, 1, 1)
    memory = memory_per_stage(
        model, partition, tp, cp, dp, microbatches, micro_tokens, shard, gradient_bytes, recompute
    )
    sent = traffic_per_gpu(model, tp, cp, pp, dp, microbatches, micro_tokens, virtual_stages, recompute)
    write = checkpoint_write_time(
        parameters, checkpoint_bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth
    )
    pause = write if stall is None else stall
    interval = optimal_checkpoint_interval(pause, mtbf, "exact")
    waste = checkpoint_waste(interval, pause, mtbf, restart_time)
    if waste == 1:
        raise ValueError(f"mtbf must be long enough for the job to get on, got {mtbf!r}")
    wall = flops / rate / (1 - waste)
    bill = run_bill(gpus, wall, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh)
    return {
        "parameters": parameters,
        "flops": flops,
        "step_seconds": step / rate,
        "compute_days": flops / rate / 86_400,
        "layers_max": max(partition),
        "memory_bytes": max(row["total"] for row in memory),
        "bubble_fraction": (pp - 1) / (virtual_stages * microbatches + pp - 1),
        **{f"{dimension}_bytes": size for dimension, size in sent.items()},
        "checkpoint_bytes": parameters * checkpoint_bytes_per_parameter,
        "write_seconds": write,
        "interval": interval,
        "waste": waste,
        "days": wall / 86_400,
        "failures": wall / mtbf,
        **bill,
        "dollars_lost": waste * bill["dollars"],
    }


def _count(model: Any) -> int:
    return parameter_count(
        model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim, model.ffn, model.vocab
    )


def _flops(model: Any, tokens: float, sequence: int) -> float:
    """Of a run on ``tokens``, with the parameters in matrices that a token is multiplied with."""
    norms = (2 * model.layers + 1) * model.hidden
    multiplied = _count(model) - model.vocab * model.hidden - norms
    return training_flops(multiplied, [(tokens, sequence)], model.layers, model.heads * model.head_dim, causal=True)


def _check_plan(gpus: int, dimensions: tuple[int, int, int, int], peak: float, mfu: float, tokens: float) -> None:
    if math.prod(dimensions) != gpus:
        raise ValueError(f"gpus must be tp * cp * pp * dp, {math.prod(dimensions)}, got {gpus!r}")
    for name, value in (("peak", peak), ("tokens", tokens)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    if not 0 < mfu <= 1:
        raise ValueError(f"mfu must be > 0 and at most 1, got {mfu!r}")
