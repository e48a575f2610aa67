"""Chapter 2: wrong claims about messages, and what is right. Standard library only."""

from __future__ import annotations

from random import Random

from rankzero.facts.units import GB, MB, format_time, ms, us
from solutions.ch02.alpha_beta import message_time, relay_time
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step

from ..correction import FUNDAMENTALS, MLSYS, Correction

_TORCH = "torch.distributed documentation, point-to-point communication"
_MPI = "MPI standard, communication modes"
_NCCL = "NCCL documentation, point-to-point communication"
_HOCKNEY = "Hockney (1994), doi:10.1016/S0167-8191(06)80021-9"
_SANDERS = "Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001"
_GPIPE = "Huang et al. (2019), GPipe, arXiv:1811.06965"
_RANDOM = "PyTorch documentation, reproducibility"


def _chain(start: float, increment: float, ranks: int, last_adds: bool) -> float:
    """What the last rank of a chain holds, if the ranks between the ends add and the last one does or does not."""
    return start + increment * (ranks - 2 + last_adds)


def _messages() -> tuple[Correction, ...]:
    """What a message is, and when it is complete."""
    both_send = [[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]]
    rounds, blocked = simulate(both_send)
    eager_rounds, eager_blocked = simulate(both_send, eager=True)
    alone = message_time(64 * MB, 50 * GB, 5 * us)
    hidden = min(1 * ms, alone)
    return (
        Correction(
            "2.2",
            "The last rank of a chain of W ranks holds 42 + 10 (W-1), after W-1 additions of 10.",
            "Only if the last rank adds as well. If only the ranks between the ends add, it holds 42 + 10 (W-2). Say "
            "who adds.",
            f"On 4 ranks the first gives {_chain(42, 10, 4, True)}, the second {_chain(42, 10, 4, False)}; a program "
            "that prints one of them is not wrong because a text expected the other.",
            _TORCH,
            matters="A correct program reports itself as wrong.",
            places=(f"{MLSYS}, tutorial/part1-distributed/chapter02-point-to-point/scripts/send_recv_basic.py",),
        ),
        Correction(
            "2.3",
            "Two ranks that both send to each other first wait forever.",
            "It depends on the transport. Gloo waits until the process group's timeout (30 minutes by default), MPI "
            "and NCCL may buffer small messages, and with NCCL the call returns while a large one holds up the stream.",
            f"Without buffers {rounds} rounds complete and {len(blocked)} ranks are blocked; with buffers "
            f"{eager_rounds} rounds complete and {len(eager_blocked)} ranks are blocked.",
            f"{_MPI}; {_NCCL}",
            matters="A program that works on one backend hangs on another.",
            places=(f"{MLSYS}, src/part1-distributed/chapter02.md",),
        ),
        Correction(
            "2.5",
            "isend copies the buffer, so you may reuse it at once.",
            "You may reuse it only after wait(): until then the buffer belongs to the transport.",
            "The bytes are read when the receiver is ready. A tensor of ones, overwritten with zeros before the "
            "wait, arrived as all zeros.",
            _TORCH,
            matters="The receiver gets numbers that were written after the send.",
        ),
        Correction(
            "2.5",
            "Non-blocking calls are faster.",
            "Only work between the post and the wait is hidden; a post followed directly by its wait is a blocking "
            "call.",
            f"A message of {format_time(alone)} takes {format_time(alone)} either way, but {format_time(1 * ms)} of "
            f"work between post and wait hides {format_time(hidden)} of it.",
            _HOCKNEY,
            matters="Replacing each call by its non-blocking twin then gains nothing.",
        ),
    )


