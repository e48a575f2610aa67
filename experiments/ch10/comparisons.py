"""Chapter 10's passes and launches beside measurements. Standard library only."""

from __future__ import annotations

from rankzero.facts import measured
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.models import LLAMA2_70B
from rankzero.facts.units import ms
from solutions.ch08.serving import pass_time
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time

from ..comparison import Compared, Comparison
from . import published

#: The GPUs of the measurement, and the prompt beside the stream, tokens.
GPUS, PROMPT = 4, 4096
COUNT = measured.kernels()
#: From the moment at which the host had launched all of a chain.
LAUNCH = measured.chains()[0].eager_issue / COUNT


def one_pass(tokens: int) -> float:
    """Seconds of a pass of Llama 2 70B on the four GPUs."""
    n, rates = LLAMA2_70B.parameters, (GPUS * A100_SXM.peak_bf16, GPUS * A100_SXM.memory_bandwidth)
    return pass_time(tokens, [], n, 2 * n, 0, *rates)


COMPARISONS = (
    Comparison(
        "10.1",
        "A pass with a prompt of 4,096 tokens over a pass of one token",
        "ch08.serving.pass_time",
        "measured",
        published.SARATHI,
        (Compared("Llama 2 70B, 4 A100", published.STALL, one_pass(PROMPT + 1) / one_pass(1), "x"),),
        "Neither pass reaches its limit, and in a ratio most of that cancels.",
        "how long a prompt stops everybody else",
    ),
    Comparison(
        "10.7",
        "Tokens per second by the weights' bytes alone, launches one by one",
        "ch10.scheduling.graph_time",
        "measured",
        published.GPT_FAST,
        (
            Compared(
                "Llama 2 7B, A100, eager",
                published.EAGER_TOKENS,
                1 / graph_time([published.GPT_FAST_WEIGHTS / published.GPT_FAST_BANDWIDTH], 0.0),
                "tokens/s",
            ),
        ),
        "The CPU launches every kernel, and the GPU waits for it.",
        "nothing without graphs: count the launches",
    ),
    Comparison(
        "10.7",
        "Time of a chain of a hundred products, launched one by one",
        "ch10.scheduling.eager_time",
        "recorded",
        measured.source(),
        tuple(
            Compared(f"{run.rows:,} rows", run.eager / ms, eager_time([run.graph / COUNT] * COUNT, LAUNCH) / ms, "ms")
            for run in measured.chains()
        ),
        "Between short kernels and long ones both queues matter a little.",
        "who is late, the CPU or the GPU, and by how much",
    ),
    Comparison(
        "10.9",
        "Speed-up when everything but the GPU's work is hidden",
        "ch10.scheduling.overlap_time",
        "measured",
        published.VLLM_06,
        (
            Compared(
                "Llama 3 8B, H100, vLLM 0.6.0",
                published.THROUGHPUT_TIMES,
                1 / overlap_time(1, 0.0, published.GPU, 0.0),
                "x",
            ),
        ),
        "Partly luck: the release hid less than that, and made other parts faster.",
        "the most that hiding the loop can bring",
    ),
)
