"""Layers, memory, traffic and the sheet of a plan: the page's figures, a real block's memory, ZeRO, published rows."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from autograder.bank.ch15.shared import laid_out
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, LLAMA3_405B, Model
from rankzero.facts.plans import Checkpoints, Cluster, Costs, RunLayout
from rankzero.tiny.long_jobs import FolderDisk
from solutions.ch05.zero import zero_memory
from solutions.ch07 import pipeline
from solutions.ch15 import run_sheet
from solutions.ch15.crash_safe import debug_atomic, debug_resume
from solutions.ch15.llama_405b import CAUSES, FACTS, STAGES, UNEXPECTED
from solutions.ch15.run_plan import debug_shares, memory_per_stage, partition_layers, traffic_per_gpu
from solutions.ch15.run_sheet import run_bill, run_report

LAYERS = [7, *[8] * 14, 7]
PLAN = (
    RunLayout(8, 1, 16, 128, 16, 8192, 8192, virtual_stages=8, recompute="cheap"),
    Cluster(16_384, 989.4e12, mfu=0.4, mtbf=11_135.0835, restart_time=300),
    Checkpoints(16_384, 2e9, 2e12, stall=60),
    Costs(2, 0.7, 1.1, 0.05),
)


def plan(**changed):
    """``PLAN`` with other values for some fields, each in the record that has it."""
    return [replace(part, **{name: changed[name] for name in vars(part) if name in changed}) for part in PLAN]


# Layers on stages.


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        ((126, 16, 1, 1), LAYERS),
        ((126, 16), [7, 7, *[8] * 14]),
        ((80, 4), [20] * 4),
        ((10, 4), [2, 2, 3, 3]),
        ((32, 4, 1, 1), [7, 8, 9, 8]),
        ((2, 4, 1, 1), [0, 1, 1, 0]),
    ],
)
def test_partitions_of_the_page(arguments, counts):
    assert partition_layers(*arguments) == counts


@given(st.integers(1, 200), st.integers(1, 32), st.integers(0, 1), st.integers(0, 1))
def test_partitions_are_even_after_the_ends_are_added_back(layers, stages, first, last):
    if stages > layers + first + last:
        with pytest.raises(ValueError, match="stages must be at most"):
            partition_layers(layers, stages, first, last)
        return
    counts = partition_layers(layers, stages, first, last)
    assert sum(counts) == layers
    counts[0] += first
    counts[-1] += last
    assert counts == sorted(counts)
    assert counts[-1] - counts[0] <= 1


# Memory.


def memory(recompute="none", **options):
    return memory_per_stage(LLAMA3_405B, LAYERS, 8, 1, 128, 16, 8192, recompute=recompute, **options)


@pytest.mark.parametrize(
    ("recompute", "activations", "total"),
    [("none", 7.70074e10, 8.37813e10), ("cheap", 4.27819e10, 4.95558e10), ("full", 4.02653e9, 1.08004e10)],
)
def test_the_fullest_stage_of_the_405b_run(recompute, activations, total):
    rows = memory(recompute)
    assert max(range(16), key=lambda stage: rows[stage]["total"]) == 1
    assert rows[1]["parameters"] == pytest.approx(6.37541e9, rel=1e-5)
    assert rows[1]["states"] == pytest.approx(9.96157e7 + 2.98847e8, rel=1e-5)
    assert rows[1]["activations"] == pytest.approx(activations, rel=1e-5)
    assert rows[1]["total"] == pytest.approx(total, rel=1e-5)


def test_with_whole_gradients_cheap_recomputation_is_the_least_that_fits():
    most = {kind: max(row["total"] for row in memory(kind, shard="optimizer")) for kind in ("none", "cheap", "full")}
    assert most["none"] == pytest.approx(96.4e9, rel=1e-3)
    assert most["cheap"] == pytest.approx(6.22070e10, rel=1e-5)
    assert most["none"] > 80e9 > most["cheap"] > most["full"]


def test_the_stages_hold_the_whole_model():
    assert sum(row["parameters"] / 2 * 8 for row in memory()) == pytest.approx(LLAMA3_405B.parameters, rel=1e-12)


class Block(nn.Module):
    """One layer in fp32, with norms that keep input, statistic and output, as fused ones do."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
        sizes = ((h, a), (h, k), (h, k), (a, h), (h, f), (h, f), (f, h))
        self.q, self.k, self.v, self.o, self.gate, self.up, self.down = (nn.Linear(*size, bias=False) for size in sizes)
        self.norm, self.head_dim = nn.RMSNorm(h, elementwise_affine=False), model.head_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        y = self.norm(x)
        q, k, v = (m(y).view(batch, length, -1, self.head_dim).transpose(1, 2) for m in (self.q, self.k, self.v))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(attended.transpose(1, 2).reshape(batch, length, -1))
        y = self.norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def test_a_real_block_keeps_what_the_formula_says():
    """Saved storages of a forward pass: exact, with 8 bytes of norm statistics and 4 a head of log-sum-exp a token."""
    model = Model("small", 1, 96, 4, 2, 32, 200, 64)
    block, saved = Block(model), {}
    parameters = {p.untyped_storage().data_ptr() for p in block.parameters()}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in parameters:
            saved[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        block(torch.randn(2, 16, 96, requires_grad=True))
    measured = sum(tensor.untyped_storage().nbytes() for tensor in saved.values()) / 32
    row = memory_per_stage(model, [1], 1, 1, 1, 1, 1)[0]  # two bytes an element; the block has four
    assert measured == 2 * row["activations"] + 8 + 4 * 4


@given(st.sampled_from([0, 1, 2, 3]), st.integers(1, 512), st.sampled_from([2, 4]))
def test_states_are_those_of_zero(stage, ranks, gradient_bytes):
    """One stage without tensor parallelism: stages 1 to 3 are what chapter 5 computes."""
    shard = ("", "optimizer", "optimizer+gradients", "all")[stage]
    if not shard:
        return
    row = memory_per_stage(LLAMA3_8B, [32], 1, 1, ranks, 1, 1, shard, gradient_bytes)[0]
    expected = zero_memory(LLAMA3_8B.parameters, stage, ranks, 2, gradient_bytes, 12)
    assert row["parameters"] + row["states"] == pytest.approx(expected, rel=1e-12)


def test_full_heads_and_a_plain_block_are_near_34_bytes():
    """Korthikanti's 34 s b h is for GELU; with f = 8h/3 and three matrices the gated block comes near it."""
    model = Model("plain", 1, 3072, 24, 24, 128, 8192, 1)
    row = memory_per_stage(model, [1], 1, 1, 1, 1, 1)[0]
    assert row["activations"] / 3072 == pytest.approx(34, rel=0.13)


# Traffic.


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ((8, 1, 16, 128, 16, 8192), (2.40518e11, 0, 1.07374e9, 1.89768e10)),
        ((8, 16, 16, 8, 16, 131_072), (2.40518e11, 1.61061e10, 1.07374e9, 1.89768e10)),
        ((8, 1, 16, 64, 32, 8192, 8), (4.81036e11, 0, 1.71799e10, 1.88274e10)),
    ],
)
def test_traffic_of_the_three_layouts(arguments, sent):
    assert tuple(traffic_per_gpu(LLAMA3_405B, laid_out(*arguments)).values()) == pytest.approx(sent, rel=1e-5)


