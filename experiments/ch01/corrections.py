"""Chapter 1: numbers about time, speed and efficiency that need a condition. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.units import TFLOP, year
from solutions.ch01.scale import training_flops_per_token, training_time
from solutions.ch01.scaling import amdahl_speedup, scaling_efficiency

from ..correction import Correction, worked

_BROWN = "Brown et al. (2020), arXiv:2005.14165, appendix D"
_AMDAHL = "Amdahl (1967), doi:10.1145/1465482.1465560; Gustafson (1988), doi:10.1145/42411.42415"
_MFU = "Korthikanti et al. (2022), arXiv:2205.05198, table 5; Llama Team (2024), arXiv:2407.21783, table 4"
_PALM = "Chowdhery et al. (2022), arXiv:2204.02311, appendix B"

_V100 = worked(training_time, 3.14e23, 1, 28 * TFLOP, 1.0)
_A100 = worked(training_time, 3.14e23, 1, A100_SXM.peak_bf16, 0.5)

#: Eight ranks of which each spends this many percent of its step communicating.
_SHARES = (10, 40)
_SCALED = [worked(scaling_efficiency, 100 - share, 100, 8, weak=True) for share in _SHARES]
_AMDAHLS = [worked(amdahl_speedup, share / 100, 8) for share in _SHARES]

#: A published step: 128 layers of width 25,600, 512 sequences of 2,048 tokens on 512 GPUs.
_STEP = training_flops_per_token(12 * 128 * 25_600**2 + 51_200 * 25_600, 128, 25_600, 2048) * 512 * 2048
_FULL = worked(training_time, _STEP, 512, A100_SXM.peak_bf16, 1.0)
_MEASURED = 71.49


def attention_share(width: int, context: int) -> float:
    """What attention adds to the FLOP of a layer with 12 width**2 parameters, as a share of them."""
    matrices = 12 * width**2
    return training_flops_per_token(matrices, 1, width, context) / training_flops_per_token(matrices) - 1


_SHORT, _LONG = worked(attention_share, 12_288, 2048), worked(attention_share, 16_384, 131_072)
_H100 = [f"{speed * TFLOP / H100_SXM.peak_bf16:.0%}" for speed in (380, 430)]

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "1.9",
        "A time on one GPU names the GPU and the rate that it reaches",
        "Training GPT-3 takes 355 years on one GPU.",
        f"That is 3.14e23 FLOP on a V100 at 28 TFLOP/s, {_V100.value / year:.1f} years. On an A100 at half of its "
        f"dense peak the same work takes {_A100.value / year:.1f} years. The FLOP belong to the model and its tokens; "
        "the years belong to a device and to the share of its peak that a program reaches.",
        (_V100, _A100),
        _BROWN,
    ),
    Correction(
        "1.8",
        "Communication is not Amdahl's serial part",
        "The speed-up follows Amdahl's law, with the measured share of communication as the serial part.",
        "A single rank does not communicate, so this time is no part of the work that one rank had. If every rank has "
        "the same work, the speed-up is n times compute / (compute + communication). Eight ranks that spend "
        f"{_SHARES[0]} or {_SHARES[1]} percent of a step communicating reach {8 * _SCALED[0].value:.1f} or "
        f"{8 * _SCALED[1].value:.1f}, where Amdahl's law predicts {_AMDAHLS[0].value:.2f} or {_AMDAHLS[1].value:.2f}.",
        (*_SCALED, *_AMDAHLS),
        _AMDAHL,
    ),
    Correction(
        "1.15",
        "A utilization is good or bad only beside a like one",
        "An MFU of 40 percent is good and 60 percent is excellent, on any device.",
        "What a run reaches depends on the device, the model and the number of devices. Training a trillion parameters "
        f"on 512 A100s reached {_FULL.value / _MEASURED:.0%}: the step took {_MEASURED} s, and at the full peak it "
        f"would take {_FULL.value:.1f} s. Training 405 billion on up to 16,384 H100s reached {_H100[0]} to {_H100[1]}: "
        "no one scale judges both.",
        (_FULL,),
        _MFU,
    ),
    Correction(
        "1.14",
        "Whether attention can be ignored depends on the context",
        "A token costs 6 N FLOP; attention adds too little to count.",
        "The matrices of a layer cost 24 d² forward, attention over s tokens 4 s d, or half as much if only the causal "
        "half is computed. It can be ignored while s is far below 6 d: at d = 12,288 and s = 2,048 it adds "
        f"{_SHORT.value:.1%}, at d = 16,384 and s = 131,072 it adds {_LONG.value:.0%}.",
        (_SHORT, _LONG),
        _PALM,
    ),
)
