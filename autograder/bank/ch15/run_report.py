"""The capstone: ``run_report``, a plan on one sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from math import prod
from random import Random
from typing import Any

from autograder.bank.ch15.shared import RECOMPUTE, SHARDS
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import LLAMA3_70B, LLAMA3_405B, Model
from rankzero.facts.plans import Checkpoints, Cluster, Costs, RunLayout
from rankzero.facts.units import GB, TB, TFLOP


def _plan(layout: tuple[int, int, int, int], microbatches: int, sequence: int) -> dict[str, Any]:
    """Every input of a plan by its name, with ordinary machines, prices and failures."""
    plan: dict[str, Any] = {"gpus": prod(layout), "peak": 989.4 * TFLOP, "mfu": 0.4}
    plan |= {**dict(zip(("tp", "cp", "pp", "dp"), layout, strict=True)), "microbatches": microbatches}
    plan |= {"micro_tokens": sequence, "sequence": sequence, "mtbf": 11_135.0835, "restart_time": 300}
    plan |= {"writers": prod(layout), "writer_bandwidth": 2 * GB, "storage_bandwidth": 2 * TB}
    return plan | {"price_per_gpu_hour": 2, "kw_per_gpu": 0.7, "pue": 1.1, "price_per_kwh": 0.05}


def _sheet(model: Model, tokens: float, plan: Mapping[str, Any]) -> Case:
    """The case of a plan: its inputs, each in the record that has a field of that name."""
    records = (RunLayout, Cluster, Checkpoints, Costs)
    parts = (kind(**{field.name: plan[field.name] for field in fields(kind) if field.name in plan}) for kind in records)
    return Case((model, tokens, *parts))


def _drawn_model(rng: Random, stages: int) -> Model:
    """A shape whose layers do not divide evenly among the stages."""
    kv_heads, head_dim = rng.choice((2, 4, 8)), 128
    heads = kv_heads * rng.choice((2, 4, 8))
    layers, hidden = stages * rng.randint(2, 8) - rng.randint(1, 3), heads * head_dim + 64 * rng.randint(1, 9)
    return Model("a model", layers, hidden, heads, kv_heads, head_dim, 3 * hidden, 1000 * rng.randint(30, 130))


def _drawn_plan(rng: Random, stages: int) -> dict[str, Any]:
    """A pipeline whose fullest stage is not the first one: fewer micro-batches than stages."""
    layout = (rng.choice((2, 4, 8)), rng.choice((1, 2)), stages, rng.choice((8, 32, 64)))
    sequence = rng.choice((4096, 8192, 32_768))
    return _plan(layout, rng.randint(2, stages - 1), sequence) | {
        "mfu": rng.uniform(0.25, 0.5),
        "mtbf": rng.uniform(5000, 50_000),
        "restart_time": rng.uniform(120, 900),
        "stall": rng.uniform(20, 300),
        "virtual_stages": rng.choice((1, 2, 4)),
        "recompute": rng.choice(RECOMPUTE),
        "shard": rng.choice(SHARDS),
        "micro_tokens": sequence * rng.choice((1, 2)),
        "bytes_per_parameter": rng.choice((12.0, 14.0)),
    }


def _drawn(rng: Random, **more: Any) -> Case:
    stages = rng.choice((4, 8, 16))
    return _sheet(_drawn_model(rng, stages), float(rng.randint(1, 15)) * 1e12, _drawn_plan(rng, stages) | more)


def _as_long_as_the_write(rng: Random) -> Case:
    """A slow storage, so that writing takes long enough to count."""
    return _drawn(rng, stall=None, bytes_per_parameter=12.0, storage_bandwidth=rng.uniform(5, 20) * GB)


#: Llama 3.1 405B, the paper's second layout.
_405B = _plan((8, 1, 16, 128), 16, 8192)

_70B = _plan((8, 1, 4, 32), 16, 8192) | {
    "mtbf": 150_000.0,
    "recompute": "full",
    "stall": 30,
    "bytes_per_parameter": 12.0,
}


def report_in_days(model, tokens, layout, cluster, checkpoints, costs):
    """The bill and the calendar from days, the failures from the bill."""
    from solutions.ch15.run_sheet import run_report

    report = run_report(model, tokens, layout, cluster, checkpoints, costs)
    computing = report.flops / cluster.peak / cluster.mfu / cluster.gpus / 86_400
    days = computing + computing * report.waste / (1 - report.waste)
    hours = cluster.gpus * days * 24
    dollars = costs.price_per_gpu_hour * hours
    kwh = costs.pue * costs.kw_per_gpu * hours
    later = {"compute_days": computing, "days": days, "gpu_hours": hours, "dollars": dollars, "kwh": kwh}
    later |= {"electricity_dollars": costs.price_per_kwh * kwh, "failures": days * 86_400 / cluster.mtbf}
    return replace(report, **later, dollars_lost=dollars - dollars * computing / days)


EXERCISE = Build(
    "cap run_sheet.run_report",
    section="15.24",
    topic="a plan on one sheet",
    bonus=True,
    cases=(
        # its 8 chunks, 60 s, 300 s and prices are assumed
        _sheet(LLAMA3_405B, 15.6e12, _405B | {"virtual_stages": 8, "stall": 60, "recompute": "cheap"}),
        _sheet(LLAMA3_405B, 15.6e12, _405B | {"storage_bandwidth": 20 * GB}),
        _sheet(LLAMA3_70B, 15e12, _70B),
    ),
    groups=(
        Group("plans", _drawn, 5, "Every number comes from the function that computes it, with the plan's values."),
        Group("no stall given", _as_long_as_the_write, 2, "Without a stall the job waits for the whole write."),
    ),
    slips=(
        Slip(
            "The calendar is longer than the computing: divide by 1 - waste.",
            edit=("wall = flops / rate / (1 - waste)", "wall = flops / rate"),
        ),
        Slip(
            "Waste is a share of the wall-clock: divide by 1 - waste, do not multiply by 1 + waste.",
            edit=("wall = flops / rate / (1 - waste)", "wall = flops / rate * (1 + waste)"),
        ),
        Slip("`flops` is causal here: attention costs 6, not 12.", edit=("causal=True", "causal=False")),
        Slip(
            "The look-up in the embedding and the norms are no matrix products.",
            edit=("training_flops(multiplied,", "training_flops(_count(model),"),
        ),
        Slip(
            "`stall` is ignored: the job stops for that long, not for the whole write.",
            edit=("write if checkpoints.stall is None else checkpoints.stall", "write"),
        ),
        Slip(
            "`restart_time` is ignored.",
            edit=("stall, cluster.mtbf, cluster.restart_time)", "stall, cluster.mtbf)"),
        ),
        Slip("The interval is the exact one, not Daly's.", edit=(', "exact")', ")")),
        Slip(
            "The fullest stage counts: with few micro-batches that is not the first one.",
            edit=('max(row["total"] for row in memory)', 'memory[0]["total"]'),
        ),
        Slip(
            "That bubble is idle over useful time; the fraction is idle over total.",
            edit=(
                "pipeline.bubble_fraction(layout.pp, layout.microbatches, layout.virtual_stages)",
                "(layout.pp - 1) / (layout.virtual_stages * layout.microbatches)",
            ),
        ),
    ),
    rights=(
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
    promises=(
        Promise(
            "It only composes: ``parameter_count``, ``training_flops``, ``partition_layers``, ``memory_per_stage``,",
            why="how it may be written; the numbers are the promise",
        ),
        Promise(
            "as long as the write takes",
            edit=(
                "write if checkpoints.stall is None else checkpoints.stall",
                "60.0 if checkpoints.stall is None else checkpoints.stall",
            ),
        ),
        Promise(
            "14 bytes per parameter store the bf16 weights beside the fp32 states, 12 the states alone",
            edit=("parameters, each, checkpoints.writers", "parameters, 14, checkpoints.writers"),
        ),
        Promise("the memory of the fullest stage", edit=('max(row["total"] for row in memory)', 'memory[0]["total"]')),
        Promise(
            "the part of ``dollars`` that is waste",
            edit=('waste * bill["dollars"]', 'waste / (1 - waste) * bill["dollars"]'),
        ),
        Promise(
            "expected over the run's wall-clock time",
            edit=("failures=wall / cluster.mtbf", "failures=flops / rate / cluster.mtbf"),
        ),
        Promise(
            "are counted as a layer each",
            edit=("(model.layers, layout.pp, 1, 1)", "(model.layers, layout.pp)"),
        ),
    ),
)
