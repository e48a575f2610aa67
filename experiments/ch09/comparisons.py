"""Chapter 9's bytes and room beside published models and servers. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import KB, GiB
from solutions.ch09.kv_cache import kv_bytes_per_token, max_concurrent_requests, mla_bytes_per_token

from ..comparison import Compared, Comparison
from . import published

#: DeepSeek-V3's layers, and the numbers of its latent and of its rotary key.
MLA = (61, 512, 64)
_OPT = published.SLOTS["OPT-13B"]


def token_bytes(model: str) -> float:
    """Keys and values of one token, bytes."""
    shape = published.TOKEN_SHAPES.get(model)
    return kv_bytes_per_token(*shape) if shape else mla_bytes_per_token(*MLA)


COMPARISONS = (
    Comparison(
        "9.3",
        "Bytes of keys and values of a token",
        "ch09.kv_cache.kv_bytes_per_token",
        "computed",
        "DeepSeek-AI (2025), Insights into DeepSeek-V3, arXiv:2505.09343, table 1",
        tuple(
            Compared(model, printed / KB, token_bytes(model) / KB, "kB")
            for model, printed in published.TOKEN_BYTES.items()
        ),
        "Nothing: the authors count as we do.",
        "bytes of any cache whose shape you know",
    ),
    Comparison(
        "9.3",
        "Tokens that fit into the memory left for keys and values",
        "ch09.kv_cache.kv_bytes_per_token",
        "computed",
        f"{published.PAGED}, table 1",
        tuple(
            Compared(
                name, row.slots, row.memory * GiB / kv_bytes_per_token(row.layers, row.hidden // 128, 128), "tokens"
            )
            for name, row in published.SLOTS.items()
        ),
        "The paper prints the memory in whole GB, which are 2^30 bytes there.",
        "room for tokens, once you know which GB is meant",
    ),
    Comparison(
        "9.5",
        "Requests at once where each reserves the longest sequence",
        "ch09.kv_cache.max_concurrent_requests",
        "measured",
        f"{published.PAGED}, figure 13",
        (
            Compared(
                "OPT-13B, Orca (Max)",
                published.BATCHED["Orca (Max)"],
                max_concurrent_requests(int(_OPT.slots), published.LONGEST),
                "requests",
            ),
        ),
        "Nothing, while requests wait.",
        "the most that run at once when memory is reserved",
    ),
)
