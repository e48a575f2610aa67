"""Section 10.19, Measure a device: its question."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import ms

measured = lazily("rankzero.facts.measured")


def _called() -> float:
    """Milliseconds after which the host had asked for all hundred products of the largest size."""
    return float(measured.chains()[-1].eager_issue / ms)


QUESTIONS = (
    Estimate(
        id="10-no-wait",
        title="A benchmark that does not wait",
        section="10.19",
        bonus=True,
        label="printed for a hundred products of 4,096 rows, without a wait",
        unit="ms",
        answer=_called,
        factor=2.0,
        scale=(1e-3, 1e3),
        landmarks=(
            Landmark(0.012, "12 µs", "one launch from PyTorch on this machine"),
            Landmark(0.2, "0.2 ms", "one of these products"),
            Landmark(20.1, "20 ms", "all hundred of them"),
        ),
        slips=(
            Slip(
                "That is what the device takes. Without a wait nobody looks when it is done.",
                value=lambda: measured.chains()[-1].eager / ms,
            ),
            Slip("That is a single launch. The clock is read after a hundred of them.", value=0.012),
            Slip("That is one product on the device. The clock sees the calls.", value=0.2),
        ),
        derivation=(
            "The clock is read when the hundredth call has returned. A call returns when the kernel has been handed "
            "over, so the program sees a hundred launches of about 12 µs."
        ),
    ),
)
