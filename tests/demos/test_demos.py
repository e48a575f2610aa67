"""Demos: each runs, checks itself, saves, and says in one line what is wrong with a command."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from demo_runs import run

import demos
from demos import common
from demos.__main__ import main as everything
from rankzero.facts.chapters import CHAPTERS
from rankzero.world import WorldError
from tools.common import ROOT

NAMES = sorted(demos.names())
WITH_PICTURE = (
    "collective_sheet",
    "ring",
    "all_to_all",
    "rank_map",
    "plan",
    "relay",
    "deadlock",
    "pipelined_relay",
    "naive_model_parallel",
    "topology",
    "trees",
    "cost_curves",
    "fit_link",
    "all_reduce_bench",
    "ddp",
    "gradient_sync",
    "fsdp",
    "zero_table",
    "loss_scale",
    "batch_scaling",
    "parameter_server",
    "tp_mlp",
    "tp_block",
    "tp_cost",
    "checkpoint_interval",
    "failures",
    "survive",
    "write_checkpoint",
    "pipeline_chart",
    "pipeline_train",
    "bubble_sweep",
    "moe_train",
    "expert_parallel",
    "advisor",
    "paged_memory",
    "prefix_sharing",
    "radix_live",
    "dispatch_overhead",
    "graph_sizes",
    "overlap",
    "ppo_cartpole",
    "gae",
    "rlhf",
    "reward_hacking",
    "token_rewards",
    "kl_estimators",
    "rlhf_memory",
    "weight_sync",
    "reshard",
    "memory_timeline",
    "rlhf_timeline",
    "async_rlhf",
    "placement",
)

#: What a learner must have written for ``--code labs``; the others run nothing of hers.
NEEDS = {
    "hello": "01-roll-call",
    "launch_environment": "01-rendezvous",
    "rank_map": "01-process-groups",
    "plan": "01-training-flops-per-token",
    "relay": "02-relay",
    "deadlock": "02-simulate",
    "ring_blocking": "02-simulate",
    "pipelined_relay": "02-chunked-relay",
    "naive_model_parallel": "02-forward-backward",
    "collective_sheet": "03-collective-outputs",
    "distributed_mean": "03-distributed-mean",
    "ring": "03-ring-all-reduce",
    "float_order": "03-ring-all-reduce",
    "all_to_all": "03-all-to-all",
    "sharded_softmax": "03-distributed-softmax",
    "topology": "04-parse-topology",
    "trees": "04-double-binary-tree",
    "cost_curves": "04-all-reduce-time",
    "fit_link": "04-fit-alpha-beta",
    "all_reduce_bench": "03-ring-all-reduce",
    "ddp": "05-synchronize-gradients",
    "gradient_sync": "05-synchronize-gradients",
    "fsdp": "05-zero-memory",
    "zero_table": "05-state-bytes",
    "loss_scale": "05-loss-scaler",
    "batch_scaling": "05-scaled-learning-rate",
    "parameter_server": "05-delayed-sgd",
    "tp_linear": "06-copy-to-ranks",
    "tp_mlp": "06-column-parallel-linear",
    "tp_block": "06-head-partition",
    "tp_cost": "06-head-partition",
    "training_plan": "cap-run-report",
    "checkpoint_interval": "cap-optimal-checkpoint-interval",
    "failures": "cap-simulate-run",
    "survive": "cap-checkpoint-waste",
    "write_checkpoint": "cap-checkpoint-write-time",
    "pipeline_chart": "07-pipeline-schedule",
    "pipeline_train": "07-pipeline-step",
    "bubble_sweep": "07-bubble-fraction",
    "moe_train": "07-expert-capacity",
    "expert_parallel": "07-expert-parallel-forward",
    "advisor": "07-choose-layout",
    "prefill_decode": "08-prefill-time",
    "continuous_batching": "08-continuous-batching",
    "serving_cost": "08-prefill-time",
    "server": "09-block-manager",
    "openai_client": "09-block-manager",
    "load": "09-block-manager",
    "kv_calculator": "09-kv-bytes-per-token",
    "kv_equivalence": "09-cached-attention",
    "paged_memory": "09-block-manager",
    "prefix_sharing": "09-radix-cache",
    "radix_live": "09-radix-cache",
    "cuda_graph": "10-graph-runner",
    "graph_sizes": "10-capture-size",
    "overlap": "10-token-budget-scheduler",
    "speculative": "11-speculative-step",
    "speculative_model": "11-speculative-speedup",
    "constrained": "11-schema-to-regex",
    "mask_explorer": "11-token-index",
    "combined": "11-schema-to-regex",
    "ppo_cartpole": "12-gae",
    "gae": "12-gae",
    "rlhf": "13-response-mask",
    "reward_hacking": "13-response-mask",
    "token_rewards": "13-kl-estimates",
    "kl_estimators": "13-estimator-moments",
    "rlhf_memory": "13-role-bytes",
    "weight_sync": "14-chain-broadcast-time",
    "reshard": "14-reshard-plan",
    "memory_timeline": "14-memory-timeline",
    "rlhf_timeline": "14-best-placement",
    "async_rlhf": "14-staleness-gate",
    "placement": "14-best-placement",
}


def test_the_list_names_every_demo_below_its_chapter(capsys):
    assert everything([]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == NAMES
    assert [line for line in lines if not line.startswith("  ")] == [f"{c.number}. {c.title}" for c in CHAPTERS]
    place = lines.index("5. Data parallelism, ZeRO and precision")
    assert any(line.startswith("  zero_table ") for line in lines[place : lines.index("6. Tensor parallelism")])


def test_a_demo_is_run_by_its_name(capsys):
    assert everything(["ring", "--quick"]) == 0
    assert "check: every rank holds the sum" in capsys.readouterr().out


def test_a_name_that_is_no_demo_s_ends_in_one_line(capsys):
    assert everything(["rign"]) == 2
    assert (
        capsys.readouterr().err == "demos: there is no demo 'rign'; did you mean ring? (python -m demos lists them)\n"
    )


def test_all_demos_are_there():
    assert set(NAMES) == {
        *NEEDS,
        "check_setup",
        "dispatch_overhead",
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_passes_its_own_check_and_saves_its_table(name, tmp_path, capsys):
    target = tmp_path / "table.csv"
    assert run(name, "--quick", "--save", str(target)) == 0
    assert re.search(r"^check: .*: yes$", capsys.readouterr().out, re.MULTILINE)
    header, *rows = csv.reader(target.open(encoding="utf-8"))
    assert rows
    assert all(len(row) == len(header) for row in rows)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", WITH_PICTURE)
def test_the_picture_is_saved(name, tmp_path):
    target = tmp_path / "picture.png"
    assert run(name, "--quick", "--save", str(target)) == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(("name", "identifier"), NEEDS.items())
def test_a_part_that_is_not_written_ends_in_its_sentence(name, identifier, capsys):
    assert run(name, "--quick", "--code", "labs") == 1
    error = capsys.readouterr().err
    assert identifier in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ring", ["--ranks", "0"]),
        ("ring", ["--ranks", "four"]),
        ("ring", ["--save", "picture.gif"]),
        ("ring", ["--save", "nowhere/at/all.png"]),
        ("float_order", ["--save", "picture.png"]),
        ("collective_sheet", ["--operation", "shuffle"]),
        ("collective_sheet", ["--ranks", "2", "--root", "2"]),
        ("distributed_mean", ["--counts", "1,,2"]),
        ("distributed_mean", ["--counts", "0,0"]),
        ("all_to_all", ["--skew", "much"]),
        ("check_setup", ["--ranks", "0"]),
        ("hello", ["--backend", "mpi"]),
        ("launch_environment", ["--launcher", "slurm"]),
        ("rank_map", ["--order", "dp,pp"]),
        ("rank_map", ["--dp", "64", "--pp", "64", "--tp", "64"]),
        ("rank_map", ["--rank", "16"]),
        ("plan", ["--parameters", "-7e9"]),
        ("plan", ["--tokens", "inf"]),
        ("plan", ["--mfu", "40"]),
        ("plan", ["--gpu", "V100"]),
        ("relay", ["--ranks", "0"]),
        ("relay", ["--value", "much"]),
        ("deadlock", ["--pattern", "none"]),
        ("deadlock", ["--ranks", "1"]),
        ("deadlock", ["--deadline", "0"]),
        ("ring_blocking", ["--policy", "non_blocking"]),
        ("ring_blocking", ["--save", "picture.png"]),
        ("pipelined_relay", ["--chunks", "1,,4"]),
        ("pipelined_relay", ["--chunks", "0"]),
        ("pipelined_relay", ["--ranks", "1"]),
        ("naive_model_parallel", ["--ranks", "4", "--layers", "3"]),
        ("naive_model_parallel", ["--width", "20"]),
        ("topology", ["--sample", "laptop"]),
        ("topology", ["--file", "nowhere/at/all.txt"]),
        ("trees", ["--ranks", "0"]),
        ("cost_curves", ["--latency", "nan"]),
        ("cost_curves", ["--bandwidth", "fast"]),
        ("fit_link", ["--repeats", "0"]),
        ("all_reduce_bench", ["--sizes", "4KB"]),
        ("all_reduce_bench", ["--sizes", "6"]),
        ("all_reduce_bench", ["--algorithm", "ring,star"]),
        ("ddp", ["--ranks", "5"]),
        ("ddp", ["--unequal", "--batch", "2"]),
        ("gradient_sync", ["--rows", "4,,1"]),
        ("gradient_sync", ["--ranks", "2", "--rows", "4,3,1"]),
        ("fsdp", ["--ranks", "0"]),
        ("zero_table", ["--model", "Llama 9"]),
        ("zero_table", ["--recipe", "fp4"]),
        ("zero_table", ["--other", "nan"]),
        ("loss_scale", ["--init-scale", "2**256"]),
        ("loss_scale", ["--init-scale", "-1**0.5"]),
        ("batch_scaling", ["--rule", "cubic"]),
        ("batch_scaling", ["--batches", "8,8"]),
        ("parameter_server", ["--work", "1,2,fast"]),
        ("parameter_server", ["--rate", "0"]),
        ("tp_linear", ["--ranks", "3"]),
        ("tp_linear", ["--save", "picture.png"]),
        ("tp_mlp", ["--ranks", "3"]),
        ("tp_block", ["--ranks", "3"]),
        ("tp_block", ["--heads", "8", "--kv-heads", "3"]),
        ("tp_block", ["--sp", "--ranks", "3", "--heads", "6"]),
        ("tp_cost", ["--model", "Llama 9"]),
        ("tp_cost", ["--bandwidth", "nan"]),
        ("training_plan", ["--layout", "8,1,16"]),
        ("training_plan", ["--layout", "8,1,16,64"]),
        ("training_plan", ["--gpus", "1024", "--layout", "1,1,1024,1"]),
        ("training_plan", ["--mfu", "40"]),
        ("checkpoint_interval", ["--checkpoint", "0"]),
        ("checkpoint_interval", ["--mtbf-hours", "nan"]),
        ("failures", ["--gpus", "1000000", "--stall", "6000"]),
        ("failures", ["--weibull", "0"]),
        ("survive", ["--ranks", "1"]),
        ("survive", ["--kill-every", "5", "--checkpoint-every", "10"]),
        ("write_checkpoint", ["--writers", "1,,2"]),
        ("write_checkpoint", ["--size", "256"]),
        ("write_checkpoint", ["--folder", "nowhere/at/all"]),
        ("pipeline_chart", ["--schedule", "depth-first"]),
        ("pipeline_chart", ["--schedule", "interleaved", "--ranks", "3", "--microbatches", "4"]),
        ("pipeline_chart", ["--virtual", "2"]),
        ("pipeline_chart", ["--slow", "4:2"]),
        ("pipeline_chart", ["--backward", "nan"]),
        ("pipeline_train", ["--schedule", "zb-h1"]),
        ("pipeline_train", ["--ranks", "9"]),
        ("bubble_sweep", ["--stages", "8", "--max-microbatches", "4"]),
        ("moe_train", ["--experts", "4", "--top-k", "5"]),
        ("moe_train", ["--capacity", "0"]),
        ("expert_parallel", ["--ranks", "3"]),
        ("advisor", ["--model", "LLAMA9"]),
        ("advisor", ["--explain", "8,1,4"]),
        ("advisor", ["--memory", "0"]),
    ],
)
def test_a_wrong_command_is_one_sentence_and_status_2(name, arguments, capsys):
    with pytest.raises(SystemExit) as end:
        run(name, *arguments)
    assert end.value.code == 2
    assert "error: " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("name", NAMES)
def test_help_begins_with_what_the_demo_is_and_how_to_start_it(name, capsys):
    with pytest.raises(SystemExit) as end:
        run(name, "--help")
    assert end.value.code == 0
    assert f"python -m demos {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_is_short(name):
    file = (ROOT / demos.names()[name].replace(".", "/")).with_suffix(".py")
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.parametrize("arguments", [["--ranks", "1"], ["--ranks", "3", "--elements", "2"], ["--elements", "0"]])
def test_the_ring_takes_awkward_sizes(arguments):
    """One rank, fewer elements than ranks, none at all."""
    assert run("ring", "--quick", *arguments) == 0


@pytest.mark.parametrize("counts", ["5", "3,3", "0,4,1"])
def test_the_mean_takes_equal_unequal_and_empty_ranks(counts, capsys):
    assert run("distributed_mean", "--counts", counts) == 0
    plain = next(line for line in capsys.readouterr().out.splitlines() if "averaged over ranks" in line)
    assert (float(plain.split()[-1]) < 1e-9) == (len(set(counts.split(","))) == 1)


@pytest.mark.parametrize("reduction", ["sum", "avg", "product", "min", "max"])
def test_the_sheet_takes_every_reduction_and_root(reduction):
    assert run("collective_sheet", "--ranks", "3", "--root", "2", "--reduction", reduction) == 0


@pytest.mark.parametrize("skew", ["1", "3"])
def test_routing_keeps_every_token(skew):
    from demos.ch03.all_to_all import routing_table

    table = routing_table(4, 101, float(skew))
    assert [sum(row) for row in table] == [101] * 4
    assert run("all_to_all", "--ranks", "3", "--tokens", "7", "--skew", skew) == 0


def test_a_check_that_fails_is_status_1(capsys):
    assert common.verdict(False, "two and two are four") == 1
    assert "NO" in capsys.readouterr().out


def test_a_world_that_fails_is_its_sentence_and_status_1(capsys):
    @common.demo
    def main(argv=None):
        raise WorldError("deadlock after 3.0 s: rank 0 waits", ())

    assert main() == 1
    assert capsys.readouterr().err == "deadlock after 3.0 s: rank 0 waits\n"


def test_a_reader_who_has_seen_enough_ends_it_without_a_word():
    """``| head -0``: nobody reads, and the demo ends with status 0 and an empty standard error."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "demos", "zero_table", "--quick"]
    with open(write, "w") as closed:
        done = subprocess.run(command, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_save_that_fails_leaves_nothing_half_written(tmp_path: Path):
    class Torn:
        def savefig(self, path):
            path.write_bytes(b"half")
            raise OSError("disk full")

    arguments = common.parser("x").parse_args(["--save", str(tmp_path / "a.png")])
    with pytest.raises(OSError, match="disk full"):
        common.show(arguments, common.Table(("a",), [(1,)]), Torn)
    assert list(tmp_path.iterdir()) == []


def test_numbers_stand_to_the_right():
    table = str(common.Table(("name", "bytes"), [("a", 1000), ("bcd", 5)]))
    assert table.splitlines() == ["name  bytes", "a     1,000", "bcd       5"]
