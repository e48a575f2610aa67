"""What is often printed wrong about keys and values in memory, with computed numbers. Standard library only."""

from __future__ import annotations

from rankzero.models import LLAMA3_70B
from rankzero.units import GB, MB, GiB, KiB, MiB
from solutions.ch09.kv_cache import kv_bytes_per_token, max_concurrent_requests, paged_waste, prefix_sharing_saving

from ..correction import Correction

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
            "09",
            "A token of Llama 3 70B takes 2 L d_model elements, 2.62 MB.",
            f"{_TOKEN:,.0f} B, {_FULL / _TOKEN:g} times less: the formula with d_model gives {_FULL / MB:.3g} MB.",
            "It holds where every query head has keys and values of its own; here 8 heads serve 64.",
            _GQA,
        ),
        Correction(
            "09",
            "A request of 32K takes 2 GB, and a hundred of them 200 GB.",
            f"{_request(32_768) / GB:.2f} GB with Llama 3 70B; a hundred take {100 * _request(32_768) / GB:,.0f} GB.",
            f"32,768 tokens of {_TOKEN:,.0f} B.",
            _LLAMA3,
        ),
        Correction(
            "09",
            "320 KB x 32K = 10.24 GB.",
            f"{_request(32_768) / GB:.4f} GB, which is {_request(32_768) / GiB:g} GiB; for 4K it is "
            f"{_request(4096) / GB:.3f} GB or {_request(4096) / GiB:g} GiB.",
            f"The product mixes three systems: {_TOKEN / KiB:g} KiB, 32 x 1,024 tokens, and billions of bytes.",
            _LLAMA3,
        ),
        Correction(
            "09",
            "480 GB hold 375 requests of 4K, 187 of 8K, 46 of 32K and 11 of 128K.",
            ", ".join(
                f"{max_concurrent_requests(int(480 * GB // _TOKEN), context, 16)} of {context // 1024}K"
                for context in _CONTEXTS
            )
            + ": blocks of 16, Llama 3 70B.",
            f"The claim divides by {320 * 4 / 1000:g} GB for 4K, with 320,000 B and 4,000 tokens, and rounds down.",
            _LLAMA3,
        ),
        Correction(
            "09",
            "Bytes of a token are 2 x layers x num_heads x head_dim x 2.",
            f"With kv_heads in place of num_heads: {_TOKEN / KiB:g} KiB for Llama 3 70B, not {_FULL / MiB:g} MiB.",
            "Query heads are not cached, and several share one head of keys and values.",
            _GQA,
        ),
        Correction(
            "09",
            "Qwen-72B and Qwen2-72B keep the same for each token.",
            f"Qwen-72B keeps {kv_bytes_per_token(80, 64, 128) / MiB:g} MiB, Qwen2-72B "
            f"{kv_bytes_per_token(80, 8, 128) / KiB:g} KiB.",
            "Both have 80 layers and heads of 128; the first has 64 key-value heads, the second 8.",
            _QWEN,
        ),
        Correction(
            "09",
            "Llama 3 70B with TP 8 and 8K of context keeps 10.00 GiB on each GPU.",
            f"{kv_bytes_per_token(80, 8, 128, 2, 8) * 8192 / GiB:g} GiB.",
            f"A widely used calculator takes L d_model w for a token, {80 * 8192 * 2 * 8192 / GiB:.2f} GiB: it ignores "
            "that heads are shared and split, and forgets that values are kept as well as keys.",
            _LLAMA3,
        ),
    )


def _work() -> tuple[Correction, ...]:
    """What a cache saves, and what it weighs."""
    fewest = -(-_WEIGHTS // int(_request(32_768)))
    return (
        Correction(
            "09",
            "Without a cache a generation takes O(N^2) work, with one O(N).",
            "Attention over a whole generation takes O(N^2) with a cache and O(N^3) without; projections take O(N) and "
            "O(N^2).",
            "The claim counts the projections alone: token i still attends to i keys.",
            _POPE,
        ),
        Correction(
            "09",
            "Keys and values dwarf the weights.",
            f"For Llama 3 70B they outweigh {_WEIGHTS / GB:.1f} GB of weights from {fewest} requests of 32K on.",
            f"One such request takes {_request(32_768) / GB:.3g} GB.",
            _LLAMA3,
        ),
    )


def _paging() -> tuple[Correction, ...]:
    """Blocks and prefixes."""
    short = paged_waste([100] * 10, 256)[1]
    shared, shots = prefix_sharing_saving(100, 500, 100), prefix_sharing_saving(100, 1000, 50)
    return (
        Correction(
            "09",
            "Paging nearly doubles the capacity: it lifts the used share from 50 % to 95 %.",
            "Measured systems used 20.4 to 38.2 % of their cache before paging and over 96 % with it, for 2 to 4 times "
            "the throughput.",
            "Neither number is a law: reserving wastes 1 - mean/max, and ten sequences of 100 tokens in blocks of 256 "
            f"waste {_share(short)}.",
            _PAGED,
        ),
        Correction(
            "09",
            "A prefix cache evicts its oldest unused entries.",
            "It evicts leaves alone, the least recently used first, and a lock protects all ancestors.",
            "Plain LRU frees a prefix from under a suffix that is still in use.",
            _RADIX,
        ),
        Correction(
            "09",
            "Sharing a prefix saves 90 % and more.",
            f"{_share(shared)} for 100 requests of 500 + 100 tokens, {_share(shots)} for 1,000 + 50.",
            f"However many requests come, it is at most prefix/(prefix + unique): {_share(500 / 600)} and "
            f"{_share(1000 / 1050)}.",
            _RADIX,
        ),
    )


CORRECTIONS = (*_sizes(), *_work(), *_paging())
