"""A 70B model and its RLHF job on one node of eight H100: what a copy costs, and what each cut moves in a step.

Standard library only.

>>> round(crossing() / 1000)
40
"""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B
from solutions.ch09.kv_cache import kv_bytes_per_token
from solutions.ch13.rlhf_memory import rlhf_bytes

GPUS, MODEL = 8, LLAMA3_70B
#: Responses that are written side by side, and the tokens that each has behind it on average.
RESPONSES, CONTEXT = 128, 1000


#: Parameters of a critic and a reward model that are smaller than the policy.
SMALL = 8e9


def job_bytes() -> float:
    """PPO with four models of this size: states, bytes."""
    return rlhf_bytes("ppo", MODEL.parameters)["total"]


def host_bytes() -> float:
    """Optimizer states of the policy and of a small critic, bytes."""
    return 12 * (MODEL.parameters + SMALL)


def fitted_bytes() -> float:
    """What is left on the GPUs of a job with a small critic and reward model, its optimizer states in the host."""
    return rlhf_bytes("ppo", MODEL.parameters, SMALL, SMALL)["total"] - host_bytes()


def copy_bytes(tp: int) -> float:
    """Weights of one copy of the policy on each of the ``tp`` GPUs that hold it, in bf16, bytes."""
    return 2 * MODEL.parameters / tp


def token_time(tp: int) -> float:
    """Seconds for one token of every response, if each copy has its share and memory is all that counts.

    Args:
        tp: GPUs of one copy; a divisor of 8. There are ``8 / tp`` copies.
    """
    caches = RESPONSES * tp / GPUS * CONTEXT * kv_bytes_per_token(MODEL.layers, MODEL.kv_heads, MODEL.head_dim)
    return (2 * MODEL.parameters + caches) / tp / H100_SXM.memory_bandwidth


def sharded_bytes() -> float:
    """What ZeRO-3 over the node sends from each GPU in a step: weights twice, gradients once, in bf16, bytes."""
    return 3 * (GPUS - 1) / GPUS * 2 * MODEL.parameters


def tensor_bytes(tokens: float) -> float:
    """What tensor parallelism over the node sends from each GPU: four all-reduces of the activations a layer, bytes.

    Args:
        tokens: of the step, over the whole node.
    """
    return 4 * 2 * (GPUS - 1) / GPUS * MODEL.layers * tokens * MODEL.hidden * 2


def crossing() -> float:
    """Tokens of a step at which both send the same."""
    return sharded_bytes() / tensor_bytes(1)
