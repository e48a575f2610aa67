"""Further right programs for the items of the capstone."""

from __future__ import annotations

import math
from dataclasses import replace

from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval
from solutions.ch15.flops import training_flops, utilization
from solutions.ch15.run_plan import memory_per_stage, traffic_per_gpu
from solutions.ch15.run_sheet import run_report
from tools.luck import Right


def flops_by_parts(parameters, phases, layers=0, width=0, causal=False):
    """The operations of the matrices, then those of attention, each with an exact sum."""
    phases = list(phases)
    training_flops(parameters, phases, layers, width, causal)  # which refuses what must be refused
    dense = 6 * parameters * math.fsum(tokens for tokens, _ in phases)
    return dense + (6 if causal else 12) * layers * width * math.fsum(t * s for t, s in phases)


def utilization_by_time(tokens_per_second, flops_per_token, gpus, peak, recomputed_forward=0.0):
    """HFU first, from the operations that the hardware carries out."""
    utilization(tokens_per_second, flops_per_token, gpus, peak, recomputed_forward)
    each = tokens_per_second / gpus
    done = flops_per_token / 3 * (3 + recomputed_forward)
    return each * (flops_per_token / peak), each * (done / peak)


def memory_by_matrices(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    """Every parameter divided first; the bytes of a micro-batch by its tokens on one GPU."""
    memory_per_stage(model, partition, tp, cp, dp, microbatches, tokens, shard, gradient_bytes, recompute)
    heads, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
    layer = model.hidden * (2 * heads + 2 * keys + 3 * model.ffn + 2) / tp
    vocabulary = model.vocab * model.hidden / tp
    z = cp * dp
    norms_and_middle = {"none": 4, "selective": 2}
    rows = []
    for stage, layers in enumerate(partition):
        last = stage == len(partition) - 1
        mine = layers * layer + vocabulary * (stage == 0) + (vocabulary + model.hidden / tp) * last
        weights = 2 * mine / (z if shard == "all" else 1)
        states = (gradient_bytes * (z if shard == "optimizer" else 1) + 12) * mine / z
        count = norms_and_middle.get(recompute)
        wide = 2 * heads + 2 * keys + count * (model.hidden + model.ffn) if count else model.hidden
        kept = 2 * wide * layers * min(microbatches, len(partition) - stage) * (tokens / cp / tp)
        rows.append({"total": kept + states + weights, "parameters": weights, "states": states, "activations": kept})
    return rows


def traffic_by_ring(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    """All-reduces as pairs of all-gathers and reduce-scatters, all of bf16."""
    traffic_per_gpu(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages, recompute)
    layers = -(-model.layers // pp)
    activation = 2 * (tokens / cp) * model.hidden
    pairs = 12 if recompute == "full" else 8
    keys = 2 * 2 * model.kv_heads * (tokens / tp) * model.head_dim
    own = layers * model.hidden * (2 * (model.heads + model.kv_heads) * model.head_dim + 3 * model.ffn + 2)
    return {
        "tp": layers * pairs * activation * (1 - 1 / tp) * microbatches,
        "cp": layers * (3 if recompute == "full" else 2) * keys * (1 - 1 / cp) * microbatches,
        "pp": (virtual_stages * activation / tp + virtual_stages * activation / tp) * microbatches if pp > 1 else 0.0,
        "dp": (4 * own / tp + 2 * own / tp) * (1 - 1 / (cp * dp)),
    }


def interval_by_bisection(checkpoint_time, mtbf, method="daly"):
    """The exact root by bisection of the stable form; Young and Daly from square roots of each factor."""
    optimal_checkpoint_interval(checkpoint_time, mtbf, method)
    young = math.sqrt(2 * checkpoint_time) * math.sqrt(mtbf)
    if method == "young":
        return young
    x = checkpoint_time / mtbf / 2
    if method == "daly":
        return mtbf if checkpoint_time >= 2 * mtbf else young + young * (math.sqrt(x) / 3 + x / 9) - checkpoint_time
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _left(middle) < 2 * x else (low, middle)
    return mtbf * low


def cost_as_printed(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    """``exp(l/M)`` overflows from 710 MTBFs on."""
    length = interval + checkpoint_time
    lost = mtbf - length / (math.exp(length / mtbf) - 1)
    return (lost + restart_time) / 3600 * gpus * price_per_gpu_hour


def _left(u):
    """``-u - ln(1 - u)``, as a series where that cancels."""
    if u < 0.1:
        return math.fsum(u**n / n for n in range(2, 20))
    return -u - math.log1p(-u)


def waste_in_logarithms(interval, checkpoint_time, mtbf, restart_time=0.0):
    """The share that is useful, as one exponential of a negative number."""
    checkpoint_waste(interval, checkpoint_time, mtbf, restart_time)
    period = (interval + checkpoint_time) / mtbf
    useful = (interval / mtbf) * math.exp(-period - restart_time / mtbf) / -math.expm1(-period)
    return 1 - useful


def run_by_events(work, interval, checkpoint_time, restart_time, failure_gaps):
    """By the clock: the times of failures, and of what would end next."""
    gaps = iter(failure_gaps)

    def following(now):
        gap = next(gaps, math.inf)
        return now + gap

    clock, lost, restart, failures = 0.0, 0.0, 0.0, 0
    strike = following(clock)
    left = [interval] * (max(1, math.ceil(work / interval - 1e-9)) - 1)
    left.append(work - interval * len(left))
    count = len(left)
    while left or strike == clock:
        if strike == clock:
            failures += 1
            strike = following(clock)
            ready = min(strike, clock + restart_time)
            restart += ready - clock
            clock = ready
            continue
        end = clock + left[0] + checkpoint_time
        if strike < end:
            lost += strike - clock
            clock = strike
        else:
            clock = end
            left.pop(0)
    parts = {"useful": work, "checkpoint": count * checkpoint_time, "lost": lost, "restart": restart}
    return {"wall": clock, **parts, "failures": failures}


def report_in_days(model, tokens, layout, cluster, checkpoints, costs):
    """The bill and the calendar from days, the failures from the bill."""
    report = run_report(model, tokens, layout, cluster, checkpoints, costs)
    computing = report.flops / cluster.peak / cluster.mfu / cluster.gpus / 86_400
    days = computing + computing * report.waste / (1 - report.waste)
    hours = cluster.gpus * days * 24
    dollars = costs.price_per_gpu_hour * hours
    kwh = costs.pue * costs.kw_per_gpu * hours
    later = {"compute_days": computing, "days": days, "gpu_hours": hours, "dollars": dollars, "kwh": kwh}
    later |= {"electricity_dollars": costs.price_per_kwh * kwh, "failures": days * 86_400 / cluster.mtbf}
    return replace(report, **later, dollars_lost=dollars - dollars * computing / days)


RIGHT = {
    "cap-training-flops": (
        Right("matrices and attention apart", program=flops_by_parts),
        Right(
            "per token of all phases",
            edits=(
                (
                    "total += tokens * (6 * parameters + (6 if causal else 12) * layers * width * sequence)",
                    "total += 6 * (tokens * parameters) + tokens * sequence * (layers * (6 if causal else 12)) * width",
                ),
            ),
        ),
    ),
    "cap-utilization": (
        Right("per GPU, HFU from what is carried out", program=utilization_by_time),
        Right(
            "divided one after the other",
            edits=(
                (
                    "tokens_per_second * flops_per_token / (gpus * peak)",
                    "tokens_per_second / peak / gpus * flops_per_token",
                ),
                ("mfu * (1 + recomputed_forward / 3)", "mfu + mfu * recomputed_forward / 3"),
            ),
        ),
    ),
    "cap-memory-per-stage": (
        Right("every factor divided first", program=memory_by_matrices),
        Right(
            "bytes of a parameter as one number",
            edits=(
                (
                    'gradient_bytes / (1 if shard == "optimizer" else replicas) + 12 / replicas',
                    '(gradient_bytes * (replicas if shard == "optimizer" else 1) + 12) / replicas',
                ),
                ('"parameters": parameters / tp * weight_bytes', '"parameters": parameters * weight_bytes / tp'),
                (
                    "kept = _activation_bytes(model, recompute) * tokens / (tp * cp)",
                    "kept = tokens / cp * _activation_bytes(model, recompute) / tp",
                ),
            ),
        ),
    ),
    "cap-traffic-per-gpu": (
        Right("pairs over rings", program=traffic_by_ring),
        Right(
            "shares of other ranks",
            edits=(
                ("* 2 * (tp - 1) / tp * inputs", "* (2 - 2 / tp) * inputs"),
                ("(cp - 1) / cp * keys_and_values", "(keys_and_values - keys_and_values / cp)"),
                ("(replicas - 1) / replicas * (4 + 2)", "6 * (1 - 1 / replicas)"),
            ),
        ),
    ),
    "cap-debug-shares": (
        Right(
            "a share, then per cent",
            edits=(("100 * count / sum(unexpected.values())", "count / sum(unexpected.values()) * 100"),),
        ),
        Right(
            "times a hundredth's inverse",
            edits=(("100 * count / sum(unexpected.values())", "count * (100 / sum(unexpected.values()))"),),
        ),
    ),
    "cap-checkpoint-write-time": (
        Right(
            "the longer of two times",
            edits=(
                (
                    "parameters * bytes_per_parameter / min(writers * writer_bandwidth, storage_bandwidth)",
                    "max(parameters / writers * bytes_per_parameter / writer_bandwidth,"
                    " parameters * bytes_per_parameter / storage_bandwidth)",
                ),
            ),
        ),
        Right(
            "the part of each writer",
            edits=(
                (
                    "parameters * bytes_per_parameter / min(writers * writer_bandwidth, storage_bandwidth)",
                    "parameters / writers / min(writer_bandwidth, storage_bandwidth / writers) * bytes_per_parameter",
                ),
            ),
        ),
    ),
    "cap-optimal-checkpoint-interval": (
        Right("bisection", program=interval_by_bisection),
        Right(
            "the series from its powers",
            edits=(
                (
                    "math.sqrt(2 * checkpoint_time * mtbf) * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint_time",
                    "2 * mtbf * math.sqrt(x) * (1 + math.sqrt(x) / 3 * (1 + math.sqrt(x) / 3)) - checkpoint_time",
                ),
                (
                    "    return math.sqrt(2 * checkpoint_time * mtbf)\n",
                    "    return mtbf * math.sqrt(2 * checkpoint_time / mtbf)\n",
                ),
            ),
        ),
    ),
    "cap-checkpoint-waste": (
        Right("one exponential of a negative number", program=waste_in_logarithms),
        Right(
            "one minus the inverse, factor by factor",
            edits=(
                (
                    "return 1 - 1 / max(1.0, wall)",
                    "return (wall - 1) / wall if 1 < wall < math.inf else float(wall > 1)",
                ),
            ),
        ),
    ),
    "cap-debug-interval": (
        Right(
            "in hours, then in minutes",
            edits=(
                (
                    "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                    "math.sqrt(2 * (checkpoint_seconds / 3600) * mtbf_hours) * 60",
                ),
            ),
        ),
        Right(
            "in minutes from the start",
            edits=(
                (
                    "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                    "math.sqrt(2 * (checkpoint_seconds / 60) * (mtbf_hours * 60))",
                ),
            ),
        ),
    ),
    "cap-simulate-run": (
        Right("by the clock", program=run_by_events),
        Right(
            "the lost time found from the wall-clock",
            edits=(
                (
                    'spent["useful"] += useful\n',
                    'spent["useful"] = work if segment == segments - 1 else spent["useful"] + useful\n',
                ),
            ),
        ),
    ),
    "cap-failure-cost": (
        Right("the formula as it is printed", program=cost_as_printed),
        Right(
            "a hyperbolic tangent",
            edits=(
                (
                    "mtbf * (1 - segment / math.expm1(segment)) if segment < 700 else mtbf",
                    "mtbf * (1 + segment / 2 - segment / 2 / math.tanh(segment / 2))",
                ),
            ),
        ),
        Right(
            "the mean of a truncated exponential",
            edits=(
                (
                    "mtbf * (1 - segment / math.expm1(segment)) if segment < 700 else mtbf",
                    "mtbf * (1 + segment * math.exp(-segment) / math.expm1(-segment))",
                ),
            ),
        ),
    ),
    "cap-debug-resume": (
        Right("everything that was saved", edits=(("{name: saved[name] for name in fresh}", "dict(saved)"),)),
        Right("fresh, then saved", edits=(("{name: saved[name] for name in fresh}", "fresh | saved"),)),
    ),
    "cap-run-bill": (
        Right(
            "per GPU",
            edits=(
                ("gpu_hours = gpus * seconds / 3600", "gpu_hours = seconds / 3600 * gpus"),
                ("kwh = gpu_hours * kw_per_gpu * pue", "kwh = pue * kw_per_gpu * seconds * gpus / 3600"),
            ),
        ),
        Right(
            "per second",
            edits=(
                ('"dollars": gpu_hours * price_per_gpu_hour', '"dollars": price_per_gpu_hour / 3600 * gpus * seconds'),
                (
                    '"electricity_dollars": kwh * price_per_kwh',
                    '"electricity_dollars": price_per_kwh * kw_per_gpu * pue * gpu_hours',
                ),
            ),
        ),
    ),
    "cap-run-report": (
        Right("in days", program=report_in_days),
        Right(
            "the wall-clock from the overhead",
            edits=(
                ("wall = flops / rate / (1 - waste)", "wall = flops / rate + flops / rate * (waste / (1 - waste))"),
                ('waste * bill["dollars"]', 'bill["dollars"] - bill["dollars"] * (1 - waste)'),
                ("cluster.gpus * cluster.peak * cluster.mfu", "cluster.peak * cluster.mfu * cluster.gpus"),
                (
                    "norms = (2 * model.layers + 1) * model.hidden",
                    "norms = model.hidden + 2 * model.hidden * model.layers",
                ),
            ),
        ),
    ),
}
