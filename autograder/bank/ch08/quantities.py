"""What several questions of chapter 8 compute with."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, Model

#: An H100: dense bf16 FLOP/s and bytes/s.
PEAK, BANDWIDTH = H100_SXM.peak_bf16, H100_SXM.memory_bandwidth


def _kv(model: Model) -> int:
    """Bytes of the keys and values of one token in bf16."""
    return 2 * model.layers * 2 * model.kv_heads * model.head_dim


KV_8B, KV_70B = _kv(LLAMA3_8B), _kv(LLAMA3_70B)
