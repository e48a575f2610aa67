"""Section 6.6, What it costs: its questions."""

from __future__ import annotations

from autograder.bank.ch06.quantities import LAYERS, step_bytes
from autograder.items import Estimate, Landmark, Part, Question, Slip, lazily
from rankzero.facts.hardware import IB_NDR, NVLINK4
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, ms

activations = lazily("solutions.ch06.activations")

TOKENS, RANKS = 4096, 8


def step_traffic() -> float:
    """GB that a rank sends for all layers of the 70B model in one step."""
    layer = activations.tensor_parallel_traffic(TOKENS, 1, LLAMA3_70B.hidden, RANKS)
    return LLAMA3_70B.layers * layer / GB


#: Compute of a step in 06-overhead, seconds.
COMPUTE = 300 * ms


def overhead(bandwidth: float) -> float:
    """Communication over compute, in percent."""
    return 100 * step_bytes() / bandwidth / COMPUTE


QUESTIONS = (
    Estimate(
        id="06-step-traffic",
        title="What one GPU of eight sends in a step",
        section="6.6",
        label="sent by one GPU for all 80 layers, forward and backward",
        unit="GB",
        answer=step_traffic,
        factor=1.5,
        scale=(1e-2, 1e4),
        landmarks=(
            Landmark(0.067, "67 MB", "one activation tensor"),
            Landmark(17.6, "17.6 GB", "the GPU's share of the weights"),
            Landmark(1e3, "1 TB", "twenty seconds over one network port"),
        ),
        slips=(
            Slip(
                "That is the forward pass alone: the backward pass sends as much.",
                value=lambda: step_traffic() / 2,
            ),
            Slip(
                "That divides the activations among the ranks. Each rank has the whole tensor, and so each all-reduce "
                "moves the whole tensor.",
                value=lambda: step_traffic() / RANKS,
            ),
            Slip("That is one layer: there are 80.", value=lambda: step_traffic() / LLAMA3_70B.layers),
            Slip("That counts 4 bytes per number: bf16 takes 2.", value=lambda: 2 * step_traffic()),
        ),
        derivation=(
            "One activation tensor has 4,096 times 8,192 numbers, 67 MB in bf16. A ring all-reduce sends nearly twice "
            "that, 117 MB. A layer takes four all-reduces, two forward and two backward, and there are 80 layers: 320 "
            "times 117 MB. That is about twice the GPU's share of the weights, in every step, for a single sequence."
        ),
    ),
    Question(
        id="06-overhead",
        kind="derive",
        title="Communication beside 300 ms of computation",
        section="6.6",
        parts=(
            Part(
                "inside a node, over NVLink",
                "%",
                lambda: overhead(NVLINK4.bandwidth),
                slips=(
                    Slip(
                        "That is half: the backward pass sends too, and the link has 450 GB/s in one direction.",
                        value=lambda: overhead(NVLINK4.bandwidth) / 2,
                    ),
                    Slip(
                        "That counts 0.09 ms for an all-reduce, but 117 MB at 450 GB/s take 0.26 ms.",
                        value=100 * 4 * LAYERS * 0.09 * ms / COMPUTE,
                    ),
                ),
            ),
            Part(
                "each in another node, over InfiniBand",
                "%",
                lambda: overhead(IB_NDR.bandwidth),
                slips=(
                    Slip(
                        "That is half: the backward pass sends too, and the port has 50 GB/s in one direction.",
                        value=lambda: overhead(IB_NDR.bandwidth) / 2,
                    ),
                ),
            ),
        ),
        derivation="In a step each GPU sends 80 times 4 all-reduces of 117 MB, or 37.6 GB, as the run above printed. "
        "Divide by 450 and by 50 GB/s, and both times by 300 ms. Nothing is hidden behind computation here, so each "
        "all-reduce makes the step longer.",
    ),
)
