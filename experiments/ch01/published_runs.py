"""Published training runs: their work, and the device-hours that they took. Standard library only.

>>> [round(100 * run.utilization) for run in RUNS]
[43, 32, 35]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.scaling_laws import LLAMA2_70B, LLAMA3_405B
from rankzero.facts.units import TFLOP, billion, hour, million


@dataclass(frozen=True)
class Run:
    """One training run.

    Attributes:
        name: the model and its devices.
        work: FLOP of the whole run, 6 per parameter and token.
        peak: FLOP/s of one device, dense bf16, from its data sheet.
        device_hours: that the run took, as its authors report.
        source: where the figures are printed.
    """

    name: str
    work: float
    peak: float
    device_hours: float
    source: str

    @property
    def utilization(self) -> float:
        """The share of the peak that the work needs over all device-hours."""
        return self.work / (self.device_hours * hour * self.peak)


#: BLOOM's devices did a third more than its work says: it recomputed all activations, 8 FLOP per parameter and token.
BLOOM = Run(
    "BLOOM 176B, A100",
    6 * 176 * billion * 366 * billion,
    A100_SXM.peak_bf16,
    1_082_990,
    "Le Scao et al. (2022), arXiv:2211.05100, section 3.4; Luccioni et al. (2022), arXiv:2211.02001, table 1",
)

RUNS = (
    Run(
        "Llama 2 70B, A100",
        LLAMA2_70B.flops,
        A100_SXM.peak_bf16,
        1_720_320,
        "Touvron et al. (2023), arXiv:2307.09288, tables 1 and 2",
    ),
    BLOOM,
    Run(
        "Llama 3.1 405B, H100",
        LLAMA3_405B.flops,
        H100_SXM.peak_bf16,
        30.84 * million,
        "Llama Team (2024), arXiv:2407.21783, section 1; Meta (2024), Llama 3.1 model card, training time",
    ),
)

#: FLOP/s of one device while Llama 3.1 405B trained on 16,384 of them: the same paper, table 4.
LLAMA3_405B_SUSTAINED = 400 * TFLOP
