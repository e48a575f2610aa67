"""Wrong programs for ``zero_memory``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def no_master_copy(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=8.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1))


def master_kept_whole(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    master = min(4.0, optimizer_bytes)
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return params * (weights + gradients + master + (optimizer_bytes - master) / (ranks if stage >= 1 else 1))


def one_thing_a_stage(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage == 3 else 1)
    gradients = gradient_bytes / (ranks if stage == 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage == 1 else 1))


def gradients_at_two_alone(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage == 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1))


def all_sliced_at_once(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    return params * (weight_bytes + gradient_bytes + optimizer_bytes) / (ranks if stage >= 1 else 1)


def gradients_gone(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = 0.0 if stage >= 2 else gradient_bytes
    return params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1))


def share_saved(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    kept = 1 - 1 / ranks
    weights = weight_bytes * (kept if stage >= 3 else 1)
    gradients = gradient_bytes * (kept if stage >= 2 else 1)
    return params * (weights + gradients + optimizer_bytes * (kept if stage >= 1 else 1))


def one_stage_late(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage > 3 else 1)
    gradients = gradient_bytes / (ranks if stage > 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage > 1 else 1))


def one_stage_early(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 2 else 1)
    gradients = gradient_bytes / (ranks if stage >= 1 else 1)
    return params * (weights + gradients + optimizer_bytes / ranks)


def gigabytes(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1)) / 1e9


def gibibytes(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1)) / 2**30


def floor_division(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    if stage not in (0, 1, 2, 3) or ranks < 1 or min(params, weight_bytes, gradient_bytes, optimizer_bytes) < 0:
        raise ValueError("out of range")
    weights = params * weight_bytes // (ranks if stage >= 3 else 1)
    gradients = params * gradient_bytes // (ranks if stage >= 2 else 1)
    return weights + gradients + params * optimizer_bytes // (ranks if stage >= 1 else 1)


ZERO_MEMORY = (
    Slip(
        "You left out the 4-byte master copy: Adam in mixed precision keeps 12 bytes a parameter, not 8.",
        no_master_copy,
    ),
    Slip("Stage 1 slices the fp32 master copy too: it is part of the optimizer states.", master_kept_whole),
    Slip("Stages add up: `stage >= 1`, not `stage == 1`. Your stage 3 keeps a full optimizer.", one_thing_a_stage),
    Slip("Stages add up: stage 3 slices the gradients too. Yours keeps them whole there.", gradients_at_two_alone),
    Slip("Everything is divided at every stage: that is stage 3.", all_sliced_at_once),
    Slip("Gradients are sharded from stage 2 on, not gone: a rank keeps its slice.", gradients_gone),
    Slip("A rank keeps 1/N of what is sliced; (N-1)/N is what it saves.", share_saved),
    Slip("The stages are shifted by one: stage 1 already slices the optimizer states.", one_stage_late),
    Slip("The stages are shifted by one: stage 0 slices nothing, stage 1 only the optimizer states.", one_stage_early),
    Slip("The result is in bytes; you return GB.", gigabytes),
    Slip("The result is in bytes; you return GiB.", gibibytes),
    Slip(
        "Slices are real quotients: floor division drops the part of a byte that does not divide evenly.",
        floor_division,
    ),
)
