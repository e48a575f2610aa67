"""The demos of chapter 5: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos.ch05.ddp import cut
from demos.ch05.parameter_server import staleness_of
from experiments.ch05.data_parallel_runs import plain_mean


@pytest.mark.parametrize(("batch", "ranks"), [(12, 3), (8, 8), (9, 8), (256, 7), (4, 1)])
def test_unequal_rows_are_all_there(batch, ranks):
    counts = cut(batch, ranks, unequal=True)
    assert sum(counts) == batch
    assert len(counts) == ranks
    assert min(counts) >= 1


@pytest.mark.proof(part="runs")
def test_unequal_ranks_learn_like_one_process(tmp_path):
    """In double precision, three ways to 1e-12; the plain mean of gradients is far off."""
    options = "--unequal --float64 --ranks 3 --steps 4"
    rows = {row["training"]: row for row in table(tmp_path, "ddp", *options.split())}
    off = {name: float(row["off one process"]) for name, row in rows.items()}
    assert max(off["buckets"], off["one by one"], off["DDP"]) < 1e-12
    assert off["plain mean"] > 1e-3
    assert [rows[name]["reductions a step"] for name in ("one process", "buckets", "one by one", "DDP")] == [
        "0",
        "1",
        rows["plain mean"]["reductions a step"],
        "1",
    ]


@pytest.mark.proof(part="runs")
def test_equal_ranks_hide_that_a_mean_is_plain(tmp_path):
    rows = table(tmp_path, "gradient_sync", "--quick", "--ranks", "2", "--rows", "3")
    assert all(float(row["off after a plain mean"]) < 1e-12 for row in rows)
    assert all(float(row["off before"]) > 1e-4 for row in rows)


@pytest.mark.proof(part="runs")
def test_fully_shard_gathers_and_scatters_as_told(tmp_path):
    """Four layers: 8 all-gathers a pass, or 4 where weights stay; a reduce-scatter a layer where gradients travel."""
    every, last, never = table(tmp_path, "fsdp", "--accumulate", "2")
    assert [row["calls"] for row in (every, last, never)] == [
        f"16 all_gather, {count} reduce_scatter" for count in (8, 4, 0)
    ]
    assert int(never["gradients (B)"]) == 2 * int(last["gradients (B)"])
    kept, _ = table(tmp_path, "fsdp", "--no-reshard")
    assert kept["calls"] == "4 all_gather, 4 reduce_scatter"


@pytest.mark.proof(part="runs")
def test_fully_shard_in_bf16_on_three_ranks():
    assert run("fsdp", "--quick", "--bf16", "--ranks", "3") == 0


def test_the_calculator_knows_70_billion(tmp_path):
    rows = table(tmp_path, "zero_table", "--parameters", "70e9", "--ranks", "14")
    assert [row["fewest GPUs"] for row in rows] == ["none", "none", "none", "14"]
    assert [row["fits"] for row in rows] == ["no", "no", "no", "yes"]
    held = [float(row["with other (GB)"]) for row in table(tmp_path, "zero_table", "--parameters", "70e9")]
    assert held == pytest.approx([1120, 385, 262.5, 140])


@pytest.mark.parametrize("recipe", ["fp32", "bf16 everything"])
def test_the_calculator_takes_every_recipe(recipe, capsys):
    assert run("zero_table", "--recipe", recipe, "--other", "20", "--ranks", "1") == 0
    assert "master copy" not in capsys.readouterr().out


def test_overflows_are_real(tmp_path):
    rows = table(tmp_path, "loss_scale", "--steps", "12")
    taken = [row["optimizer's step"] for row in rows]
    assert taken[0] == "skipped"
    assert taken[-1] == "taken"
    assert {row["optimizer's step"] for row in table(tmp_path, "loss_scale", "--steps", "8", "--init-scale", "1")} == {
        "taken"
    }


def test_a_target_out_of_reach_is_status_1(monkeypatch, capsys):
    from demos.ch05 import batch_scaling
    from experiments.ch05.batch_scaling_runs import ToTarget

    monkeypatch.setattr(batch_scaling, "steps_to_target", lambda sizes, *_: [ToTarget(n, 0.1, None) for n in sizes])
    assert run("batch_scaling", "--quick") == 1
    assert "never" in capsys.readouterr().out


@pytest.mark.proof(part="runs")
def test_the_noise_rule_takes_the_measured_noise():
    assert run("batch_scaling", "--quick", "--rule", "noise") == 0


def test_staleness_counts_the_updates_of_others():
    """Workers in turn: after the first round each update is two updates late."""
    assert staleness_of([1, 2, 3, 1, 2, 3]) == [0, 1, 2, 2, 2, 2]
    assert staleness_of([1, 1, 2]) == [0, 0, 2]


@pytest.mark.proof(part="runs")
def test_one_worker_is_never_late(tmp_path):
    rows = table(tmp_path, "parameter_server", "--quick", "--work", "1")
    assert [float(row["mean staleness"]) for row in rows] == [0, 0]


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("demo", "more"), [("ddp", ["--unequal", "--ranks", "2"]), ("gradient_sync", ["--rows", "4,1"])]
)
def test_a_plain_mean_is_status_1(demo, more, found_out):
    def plain(right):
        return lambda parameters, count, bucket_bytes=1.0: plain_mean(parameters, count)

    found_out(demo, "synchronize_gradients", plain, "--quick", *more)


def test_a_calculator_that_rounds_down_is_status_1(found_out):
    def down(right):
        return lambda *sizes: (found := right(*sizes)) and found - 1

    found_out("zero_table", "min_ranks", down, "--parameters", "70e9", "--ranks", "13")


def test_a_scaler_that_never_grows_is_status_1(found_out):
    def still(right):
        return lambda init_scale, growth_interval: right(init_scale, growth_interval=10**9)

    found_out("loss_scale", "LossScaler", still, "--steps", "20")
