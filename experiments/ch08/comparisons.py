"""Chapter 8's pass beside measured servers. Standard library only."""

from __future__ import annotations

from rankzero.facts import measured
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.units import us
from solutions.ch08.serving import pass_time

from ..comparison import Compared, Comparison
from . import published


def product(tokens: int) -> float:
    """Seconds of a product with the recorded weights."""
    parameters = measured.decoding_width() ** 2
    return pass_time(tokens, [], parameters, 2 * parameters, 0, H100_SXM.peak_bf16, H100_SXM.memory_bandwidth)


COMPARISONS = (
    Comparison(
        "8.3",
        "Most tokens per second of one user",
        "ch08.serving.pass_time",
        "measured",
        "; ".join(dict.fromkeys(row.source for row in published.DECODING)),
        tuple(
            Compared(f"{row.name}, {row.gpus} {row.gpu.name[:4]}", row.speed, published.bound(row), "tokens/s")
            for row in published.DECODING
        ),
        "Kernel starts and all-reduces are left out, and they do not shrink with more GPUs; the A100s, limited to "
        "330 W, read 1,700 GB/s by the README and not the data sheet's 2,039.",
        "a limit; the more GPUs share a model, the further a program stays below it",
    ),
    Comparison(
        "8.3",
        "Time of a product of a batch with weights from memory",
        "ch08.serving.pass_time",
        "recorded",
        measured.source(),
        tuple(
            Compared(f"{tokens} token{'s' * (tokens > 1)}", seconds / us, product(tokens) / us, "µs")
            for tokens, seconds in measured.decoding()
        ),
        "Neither the memory nor the multipliers reach their data sheet's rates.",
        "up to which batch another token is free; the true times are longer",
    ),
)