def test_full_recomputation_repeats_collectives_and_cheap_none():
    none, cheap, full = (
        traffic_per_gpu(LLAMA3_70B, replace(laid_out(4, 2, 4, 8, 8, 16_384, 2), recompute=kind))
        for kind in ("none", "cheap", "full")
    )
    assert none == cheap
    assert full == none | {"tp": 1.5 * none["tp"], "cp": 1.5 * none["cp"]}


# Bill and sheet.


@pytest.mark.parametrize(
    ("arguments", "bill"),
    [
        ((16_384, 77 * 86_400, 2, 0.7, 1, 0.05), (30_277_632, 60_555_264, 21_194_342.4, 1_059_717.12)),
        ((1, 30.84e6 * 3600, 2, 1.3, 1.1, 0.05), (30_840_000, 61_680_000, 44_101_200, 2_205_060)),
        ((512, 30 * 86_400, 2, 0.7, 1.1, 0.08), (368_640, 737_280, 283_852.8, 22_708.224)),
    ],
)
def test_bills_of_the_page(arguments, bill):
    assert tuple(run_bill(*arguments).values()) == pytest.approx(bill, rel=1e-12)


BLOCKS = {
    "parameter_count": {"parameters", "flops", "step_seconds", "checkpoint_bytes", "compute_days", "days"},
    "training_flops": {"flops", "step_seconds", "compute_days", "days", "failures", "gpu_hours"},
    "partition_layers": {"layers_max", "memory_bytes"},
    "memory_per_stage": {"memory_bytes"},
    "bubble_fraction": {"bubble_fraction"},
    "traffic_per_gpu": {"tp_bytes", "pp_bytes", "dp_bytes"},
    "checkpoint_write_time": {"write_seconds"},
    "optimal_checkpoint_interval": {"interval", "waste", "days", "dollars_lost"},
    "checkpoint_waste": {"waste", "days", "failures", "gpu_hours", "dollars", "dollars_lost"},
    "run_bill": {"gpu_hours", "dollars", "kwh", "electricity_dollars", "dollars_lost"},
}


