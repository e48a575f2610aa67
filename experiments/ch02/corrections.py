"""Chapter 2: claims about messages that are often printed wrong. Standard library only."""

from __future__ import annotations

from random import Random

from rankzero.units import GB, MB, format_time, ms, us
from solutions.ch02.alpha_beta import message_time, relay_time
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step

from ..correction import Correction

_TORCH = "torch.distributed documentation, point-to-point communication"
_MPI = "MPI standard, communication modes"
_NCCL = "NCCL documentation, point-to-point communication"
_HOCKNEY = "Hockney (1994), doi:10.1016/S0167-8191(06)80021-9"
_SANDERS = "Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001"
_GPIPE = "Huang et al. (2019), GPipe, arXiv:1811.06965"
_RANDOM = "PyTorch documentation, reproducibility"


def _chain(start: float, increment: float, ranks: int, last_adds: bool) -> float:
    """What the last rank of a chain holds: those between the ends add, and the last one perhaps."""
    return start + increment * (ranks - 2 + last_adds)


def _messages() -> tuple[Correction, ...]:
    """What a message is, and when it is over."""
    both_send = [[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]]
    rounds, blocked = simulate(both_send)
    eager_rounds, eager_blocked = simulate(both_send, eager=True)
    alone = message_time(64 * MB, 50 * GB, 5 * us)
    hidden = min(1 * ms, alone)
    return (
        Correction(
            "02",
            "After W-1 additions of 10 the last rank of a chain holds 42 + 10 (W-1).",
            "Only if the last rank adds as well. If the ranks between the ends alone add, it is 42 + 10 (W-2). Say who "
            "adds.",
            f"On 4 ranks the first gives {_chain(42, 10, 4, True)}, the second {_chain(42, 10, 4, False)}; a program "
            "that prints one of them is not wrong because a text expected the other.",
            _TORCH,
        ),
        Correction(
            "02",
            "Two ranks that send to each other first wait for ever.",
            "It depends on the transport. Gloo waits until the time-out of the process group (30 minutes unless you "
            "set another), MPI may buffer small messages, and with NCCL the call returns and the stream waits.",
            f"Without buffers {rounds} rounds are done and {len(blocked)} ranks are blocked; with buffers "
            f"{eager_rounds} rounds, and {len(eager_blocked)} are blocked.",
            f"{_MPI}; {_NCCL}",
        ),
        Correction(
            "02",
            "isend copies the buffer, so it may be used again at once.",
            "Not before wait(): until then the buffer belongs to the transport.",
            "The bytes are read when the receiver is ready. Ones that were overwritten with zeros before the wait "
            "arrived as zeros, all of them.",
            _TORCH,
        ),
        Correction(
            "02",
            "Non-blocking calls are faster.",
            "Only work between the post and the wait is hidden; a post with the wait right behind it is a blocking "
            "call.",
            f"A message of {format_time(alone)} takes {format_time(alone)} either way; {format_time(1 * ms)} of work "
            f"between post and wait hides {format_time(hidden)} of it.",
            _HOCKNEY,
        ),
    )


def _relays() -> tuple[Correction, ...]:
    """What overlaps in a chain of stages."""
    hops, chunks, size = 3, 8, 64 * MB
    middle = [[("recv", rank - 1), ("send", rank + 1)] * chunks for rank in range(1, hops)]
    rounds, _ = simulate([[("send", 1)] * chunks, *middle, [("recv", hops - 1)] * chunks])
    blocking = rounds * message_time(size / chunks, 50 * GB, 5 * us)
    overlapped = relay_time(size, hops, chunks, 50 * GB, 5 * us)
    seeded = [Random(seed) for seed in (1, 2)]
    means = [sum(one.gauss(0, 1) for _ in range(1000)) / 1000 for one in seeded]
    return (
        Correction(
            "02",
            "While stage 2 handles chunk 0, stage 1 handles chunk 1 and stage 0 chunk 2, in a loop of blocking "
            "receive, compute and send.",
            "Not on a transport that waits for the receiver: a middle stage takes a new chunk every other round, so it "
            "is h + 2(k-1) rounds for h hops and k chunks. The overlap needs a receive that is posted ahead.",
            f"{hops} hops and {chunks} chunks take {rounds} rounds and not {hops + chunks - 1}: "
            f"{format_time(blocking)} against {format_time(overlapped)} for 64 MB over 50 GB/s with 5 us.",
            _SANDERS,
        ),
        Correction(
            "02",
            "A pipeline of blocking calls prints the same means in each run.",
            "Only with a seed. What repeats without one is who waits for whom: show the picture of the run, not means "
            "of random numbers.",
            f"1,000 standard normal numbers have the mean {means[0]:.3g} with one seed and {means[1]:.3g} with "
            "another.",
            _RANDOM,
        ),
    )


def _stages() -> tuple[Correction, ...]:
    """What a cut model costs."""
    layers, stages, layer_time, transfer = 12, 3, 10 * ms, 5 * ms
    forward = naive_step(layers, stages, layer_time, transfer, 0.0)[0] - (stages - 1) * transfer  # no gradients back
    usual, busy = naive_step(layers, stages, layer_time, transfer)
    equal, busy_equal = naive_step(layers, stages, layer_time, transfer, 1.0)
    free = {count: naive_step(48, count, layer_time, 0.0)[1] for count in (4, 8)}
    return (
        Correction(
            "02",
            "12 layers of 10 ms on 3 devices with 5 ms for a transfer: the forward pass takes 50 ms, and 40 % of the "
            "devices are busy.",
            f"The forward pass takes {format_time(forward)}. With a backward pass of twice the forward one the step "
            f"takes {format_time(usual)}, and the devices are busy for {100 * busy:.1f} % of it.",
            f"50 ms counts the layers of one device. With a backward pass as fast as the forward one it is "
            f"{format_time(equal)} and {100 * busy_equal:.1f} %.",
            _GPIPE,
        ),
        Correction(
            "02",
            "Devices that wait in naive model parallelism are a pipeline bubble.",
            "A bubble belongs to a pipeline of several micro-batches. With one batch in flight 1 - 1/P of the devices "
            "are idle at best, whatever the size of the batch.",
            f"With free transfers a device works {100 * free[4]:.1f} % of the time on 4 stages and {100 * free[8]:.1f} "
            "% on 8.",
            _GPIPE,
        ),
    )


def _in_order() -> tuple[Correction, ...]:
    """As the page prints them."""
    chain, sends, copies, faster = _messages()
    blocking, means = _relays()
    return (chain, sends, copies, *_stages(), faster, blocking, means)


CORRECTIONS: tuple[Correction, ...] = _in_order()
