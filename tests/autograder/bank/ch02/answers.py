"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

import struct

EXACT = 1e-12
ALPS = (4194304 - 8192) / (182.39e-6 - 8.31e-6)
ANSWERS = {
    "02-dtype": [struct.unpack("i", struct.pack("f", 1.0))[0]],
    "02-chain-relays-add": [42 + 10 * (4 - 2), 42 + 10 * (10 - 2)],
    "02-full-circle": [40, 30],
    "02-parity-odd": [3],
    "02-one-reversed": [8],
    "02-chunks": [23, (3 * (5e-6 + 64e6 / 50e9)) / (25 * (5e-6 + 64e6 / 23 / 50e9))],
    "02-blocking-relay": [3 + 2 * 7, 17 * (5e-6 + 8e6 / 50e9) * 1e3],
    "02-idle-share": [12 * 10 * 3 + 2 * 2 * 5, 360 / (3 * 380)],
}
ESTIMATES = {
    "02-half-bandwidth": 5e-6 * 50e9,
    "02-small-or-one": (1000 * (10e-6 + 1e3 / 12.5e9)) / (10e-6 + 1e6 / 12.5e9),
    "02-activation": 1e3 * (8.31e-6 - 8192 / ALPS + 4 * 4096 * 8192 * 2 / ALPS),  # ms
    "02-relay-guess": min(range(1, 4096), key=lambda k: (3 + k - 1) * (5e-6 + 64e6 / k / 50e9)),
}
