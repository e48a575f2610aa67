"""What others measured, beside chapter 13's functions. Standard library only.

>>> gains()
(8, 2)
"""

from __future__ import annotations

DAPO_SOURCE = "Yu et al. (2025), arXiv:2503.14476, table 1"
REPRODUCED_SOURCE = "verl, docs/algo/dapo.md at 0e58fce (2025)"

#: Share of AIME 2024 solved by Qwen2.5-32B, each row with one technique more: in the paper, and in those of verl that
#: are listed. One run each; the paper's numbers are means over 32 attempts at each question.
DAPO: dict[str, tuple[float, float | None]] = {
    "naive GRPO": (0.30, None),
    "+ overlong filtering": (0.36, None),
    "+ clip-higher": (0.38, None),
    "+ soft overlong punishment": (0.41, 0.44),
    "+ token-level loss": (0.42, 0.50),
    "+ dynamic sampling": (0.50, 0.52),
}


def gains() -> tuple[int, int]:
    """What dynamic sampling adds, in points: in the paper and in the reproduction."""
    (before, again_before), (after, again_after) = list(DAPO.values())[-2:]
    assert again_before is not None
    assert again_after is not None
    return round(100 * (after - before)), round(100 * (again_after - again_before))