def doubled(value):
    if isinstance(value, dict):
        return {key: 2 * number for key, number in value.items()}
    if isinstance(value, list) and isinstance(value[0], dict):
        return [doubled(row) for row in value]
    return [count + 1 for count in value] if isinstance(value, list) else value * 2


@pytest.mark.parametrize("name", BLOCKS)
def test_the_sheet_moves_with_each_of_its_parts(monkeypatch, name):
    """Kills a report that works a building block out again by itself."""
    before = vars(run_report(LLAMA3_405B, 15.6e12, *PLAN))
    home = pipeline if name == "bubble_fraction" else run_sheet
    block = getattr(home, name)
    if name == "partition_layers":
        monkeypatch.setattr(run_sheet, name, lambda *_: [6, 9, *[8] * 13, 7])
    else:
        monkeypatch.setattr(home, name, lambda *args, **kwargs: doubled(block(*args, **kwargs)))
    after = vars(run_report(LLAMA3_405B, 15.6e12, *PLAN))
    assert {key for key in before if before[key] != after[key]} >= BLOCKS[name]


def test_the_sheet_of_the_405b_run():
    report = run_report(LLAMA3_405B, 15.6e12, *PLAN)
    assert report.parameters == 405_853_388_800
    assert report.flops == pytest.approx(3.93737e25, rel=1e-5)
    assert report.compute_days == pytest.approx(report.flops / (16_384 * 989.4e12 * 0.4) / 86_400)
    assert report.days * (1 - report.waste) == pytest.approx(report.compute_days)
    assert report.gpu_hours == pytest.approx(24 * 16_384 * report.days)
    assert report.interval == pytest.approx(1116.30, rel=1e-5)
    assert report.waste == pytest.approx(0.124168, rel=1e-4)
    assert report.bubble_fraction == pytest.approx(15 / 143)
    assert report.dollars_lost == pytest.approx(report.waste * report.dollars)
    assert all(math.isfinite(value) for value in vars(report).values())


def test_without_a_stall_the_job_waits_for_the_write():
    report = run_report(LLAMA3_405B, 15.6e12, *plan(stall=None, storage_bandwidth=20e9))
    assert report.write_seconds == pytest.approx(405_853_388_800 * 14 / 20e9)
    slower = run_report(LLAMA3_405B, 15.6e12, *plan(stall=report.write_seconds))
    assert report.interval == slower.interval


# Published facts.


@pytest.mark.parametrize("row", STAGES, ids=lambda row: row.name)
def test_the_published_rows_are_consistent(row):
    """The early misprint, 4 data-parallel ranks in the third row, would fail both."""
    assert row.ranks == row.gpus
    assert row.tokens_per_step == 16 * 2**20
    assert row.flops_per_gpu / 989.4e12 == pytest.approx(row.mfu, abs=0.01)


def test_the_causes_sum_to_the_unexpected_and_one_percentage_is_a_misprint():
    assert sum(cause.count for cause in CAUSES) == UNEXPECTED == 419
    shares = debug_shares({cause.name: cause.count for cause in CAUSES} | {"planned": 47}, ["planned"])
    assert sum(shares.values()) == pytest.approx(100)
    assert [c.name for c in CAUSES if abs(shares[c.name] - c.printed_percent) > 0.051] == ["faulty GPU"]
    assert shares["faulty GPU"] == pytest.approx(35.3, abs=0.05)


def test_every_fact_has_a_status():
    assert {fact.status.split()[0].rstrip(",:") for fact in FACTS} == {
        "released",
        "paper",
        "model",
        "assumed",
        "uncertain",
    }


# Checkpoints that survive.


def test_saves_to_a_real_folder(tmp_path):
    folder = FolderDisk(tmp_path)
    for data in (b"first", b"second"):
        debug_atomic(folder, "latest.pt", data)
        assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("latest.pt", data)]
    folder.remove("latest.pt")
    assert list(tmp_path.iterdir()) == []


def test_resumes_with_everything_that_was_saved():
    fresh = dict.fromkeys(("step", "weights", "optimizer", "sampler", "rng", "scaler"), 0)
    saved = {name: place for place, name in enumerate(fresh, 1)}
    assert debug_resume(fresh, saved) == saved
