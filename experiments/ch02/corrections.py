"""Chapter 2: statements about messages that hold on one condition. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import GB, MB, format_time, ms, us
from solutions.ch02.alpha_beta import message_time, relay_time
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step

from ..correction import Correction, worked

_MPI = "MPI standard, communication modes"
_NCCL = (
    "NVIDIA, NCCL 2.29.3, [point-to-point communication](https://docs.nvidia.com/deeplearning/nccl/archives/nccl_2293/"
    "user-guide/docs/usage/p2p.html)"
)
_TORCH = "[torch.distributed](https://docs.pytorch.org/docs/2.13/distributed.html), point-to-point communication"
_SANDERS = "Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001"
_GPIPE = "Huang et al. (2019), GPipe, arXiv:1811.06965"

_BOTH_SEND = [[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]]
_BARE, _BUFFERED = worked(simulate, _BOTH_SEND), worked(simulate, _BOTH_SEND, eager=True)

_MESSAGE, _WORK = worked(message_time, 64 * MB, 50 * GB, 5 * us), 1 * ms

#: A relay of 64 MB in chunks.
_HOPS, _CHUNKS = 3, 8


def blocking_rounds(hops: int, chunks: int) -> int:
    """Rounds of a relay whose stages use blocking calls on a transport that waits for the receiver."""
    middle = [[("recv", rank - 1), ("send", rank + 1)] * chunks for rank in range(1, hops)]
    return simulate([[("send", 1)] * chunks, *middle, [("recv", hops - 1)] * chunks])[0]


_ROUNDS = worked(blocking_rounds, _HOPS, _CHUNKS)
_CHUNK = worked(message_time, 64 * MB / _CHUNKS, 50 * GB, 5 * us)
_POSTED = worked(relay_time, 64 * MB, _HOPS, _CHUNKS, 50 * GB, 5 * us)

_BUSY = {stages: worked(naive_step, 48, stages, 10 * ms, 0.0, pick=1) for stages in (4, 8)}

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "2.3",
        "Whether two sends block depends on the transport",
        "Two ranks that both send to each other first wait forever.",
        "Gloo waits, until the process group's timeout (30 minutes by default); MPI and NCCL may buffer small "
        f"messages and go on. Without buffers {_BARE.value[0]} rounds complete and {len(_BARE.value[1])} ranks are "
        f"blocked; with buffers {_BUFFERED.value[0]} rounds complete and {len(_BUFFERED.value[1])} ranks are blocked. "
        "A program that relies on the buffer works until its messages grow or its backend changes.",
        (_BARE, _BUFFERED),
        f"{_MPI}; {_NCCL}",
    ),
    Correction(
        "2.5",
        "Non-blocking calls hide work; they do not speed up a message",
        "Non-blocking calls are faster.",
        "Only what is done between the post and the wait is hidden; a post that is followed by its wait is a blocking "
        f"call. A message of {format_time(_MESSAGE.value)} takes {format_time(_MESSAGE.value)} either way, but "
        f"{format_time(_WORK)} of work between post and wait hides {format_time(min(_WORK, _MESSAGE.value))} of it.",
        (_MESSAGE,),
        _TORCH,
    ),
    Correction(
        "2.7",
        "A pipeline of blocking calls overlaps less than its drawing",
        "In a loop of receive, compute and send, all stages work on successive chunks at once.",
        "With blocking calls on a transport that waits for the receiver, a middle stage accepts a chunk only every "
        "other round: h hops, two or more, and k chunks take h + 2(k-1) rounds, not h + k - 1. For "
        f"{_HOPS} hops and {_CHUNKS} chunks that is {_ROUNDS.value} rounds, not {_HOPS + _CHUNKS - 1}: 64 MB over "
        f"50 GB/s with 5 µs take {format_time(_ROUNDS.value * _CHUNK.value)} in place of "
        f"{format_time(_POSTED.value)}. The overlap needs a receive that is posted ahead of time.",
        (_ROUNDS, _CHUNK, _POSTED),
        _SANDERS,
    ),
    Correction(
        "2.8",
        "One batch in flight has no bubble to shrink",
        "The idle time of a model that is cut in stages is a pipeline bubble, so a larger batch reduces it.",
        "A bubble belongs to a pipeline of several micro-batches, and more of them shrink it. With one batch in flight "
        "the stages work on average 1/p of the time at most, whatever the size of the batch: with free transfers "
        f"{_BUSY[4].value:.1%} on 4 stages and {_BUSY[8].value:.1%} on 8.",
        tuple(_BUSY.values()),
        _GPIPE,
    ),
)
