"""Wrong programs for ``zero_traffic``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def gather_forgotten(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * (micro_steps if stage == 2 else 1) * gradient_bytes * params
    return f * micro_steps * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def states_gathered(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * ((micro_steps if stage == 2 else 1) * gradient_bytes + 12.0) * params
    return f * micro_steps * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def gathers_as_all_reduces(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * ((micro_steps if stage == 2 else 1) * gradient_bytes + weight_bytes) * params
    return f * micro_steps * (2 * weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def whole_tensors(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    if stage == 0:
        return 2 * gradient_bytes * params
    if stage < 3:
        return ((micro_steps if stage == 2 else 1) * gradient_bytes + weight_bytes) * params
    return micro_steps * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def one_reduction(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * (gradient_bytes + weight_bytes) * params
    return f * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def every_micro_step(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks * micro_steps
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * (gradient_bytes + weight_bytes) * params
    return f * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


def always_resharded(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if stage not in (0, 1, 2, 3) or stage is True or ranks < 1 or micro_steps < 1 or micro_steps % 1:
        raise ValueError("out of range")
    if not (params >= 0 and weight_bytes >= 0 and gradient_bytes >= 0):
        raise ValueError("out of range")
    f = (ranks - 1) / ranks
    if stage == 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * ((micro_steps if stage == 2 else 1) * gradient_bytes + weight_bytes) * params
    return f * micro_steps * (2 * weight_bytes + gradient_bytes) * params


def unchecked(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, micro_steps=1, reshard=True):
    if not ranks:
        return 0.0
    f = (ranks - 1) / ranks
    if stage <= 0:
        return 2 * f * gradient_bytes * params
    if stage < 3:
        return f * ((micro_steps if stage == 2 else 1) * gradient_bytes + weight_bytes) * params
    return f * micro_steps * (weight_bytes * (2 if reshard else 1) + gradient_bytes) * params


ZERO_TRAFFIC = (
    Slip(
        "Stages 1 and 2 scatter the reduced gradients; then each rank's updated weights must be gathered.",
        gather_forgotten,
    ),
    Slip("Optimizer states never travel: it is the updated weights that are gathered.", states_gathered),
    Slip(
        "A gather is half of an all-reduce: stage 3 sends two gathers of weights and one reduce-scatter.",
        gathers_as_all_reduces,
    ),
    Slip("A rank's own slice does not travel: each collective moves (N-1)/N of the tensor.", whole_tensors),
    Slip(
        "Stages 2 and 3 keep a slice of the gradients, so they reduce in every micro-step; yours reduces once.",
        one_reduction,
    ),
    Slip(
        "Stages 0 and 1 accumulate whole gradients and reduce once; yours communicates in every micro-step.",
        every_micro_step,
    ),
    Slip("Without resharding the weights stay gathered: one gather in a micro-step, not two.", always_resharded),
    Slip("Impossible arguments were accepted: stage 4, no ranks, no micro-step, negative sizes.", unchecked),
)
