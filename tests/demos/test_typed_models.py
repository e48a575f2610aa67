"""Demos of a model: its numbers say the same as its name, and any other model can be typed."""

from __future__ import annotations

import shlex

import pytest
from demo_runs import run, table

from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, MIXTRAL_8X7B

SHAPE = "--layers 80 --hidden 8192 --heads 64 --kv-heads 8 --head-dim 128 --ffn 28672 --vocab 128256"
SPARSE = "--layers 32 --hidden 4096 --vocab 32000 --experts 8 --top-k 2"
COUNT = f"--parameters {LLAMA3_70B.parameters}"
MIXED = f"--parameters {MIXTRAL_8X7B.parameters}"

#: A demo, how it is told a published model, and how the same model is typed.
PAIRS = """
advisor | --model LLAMA3_70B | {SHAPE}
advisor | --model MIXTRAL_8X7B | {SPARSE} --expert-ffn 14336
advisor | --model MIXTRAL_8X7B | {SPARSE} {MIXED}
advisor | --model LLAMA3_8B --gpus 8 | --parameters {SMALL} --gpus 8
tp_cost | --model "Llama 3 70B" | {SHAPE}
tp_cost | --model "Mixtral 8x7B" | {SPARSE} {MIXED}
serving_cost | --model LLAMA3_70B | --layers 80 --hidden 8192 {COUNT}
serving_cost | --model MIXTRAL_8X7B | {SPARSE} {MIXED}
rlhf_memory | --model LLAMA3_70B | {COUNT}
rlhf_memory | --model MIXTRAL_8X7B | {SPARSE} --expert-ffn 14336
memory_timeline | --model LLAMA3_70B | {COUNT}
memory_timeline | --model LLAMA3_70B | {SHAPE}
placement | --model LLAMA3_70B | {COUNT}
placement | --model LLAMA3_70B | {SHAPE}
training_plan | --model LLAMA3_70B | {SHAPE}
training_plan | --model LLAMA3_8B | --parameters {SMALL}
"""


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("line", PAIRS.strip().splitlines())
def test_numbers_say_the_same_as_the_name(line, tmp_path):
    sizes = {"SHAPE": SHAPE, "SPARSE": SPARSE, "COUNT": COUNT, "MIXED": MIXED, "SMALL": LLAMA3_8B.parameters}
    demo, named, typed = line.format(**sizes).split(" | ")
    found = table(tmp_path, demo, *shlex.split(named))
    assert found
    assert table(tmp_path, demo, *shlex.split(typed)) == found


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    "job",
    [
        "--parameters 7e9 --gpus 8",
        "--parameters 34e9 --gpus 128",
        "--parameters 70e9 --gpus 64",
        "--parameters 405e9 --gpus 512 --batch 512",
        "--parameters 1.7e12 --gpus 2048",
        "--parameters 1.7e12 --experts 16 --top-k 2 --gpus 2048",
    ],
)
def test_the_advisor_answers_for_any_model(job, tmp_path, capsys):
    """The first layout fits, and it is the one that the advisor names."""
    first = table(tmp_path, "advisor", *job.split())[0]
    assert float(first["fullest GPU (GB)"]) <= 0.9 * 80
    said = capsys.readouterr().out
    assert said.startswith("this model: ")
    assert f"check: {first['layout']} is the fastest that fits: yes" in said


def test_eight_gpus_are_too_few_for_a_large_model(capsys):
    """1.7 trillion parameters on 8 GPUs: no layout, rather than one that cannot hold the weights."""
    assert run("advisor", "--parameters", "1.7e12", "--gpus", "8") == 0
    assert "no layout is the fastest that fits: yes" in capsys.readouterr().out


def test_a_typed_model_is_printed_with_the_rule(capsys):
    assert run("tp_cost", "--parameters", "34e9") == 0
    shape, rule, *_ = capsys.readouterr().out.splitlines()
    assert shape == (
        "this model: 34,003,508,224 parameters: 56 layers, hidden 7,168, 56 heads and 8 KV heads of 128, "
        "feed-forward 21,248, vocabulary 128,256"
    )
    assert "Llama 3 8B's proportions" in rule
    assert run("tp_cost") == 0
    assert "this model" not in capsys.readouterr().out


def test_what_is_typed_holds_to_the_last_digit(capsys):
    """Where no more than the count matters, it is not replaced by that of a shape."""
    assert run("rlhf_memory", "--parameters", "34e9", "--algorithm", "dpo") == 0
    assert "612.0 GB in all" in capsys.readouterr().out
    assert run("rlhf_memory", "--parameters", "34e9", "--experts", "8", "--algorithm", "dpo") == 0
    said = capsys.readouterr().out
    assert "8 experts of" in said
    assert "612.0 GB in all" in said
