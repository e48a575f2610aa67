"""The capstone: the bill of a run, and the sheet with everything on it."""

from __future__ import annotations

from math import inf, nan, prod
from random import Random
from typing import Any

from autograder.bank.cap_layout import RECOMPUTE, SHARDS
from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.models import LLAMA3_70B, LLAMA3_405B, Model
from rankzero.units import GB, TB, TFLOP, day

# --- run_bill


def slip_watts(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    if gpus < 1 or gpus != int(gpus) or not 0 <= seconds < 1e300 or not 1 <= pue < 1e300:
        raise ValueError("out of range")
    if min(price_per_gpu_hour, kw_per_gpu, price_per_kwh) < 0:
        raise ValueError("out of range")
    hours = gpus * seconds / 3600
    kwh = hours * kw_per_gpu / 1000 * pue
    bill = {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour, "kwh": kwh}
    return {**bill, "electricity_dollars": kwh * price_per_kwh}


def slip_pue_divided(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    if gpus < 1 or gpus != int(gpus) or not 0 <= seconds < 1e300 or not 1 <= pue < 1e300:
        raise ValueError("out of range")
    if min(price_per_gpu_hour, kw_per_gpu, price_per_kwh) < 0:
        raise ValueError("out of range")
    hours = gpus * seconds / 3600
    kwh = hours * kw_per_gpu / pue
    bill = {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour, "kwh": kwh}
    return {**bill, "electricity_dollars": kwh * price_per_kwh}


def slip_pue_forgotten(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    if gpus < 1 or gpus != int(gpus) or not 0 <= seconds < 1e300 or not 1 <= pue < 1e300:
        raise ValueError("out of range")
    if min(price_per_gpu_hour, kw_per_gpu, price_per_kwh) < 0:
        raise ValueError("out of range")
    hours = gpus * seconds / 3600
    bill = {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour, "kwh": hours * kw_per_gpu}
    return {**bill, "electricity_dollars": hours * kw_per_gpu * price_per_kwh}


def slip_one_gpu_hours(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    if gpus < 1 or gpus != int(gpus) or not 0 <= seconds < 1e300 or not 1 <= pue < 1e300:
        raise ValueError("out of range")
    if min(price_per_gpu_hour, kw_per_gpu, price_per_kwh) < 0:
        raise ValueError("out of range")
    hours = seconds / 3600
    kwh = hours * kw_per_gpu * pue
    bill = {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour, "kwh": kwh}
    return {**bill, "electricity_dollars": kwh * price_per_kwh}


def slip_paid_twice(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    if gpus < 1 or gpus != int(gpus) or not 0 <= seconds < 1e300 or not 1 <= pue < 1e300:
        raise ValueError("out of range")
    if min(price_per_gpu_hour, kw_per_gpu, price_per_kwh) < 0:
        raise ValueError("out of range")
    hours = gpus * seconds / 3600
    kwh = hours * kw_per_gpu * pue
    power = kwh * price_per_kwh
    return {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour + power, "kwh": kwh, "electricity_dollars": power}


def slip_bill_unchecked(gpus, seconds, price_per_gpu_hour, kw_per_gpu, pue, price_per_kwh):
    hours = gpus * seconds / 3600
    kwh = hours * kw_per_gpu * pue
    bill = {"gpu_hours": hours, "dollars": hours * price_per_gpu_hour, "kwh": kwh}
    return {**bill, "electricity_dollars": kwh * price_per_kwh}


def _billed(rng: Random) -> Case:
    seconds = rng.randint(3600, 10_000_000)
    price, power = rng.choice((0.8, 2, 3.5)), rng.choice((0.4, 0.7, 1.2))
    return Case((rng.randint(8, 25_000), seconds, price, power, rng.uniform(1.05, 1.6), rng.choice((0.05, 0.08, 0.2))))


def _nothing_billed(rng: Random) -> Case:
    free = rng.choice(((0, 2, 0.7, 1, 0.05), (3600.0, 0, 0.7, 1, 0.05), (7200.0, 2, 0, 1.2, 0.05)))
    return Case((rng.randint(1, 64), *free))


def _bad_bills(rng: Random) -> list[Case]:
    good = (rng.randint(8, 512), 86_400.0, 2.0, 0.7, 1.1, 0.08)
    wrong = ((0, 0), (0, 2.5), (1, -1.0), (1, nan), (2, -2.0), (3, -0.7), (4, 0.9), (4, inf), (5, -0.05))
    return [invalid(*good[:place], value, *good[place + 1 :]) for place, value in wrong]


BILL = Build(
    id="cap-run-bill",
    module="run_sheet",
    function="run_bill",
    grade="call",
    section="15.15",
    topic="the bill",
    bonus=True,
    cases=(
        Case((16_384, 77 * day, 2, 0.7, 1, 0.05)),
        Case((1, 30.84e6 * 3600, 2, 1.3, 1.1, 0.05)),  # the GPU-hours of Llama 3.1 405B's model card; power is assumed
        Case((512, 30 * day, 2, 0.7, 1.1, 0.08)),
        invalid(512, 30 * day, 2, 0.7, 0.9, 0.08),
    ),
    groups=(
        Group("bills", _billed, 5, "GPU-hours of all GPUs; kWh of the building."),
        Group("nothing to pay", _nothing_billed, 3, "Time, price and power may be 0."),
        Group("bad input", lambda rng: rng.choice(_bad_bills(rng)), 9, "Bad input must raise ValueError.", _bad_bills),
    ),
    slips=(
        Slip("`kw_per_gpu` is in kilowatts already.", slip_watts),
        Slip("The building draws more than its computers: multiply by the PUE.", slip_pue_divided),
        Slip("The PUE is missing: the building draws more than its computers.", slip_pue_forgotten),
        Slip("GPU-hours are those of all GPUs.", slip_one_gpu_hours),
        Slip("Who rents has paid the electricity with the rent: do not add it to the dollars.", slip_paid_twice),
        Slip("Impossible arguments were accepted.", slip_bill_unchecked),
    ),
)

# --- run_report. The wrong programs start from the right sheet and spoil what depends on one mistake.


def slip_no_waste(model, tokens, **plan):
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    bill = ("days", "failures", "gpu_hours", "dollars", "kwh", "electricity_dollars", "dollars_lost")
    return report | {key: report[key] * (1 - report["waste"]) for key in bill}


def slip_waste_added(model, tokens, **plan):
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    bill = ("days", "failures", "gpu_hours", "dollars", "kwh", "electricity_dollars", "dollars_lost")
    return report | {key: report[key] * (1 - report["waste"]) * (1 + report["waste"]) for key in bill}


def slip_full_square(model, tokens, **plan):
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    attention = 6 * model.layers * model.heads * model.head_dim * plan["sequence"] * tokens
    keys = ["flops", "step_seconds", "compute_days", "days", "failures"]
    keys += ["gpu_hours", "dollars", "kwh", "electricity_dollars", "dollars_lost"]
    return report | {key: report[key] * (1 + attention / report["flops"]) for key in keys}


def slip_look_up_counted(model, tokens, **plan):
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    more = 6 * (model.vocab * model.hidden + (2 * model.layers + 1) * model.hidden) * tokens
    keys = ["flops", "step_seconds", "compute_days", "days", "failures"]
    keys += ["gpu_hours", "dollars", "kwh", "electricity_dollars", "dollars_lost"]
    return report | {key: report[key] * (1 + more / report["flops"]) for key in keys}


def slip_stall_ignored(model, tokens, **plan):
    from solutions.run_sheet import run_report

    return run_report(model, tokens, **(plan | {"stall": None}))


def slip_restart_ignored(model, tokens, **plan):
    from solutions.run_sheet import run_report

    run_report(model, tokens, **plan)
    return run_report(model, tokens, **(plan | {"restart_time": 0}))


def slip_daly(model, tokens, **plan):
    from solutions.checkpointing import checkpoint_waste, optimal_checkpoint_interval
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    pause = report["write_seconds"] if plan.get("stall") is None else plan["stall"]
    interval = optimal_checkpoint_interval(pause, plan["mtbf"])
    waste = checkpoint_waste(interval, pause, plan["mtbf"], plan["restart_time"])
    longer = (1 - report["waste"]) / (1 - waste)
    keys = ("days", "failures", "gpu_hours", "dollars", "kwh", "electricity_dollars")
    lost = {"dollars_lost": report["dollars"] * longer * waste}
    return report | {"interval": interval, "waste": waste, **{key: report[key] * longer for key in keys}, **lost}


def slip_first_stage(model, tokens, **plan):
    from solutions.run_plan import memory_per_stage, partition_layers
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    ranks = [plan[name] for name in ("tp", "cp", "dp", "microbatches", "micro_tokens")]
    options = {name: plan[name] for name in ("shard", "gradient_bytes", "recompute") if name in plan}
    rows = memory_per_stage(model, partition_layers(model.layers, plan["pp"], 1, 1), *ranks, **options)
    return report | {"memory_bytes": rows[0]["total"]}


def slip_bubble_overhead(model, tokens, **plan):
    from solutions.run_sheet import run_report

    report = run_report(model, tokens, **plan)
    return report | {"bubble_fraction": report["bubble_fraction"] / (1 - report["bubble_fraction"])}


def slip_report_unchecked(model, tokens, **plan):
    from solutions.run_sheet import run_report

    right = {"gpus": plan["tp"] * plan["cp"] * plan["pp"] * plan["dp"], "mfu": 0.4 if plan["mfu"] > 1 else plan["mfu"]}
    return run_report(model, tokens, **(plan | right))


def _sheet(
    model: Model, tokens: float, layout: tuple[int, int, int, int], microbatches: int, sequence: int, **more: Any
) -> Case:
    names = ("tp", "cp", "pp", "dp")
    plan: dict[str, Any] = {"gpus": prod(layout), "peak": 989.4 * TFLOP, "mfu": 0.4}
    plan |= {**dict(zip(names, layout, strict=True)), "microbatches": microbatches}
    plan |= {"micro_tokens": sequence, "sequence": sequence, "mtbf": 11_135.0835, "restart_time": 300}
    plan |= {"writers": prod(layout), "writer_bandwidth": 2 * GB, "storage_bandwidth": 2 * TB}
    plan |= {"price_per_gpu_hour": 2, "kw_per_gpu": 0.7, "pue": 1.1, "price_per_kwh": 0.05}
    return Case((model, tokens), plan | more)


def _plan_of(rng: Random, **more: Any) -> Case:
    """A pipeline whose fullest stage is not the first one: fewer micro-batches than stages."""
    kv_heads, head_dim, pp = rng.choice((2, 4, 8)), 128, rng.choice((4, 8, 16))
    heads = kv_heads * rng.choice((2, 4, 8))
    layers, hidden = pp * rng.randint(2, 8) - rng.randint(1, 3), heads * head_dim + 64 * rng.randint(1, 9)
    model = Model("a model", layers, hidden, heads, kv_heads, head_dim, 3 * hidden, 1000 * rng.randint(30, 130))
    layout = (rng.choice((2, 4, 8)), rng.choice((1, 2)), pp, rng.choice((8, 32, 64)))
    sequence = rng.choice((4096, 8192, 32_768))
    options = {
        "mfu": rng.uniform(0.25, 0.5),
        "mtbf": rng.uniform(5000, 50_000),
        "restart_time": rng.uniform(120, 900),
        "stall": rng.uniform(20, 300),
        "virtual_stages": rng.choice((1, 2, 4)),
        "recompute": rng.choice(RECOMPUTE),
        "shard": rng.choice(SHARDS),
        "micro_tokens": sequence * rng.choice((1, 2)),
        "checkpoint_bytes_per_parameter": rng.choice((12.0, 14.0)),
    }
    tokens = float(rng.randint(1, 15)) * 1e12
    return _sheet(model, tokens, layout, rng.randint(2, pp - 1), sequence, **(options | more))


def _as_long_as_the_write(rng: Random) -> Case:
    """A slow storage, so that writing takes long enough to count."""
    return _plan_of(rng, stall=None, storage_bandwidth=rng.uniform(5, 20) * GB)


def _bad_sheets(rng: Random) -> list[Case]:
    case = _plan_of(rng)
    more = case.kwargs["gpus"]
    spoiled = ({"gpus": more + 1}, {"gpus": more // 2}, {"mfu": 1.2}, {"mfu": 40}, {"mtbf": -1.0}, {"pue": 0.5})
    never = ({"mtbf": 0.01}, {"peak": inf})  # with a stall of many MTBFs a job does not get on
    bad = [invalid(*case.args, **(dict(case.kwargs) | wrong)) for wrong in (*spoiled, *never)]
    return [*bad, invalid(case.args[0], rng.choice((-1e12, nan)), **dict(case.kwargs))]


_405B = (LLAMA3_405B, 15.6e12, (8, 1, 16, 128), 16, 8192)

REPORT = Build(
    id="cap-run-report",
    module="run_sheet",
    function="run_report",
    grade="call",
    section="15.15",
    topic="a plan on one sheet",
    cases=(
        # Llama 3.1 405B, the paper's second layout; its 8 chunks, 60 s, 300 s and prices are assumed
        _sheet(*_405B, virtual_stages=8, stall=60, recompute="selective"),
        _sheet(*_405B, storage_bandwidth=20 * GB),
        _sheet(LLAMA3_70B, 15e12, (8, 1, 4, 32), 16, 8192, mtbf=150_000.0, recompute="full", stall=30),
        invalid(*_sheet(*_405B).args, **(dict(_sheet(*_405B).kwargs) | {"gpus": 8192})),
    ),
    groups=(
        Group("plans", _plan_of, 5, "Every number comes from the function that computes it, with the plan's values."),
        Group("no stall given", _as_long_as_the_write, 2, "Without a stall the job waits for the whole write."),
        Group(
            "bad input", lambda rng: rng.choice(_bad_sheets(rng)), 9, "Bad input must raise ValueError.", _bad_sheets
        ),
    ),
    slips=(
        Slip("The calendar is longer than the computing: divide by 1 - waste.", slip_no_waste),
        Slip(
            "Waste is a share of the wall-clock: divide by 1 - waste, do not multiply by 1 + waste.", slip_waste_added
        ),
        Slip("`flops` is causal here: attention costs 6, not 12.", slip_full_square),
        Slip("The look-up in the embedding and the norms are no matrix products.", slip_look_up_counted),
        Slip("`stall` is ignored: the job stands still for that long, not for the whole write.", slip_stall_ignored),
        Slip("`restart_time` is ignored.", slip_restart_ignored),
        Slip("The interval is the exact one, not Daly's.", slip_daly),
        Slip("The fullest stage counts: with few micro-batches that is not the first one.", slip_first_stage),
        Slip("That bubble is idle over useful time; the fraction is idle over total.", slip_bubble_overhead),
        Slip("Impossible arguments were accepted.", slip_report_unchecked),
    ),
)
