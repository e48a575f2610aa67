"""What several questions of chapter 10 compute with."""

from __future__ import annotations

from autograder.items import lazily
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B

scheduling = lazily("solutions.ch10.scheduling")
serving = lazily("solutions.ch08.serving")

#: What somebody reads who counts the pairs that a causal mask leaves out.
FULL = "That counts all pairs of tokens; causal attention computes half of them, $2 L d s^2$."


def prefill(tokens: int, attention: bool = True) -> float:
    """Seconds of a prefill of Llama 3 8B in bf16 on an H100 at its peak."""
    model, gpu = LLAMA3_8B, H100_SXM
    shape = (model.layers, model.hidden) if attention else (0, 0)
    return serving.prefill_time(
        model.parameters, 2 * model.parameters, tokens, gpu.peak_bf16, gpu.memory_bandwidth, *shape
    )


def eager(count: int, kernel: float, launch: float) -> float:
    return scheduling.eager_time([kernel] * count, launch)
