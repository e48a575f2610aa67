"""What several questions of chapter 8 compute with."""

from __future__ import annotations

#: An H100: dense bf16 FLOP/s and bytes/s.
PEAK, BANDWIDTH = 989.4e12, 3.35e12

#: Keys and values of one token in bf16: of Llama 3 8B, Llama 2 7B, Llama 3 70B.
KV_8B, KV_7B, KV_70B = 131_072, 524_288, 327_680
