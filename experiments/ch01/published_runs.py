"""Published training runs: their work, their devices, and how long they took. Standard library only.

>>> [round(run.predicted / day) for run in RUNS[:2]]
[34, 84]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.scaling_laws import GPT3
from rankzero.facts.scaling_laws import LLAMA3_405B as LLAMA3_405B_TRAINING
from rankzero.facts.units import TFLOP, billion, day, hour, million


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        name: the model and its devices.
        work: FLOP of the whole run, counted as its authors do.
        devices: how many.
        sustained: FLOP/s of one device, as reported.
        took: seconds, as reported.
        source: where the figures are printed.
    """

    name: str
    work: float
    devices: int
    sustained: float
    took: float
    source: str

    @property
    def predicted(self) -> float:
        """Seconds, from work, devices and rate."""
        return self.work / (self.devices * self.sustained)


_NARAYANAN = "Narayanan et al. (2021), arXiv:2104.04473, section 5.1"

#: The first two compute every activation twice, so their authors count 8 FLOP per parameter and token. For the third,
#: 30.84 million device-hours are reported, all that its training took.
RUNS = (
    Run("GPT-3 175B, 1,024 A100", 8 * GPT3.parameters * GPT3.tokens, 1024, 140 * TFLOP, 34 * day, _NARAYANAN),
    Run("1 T parameters, 3,072 A100", 8 * 1008 * billion * 450 * billion, 3072, 163 * TFLOP, 84 * day, _NARAYANAN),
    Run(
        "Llama 3.1 405B, 16,384 H100",
        6 * LLAMA3_405B.parameters * LLAMA3_405B_TRAINING.tokens,
        16_384,
        400 * TFLOP,
        30.84 * million * hour / 16_384,
        "Llama Team (2024), arXiv:2407.21783, table 4; Meta (2024), Llama 3.1 model card, training time",
    ),
)
