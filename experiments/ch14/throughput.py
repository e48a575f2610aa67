"""Answers per second of two ways to run an RLHF job over the batch, and the memory of two pools. Standard library only.

>>> from rankzero.facts.models import LLAMA3_70B
>>> [round(batch / turn_time(LLAMA3_70B, 128, batch), 2) for batch in (16, 256, 2048)]
[0.36, 3.48, 7.06]
>>> seconds, writers = pool_time(LLAMA3_70B, 128, 256)
>>> round(256 / seconds, 2), writers
(4.65, 72)
"""

from __future__ import annotations

import math

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import Model
from rankzero.facts.units import GB
from solutions.ch09.kv_cache import kv_bytes_per_token

#: Bytes of a GPU that may be taken, of 80 GB.
USABLE = 72 * GB
#: Bytes of caches on a GPU that also trains, as the chapter counts.
ROOM = 40 * GB
#: Bytes of the activations of a step of training on one GPU.
WORK = 12 * GB


def writing_time(
    model: Model,
    gpus: int,
    answers: int,
    room: float,
    tokens: int = 8192,
    prompt: int = 100,
    copy_gpus: int = 8,
    longest: float = 1.0,
) -> float:
    """Seconds until a batch is written, decoding as a roofline.

    For each token, a copy reads its weights (or multiplies by them, whichever takes
    longer) and the caches of its answers. No more answers are begun than have room for
    their caches; the others follow as the first ones end. One answer is ``longest``
    times as long as the others, and is written at last with only the weights to be
    read.

    Args:
        model: in bf16.
        gpus: that write, a multiple of ``copy_gpus``.
        answers: of the batch.
        room: bytes for caches on one GPU.
        tokens: of an answer.
        prompt: tokens of a prompt.
        copy_gpus: GPUs that hold one copy of the weights.
        longest: length of the longest answer in units of ``tokens``.
    """
    kv = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim)
    at_once = min(answers, max(1, int(gpus * room / (kv * (prompt + tokens)))))
    each = at_once * copy_gpus / gpus
    bandwidth = copy_gpus * H100_SXM.memory_bandwidth
    weights = 2 * model.parameters / bandwidth
    products = 2 * model.parameters * each / (copy_gpus * H100_SXM.peak_bf16)
    caches = each * (prompt + tokens / 2) * kv / bandwidth
    token = max(weights, products) + caches
    return tokens * (answers / at_once * token + (longest - 1) * weights)


def training_time(model: Model, gpus: int, answers: int, tokens: int = 8192, prompt: int = 100) -> float:
    """Seconds of a step of training: 6N for each token that the actor learns from, 2N for the reference's pass."""
    return 8 * model.parameters * answers * (prompt + tokens) / (gpus * 0.4 * H100_SXM.peak_bf16)


def turn_time(
    model: Model, gpus: int, answers: int, tokens: int = 8192, copy_gpus: int = 8, longest: float = 1.0
) -> float:
    """Seconds from update to update when all GPUs write, then train."""
    writing = writing_time(model, gpus, answers, ROOM, tokens, copy_gpus=copy_gpus, longest=longest)
    return writing + training_time(model, gpus, answers, tokens)


def pool_time(
    model: Model,
    gpus: int,
    answers: int,
    tokens: int = 8192,
    copy_gpus: int = 8,
    longest: float = 1.0,
) -> tuple[float, int]:
    """Seconds from update to update in the best two pools, and how many GPUs write there.

    The pool that trains is large enough for the states. ``longest`` above 1 is waited for, as behind a barrier.

    Raises:
        ValueError: the states fit into no pool that leaves a copy to write with.
    """
    room = USABLE - 2 * model.parameters / copy_gpus
    most = gpus - math.ceil(18 * model.parameters / (USABLE - WORK))
    if most < copy_gpus:
        raise ValueError(f"gpus must hold the states and a copy of {copy_gpus} GPUs, got {gpus}")
    return min(
        (
            max(
                writing_time(model, g, answers, room, tokens, copy_gpus=copy_gpus, longest=longest),
                training_time(model, gpus - g, answers, tokens),
            ),
            g,
        )
        for g in range(copy_gpus, most + 1, copy_gpus)
    )


# Memory


def pool_memory(
    parameters: float,
    train: int,
    write: int,
    copy_gpus: int,
    away: bool = False,
) -> tuple[float, float]:
    """Bytes on a GPU while it trains, and on one while it writes, caches not counted.

    GRPO: the actor has 16 bytes for each parameter, of which 2 are gradients and 12
    optimizer states; a frozen reference has 2. Gradients are freed before writing.

    Args:
        parameters: of each of the two models.
        train: GPUs that share the states.
        write: other GPUs that write; 0: the same ones, in turn.
        copy_gpus: GPUs that hold one copy of the weights to write with.
        away: whether optimizer states wait on the host while the GPUs write.
    """
    training = 18 * parameters / train + WORK
    stays = 0 if write else (4 if away else 16) * parameters / train
    return training, 2 * parameters / copy_gpus + stays


def answers_at_once(model: Model, gpus: int, room: float, tokens: int = 8192, prompt: int = 100) -> int:
    """Answers of full length whose caches fit on so many GPUs with so many bytes free on each."""
    return int(gpus * room / (kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim) * (prompt + tokens)))
