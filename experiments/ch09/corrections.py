"""Chapter 9: wrong claims about keys and values in memory, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, MB, GiB, KiB, MiB
from solutions.ch09.kv_cache import kv_bytes_per_token, max_concurrent_requests, paged_waste, prefix_sharing_saving

from ..correction import LLM_OPTIMIZATION, MLSYS, Correction

_GQA = "Ainslie et al. (2023), arXiv:2305.13245"
_LLAMA3 = "Llama Team (2024), arXiv:2407.21783, table 3"
_PAGED = "Kwon et al. (2023), arXiv:2309.06180"
_RADIX = "Zheng et al. (2023), arXiv:2312.07104"
_POPE = "Pope et al. (2022), arXiv:2211.05102"
_QWEN = "Bai et al. (2023), arXiv:2309.16609; Yang et al. (2024), arXiv:2407.10671"

_TOKEN = kv_bytes_per_token(80, 8, 128)
_FULL = kv_bytes_per_token(80, 64, 128)
_WEIGHTS = 2 * LLAMA3_70B.parameters
_CONTEXTS = (4096, 8192, 32_768, 131_072)


def _request(context: int) -> float:
    """Bytes of one request of Llama 3 70B."""
    return _TOKEN * context


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _sizes() -> tuple[Correction, ...]:
    """Bytes of a token and of a request."""
    return (
        Correction(
            "9.3",
            "A token of Llama 3 70B takes 2 L d_model elements, 2.62 MB.",
            f"It takes {_TOKEN:,.0f} B, {_FULL / _TOKEN:g} times less: with d_model it would be {_FULL / MB:.3g} MB.",
            "The formula holds if every query head has its own keys and values; here 8 heads serve 64.",
            _GQA,
            matters="Capacity is underestimated by the number of query heads that share a key.",
            places=(f"{LLM_OPTIMIZATION} (LLaMA-70B)",),
        ),
        Correction(
            "9.3",
            "A request of 32K takes 2 GB, and a hundred of them 200 GB.",
            f"It takes {_request(32_768) / GB:.2f} GB with Llama 3 70B, and a hundred take "
            f"{100 * _request(32_768) / GB:,.0f} GB.",
            f"A request has 32,768 tokens of {_TOKEN:,.0f} B.",
            _LLAMA3,
            matters="Requests are admitted that do not fit.",
            places=(f"{MLSYS}, src/part3-inference/chapter08.md",),
        ),
        Correction(
            "9.3",
            "320 KB x 32K = 10.24 GB.",
            f"{_request(32_768) / GB:.4f} GB, which is {_request(32_768) / GiB:g} GiB; for 4K it is "
            f"{_request(4096) / GB:.3f} GB or {_request(4096) / GiB:g} GiB.",
            f"The product mixes three systems of units: {_TOKEN / KiB:g} KiB, 32 x 1,024 tokens, and billions of "
            "bytes.",
            _LLAMA3,
            matters="Decimal and binary units drift further apart with every prefix.",
            places=(f"{MLSYS}, src/part3-inference/chapter09.md",),
        ),
        Correction(
            "9.4",
            "480 GB hold 375 requests of 4K, 187 of 8K, 46 of 32K and 11 of 128K.",
            ", ".join(
                f"{max_concurrent_requests(int(480 * GB // _TOKEN), context, 16)} of {context // 1024}K"
                for context in _CONTEXTS
            )
            + ": blocks of 16, Llama 3 70B.",
            f"The claim divides by {320 * 4 / 1000:g} GB for 4K, with 320,000 B and 4,000 tokens, and rounds down.",
            _LLAMA3,
            matters="A service is promised more requests than it can hold.",
            places=(f"{MLSYS}, src/part3-inference/chapter09-calculator.md (the first three)",),
        ),
        Correction(
            "9.3",
            "A token takes 2 x layers x num_heads x head_dim x 2 bytes.",
            f"The formula needs kv_heads in place of num_heads: {_TOKEN / KiB:g} KiB for Llama 3 70B, not "
            f"{_FULL / MiB:g} MiB.",
            "Query heads are not cached, and several share one head of keys and values.",
            _GQA,
            matters="Models with grouped queries look several times as expensive as they are.",
            places=(
                f"{MLSYS}, src/part3-inference/chapter09.md",
                LLM_OPTIMIZATION,
            ),
        ),
        Correction(
            "9.3",
            "Qwen-72B and Qwen2-72B keep equally many bytes for each token.",
            f"Qwen-72B keeps {kv_bytes_per_token(80, 64, 128) / MiB:g} MiB, Qwen2-72B "
            f"{kv_bytes_per_token(80, 8, 128) / KiB:g} KiB.",
            "Both have 80 layers and heads of 128; the first has 64 key-value heads, the second 8.",
            _QWEN,
            matters="Two models of one size are taken to cost the same to serve.",
            places=(
                f"{MLSYS}, tutorial/part3-inference/chapter09-kv-cache/scripts/kv_cache_calculator.py "
                "(Qwen-72B with 8 key-value heads)",
            ),
        ),
        Correction(
            "9.3",
            "Llama 3 70B with TP 8 and 8K of context keeps 10.00 GiB on each GPU.",
            f"It keeps {kv_bytes_per_token(80, 8, 128, 2, 8) * 8192 / GiB:g} GiB.",
            f"A widely used calculator takes L d_model w for a token, {80 * 8192 * 2 * 8192 / GiB:.2f} GiB: it "
            "ignores that heads are shared and split, and that values are kept as well as keys.",
            _LLAMA3,
            matters="A layout is rejected although it fits many times over.",
        ),
    )


def _work() -> tuple[Correction, ...]:
    """What a cache saves, and how large it is."""
    fewest = -(-_WEIGHTS // int(_request(32_768)))
    return (
        Correction(
            "9.1",
            "A generation takes O(N²) work without a cache, and O(N) with one.",
            "Attention over a whole generation takes O(N²) with a cache and O(N³) without; projections take O(N) and "
            "O(N²).",
            "The claim counts only the projections: token i still attends to i keys.",
            _POPE,
            matters="The cost of long answers is underestimated.",
            places=(
                f"{MLSYS}, src/part3-inference/chapter09.md",
                "inferensys.com, glossary, KV Cache",
            ),
        ),
        Correction(
            "9.4",
            "Keys and values dwarf the weights.",
            f"For Llama 3 70B they exceed the {_WEIGHTS / GB:.1f} GB of weights only from {fewest} requests of 32K on.",
            f"One such request takes {_request(32_768) / GB:.3g} GB.",
            _LLAMA3,
            matters="Memory is spent on the cache where the weights are what fills it.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter09-kv-cache/scripts/kv_cache_calculator.py",),
        ),
    )


def _paging() -> tuple[Correction, ...]:
    """Blocks and prefixes."""
    short = paged_waste([100] * 10, 256)[1]
    shared, shots = prefix_sharing_saving(100, 500, 100), prefix_sharing_saving(100, 1000, 50)
    return (
        Correction(
            "9.5",
            "Paging nearly doubles the capacity: it raises the used share from 50 % to 95 %.",
            "Measured systems used 20.4 to 38.2 % of their cache before paging and over 96 % with it, for 2 to 4 times "
            "the throughput.",
            "Neither number is a constant: reserving wastes 1 - mean/max, and ten sequences of 100 tokens in blocks "
            f"of 256 waste {_share(short)}.",
            _PAGED,
            matters="The gain is understated, and the reason for paging is missed.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter09-kv-cache/scripts/kv_cache_calculator.py",),
        ),
        Correction(
            "9.7",
            "A prefix cache evicts its oldest unused entries.",
            "It evicts only leaves, the least recently used first, and a lock protects all ancestors.",
            "Plain LRU would free a prefix whose suffix is still in use.",
            _RADIX,
            matters="Evicting an inner node leaves children that can never be found again.",
            places=(f"{MLSYS}, src/part3-inference/chapter09.md",),
        ),
        Correction(
            "9.7",
            "Sharing a prefix saves 90 % and more.",
            f"It saves {_share(shared)} for 100 requests of 500 + 100 tokens, and {_share(shots)} for 1,000 + 50.",
            f"However many requests there are, it saves at most prefix/(prefix + unique): {_share(500 / 600)} and "
            f"{_share(1000 / 1050)}.",
            _RADIX,
            matters="The saving is promised for traffic that does not share enough.",
            places=(f"{MLSYS}, src/part3-inference/chapter09-prefix.md",),
        ),
    )


CORRECTIONS = (*_sizes(), *_work(), *_paging())
