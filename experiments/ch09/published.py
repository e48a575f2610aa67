"""What papers and model cards print about keys and values, for the formulas of chapter 9. Standard library only.

>>> TOKEN_BYTES["DeepSeek-V3"]
70272.0
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import KB

PAGED = "W. Kwon et al., 2023, arXiv:2309.06180"

#: Bytes of a token as DeepSeek's authors print them, in bf16: "Insights into DeepSeek-V3", 2025, arXiv:2505.09343,
#: table 1. The last two models keep keys and values: (layers, key-value heads, numbers of a head).
TOKEN_BYTES = {"DeepSeek-V3": 70.272 * KB, "Qwen2.5 72B": 327.680 * KB, "Llama 3.1 405B": 516.096 * KB}
TOKEN_SHAPES = {"Qwen2.5 72B": (80, 8, 128), "Llama 3.1 405B": (126, 8, 128)}


@dataclass(frozen=True)
class Slots:
    """A column of table 1 of the vLLM paper: a model in 16 bits on its GPUs.

    Attributes:
        layers, hidden: of the model; every query head has keys and values of its own, so a layer keeps 2 x hidden.
        memory: for keys and values, "GB" as printed.
        slots: the most tokens that fit, as printed.
    """

    layers: int
    hidden: int
    memory: int
    slots: float


SLOTS = {
    "OPT-13B": Slots(40, 5120, 12, 15_700),
    "OPT-66B": Slots(64, 9216, 21, 9_700),
    "OPT-175B": Slots(96, 12288, 264, 60_100),
}
#: The longest sequence of these models, tokens.
LONGEST = 2048
#: Requests of OPT-13B that ran at once on average (figure 13: ShareGPT at 2 requests/s): Orca, reserving the longest
#: sequence for each, and vLLM, in the same memory.
BATCHED = {"Orca (Max)": 7.00, "vLLM": 30.42}

#: Figure 2: per cent of the memory for keys and values that hold tokens, are reserved for tokens to come, are wasted
#: inside reservations, and are wasted outside of them or otherwise. Of vLLM it prints the first number alone; the rest
#: stands in the last column here.
MEMORY_USE: dict[str, tuple[float, float, float, float]] = {
    "Orca (Max)": (20.4, 13.3, 57.3, 8.9),
    "Orca (Pow2)": (26.8, 17.9, 13.6, 41.6),
    "Orca (Oracle)": (38.2, 25.2, 0.0, 36.6),
    "vLLM": (96.3, 0.0, 0.0, 3.7),
}


@dataclass(frozen=True)
class Hybrid:
    """A model in which some layers only see a window.

    Attributes:
        full, windowed: layers of each kind.
        window: tokens.
        kv_heads, head_dim: of every layer.
        context: tokens for which the page computes a request.
    """

    full: int
    windowed: int
    window: int
    kv_heads: int
    head_dim: int
    context: int


#: Gemma 3 technical report, 2025, arXiv:2503.19786: five windowed layers for each full one, windows of 1,024 tokens;
#: the shape is that of the 27B model's published configuration. gpt-oss model card, 2025, arXiv:2508.10925.
HYBRIDS = {
    "Gemma 3 27B": Hybrid(10, 52, 1024, 16, 128, 32_768),
    "gpt-oss-120b": Hybrid(18, 18, 128, 8, 64, 131_072),
}

#: Shares of prompt tokens found in a prefix cache. SGLang paper (arXiv:2312.07104), section 6: the range over its
#: benchmarks, and a month of the Chatbot Arena for two models. DeepSeek's own service on one day in February 2025
#: (open-infra-index, day 6): 342 of 608 billion tokens.
HIT_RATES = {
    "SGLang's benchmarks": (0.50, 0.99),
    "Chatbot Arena, LLaVA-NeXT-34B": (0.524, 0.524),
    "Chatbot Arena, Vicuna-33B": (0.741, 0.741),
    "DeepSeek, one day": (0.563, 0.563),
}
