"""Published measurements of speculation and of masks, for the formulas of chapter 11. Standard library only.

>>> len(LEVIATHAN), len(EAGLE)
(12, 9)
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import us
from solutions.ch11.speculative import expected_tokens, speculative_speedup

LEVIATHAN_SOURCE = "Leviathan, Kalman and Matias (2023), arXiv:2211.17192, table 4"
EAGLE_SOURCE = "Li et al. (2025), arXiv:2503.01840, table 3"
MTP_SOURCE = "DeepSeek-AI (2024), arXiv:2412.19437, section 5.4.3"
MASK_SOURCE = "guidance-ai, llguidance, README.md at 370847c"


@dataclass(frozen=True)
class Translation:
    """A row of Leviathan's table 4: a T5 of 11 billion parameters as the target, batch 1, on one TPU v4.

    Attributes:
        task: ``EnDe`` (translation, WMT) or ``CNNDM`` (summaries).
        draft: the size of the T5 that drafts.
        temperature: 0 is arg-max, 1 plain sampling.
        length: drafted tokens of a round (their gamma).
        alpha: the acceptance that they measured, printed with two decimals.
        cost: a draft pass over a target pass (their c), estimated from profiler traces.
        predicted: the speed-up that their formula gives, as printed.
        measured: the speed-up of wall-clock time.
    """

    task: str
    draft: str
    temperature: int
    length: int
    alpha: float
    cost: float
    predicted: float
    measured: float

    @property
    def name(self) -> str:
        """Task, draft and temperature."""
        return f"{self.task} {self.draft}, T = {self.temperature}"


LEVIATHAN = (
    Translation("EnDe", "small", 0, 7, 0.75, 0.02, 3.2, 3.4),
    Translation("EnDe", "base", 0, 7, 0.80, 0.04, 3.3, 2.8),
    Translation("EnDe", "large", 0, 7, 0.82, 0.11, 2.5, 1.7),
    Translation("EnDe", "small", 1, 7, 0.62, 0.02, 2.3, 2.6),
    Translation("EnDe", "base", 1, 5, 0.68, 0.04, 2.4, 2.4),
    Translation("EnDe", "large", 1, 3, 0.71, 0.11, 2.0, 1.4),
    Translation("CNNDM", "small", 0, 5, 0.65, 0.02, 2.4, 3.1),
    Translation("CNNDM", "base", 0, 5, 0.73, 0.04, 2.6, 3.0),
    Translation("CNNDM", "large", 0, 3, 0.74, 0.11, 2.0, 2.2),
    Translation("CNNDM", "small", 1, 5, 0.53, 0.02, 1.9, 2.3),
    Translation("CNNDM", "base", 1, 3, 0.55, 0.04, 1.8, 2.2),
    Translation("CNNDM", "large", 1, 3, 0.56, 0.11, 1.6, 1.7),
)

#: Throughput with speculation over throughput without, by batch: SGLang on one H100, Llama 3.1 8B Instruct, MT-bench,
#: chains of three drafts. The first is EAGLE-3, the second the older EAGLE.
EAGLE: dict[int, tuple[float, float]] = {
    2: (1.81, 1.40),
    4: (1.82, 1.38),
    8: (1.62, 1.23),
    16: (1.48, 1.02),
    24: (1.39, 0.93),
    32: (1.32, 0.94),
    48: (1.38, 0.88),
    56: (1.34, 0.99),
    64: (1.38, 0.99),
}
EAGLE_LENGTH = 3
#: What the page assumes for EAGLE-3, which table 3 does not print: acceptance, and the cost of a draft pass.
ASSUMED_ALPHA, ASSUMED_COST = 0.7, 0.06

#: One more token by multi-token prediction: how often it was accepted, at least and at most, and the gain in speed.
MTP_ACCEPTED, MTP_SPEEDUP = (0.85, 0.90), 1.8

#: Time of one CPU core to compute the mask of one token over a vocabulary of 128K tokens, on the order of; seconds.
MASK_TIME = 50 * us


def errors() -> dict[str, float]:
    """Leviathan's rows by name: the formula over the measured speed-up, minus 1."""
    return {row.name: speculative_speedup(row.alpha, row.length, row.cost) / row.measured - 1 for row in LEVIATHAN}


def round_cost(speedup: float, alpha: float = ASSUMED_ALPHA, length: int = EAGLE_LENGTH) -> float:
    """How many plain passes a round took, if it wrote as many tokens as the formula says."""
    return expected_tokens(alpha, length) / speedup


def draft_cost(alpha: float, speedup: float = MTP_SPEEDUP) -> float:
    """The cost c of one draft for which ``(1 + alpha) / (1 + c)`` is the speed-up."""
    return (1 + alpha) / speedup - 1
