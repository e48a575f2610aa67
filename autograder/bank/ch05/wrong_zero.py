"""Wrong programs for ``zero_memory``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def master_kept_whole(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    master = min(4.0, optimizer_bytes)
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return params * (weights + gradients + master + (optimizer_bytes - master) / (ranks if stage >= 1 else 1))


def share_saved(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    kept = 1 - 1 / ranks
    weights = weight_bytes * (kept if stage >= 3 else 1)
    gradients = gradient_bytes * (kept if stage >= 2 else 1)
    return params * (weights + gradients + optimizer_bytes * (kept if stage >= 1 else 1))


ZERO_MEMORY = (
    Slip(
        "You left out the 4-byte master copy: Adam in mixed precision keeps 12 bytes a parameter, not 8.",
        edit=("optimizer_bytes: float = 12.0", "optimizer_bytes: float = 8.0"),
    ),
    Slip("Stage 1 slices the fp32 master copy too: it is part of the optimizer states.", master_kept_whole),
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
    Slip("A rank keeps 1/N of what is sliced; (N-1)/N is what it saves.", share_saved),
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
            (
                "params * weight_bytes // (ranks if stage >= 3 else 1) + params * gradient_bytes "
                "// (ranks if stage >= 2 else 1) + params * optimizer_bytes // (ranks if stage >= "
                "1 else 1)"
            ),
        ),
    ),
)