def _relays() -> tuple[Correction, ...]:
    """What a chain of stages can overlap."""
    hops, chunks, size = 3, 8, 64 * MB
    middle = [[("recv", rank - 1), ("send", rank + 1)] * chunks for rank in range(1, hops)]
    rounds, _ = simulate([[("send", 1)] * chunks, *middle, [("recv", hops - 1)] * chunks])
    blocking = rounds * message_time(size / chunks, 50 * GB, 5 * us)
    overlapped = relay_time(size, hops, chunks, 50 * GB, 5 * us)
    seeded = [Random(seed) for seed in (1, 2)]
    means = [sum(one.gauss(0, 1) for _ in range(1000)) / 1000 for one in seeded]
    return (
        Correction(
            "2.7",
            "In a loop of blocking receive, compute and send, stage 1 handles chunk 1 and stage 0 chunk 2 while "
            "stage 2 handles chunk 0.",
            "Not on a transport that waits for the receiver: a middle stage accepts a new chunk only every other "
            "round, so h hops and k chunks take h + 2(k-1) rounds. The overlap needs a receive that is posted ahead "
            "of time.",
            f"{hops} hops and {chunks} chunks take {rounds} rounds, not {hops + chunks - 1}: "
            f"{format_time(blocking)} against {format_time(overlapped)} for 64 MB over 50 GB/s with 5 µs.",
            _SANDERS,
            matters="The measured pipeline is slower than the plan, and the code looks correct.",
            places=(f"{MLSYS}, tutorial/part1-distributed/chapter02-point-to-point/scripts/pipeline_simulation.py",),
        ),
        Correction(
            "2.7",
            "A pipeline of blocking calls prints the same means in every run.",
            "Only with a seed. Without one, what repeats is who waits for whom: show the picture of the run, not "
            "means of random numbers.",
            f"1,000 standard normal numbers have the mean {means[0]:.3g} with one seed and {means[1]:.3g} with "
            "another.",
            _RANDOM,
            matters="A test that compares the printed values fails from time to time.",
        ),
    )


def _stages() -> tuple[Correction, ...]:
    """What it costs to cut a model into stages."""
    layers, stages, layer_time, transfer = 12, 3, 10 * ms, 5 * ms
    forward = naive_step(layers, stages, layer_time, transfer, 0.0)[0] - (stages - 1) * transfer  # no gradients back
    usual, busy = naive_step(layers, stages, layer_time, transfer)
    equal, busy_equal = naive_step(layers, stages, layer_time, transfer, 1.0)
    free = {count: naive_step(48, count, layer_time, 0.0)[1] for count in (4, 8)}
    return (
        Correction(
            "2.8",
            "With 12 layers of 10 ms on 3 devices and 5 ms per transfer, the forward pass takes 50 ms, and 40 % of "
            "the devices are busy.",
            f"The forward pass takes {format_time(forward)}. If the backward pass takes twice as long as the forward "
            f"pass, the step takes {format_time(usual)}, and the devices are busy {100 * busy:.1f} % of the time.",
            "50 ms counts the layers of one device only. With a backward pass as fast as the forward pass, the step "
            f"takes {format_time(equal)}, and the devices are busy {100 * busy_equal:.1f} % of it.",
            _GPIPE,
            matters="A plan for a pipeline starts from the wrong time and the wrong utilization.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "2.8",
            "The idle time of naive model parallelism is a pipeline bubble.",
            "A bubble belongs to a pipeline of several micro-batches. With one batch in flight, at least 1 - 1/P of "
            "the devices are idle, whatever the size of the batch.",
            f"With free transfers a device works {100 * free[4]:.1f} % of the time on 4 stages and {100 * free[8]:.1f} "
            "% on 8.",
            _GPIPE,
            matters="A bubble shrinks with more micro-batches; with one batch in flight there is nothing to tune.",
            places=(FUNDAMENTALS,),
        ),
    )


def _in_order() -> tuple[Correction, ...]:
    """The corrections in the order in which the page prints them."""
    chain, sends, copies, faster = _messages()
    blocking, means = _relays()
    return (chain, sends, copies, *_stages(), faster, blocking, means)


CORRECTIONS: tuple[Correction, ...] = _in_order()
