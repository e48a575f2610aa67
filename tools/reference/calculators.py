"""Calculators with free numbers, all in one place; and where the chapters have their explorers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import nbformat

from experiments import calculators as sheets
from rankzero.explore.controls import Choice, Control, Number
from rankzero.explore.display import sheet
from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, MIXTRAL_8X7B
from rankzero.facts.units import GB, hour, minute, trillion, us
from tools.common import pages_of

from .markup import inline, section_link

_GPU = Choice(*sheets.GPUS)
_LEAST = 1e9  # parameters of which a shape can be made
_SMALL = 2048  # GPUs or layouts of which a browser has an answer in a moment


@dataclass(frozen=True)
class Calculator:
    """One calculator of the page: its function, title, section, the sentence below it, and its fields."""

    function: Callable[..., sheets.Table]
    title: str
    section: str
    said: str
    controls: Mapping[str, Control]


CALCULATORS = (
    Calculator(
        sheets.training_run,
        "A training run",
        "1.15",
        "Six FLOP for each parameter and token. The last line spends the same work at 20 tokens for each parameter.",
        {
            "parameters": Number(70e9, "", 1),
            "tokens": Number(15 * trillion, "", 1),
            "gpus": Number(4096, "", 1),
            "gpu": _GPU,
            "utilization": Number(0.4, "", 0.001, 1),
            "dollars_per_gpu_hour": Number(2.0, ""),
        },
    ),
    Calculator(
        sheets.model_states,
        "Model states under ZeRO",
        "5.6",
        "Without activations, with one micro-step in each step.",
        {
            "parameters": Number(70e9, "", 1),
            "ranks": Number(64, "", 1),
            "gpu_memory": Number(80 * GB, "B", 1),
            "weight_bytes": Number(2.0, "B"),
            "gradient_bytes": Number(2.0, "B"),
            "optimizer_bytes": Number(12.0, "B"),
        },
    ),
    Calculator(
        sheets.mixture,
        "A mixture of experts",
        "7.21",
        "Each layer has experts of three matrices; the other parameters are those that every token uses.",
        {
            "hidden": Number(MIXTRAL_8X7B.hidden, "", 1),
            "expert_width": Number(MIXTRAL_8X7B.expert_ffn, "", 1),
            "experts": Number(MIXTRAL_8X7B.experts, "", 1),
            "visited": Number(MIXTRAL_8X7B.top_k, "experts", 1),
            "layers": Number(MIXTRAL_8X7B.layers, ""),
            "other_parameters": Number(1.6056e9, ""),
        },
    ),
    Calculator(
        sheets.activations,
        "Activations",
        "6.18",
        "Layers like GPT-3's, in bf16, with sequence parallelism where tensor parallelism is more than 1.",
        {
            "sequence": Number(2048, "tokens", 1),
            "batch": Number(1, "sequences", 1),
            "hidden": Number(12_288, "", 1),
            "heads": Number(96, "", 1),
            "layers": Number(96, "", 1),
            "tensor_parallel": Number(8, "ranks", 1),
        },
    ),
    Calculator(
        sheets.all_reduce,
        "An all-reduce",
        "4.4",
        "Equal links, one direction each, with a start-up for each message.",
        {
            "message": Number(1 * GB, "B"),
            "ranks": Number(64, "", 1, 10**6),
            "bandwidth": Number(50 * GB, "B/s", 1),
            "latency": Number(5 * us, "s"),
        },
    ),
    Calculator(
        sheets.pipeline,
        "A pipeline",
        "7.3",
        "Equal stages and instant messages; with several chunks, micro-batches in a multiple of the stages.",
        {
            "stages": Number(8, "", 1),
            "microbatches": Number(32, "", 1),
            "chunks": Number(1, "", 1),
        },
    ),
    Calculator(
        sheets.advisor,
        "The advisor: layouts of a training job",
        "7.12",
        "H100s in nodes of eight; a shape is made for the parameters. With no experts, the model is dense.",
        {
            "parameters": Number(34e9, "", _LEAST, 1e14),
            "experts": Number(0, "", 0, 1024),
            "gpus": Number(128, "", 1, _SMALL),
            "gpu_memory": Number(80 * GB, "B", 1),
            "batch": Number(1024, "sequences", 1, 65_536),
            "sequence": Number(4096, "tokens", 1, 2**20),
            "network_bandwidth": Number(50 * GB, "B/s", 1),
        },
    ),
    Calculator(
        sheets.serving,
        "A server",
        "8.16",
        "Bounds of a pass, without queueing and without what GPUs send each other: real servers need more.",
        {
            "parameters": Number(70e9, "", _LEAST, 1e14),
            "gpu": _GPU,
            "tensor_parallel": Number(8, "GPUs", 1, 72),
            "slots": Number(64, "requests", 1, 65_536),
            "prompt": Number(1000, "tokens", 1),
            "output": Number(300, "tokens", 1),
            "requests_per_second": Number(20.0, "", 0),
        },
    ),
    Calculator(
        sheets.cache,
        "The KV cache",
        "9.4",
        "Weights in bf16 take their place first, and 90 percent of the memory are usable.",
        {
            "layers": Number(LLAMA3_70B.layers, "", 1),
            "kv_heads": Number(LLAMA3_70B.kv_heads, "", 1),
            "head_width": Number(LLAMA3_70B.head_dim, "", 1),
            "element_bytes": Number(2.0, "B", 0.1),
            "tensor_parallel": Number(4, "GPUs", 1),
            "parameters": Number(70.6e9, "", 1),
            "gpu_memory": Number(80 * GB, "B", 1),
            "context": Number(8192, "tokens", 1),
        },
    ),
    Calculator(
        sheets.drafts,
        "Speculative decoding",
        "11.5",
        "Costs are times of a pass, in units of a plain pass of the target.",
        {
            "acceptance": Number(0.8, "", 0, 1),
            "draft_length": Number(4, "", 0, 64),
            "draft_cost": Number(0.05, ""),
            "verify_cost": Number(1.0, "", 0.01),
        },
    ),
    Calculator(
        sheets.alignment,
        "Models of an RLHF job",
        "13.21",
        "States alone, sharded evenly. GRPO has no critic; 0 parameters are a rule in place of a reward model.",
        {
            "algorithm": Choice("ppo", "grpo", "dpo"),
            "policy_parameters": Number(float(LLAMA3_70B.parameters), "", 1),
            "reward_parameters": Number(float(LLAMA3_8B.parameters), ""),
            "gpus": Number(64, "", 1),
            "gpu_memory": Number(80 * GB, "B", 1),
        },
    ),
    Calculator(
        sheets.rl_throughput,
        "Throughput of RL: in turn, or in two pools",
        "14.7",
        "The work of a batch scales perfectly; the longest answer does not get faster with more GPUs.",
        {
            "gpus": Number(256, "", 2, _SMALL),
            "answers": Number(512, "", 1),
            "generate_gpu_seconds": Number(12_800.0, "s", 0.001),
            "train_gpu_seconds": Number(6144.0, "s", 0.001),
            "longest_answer": Number(90.0, "s"),
        },
    ),
    Calculator(
        sheets.checkpoints,
        "Checkpoints and failures",
        "15.6",
        "The job stops while a checkpoint is written; Daly's interval.",
        {
            "parameters": Number(405e9, "", 1),
            "bytes_per_parameter": Number(14.0, "B", 0.1),
            "writers": Number(16_384, "", 1),
            "writer_bandwidth": Number(2 * GB, "B/s", 1),
            "storage_bandwidth": Number(2000 * GB, "B/s", 1),
            "time_between_failures": Number(3.1 * hour, "s", 1),
            "restart": Number(5 * minute, "s"),
        },
    ),
)

_SECTION = re.compile(r"^## (\d+\.\d+) ", re.MULTILINE)


def explorers() -> Iterator[tuple[str, str]]:
    """The section and the title of every explorer of the chapters, in the order of the book."""
    for chapter in CHAPTERS:
        for path in pages_of(chapter):
            section = ""
            for cell in nbformat.read(path, as_version=4).cells:
                if cell.cell_type == "markdown":
                    section = [section, *_SECTION.findall(cell.source)][-1]
                elif cell.source.lstrip().startswith("explore("):
                    yield section, _title(cell.source)


def _title(source: str) -> str:
    """The title that a cell gives its explorer."""
    call = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return next(ast.literal_eval(word.value) for word in call.keywords if word.arg == "title")


def entry(one: Calculator) -> str:
    """One calculator, with the section that explains it."""
    said = f"{one.said} Section {one.section} explains it."
    made = sheet(one.function, one.title, said, one.controls)
    return f"## {one.title}\n\n{made.replace(f'Section {one.section} ', f'Section {section_link(one.section)} ')}\n"


def text() -> str:
    """The page's generated part."""
    listed = "".join(f"- {section_link(section)} {inline(title)}\n" for section, title in explorers() if section)
    return "\n".join([*map(entry, CALCULATORS), f"## Charts that move, in the chapters\n\n{listed}"])
