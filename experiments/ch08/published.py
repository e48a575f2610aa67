"""Measured and published numbers of real servers, beside which chapter 8 puts its formulas. Standard library only.

>>> round(bound(DECODING[0]))
151
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.hardware import A100_SXM, H100_SXM, Gpu
from rankzero.facts.models import LLAMA2_7B, LLAMA2_70B, LLAMA3_8B, LLAMA3_405B, Model
from solutions.ch08.serving import pass_time

GPT_FAST = (
    "gpt-fast, README at commit 32971d3: A100 80 GB at 330 W, batch 1, prompt of 5 tokens, "
    "https://github.com/meta-pytorch/gpt-fast"
)
EAGLE = "Y. Li et al., EAGLE-3, 2025, arXiv:2503.01840, table 4: SGLang without speculation, H100, batch 1"


@dataclass(frozen=True)
class Decoding:
    """One user's answer on one or more GPUs that share every matrix.

    Attributes:
        model: its shape.
        element: bytes of a weight.
        gpu, gpus: of which kind, and how many.
        speed: tokens per second, as measured by ``source``.
        source: who measured, with what.
    """

    model: Model
    element: float
    gpu: Gpu
    gpus: int
    speed: float
    source: str = GPT_FAST

    @property
    def name(self) -> str:
        """Model and type of its weights."""
        return f"{self.model.name}, {'bf16' if self.element == 2 else 'int8'}"


DECODING = (
    *(
        Decoding(LLAMA2_7B, 2, A100_SXM, gpus, speed)
        for gpus, speed in ((1, 104.9), (2, 168.8), (4, 254.0), (8, 328.4))
    ),
    Decoding(LLAMA2_7B, 1, A100_SXM, 1, 155.6),
    Decoding(LLAMA3_8B, 2, A100_SXM, 1, 93.9),
    *(Decoding(LLAMA2_70B, 2, A100_SXM, gpus, speed) for gpus, speed in ((2, 21.3), (4, 38.0), (8, 62.5))),
    Decoding(LLAMA3_405B, 1, A100_SXM, 8, 15.6),
    Decoding(LLAMA3_8B, 2, H100_SXM, 1, 158.34, EAGLE),
)


def bound(row: Decoding) -> float:
    """The most tokens per second of one user: one over the bound of a pass with one token and no cache."""
    n = row.model.parameters
    speed = row.gpus * row.gpu.peak_bf16, row.gpus * row.gpu.memory_bandwidth
    return 1 / pass_time(1, [], n, row.element * n, 0, *speed)


DEEPSEEK = (
    "DeepSeek, Day 6: One More Thing, DeepSeek-V3/R1 inference system overview, 27 to 28 February 2025, "
    "https://github.com/deepseek-ai/open-infra-index"
)


@dataclass(frozen=True)
class Day:
    """A day of a public service, as its operator published it.

    Attributes:
        tokens_in, tokens_out: of all prompts and of all answers.
        from_cache: tokens of the prompts whose keys and values were on disk already.
        speed: output tokens per second of one answer.
        context: mean cached tokens of an output token.
        node_in, node_out: tokens per second of a node that computes prompts, and of one that writes answers.
        nodes: mean number of nodes in use, each of ``gpus`` GPUs.
        dollars: cost of the day at ``rate`` dollars for a GPU-hour.
        kv_bytes: keys and values of one token, as the model's authors print them (arXiv:2505.09343, table 1).
    """

    tokens_in: float = 608e9
    tokens_out: float = 168e9
    from_cache: float = 342e9
    speed: tuple[float, float] = (20, 22)
    context: float = 4989
    node_in: float = 73_700
    node_out: float = 14_800
    nodes: float = 226.75
    gpus: int = 8
    dollars: float = 87_072
    rate: float = 2
    kv_bytes: float = 70_272


DAY = Day()

#: How many times the throughput of FasterTransformer Orca reached at the same latency, with GPT-3 175B.
ORCA = 36.9
ORCA_SOURCE = "G.-I. Yu et al., Orca, OSDI 2022"
