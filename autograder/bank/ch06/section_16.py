"""Section 6.16, Bytes and seconds, counted: its questions."""

from __future__ import annotations

from autograder.bank.ch06.quantities import HIDDEN, LAYERS, RANKS, SEQUENCE, layer_bytes, step_bytes
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.hardware import H100_SXM, IB_NDR, NVLINK3, NVLINK4
from rankzero.facts.units import GB, MB, ms

activations = lazily("solutions.ch06.activations")

#: bf16 bytes of one activation tensor of the 70B shape.
TENSOR = 2 * SEQUENCE * HIDDEN


def all_reduce_bytes() -> float:
    """What a rank sends in one all-reduce: two of them are the forward pass of a layer."""
    return layer_bytes(backward=False) / 2


def ratio(batch: int, hidden: int) -> float:
    """Communication over compute of one layer on an H100 at half of its peak."""
    sent = activations.tensor_parallel_traffic(SEQUENCE, batch, hidden, RANKS)
    compute = 72 * batch * SEQUENCE * hidden**2 / (RANKS * H100_SXM.peak_bf16 / 2)
    return sent / NVLINK4.bandwidth / compute


QUESTIONS = (
    Question(
        id="06-count",
        kind="derive",
        title="Collectives of a layer",
        section="6.16",
        bonus=True,
        parts=(
            Part(
                "collectives of a step",
                "",
                lambda: layer_bytes() / all_reduce_bytes(),
                tolerance=1e-9,
                slips=(
                    Slip(
                        "That is one for each matrix product: the output of a column-parallel layer needs none.",
                        value=8,
                    ),
                    Slip("That is the forward pass only: the backward pass has as many.", value=2),
                ),
            ),
            Part(
                "of them forward",
                "",
                lambda: layer_bytes(backward=False) / all_reduce_bytes(),
                tolerance=1e-9,
                slips=(
                    Slip("That counts two for an MLP, but the slice goes straight into the second layer.", value=4),
                    Slip("Attention and MLP have one each.", value=1),
                ),
            ),
            Part(
                "width of each of 12 heads",
                "",
                lambda: 4096 / 12,
                tolerance=1e-4,
                slips=(
                    Slip("Rounded, 12 such heads do not fill the layer: it cannot have 12 heads.", value=341),
                    Slip("That is the width of each of 32 heads.", value=4096 / 32),
                ),
            ),
        ),
        derivation="Each half of a layer is a column-parallel layer and a row-parallel one: $g$ all-reduces its output "
        "forward, $f$ the gradient of its input backward. Neither depends on $t$. A head has $h/a$ features, which is "
        "a whole number for $a = 32$. For $a = 12$ and $h = 4096$ it is not, so no such layer exists.",
    ),
    Question(
        id="06-bytes",
        kind="derive",
        title="Bytes of a 70B step",
        section="6.16",
        bonus=True,
        parts=(
            Part(
                "one all-reduce",
                "MB",
                lambda: all_reduce_bytes() / MB,
                slips=(
                    Slip("That is one of the two phases.", value=lambda: all_reduce_bytes() / 2 / MB),
                    Slip("That is the tensor: an all-reduce sends 2 (t-1)/t of it.", value=TENSOR / MB),
                ),
            ),
            Part(
                "forward pass",
                "GB",
                lambda: step_bytes(backward=False) / GB,
                slips=(
                    Slip(
                        "That is half: a layer has two all-reduces forward, and each of them has two phases.",
                        value=lambda: LAYERS * all_reduce_bytes() / GB,
                    ),
                    Slip(
                        "The tensor is not divided by the ranks.", value=lambda: step_bytes(backward=False) / RANKS / GB
                    ),
                ),
            ),
            Part(
                "whole step",
                "GB",
                lambda: step_bytes() / GB,
                slips=(
                    Slip("That is the forward pass only.", value=lambda: step_bytes(backward=False) / GB),
                    Slip(
                        "The backward pass sends as much as the forward pass, not twice as much.",
                        value=lambda: 1.5 * step_bytes() / GB,
                    ),
                ),
            ),
        ),
        derivation="One activation tensor is $M = 2 s b h$ bytes in bf16, with $s = 4096$, $b = 1$ and $h = 8192$. A "
        "ring all-reduce sends $2\\,\\frac{t-1}{t} M$ from each of $t = 8$ ranks; a layer has two forward and two "
        "backward, and there are 80 layers.",
    ),
    Question(
        id="06-links",
        kind="derive",
        title="One all-reduce on three links",
        section="6.16",
        bonus=True,
        parts=(
            Part(
                "NVLink 4",
                "ms",
                lambda: all_reduce_bytes() / NVLINK4.bandwidth / ms,
                slips=(
                    Slip("That adds both directions.", value=lambda: all_reduce_bytes() / (2 * NVLINK4.bandwidth) / ms),
                    Slip("That is the tensor's own size over the link.", value=TENSOR / NVLINK4.bandwidth / ms),
                ),
            ),
            Part(
                "NVLink 3",
                "ms",
                lambda: all_reduce_bytes() / NVLINK3.bandwidth / ms,
                slips=(
                    Slip("That adds both directions.", value=lambda: all_reduce_bytes() / (2 * NVLINK3.bandwidth) / ms),
                ),
            ),
            Part(
                "one NDR port",
                "ms",
                lambda: all_reduce_bytes() / IB_NDR.bandwidth / ms,
                slips=(
                    Slip(
                        "That is the bandwidth of a node's eight ports.",
                        value=lambda: all_reduce_bytes() / (8 * IB_NDR.bandwidth) / ms,
                    ),
                ),
            ),
            Part(
                "NVLink 4 : NDR",
                "x",
                lambda: NVLINK4.bandwidth / IB_NDR.bandwidth,
                slips=(
                    Slip("That compares both directions with one.", value=2 * NVLINK4.bandwidth / IB_NDR.bandwidth),
                    Slip(
                        "That compares both directions of NVLink 3 with a node's eight ports.",
                        value=2 * NVLINK3.bandwidth / (8 * IB_NDR.bandwidth),
                    ),
                ),
            ),
        ),
        derivation="$2\\,\\frac{t-1}{t} M / B$ with $t = 8$, $M = 2 s b h$, $s = 4096$, $b = 1$, $h = 8192$, and $B$ "
        "of one direction: 450 GB/s for NVLink 4, 300 GB/s for NVLink 3, 50 GB/s for one NDR port.",
    ),
    Question(
        id="06-ratio",
        kind="derive",
        title="Communication over computation",
        section="6.16",
        bonus=True,
        parts=(
            Part(
                "ratio",
                "",
                lambda: ratio(1, HIDDEN),
                slips=(
                    Slip(
                        "That is half: the backward pass sends too, and the link has 450 GB/s in one direction.",
                        value=lambda: ratio(1, HIDDEN) / 2,
                    ),
                    Slip(
                        "That uses the peak: the matrix products reach half of it.", value=lambda: 2 * ratio(1, HIDDEN)
                    ),
                ),
            ),
            Part(
                "with twice the batch",
                "",
                lambda: ratio(2, HIDDEN),
                slips=(
                    Slip(
                        "Bytes double with the batch, but so does the computation.", value=lambda: 2 * ratio(1, HIDDEN)
                    ),
                    Slip(
                        "Computation doubles with the batch, but so do the bytes.", value=lambda: ratio(1, HIDDEN) / 2
                    ),
                ),
            ),
            Part(
                "with h = 16,384",
                "",
                lambda: ratio(1, 2 * HIDDEN),
                slips=(
                    Slip(
                        "Bytes grow with h and computation with its square, so one factor remains.",
                        value=lambda: ratio(1, HIDDEN) / 4,
                    ),
                    Slip("A wider layer computes more for each byte.", value=lambda: 2 * ratio(1, HIDDEN)),
                ),
            ),
        ),
        derivation="$8\\,\\frac{t-1}{t} \\cdot 2 s b h$ bytes over $B = 450$ GB/s, against $72\\, b s h^2$ FLOP on $t "
        "= 8$ GPUs of $F = 494.7$ TFLOP/s:\n\n$$\\frac{2 (t-1) F}{9 h B}$$\n\nwith $h = 8192$. Neither $b$ nor $s$ is "
        "left.",
    ),
    Choice(
        id="06-time-share",
        kind="trace",
        title="Wider, by the clock",
        section="6.16",
        bonus=True,
        options=(
            "it falls to about half each time, as the formula says",
            "it falls faster: the products take four times as long, and the all-reduce less than twice as long",
            "it stays: both tensors and matrices grow with the width",
            "it rises: the messages double, while the products are divided among the ranks",
        ),
        correct=1,
        derivation=(
            "The products grow with the square of the width, $16 s h^2/t$ FLOP for an MLP forward. The message grows "
            "with the width, but a time is $\\alpha + m/B$: as long as the start-up $\\alpha$ is much of it, twice the "
            "bytes take less than twice the time. The formula has no $\\alpha$, so it holds for large messages."
        ),
        slips={
            0: "The formula leaves out the start-ups, and messages this small are mostly start-up.",
            2: "The tensor has s h numbers, a matrix 4 h h: one grows with h, the other with its square.",
            3: "Each rank has 1/t of the products at any width, so this divisor does not change.",
        },
    ),
)
