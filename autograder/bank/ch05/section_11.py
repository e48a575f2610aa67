"""Section 5.11, Hiding and accumulating, in numbers: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, TFLOP, ms

batching = lazily("solutions.ch05.batching")
buckets = lazily("solutions.ch05.buckets")
collectives = lazily("solutions.ch03.collective_cost")
scaling = lazily("solutions.ch01.scaling")

LAYERS = 40


def _exposed(communication: float) -> float:
    """Exposed milliseconds of 40 layers with 5 ms of backward each."""
    return buckets.exposed_communication([5 * ms] * LAYERS, [communication] * LAYERS) / ms


def _hidden_share() -> float:
    return 100 * (1 - _exposed(1.5 * ms) / (LAYERS * 1.5))


def _over_compute(message_bytes: float, bandwidth: float) -> float:
    """A ring over 8 nodes against a step of 2,000 tokens of a 10B model at 495 TFLOP/s."""
    return collectives.ring_all_reduce_time(message_bytes, 8, bandwidth) / (6 * 10e9 * 2000 / (495 * TFLOP))


def _efficiency(seconds: float, ranks: int) -> float:
    return scaling.scaling_efficiency(100, seconds, ranks)


def _step(sync_every: bool) -> float:
    """Seconds of a step of 64 micro-steps of 120 ms with reductions of 50 ms."""
    return batching.accumulated_step_time(64, 120 * ms, 50 * ms, sync_every=sync_every)


def _left(sync_every: bool) -> float:
    return 2048 / _step(sync_every)


QUESTIONS = (
    Question(
        id="05-hidden-share",
        kind="derive",
        title="What stays visible",
        section="5.11",
        bonus=True,
        parts=(
            Part(
                "exposed",
                "ms",
                lambda: _exposed(1.5 * ms),
                slips=(
                    Slip(
                        "The last layer's gradients are ready when the backward pass ends: nothing hides them.",
                        value=0.0,
                    ),
                    Slip(
                        "That is all of the communication: most of it runs beside the backward pass.",
                        value=LAYERS * 1.5,
                    ),
                ),
            ),
            Part(
                "share of the communication that is hidden",
                "%",
                _hidden_share,
                tolerance=1e-3,
                slips=(
                    Slip(
                        "That divides by the backward pass: divide by the communication.",
                        value=lambda: 100 * (1 - _exposed(1.5 * ms) / (LAYERS * 5)),
                    ),
                    Slip("That is the exposed share.", value=lambda: 100 - _hidden_share()),
                    Slip("The last layer cannot hide.", value=100.0),
                ),
            ),
        ),
        derivation="Each all-reduce ends before the next layer's 5 ms of computation have passed, so the queue is "
        "always empty. Only the last of the 40 starts when nothing is left to compute. The hidden share is $1 - "
        "d_{\\text{exposed}}/d_{\\text{total}}$.",
    ),
    Question(
        id="05-saturated",
        kind="derive",
        title="A stream that cannot keep up",
        section="5.11",
        bonus=True,
        ask="exposed",
        unit="ms",
        answer=lambda: _exposed(7 * ms),
        slips=(
            Slip("That is the last all-reduce alone: here a queue has grown before it.", value=7.0),
            Slip(
                "That compares the sums: the stream starts only when the first layer is ready.",
                value=LAYERS * (7 - 5),
            ),
            Slip("That is all of the communication.", value=LAYERS * 7),
        ),
        derivation="The stream starts after the first layer, at $t = 5$ ms, and is then busy without a break: it ends "
        "at $t + L d$ with $L = 40$ and $d = 7$ ms. The backward pass ends at $L t$.",
    ),
    Question(
        id="05-comm-ratio",
        kind="derive",
        title="Communication against compute",
        section="5.11",
        bonus=True,
        parts=(
            Part(
                "communication over compute, each GPU with its own port",
                "",
                lambda: _over_compute(20 * GB / 8, 50 * GB),
                slips=(
                    Slip(
                        "The bandwidth is per direction already: do not halve it.",
                        value=lambda: _over_compute(20 * GB / 8, 25 * GB),
                    ),
                    Slip(
                        "Each GPU drives its own port with an eighth of the data.",
                        value=lambda: _over_compute(20 * GB, 50 * GB),
                    ),
                ),
            ),
            Part(
                "communication over compute, one link for a node",
                "",
                lambda: _over_compute(20 * GB, 100 * GB),
                slips=(
                    Slip(
                        "The bandwidth is per direction already: do not halve it.",
                        value=lambda: _over_compute(20 * GB, 50 * GB),
                    ),
                    Slip(
                        "That is 2 S/B: a ring of 8 moves 7/8 of it.",
                        value=lambda: _over_compute(20 * GB, 100 * GB) * 8 / 7,
                    ),
                ),
            ),
        ),
        derivation="Compute: $6 \\cdot 10^{10}\\cdot 2000$ FLOP at 495 TFLOP/s. Communication: a ring over 8 nodes, "
        "$\\frac{2\\cdot 7}{8}\\,S/B$, with $S = 20/8$ GB and $B = 50$ GB/s when eight ports share the data, with $S "
        "= 20$ GB and $B = 100$ GB/s when one link carries all.",
    ),
    Question(
        id="05-scaling",
        kind="derive",
        title="An epoch on more GPUs",
        section="5.11",
        bonus=True,
        parts=tuple(
            Part(
                f"efficiency on {ranks} GPUs, as a fraction",
                "",
                partial(_efficiency, seconds, ranks),
                slips=(
                    Slip("That is the inverse ratio.", value=ranks * seconds / 100),
                    Slip("That is the speed-up: divide it by the GPUs.", value=100 / seconds),
                    Slip("That is the share of the time, not the efficiency.", value=seconds / 100),
                ),
            )
            for ranks, seconds in ((4, 27), (8, 15), (32, 6))
        ),
        derivation="Strong scaling: the epoch stays, so $N$ GPUs should take $T_1/N$. The efficiency is "
        "$T_1/(N\\,T_N)$ with $T_1 = 100$ s and $T_N$ = 27, 15 and 6 s on 4, 8 and 32 GPUs.",
    ),
    Question(
        id="05-accumulate",
        kind="derive",
        title="A batch of 2,048",
        section="5.11",
        bonus=True,
        parts=(
            Part(
                "micro-steps",
                "",
                lambda: batching.accumulation_steps(2048, 4, 8),
                tolerance=0,
                slips=(
                    Slip("That forgets the 8 ranks.", value=2048 / 4),
                    Slip("That forgets the micro-batch.", value=2048 / 8),
                ),
            ),
            Part(
                "saved by reducing once",
                "ms",
                lambda: (_step(True) - _step(False)) / ms,
                slips=(Slip("One reduction remains.", value=64 * 50),),
                tolerance=1e-3,
            ),
            Part(
                "sequences per second when reduced once",
                "1/s",
                lambda: _left(False),
                slips=(
                    Slip("That reduces in every micro-step.", value=lambda: _left(True)),
                    Slip("That leaves the reduction out.", value=2048 / (64 * 0.12)),
                ),
                tolerance=1e-3,
            ),
        ),
        derivation="One micro-step takes 4 sequences on each of 8 ranks. With $k$ of them, of $c = 120$ ms each, and "
        "reductions of $s = 50$ ms, a step takes $k c + s$ or $k (c + s)$, and trains on 2,048 sequences.",
    ),
)
