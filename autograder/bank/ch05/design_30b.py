"""Section 5.6: the design ``05-design-30b``."""

from __future__ import annotations

from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.units import GB, TFLOP, billion

zero = lazily("solutions.ch05.zero")

PARAMETERS, SEQUENCES, TOKENS = 30 * billion, 1024, 4096
MEMORY, ACTIVATIONS, BANDWIDTH, SPEED = 80 * GB, 5 * GB, 50 * GB, 400 * TFLOP


def step_of_30b(stage: int, ranks: int, micro_batch: int) -> Simulated:
    """One optimizer step: 6 FLOP per parameter and token, then the traffic, with nothing hidden behind the other."""
    micro_steps = max(SEQUENCES // (ranks * micro_batch), 1)
    states, activations = zero.zero_memory(PARAMETERS, stage, ranks), micro_batch * ACTIVATIONS
    compute = 6 * PARAMETERS * TOKENS * SEQUENCES / (ranks * SPEED)
    sending = zero.zero_traffic(PARAMETERS, stage, ranks, micro_steps=micro_steps) / BANDWIDTH
    seconds = compute + sending
    gpu_hours = seconds * ranks / 3600
    memory = states + activations
    told = (
        f"Model states {states / GB:.3g} GB and activations {activations / GB:.3g} GB; a step takes {compute:.3g} s of "
        f"work and {sending:.3g} s of sending, together {gpu_hours:.3g} GPU-hours."
    )
    broken = ""
    if ranks * micro_batch > SEQUENCES:
        broken = f"But {ranks} GPUs with {micro_batch} sequences each are more than the batch of {SEQUENCES:,}."
    elif memory > MEMORY:
        larger = "model states" if states > activations else "activations"
        broken = f"That is {memory / GB:.3g} GB on a GPU of {MEMORY / GB:.3g} GB; most of it for the {larger}."
    return Simulated(told, (seconds, gpu_hours), broken)


QUESTIONS = (
    Design(
        id="05-design-30b",
        title="Lay out a training run of 30 billion parameters",
        section="5.6",
        knobs=(
            Knob("stage", "ZeRO stage (`stage`)", (0, 1, 2, 3)),
            Knob("ranks", "GPUs (`ranks`)", (16, 32, 64, 128, 256)),
            Knob("micro_batch", "sequences in a micro-batch (`micro_batch`)", (1, 2, 4, 8)),
        ),
        axes=(Axis("time of a step", "s"), Axis("cost of a step", "GPU-hours")),
        simulate=step_of_30b,
        derivation=(
            "Stages 0 and 1 keep at least 4 bytes per parameter on each GPU, 120 GB: too much, whatever the number of "
            "GPUs. Stage 2 keeps 60 GB of weights: on 16 GPUs it does not fit, and on more it leaves room for "
            "micro-batches of one or two sequences. Stage 3 slices all of it."
            "\n\n"
            "Work is the same for every design, so the cost differs by the sending alone. Stage 3 sends about three "
            "times the weights in *each* micro-step, so a large micro-batch, which needs few micro-steps, is cheap. "
            "More GPUs make the step faster at almost the same price. Speed has a price only when the GPUs are so many "
            "that the micro-batch must shrink."
        ),
    ),
)
