"""Words of each title, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

READ, KV = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2


def decode(sequences: int, context: int) -> float:
    """Milliseconds."""
    return (READ + sequences * context * KV) / 3.35e9


SHOWN = {
    "Prefill": [
        f"about {989.4 / 3.35:.0f} tokens",
        f"{READ / 3.35e9:.4g} ms with",
        f"2,048 {2 * 8_030_261_248 * 2048 / 989.4e9:.4g} ms",
    ],
    "larger batch": [
        f"{decode(1, 2048):.4g} ms",
        f"{decode(128, 2048):.4g} ms",
        f"{decode(128, 2048) / decode(1, 2048):.1f} ",
    ],
    "matrices become": [
        f"from {989.4 / 3.35:.0f} sequences on",
        f"{512 * READ / 989.4e9 + 512 * 2048 * KV / 3.35e9:.4g} ms to",
        f"{1024 * READ / 989.4e9 + 1024 * 2048 * KV / 3.35e9:.4g} ms:",
    ],
    "Occupied slots": [f"{decode(64, 16):.4g} ms and {decode(64, 4096):.4g} ms"],
    "Little's law": [f"{500 * (0.01417 + 49 * 0.0209):.0f} for 500", "64 slots", "9 replicas"],
}
