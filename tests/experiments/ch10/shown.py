"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

ROOFLINE = [(16060522496 + 131072 * 2048 * batch) / 3.35e12 * 1e3 for batch in (1, 64)]
POWERS = 100 * (1 - 256 * 257 / 2 / (1 + sum(2 ** (2 * k - 1) for k in range(1, 9))))

SHOWN = {
    "saves n launches": [
        f"{0.05 + 5 * 0.1:.3g} ms",
        f"{0.005 + 0.5:.4g} ms",
        f"{500 * 0.005 + 0.002:.4g} ms",
        "1.01 ms",
    ],
    "call replay()": ["copy the input"],
    "forbid random numbers": ["All three work"],
    "rarely uses graphs": ["capturable=True"],
    "exact size": ["35 sizes", f"{POWERS:.3g} %", "9 powers"],
    "40 % in one table": [f"{100 * 2.1 / 5.2:.0f} %", f"{100 * 2.1 / 7.3:.0f} %"],
    "45.2 ms at batch 64": [f"{ROOFLINE[0]:.3g} ms", f"{ROOFLINE[1]:.3g} ms"],
    "2 ms against 5 ms": [f"{100 * 2 / 7:.0f} %"],
    "stays serial": [f"{2 + 20 * 10 + 1} ms", f"{20 * 13} ms", f"{2 + 20 * 11} ms"],
    "async def": ["`await`"],
    "Overlap is free": ["1 of 301"],
    "made of sleeps": ["the timer"],
}
