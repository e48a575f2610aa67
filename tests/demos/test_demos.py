"""Demos: each runs, checks itself, saves, and says in one line what is wrong with a command."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from demo_runs import command_line, few, quick, refused, run

import demos
from autograder import bank
from demos import common
from demos.__main__ import main as everything
from rankzero.facts.chapters import CHAPTERS
from rankzero.world import WorldError
from tools.common import ROOT

NAMES = sorted(demos.names())
TEXTS = {
    name: (ROOT / place.replace(".", "/")).with_suffix(".py").read_text("utf-8")
    for name, place in demos.names().items()
}
#: In ``make test`` one demo of each chapter is run to its end; ``make proof`` runs all.
FIRST = {place.split(".")[1]: name for name, place in sorted(demos.names().items(), reverse=True)}
#: These load what they run through a module of their own.
THROUGH = {"server": "PrefixPool", "openai_client": "PrefixPool", "load": "PrefixPool"}
THROUGH |= {"own_engine": "EngineCore"}
THROUGH |= {"rlhf": "response_mask", "reward_hacking": "response_mask"}

#: Commands that are refused by a rule of their demo, and words of the sentence.
WRONG = """
float_order --save picture.png | FILE must end in .csv
collective_sheet --ranks 2 --root 2 | --root: must be less than --ranks
distributed_mean --counts 1,,2 | must be 1 to 8 numbers
distributed_mean --counts 0,0 | not all 0
all_to_all --skew 0.5 | must be a number from 1 to 100
rank_map --order dp,pp | must be dp, pp and tp in some order
rank_map --dp 64 --pp 64 --tp 64 | must be at most 4,096 ranks
rank_map --rank 16 | --rank: must be below 16
plan --parameters=-7e9 | must be a number above 0
plan --tokens inf | must be a number above 0
plan --mfu 40 | must be a number above 0 and at most 1
relay --value much | invalid float
pipelined_relay --chunks 1,,4 | --chunks
pipelined_relay --chunks 0 | --chunks
naive_model_parallel --ranks 4 --layers 3 | --ranks must be at most --layers
naive_model_parallel --width 20 | must be a multiple of 8
topology --file nowhere/at/all.txt | argument --file
cost_curves --latency nan | must be a number above 0
all_reduce_bench --sizes 4KB | must be multiples of 4 bytes
all_reduce_bench --sizes 6 | must be multiples of 4 bytes
all_reduce_bench --algorithm ring,star | must be names out of
ddp --ranks 5 | must be a multiple of --ranks
ddp --unequal --batch 2 | must be a multiple of --ranks, or --unequal and no less
gradient_sync --rows 4,,1 | must be whole numbers from
gradient_sync --ranks 2 --rows 4,3,1 | --rows must hold one number
loss_scale --init-scale 2**256 | from 1e-30 to 2**126
loss_scale --init-scale -1**0.5 | --init-scale
batch_scaling --batches 8,8 | two different ones
parameter_server --work 1,2,fast | --work
parameter_server --rate 0 | --rate be positive
tp_linear --ranks 3 | --out must be a multiple of --ranks
tp_mlp --ranks 3 | --hidden must be a multiple of --ranks
tp_block --ranks 3 | ranks
tp_block --heads 8 --kv-heads 3 | kv_heads
tp_block --sp --ranks 3 --heads 6 | ranks
tp_cost --bandwidth nan | --bandwidth
training_plan --layout 8,1,16 | must be four sizes
training_plan --layout 8,1,16,64 | --layout must multiply to
training_plan --gpus 1024 --layout 1,1,1024,1 | with PP at most
failures --gpus 1000000 --stall 6000 | --gpus must leave time between failures
survive --kill-every 5 --checkpoint-every 10 | --kill-every must be at least
write_checkpoint --writers 1,,2 | must be numbers of processes
write_checkpoint --size 256 | must be a size from 1KB
write_checkpoint --folder nowhere/at/all | --folder must be a folder
pipeline_chart --schedule interleaved --ranks 3 --microbatches 4 | a multiple of --ranks for --microbatches
pipeline_chart --virtual 2 | belong to interleaved alone
pipeline_chart --slow 4:2 | the slow stage one of the pipeline's
pipeline_chart --slow 4 | must be STAGE:FACTOR
pipeline_chart --backward nan | --backward
bubble_sweep --stages 8 --max-microbatches 4 | --max-microbatches must be at least --stages
moe_train --experts 4 --top-k 5 | --top-k must be at most --experts
expert_parallel --ranks 3 | --experts must be a multiple of --ranks
advisor --parameters=-34e9 | argument --parameters: must be a number from 1
advisor --parameters 34e9 --model LLAMA3_8B | --model must be left out where --parameters tells of another
advisor --parameters 5e8 | --parameters must be at least 1,000,000,000, or come with layers and hidden
advisor --parameters 34e9 --layers 48 | --layers must come with hidden, got 48
advisor --top-k 2 | --top-k must come with experts, got 2
advisor --parameters 34e9 --experts 8 --top-k 9 | --top-k must be at most experts = 8, got 9
tp_cost --layers 80 --hidden 8192 --kv-heads 7 | --kv-heads must divide heads = 64, got 7
serving_cost --parameters 34e9 --tp 1 --rate 1 --slots 4096 | this model does not fit: 68.0 GB of weights
rlhf_memory --parameters 0 | argument --parameters: must be a number from 1
memory_timeline --experts 8 | --parameters must be given, or layers and hidden
placement --parameters 7e9 --head-dim 64 | --head-dim must come with layers and hidden, got 64
training_plan --parameters 46e9 --experts 8 | --experts must be left out: this sheet is of a dense model, got 8
advisor --explain 8,1,4 | must be TP,CP,PP,DP
continuous_batching --rate 1 --engine tiny | --rate must be 0
serving_cost --tp 1 | Llama 3 70B does not fit: 141.1 GB of weights
serving_cost --tp 2 --slots 4096 --prompt 8192 | Llama 3 70B does not fit: 141.1 GB of weights
kv_calculator --layers 3 | together
paged_memory --slots 300 | the longest request must fit
radix_live --calls "" | must be at least one call
radix_live --calls "drop 1" | must be insert, match, lock
radix_live --calls "evict" | evict must be followed by
radix_live --calls "unlock 1 2" | unlock must be followed by
radix_live --calls "insert a" | and numbers
radix_live --calls "match 1; unlock 0" | call 2, unlock 0
dispatch_overhead --sizes 100 | two or more whole numbers
dispatch_overhead --sizes 1,x | two or more whole numbers
graph_sizes --traffic nowhere/at/all.txt | cannot read
overlap --eos end | --eos must be one ASCII character
openai_client --quick --url http://127.0.0.1:9 | Connection error
constrained --regex (a | error:
constrained --regex a --schema x.json | not allowed with
constrained --schema nowhere/at/all.json | nowhere
constrained --max-tokens 3 | --max-tokens must be at least
constrained --max-tokens 63 | must be a whole number
mask_explorer --regex a** | error:
mask_explorer --regex x --longest 2 | error:
gae --values 1,2 | --values must hold 4 numbers
gae --lambdas 0,2 | must be a number from 0 to 1
gae --rewards 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 | 50
rlhf --cache nowhere | there is no folder nowhere
reward_hacking --betas 0 | two prices or more
reward_hacking --betas 0,x | must be a number
token_rewards --log-probs=-1,2 | must be a number from -100 to 0
token_rewards --log-probs=-1,-2 --reference=-1 | --reference must have 2 numbers
kl_estimators --p 0.5,0.4 | sum to 1
kl_estimators --p 0.5,0.5 | --q must have 2 numbers
rlhf_memory --algorithm grpo --critic 7e9 | grpo has no critic
rlhf_memory --algorithm dpo --reward 7e9 | dpo has no reward model
rlhf_timeline --gpus 8 --split 8 | --split must leave a GPU
weight_sync --sizes 16 | two sizes or more
weight_sync --sizes 0,16 | from 1 to 1024 MB
weight_sync --roads pigeon | must be some of disk,pipe,gloo,shared
reshard --shape 8 | must be ROWSxCOLUMNS
reshard --to slices4 | layout must be a word
reshard --to rows2 | for the same ranks
reshard --from rows9 --to rows9 | at most 8
"""


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


def tried(names: list[str]) -> list:
    """Names of demos, those that are not the first of their chapter for the proof."""
    proof = pytest.mark.proof(part="runs")
    return [pytest.param(name, marks=[] if name in FIRST.values() else proof) for name in names]


@pytest.mark.parametrize("name", tried(NAMES))
def test_a_quick_run_passes_its_own_check_and_saves_what_it_can(name):
    """The table; the picture is drawn if there is one: the command line takes its name exactly then."""
    found = quick(name)
    assert found.status == 0
    assert re.search(r"^check: .*: yes$", found.said, re.MULTILINE)
    assert found.rows
    assert all(None not in row and None not in row.values() for row in found.rows)
    assert found.files == {"table.csv"}
    assert (".png" in command_line(name)[0].format_help()) == found.pictured


@pytest.mark.parametrize("name", tried([name for name in NAMES if re.search(r"\.code\b", TEXTS[name])]))
def test_a_part_that_is_not_written_ends_in_its_sentence(name, capsys):
    """It is a part that the demo asks for."""
    assert run(name, "--quick", "--code", "labs", *few(name)) == 1
    error = capsys.readouterr().err
    function = bank.find(re.search(r"\b(\d\d|cap)-[a-z][-a-z0-9]+", error)[0]).function
    assert f'"{function}"' in TEXTS[name] or function == THROUGH[name]
    assert "Traceback" not in error


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line(name):
    """Help says how to start the demo, and no option with a type or choices takes what is none of them."""
    parser, _ = command_line(name)
    assert f"python -m demos {name}" in parser.format_help()
    for option in parser._actions:
        if option.choices or option.type not in (None, Path):
            assert f"argument {'/'.join(option.option_strings)}: " in refused(name, option.option_strings[-1], "?!")


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_command_is_one_sentence_and_status_2(line):
    command, _, sentence = line.partition(" | ")
    assert sentence in refused(*shlex.split(command))


@pytest.mark.parametrize(
    ("convert", "right", "wrong"),
    [
        (common.whole(1, 8), {"1": 1, "8": 8}, ("0", "9", "-1", "1.5", "four", "")),
        (common.number(0.1, 2), {"0.1": 0.1, "2": 2, "1e0": 1}, ("0", "3", "nan", "inf", "warm", "-1", "")),
        (common.amount, {"0": 0, "7e9": 7e9}, ("-7e9", "nan", "inf")),
        (common._target((".csv", ".png")), {"a.png": Path("a.png")}, ("a.gif", "a", "nowhere/at/all.png")),
    ],
)
def test_types_of_options(convert, right, wrong):
    assert {text: convert(text) for text in right} == right
    for text in wrong:
        with pytest.raises(argparse.ArgumentTypeError, match=r"must|no folder"):
            convert(text)


def test_a_demo_is_short():
    assert [name for name, text in TEXTS.items() if len(text.splitlines()) > 80] == []


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("arguments", [["--ranks", "1"], ["--ranks", "3", "--elements", "2"], ["--elements", "0"]])
def test_the_ring_takes_awkward_sizes(arguments):
    """One rank, fewer elements than ranks, none at all."""
    assert run("ring", "--quick", *arguments) == 0


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("counts", ["5", "3,3", "0,4,1"])
def test_the_mean_takes_equal_unequal_and_empty_ranks(counts, capsys):
    assert run("distributed_mean", "--counts", counts) == 0
    plain = next(line for line in capsys.readouterr().out.splitlines() if "averaged over ranks" in line)
    assert (float(plain.split()[-1]) < 1e-9) == (len(set(counts.split(","))) == 1)


@pytest.mark.proof(part="runs")
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
