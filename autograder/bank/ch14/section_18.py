"""Section 14.18, Four roads for weights: its questions."""

from __future__ import annotations

from autograder.bank.ch14.quantities import MODEL
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB, Gbit

sync = lazily("solutions.ch14.weight_sync")

NIC, DISK, NVLINK = 50 * GB, 7 * GB, 450 * GB


def _buckets(bucket: float) -> float:
    return sync.bucketed_sync_time(MODEL, bucket, (NVLINK, NIC, NVLINK))


QUESTIONS = (
    Question(
        id="14-bandwidth",
        kind="derive",
        title="Ten seconds for 140 GB",
        section="14.18",
        bonus=True,
        parts=(
            Part(
                "bandwidth",
                "GB/s",
                lambda: MODEL / 10 / GB,
                slips=(
                    Slip("That is in Gbit/s: a byte has eight bits.", value=lambda: MODEL / 10 / Gbit),
                    Slip(
                        "That is bytes over bits: there is nothing to divide by eight.", value=lambda: MODEL / 80 / GB
                    ),
                ),
            ),
            Part(
                "cards of 50 GB/s",
                "cards",
                lambda: float(-(-MODEL // (10 * NIC))),
                tolerance=0,
                slips=(
                    Slip(
                        "That compares gigabits with gigabytes, or takes a card for a tenth of what it is.",
                        value=lambda: float(-(-8 * MODEL // (10 * NIC))),
                    ),
                ),
            ),
        ),
        derivation="Bytes over seconds; then that rate over a card's, rounded up.",
    ),
    Question(
        id="14-disk",
        kind="derive",
        title="By way of a disk",
        section="14.18",
        bonus=True,
        ask="time",
        unit="s",
        answer=lambda: sync.bucketed_sync_time(MODEL, MODEL, (DISK, DISK)),
        tolerance=0.005,
        slips=(
            Slip("The weights are written and then read: two passes.", value=lambda: MODEL / DISK),
            Slip("One pass goes at the rate of one pass.", value=lambda: MODEL / DISK / 2),
        ),
        derivation="Two stages and one bucket: the file is written whole, then read.",
    ),
    Question(
        id="14-chain",
        kind="derive",
        title="Down a chain in 64 chunks",
        section="14.18",
        bonus=True,
        ask="time",
        unit="s",
        answer=lambda: sync.chain_broadcast_time(MODEL, 8, NIC, chunks=64),
        tolerance=0.005,
        slips=(
            Slip("That is one chunk: nobody passes on before all is there.", value=lambda: 8 * MODEL / NIC),
            Slip("That is the first receiver's time; the last chunk has seven more hops.", value=MODEL / NIC),
            Slip(
                "One step too many: eight hops, and 63 chunks before the last.",
                value=lambda: 72 / 64 * MODEL / NIC,
            ),
        ),
        derivation="$8 - 1 + 64$ steps, each of $1/64$ of the message.",
    ),
    Question(
        id="14-bucket",
        kind="derive",
        title="Gather, send, broadcast",
        section="14.18",
        bonus=True,
        ask="time",
        unit="s",
        answer=lambda: _buckets(GB),
        tolerance=0.0005,
        slips=(
            Slip("Nothing overlaps there: the three stages work at once.", value=lambda: _buckets(MODEL)),
            Slip("The first bucket must be gathered before, and the last broadcast after.", value=MODEL / NIC),
        ),
        derivation="140 buckets. The first passes all three stages, $1/450 + 1/50 + 1/450$ s; each of the 139 others "
        "comes out one step of the slowest stage later.",
    ),
    Choice(
        id="14-handle",
        kind="trace",
        title="A handle to 4 KB, a handle to 100 MB",
        section="14.18",
        bonus=True,
        options=("about equally long", "the second 25,000 times as long", "the second twice as long"),
        correct=0,
        derivation="A handle says where the memory is, how long it is, and how to read it. It holds none of the data.",
        slips={
            1: "That would be the data: a handle says where they are.",
            2: "Only the digits of the length grow, by a few bytes.",
        },
    ),
    Choice(
        id="14-ipc",
        kind="trace",
        title="Where a CUDA handle works",
        section="14.18",
        bonus=True,
        options=(
            "on the same node, where the device is visible and as long as the owner lives",
            "on the same GPU alone",
            "on any node with a fast network",
            "on the same node, also after the owner has ended",
        ),
        correct=0,
        derivation="The driver maps the owner's memory into another process of the same machine. That process may "
        "compute on another GPU. When the owner frees the memory or ends, the mapping is worth nothing.",
        slips={
            1: "A process may map memory of any GPU of the node that it sees.",
            2: "An address means nothing on another machine: there the bytes must travel.",
            3: "The memory belongs to its owner and goes with it.",
        },
    ),
    Question(
        id="14-iteration",
        kind="derive",
        title="Once in an iteration",
        section="14.18",
        bonus=True,
        parts=(
            Part(
                "iteration",
                "s",
                lambda: 30 + 20 + MODEL / NIC,
                tolerance=0.005,
                slips=(
                    Slip("Weights move once, to those that generate; nothing comes back.", value=50 + 2 * MODEL / NIC),
                    Slip("The weights must move, too.", value=50),
                ),
            ),
            Part(
                "transfer",
                "%",
                lambda: 100 * (MODEL / NIC) / (50 + MODEL / NIC),
                tolerance=0.005,
                slips=(
                    Slip(
                        "Weights move once, to those that generate; nothing comes back.",
                        value=lambda: 100 * (2 * MODEL / NIC) / (50 + 2 * MODEL / NIC),
                    ),
                    Slip("A share is of the whole iteration.", value=lambda: 100 * (MODEL / NIC) / 50),
                ),
            ),
        ),
        derivation="Generate, train, and bring 140 GB over one card at 50 GB/s. The share is of all three.",
    ),
    Choice(
        id="14-overlap",
        kind="trace",
        title="What a transfer can hide behind",
        section="14.18",
        bonus=True,
        options=(
            "the last rollouts on old weights, and training of layers that are not sent yet",
            "rollouts on the new weights, before they have arrived",
            "nothing: every GPU must stop",
            "the forward pass of the step that makes the new weights",
        ),
        correct=0,
        derivation="A layer can leave as soon as its optimizer step is done, while others are still updated. Those "
        "that generate can finish what they have begun. What needs the new weights must wait for them.",
        slips={
            1: "A rollout on new weights needs them: it starts when they are there.",
            2: "Links work while GPUs compute, as long as nobody writes what is being read.",
            3: "The new weights are not there yet: the step that follows makes them.",
        },
    ),
)
