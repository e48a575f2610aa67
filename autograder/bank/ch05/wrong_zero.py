"""Wrong programs for ``zero_memory``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

ZERO_MEMORY = (
    Slip(
        "You left out the 4-byte master copy: Adam in mixed precision keeps 12 bytes a parameter, not 8.",
        edit=("optimizer_bytes: float = 12.0", "optimizer_bytes: float = 8.0"),
    ),
    Slip(
        "Stage 1 slices the fp32 master copy too: it is part of the optimizer states.",
        edit=(
            "optimizer = optimizer_bytes /",
            "master = min(4.0, optimizer_bytes)\n    optimizer = master + (optimizer_bytes - master) /",
        ),
    ),
    Slip(
        "Stages add up: `stage >= 1`, not `stage == 1`. Your stage 3 keeps a full optimizer.",
        edits=(("stage >= 2", "stage == 2"), ("stage >= 1", "stage == 1")),
    ),
    Slip(
        "Stages add up: stage 3 slices the gradients too. Yours keeps them whole there.",
        edit=("stage >= 2", "stage == 2"),
    ),
    Slip(
        "Everything is divided at every stage: that is stage 3.",
        edit=(
            "params * (weights + gradients + optimizer)",
            "params * (weight_bytes + gradient_bytes + optimizer_bytes) / (ranks if stage >= 1 else 1)",
        ),
    ),
    Slip(
        "Gradients are sharded from stage 2 on, not gone: a rank keeps its slice.",
        edit=("weights + gradients", "weights + (0.0 if stage >= 2 else gradient_bytes)"),
    ),
    Slip(
        "A rank keeps 1/N of what is sliced; (N-1)/N is what it saves.",
        edits=(
            ("/ (ranks if stage >= 3", "* (1 - 1 / ranks if stage >= 3"),
            ("/ (ranks if stage >= 2", "* (1 - 1 / ranks if stage >= 2"),
            ("/ (ranks if stage >= 1", "* (1 - 1 / ranks if stage >= 1"),
        ),
    ),
    Slip(
        "The stages are shifted by one: stage 1 already slices the optimizer states.",
        edits=(("stage >= 3", "stage > 3"), ("stage >= 2", "stage > 2"), ("stage >= 1", "stage > 1")),
    ),
    Slip(
        "The stages are shifted by one: stage 0 slices nothing, stage 1 only the optimizer states.",
        edits=(("stage >= 3", "stage >= 2"), ("stage >= 2", "stage >= 1"), ("ranks if stage >= 1 else 1", "ranks")),
    ),
    Slip(
        "The result is in bytes; you return GB.",
        edit=("params * (weights + gradients + optimizer)", "params * (weights + gradients + optimizer) / 1e9"),
    ),
    Slip(
        "The result is in bytes; you return GiB.",
        edit=("params * (weights + gradients + optimizer)", "params * (weights + gradients + optimizer) / 2**30"),
    ),
    Slip(
        "Slices are real quotients: floor division drops the part of a byte that does not divide evenly.",
        edit=(
            "params * (weights + gradients + optimizer)",
            "params * weight_bytes // (ranks if stage >= 3 else 1) + params * gradient_bytes // (ranks if stage "
            ">= 2 else 1) + params * optimizer_bytes // (ranks if stage >= 1 else 1)",
        ),
    ),
)
