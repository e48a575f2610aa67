"""The capstone: what its questions share."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import Part, Slip
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_405B, Model
from rankzero.facts.units import day, hour

Value = float | Callable[[], float]

#: What all questions assume: FLOP/s of an H100, bytes/s of its network port and of its NVLink, one direction.
PEAK, NETWORK, NVLINK = H100_SXM.peak_bf16, 50e9, H100_SXM.nvlink.bandwidth

#: The run of Llama 3.1 405B: tokens, GPUs, seconds between its unexpected interruptions.
TOKENS, GPUS, MTBF = 15.6e12, 16_384, 54 * day / 419

#: The smaller job of the checkpoint questions: stall, MTBF and restart, seconds.
STALL, DAY_MTBF, RESTART = 98.0, 24 * hour, 120.0


def part(
    label: str, unit: str, answer: Callable[[], float], *slips: tuple[str, Value], tolerance: float = 0.01
) -> Part:
    """A part whose slips are pairs of sentence and value."""
    return Part(label, unit, answer, tolerance, tuple(Slip(sentence, value=value) for sentence, value in slips))


def layer_parameters(model: Model = LLAMA3_405B) -> int:
    """Parameters of one layer, norms included."""
    return model.attention_parameters + 3 * model.hidden * model.ffn + 2 * model.hidden


def matrix_parameters(model: Model = LLAMA3_405B) -> int:
    """Parameters that 6N counts: with the head, without the look-up in the embedding and the weights of norms."""
    return model.parameters - model.vocab * model.hidden - (2 * model.layers + 1) * model.hidden
