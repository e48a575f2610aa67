"""Chapter 9: how keys and values are counted. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import GB, GiB, KiB, MiB
from solutions.ch09.kv_cache import kv_bytes_per_token, paged_waste, prefix_sharing_saving

from ..correction import Correction, worked

_GQA = "Ainslie et al. (2023), arXiv:2305.13245"
_QWEN = "Bai et al. (2023), arXiv:2309.16609; Yang et al. (2024), arXiv:2407.10671"
_LLAMA3 = "Llama Team (2024), arXiv:2407.21783, table 3"
_PAGED = "Kwon et al. (2023), arXiv:2309.06180"
_RADIX = "Zheng et al. (2023), arXiv:2312.07104"

_FULL, _TOKEN = (worked(kv_bytes_per_token, 80, heads, 128) for heads in (64, 8))
_WASTE = worked(paged_waste, [100] * 10, 256)
_FEW, _MANY = (worked(prefix_sharing_saving, requests, 500, 100) for requests in (10, 100))

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "9.3",
        "Count key-value heads, not query heads",
        "The cache of a token takes 2 x layers x hidden size elements, so models of one size take equally many bytes.",
        "The hidden size counts a key and a value for every query head; with grouped queries several share one. "
        "Qwen-72B and Qwen2-72B both have 80 layers and heads of 128: with 64 key-value heads a token of the first "
        f"takes {_FULL.value / MiB:g} MiB, with 8 one of the second takes {_TOKEN.value / KiB:g} KiB, "
        f"{_FULL.value / _TOKEN.value:g} times less. Read num_key_value_heads in the model's configuration.",
        (_FULL, _TOKEN),
        f"{_GQA}; {_QWEN}",
    ),
    Correction(
        "9.3",
        "Say whether a K is 1,000 or 1,024",
        "Llama 3 70B keeps 320 KB for a token, so 32K tokens take 10.24 GB.",
        f"The product mixes three systems: the 320 are KiB, the 32K are 32 x 1,024 tokens, and the result divides by "
        f"powers of ten. {_TOKEN.value:,.0f} bytes times 32,768 are {_TOKEN.value * 32_768 / GB:.4g} GB or "
        f"{_TOKEN.value * 32_768 / GiB:g} GiB, and neither is 10.24. The gap grows with every prefix, and a memory of "
        "80 GB is not one of 80 GiB.",
        (_TOKEN,),
        _LLAMA3,
    ),
    Correction(
        "9.5",
        "What paging saves depends on the lengths and on the block",
        "Paging raises the used share of the cache from half to 95 percent.",
        "Neither is a constant. The paper that introduced it measured 20.4 to 38.2 percent before paging and over 96 "
        "percent with it, for its own workloads; reserving the longest length wastes 1 - mean/longest, and paging "
        "wastes the rest of each last block. Ten sequences of 100 tokens in blocks of 256 still waste "
        f"{_WASTE.value[1]:.1%}.",
        (_WASTE,),
        _PAGED,
    ),
    Correction(
        "9.9",
        "Sharing a prefix has a ceiling that no number of requests lifts",
        "With enough requests a shared prefix saves 90 percent of the cache and more.",
        "Every request keeps its own part, so the saving stays below prefix / (prefix + own part). For a prefix of 500 "
        f"and 100 tokens of one's own it is {_FEW.value:.1%} with 10 requests, {_MANY.value:.1%} with 100, and "
        f"never above {500 / 600:.1%}.",
        (_FEW, _MANY),
        _RADIX,
    ),
)
