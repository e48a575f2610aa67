"""Units as numbers: multiply by one when you write a value, divide by one when you print it.

Everything inside the course is in SI base units: bytes, seconds, bytes per second, FLOP, FLOP per second.

>>> 2 * GB / (50 * GB) / ms
40.0
"""

from __future__ import annotations

# Sizes, in bytes. Decimal prefixes are powers of 1,000, binary prefixes powers of 1,024 (IEC 80000-13).
KB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KiB, MiB, GiB, TiB = 2**10, 2**20, 2**30, 2**40

# Sizes that are usually quoted in bits, converted to bytes.
Kbit, Mbit, Gbit, Tbit = 1e3 / 8, 1e6 / 8, 1e9 / 8, 1e12 / 8

# Times, in seconds.
ns, us, ms = 1e-9, 1e-6, 1e-3
minute, hour, day, year = 60.0, 3600.0, 86_400.0, 365.25 * 86_400.0

# Work, in floating-point operations.
MFLOP, GFLOP, TFLOP, PFLOP, EFLOP = 1e6, 1e9, 1e12, 1e15, 1e18

# Counts of things (parameters, tokens).
thousand, million, billion, trillion = 1e3, 1e6, 1e9, 1e12


def _scaled(value: float, unit: str, step: float, prefixes: tuple[str, ...]) -> str:
    """``value`` with the largest of ``prefixes`` that leaves it at 1 or more, in four significant digits."""
    power = max((p for p in range(len(prefixes)) if abs(value) >= step**p), default=0)
    return f"{value / step**power:.4g} {prefixes[power]}{unit}"


def format_bytes(size: float, binary: bool = False) -> str:
    """A size in bytes as people read it: ``format_bytes(1.75e9) == "1.75 GB"``, binary ``"1.63 GiB"``."""
    if binary:
        return _scaled(size, "B", 1024.0, ("", "Ki", "Mi", "Gi", "Ti"))
    return _scaled(size, "B", 1000.0, ("", "k", "M", "G", "T", "P"))


def format_time(seconds: float) -> str:
    """A duration in seconds as people read it: ``format_time(0.07) == "70 ms"``."""
    if abs(seconds) >= 1.0 or seconds == 0.0:
        return f"{seconds:.4g} s"
    for name, size in (("ms", ms), ("µs", us)):
        if abs(seconds) >= size:
            return f"{seconds / size:.4g} {name}"
    return f"{seconds / ns:.4g} ns"
