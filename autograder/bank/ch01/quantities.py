"""What several questions of chapter 1 compute with."""

from __future__ import annotations

from autograder.items import lazily
from rankzero.facts.hardware import A100_SXM

scale = lazily("solutions.ch01.scale")

#: Llama 3 405B on 8,192 GPUs, slowest axis first, and with its first two axes the other way round.
LAYOUT = {"dp": 64, "pp": 16, "tp": 8}

#: GPT-3: parameters and tokens, Brown et al. (2020). An A100 at half of its dense peak, and its price.
PARAMETERS, TOKENS = 175e9, 300e9

PEAK, UTILIZATION, PRICE = A100_SXM.peak_bf16, 0.5, 3.0


def flops() -> float:
    return scale.training_flops_per_token(PARAMETERS) * TOKENS
