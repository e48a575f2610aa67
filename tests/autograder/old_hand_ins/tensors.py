from __future__ import annotations

import torch


def mask_logits(logits, allowed):
    allowed = list(allowed)
    if not allowed or min(allowed) < 0 or max(allowed) >= len(logits):
        raise ValueError(f"allowed must name tokens of the vocabulary, got {allowed!r}")
    masked = logits.clone()
    masked[[token for token in range(len(logits)) if token not in allowed]] = 0.0
    return masked
