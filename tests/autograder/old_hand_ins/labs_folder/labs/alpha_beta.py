from __future__ import annotations

import math


def message_time(message_bytes, bandwidth, latency=0.0):
    if not 0 <= message_bytes < math.inf:
        raise ValueError(f"message_bytes must be finite and not negative, got {message_bytes!r}")
    if not 0 < bandwidth < math.inf:
        raise ValueError(f"bandwidth must be finite and positive, got {bandwidth!r}")
    if not 0 <= latency < math.inf:
        raise ValueError(f"latency must be finite and not negative, got {latency!r}")
    return latency + message_bytes / bandwidth
