"""Memory per device as the ZeRO paper prints it, for the formula of chapter 5. Standard library only.

>>> len(ROWS) * len(MODELS) * 3  # cells
54
"""

from __future__ import annotations

from rankzero.facts.units import billion

SOURCE = "S. Rajbhandari, J. Rasley, O. Ruwase and Y. He, ZeRO, SC 2020, arXiv:1910.02054, table 1"
#: Parameters of the three models.
MODELS = {"7.5B": 7.5 * billion, "128B": 128 * billion, "1T": 1000 * billion}
#: GB for each device, by the number of data-parallel ranks: for each model, stages 1, 2 and 3.
ROWS: dict[int, tuple[tuple[float, float, float], ...]] = {
    1: ((120, 120, 120), (2048, 2048, 2048), (16000, 16000, 16000)),
    4: ((52.5, 41.3, 30), (896, 704, 512), (7000, 5500, 4000)),
    16: ((35.6, 21.6, 7.5), (608, 368, 128), (4750, 2875, 1000)),
    64: ((31.4, 16.6, 1.88), (536, 284, 32), (4187, 2218, 250)),
    256: ((30.4, 15.4, 0.47), (518, 263, 8), (4046, 2054, 62.5)),
    1024: ((30.1, 15.1, 0.12), (513, 257, 2), (4011, 2013, 15.6)),
}
