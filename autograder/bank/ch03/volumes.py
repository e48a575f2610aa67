"""Chapter 03: the questions about bytes and time."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms, us

cost = lazily("solutions.ch03.collective_cost")
naive = lazily("solutions.ch03.naive_all_reduce_costs")

RING_VOLUME = (
    "The tensor is cut into $N$ chunks. In each of the $N-1$ steps of the reduce-scatter a rank sends one chunk, "
    "and in "
    "each of the $N-1$ steps of the all-gather another one:\n\n"
    "$$2(N-1)\\cdot\\frac{S}{N} = \\frac{2(N-1)}{N}\\,S .$$"
)

VOLUMES = (
    Question(
        id="03-eight-gpus-volume",
        kind="derive",
        title="Bytes of a ring over 8 ranks",
        section="3.7",
        parts=(
            Part(
                "sent by each rank",
                "GB",
                lambda: cost.traffic("all_reduce", 1 * GB, 8, 0)[0] / GB,
                slips=(
                    Slip("That is one phase: the all-gather sends as much again.", value=0.875),
                    Slip("That is sent plus received: the question asks for one of them.", value=3.5),
                    Slip("That is the limit for many ranks: the own chunk does not travel.", value=2.0),
                ),
            ),
        ),
        derivation=RING_VOLUME + "\n\nHere $N = 8$ and $S = 1$ GB.",
    ),
    Question(
        id="03-thousand-gpus-volume",
        kind="derive",
        title="Bytes of a ring over 1,000 ranks",
        section="3.7",
        parts=(
            Part(
                "sent by each rank",
                "GB",
                lambda: cost.traffic("all_reduce", 1 * GB, 1000, 0)[0] / GB,
                tolerance=5e-4,
                slips=(
                    Slip("That passes whole tensors round the ring, one in each step.", value=999.0),
                    Slip("Close: that is the limit, which no number of ranks reaches.", value=2.0),
                    Slip("That is one phase: the all-gather sends as much again.", value=0.999),
                ),
            ),
        ),
        derivation=RING_VOLUME + "\n\nHere $N = 1000$ and $S = 1$ GB: the factor hardly depends on $N$ any more.",
    ),
    Question(
        id="03-whole-tensor-ring",
        kind="derive",
        title="A ring that passes whole tensors",
        section="3.7",
        parts=(
            Part(
                "sent by each rank",
                "GB",
                lambda: 7 * 1.0,
                slips=(Slip("That is the ring of chunks: here every message is the whole tensor.", value=1.75),),
            ),
            Part(
                "times the bytes of the ring of chunks",
                "x",
                lambda: 7 * GB / cost.traffic("all_reduce", 1 * GB, 8, 0)[0],
                slips=(
                    Slip("That compares with one phase: an all-reduce has two.", value=8.0),
                    Slip("That compares with 2 S: the ring of chunks sends 2(N-1)/N of S.", value=3.5),
                ),
            ),
        ),
        derivation=(
            "A rank sends the whole tensor in each of $N-1$ steps: $(N-1)\\,S$. Against the ring of chunks:\n\n"
            "$$\\frac{(N-1)\\,S}{2(N-1)\\,S/N} = \\frac{N}{2} .$$"
        ),
    ),
    Question(
        id="03-steps",
        kind="derive",
        title="Messages of a ring",
        section="3.7",
        parts=(
            Part(
                "messages that each rank sends",
                "messages",
                lambda: 2 * (16 - 1),
                tolerance=0,
                slips=(
                    Slip("That is one phase: reduce-scatter and all-gather take as many each.", value=15),
                    Slip("The own chunk does not travel: a phase has one step less than ranks.", value=32),
                ),
            ),
        ),
        derivation="Each of the two phases has $N-1$ steps, and each step one message per rank: $2(N-1)$ with $N "
        "= 16$.",
    ),
    Question(
        id="03-ring-ms",
        kind="derive",
        title="Time of a ring",
        section="3.8",
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 50 * GB) / ms,
                slips=(
                    Slip("That takes 50 GB/s for both directions together: it is per direction.", value=140.0),
                    Slip("That is one phase.", value=35.0),
                    Slip("That is 2 S/B: the own chunk does not travel.", value=80.0),
                ),
            ),
        ),
        derivation="All links are busy in every step, so the time is the bytes that one rank sends over one link's "
        "bandwidth:\n\n$$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}, \\qquad N = 8,\\; S = 2\\text{ GB},\\; B = "
        "50\\text{ GB/s}.$$",
    ),
    Question(
        id="03-ring-latency-share",
        kind="derive",
        title="A start-up for every step",
        section="3.8",
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 50 * GB, 5 * us) / ms,
                tolerance=1e-4,
                slips=(
                    Slip("That is one start-up for all 14 steps.", value=70.005),
                    Slip("That leaves the start-ups out.", value=70.0),
                ),
            ),
            Part(
                "of it latency",
                "µs",
                lambda: cost.ring_all_reduce_time(0, 8, 50 * GB, 5 * us) / us,
                tolerance=1e-3,
                slips=(
                    Slip("That is one step: there are 2(N-1).", value=5.0),
                    Slip("That is one phase: there are two.", value=35.0),
                    Slip("The own chunk does not travel: a phase has N-1 steps.", value=80.0),
                ),
            ),
        ),
        derivation="Every one of the $2(N-1)$ steps starts a message:\n\n"
        "$$T = 2(N-1)\\left(\\alpha + \\frac{S}{N B}\\right), \\qquad 2(N-1)\\,\\alpha \\text{ of it latency},$$\n\n"
        "with $N = 8$, $S = 2$ GB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
    Question(
        id="03-duplex",
        kind="derive",
        title="A data sheet that adds both directions",
        section="3.8",
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 25 * GB) / ms,
                slips=(
                    Slip("That takes the summed figure for one direction.", value=70.0),
                    Slip("That doubles the bandwidth: the sum has to be halved.", value=35.0),
                ),
            ),
        ),
        derivation="The ring sends in one direction of each link: $B$ is half of the summed figure. Then "
        "$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 8$ and $S = 2$ GB.",
    ),
    Question(
        id="03-star",
        kind="derive",
        title="All through rank 0",
        section="3.5",
        parts=(
            Part(
                "received plus sent by rank 0",
                "GB",
                lambda: 2 * (8 - 1) * 1.0,
                slips=(
                    Slip("That is one way: what comes in has to go out again.", value=7.0),
                    Slip("Rank 0 does not send to itself.", value=16.0),
                ),
            ),
            Part(
                "time of the star over time of the ring",
                "x",
                lambda: naive.star_all_reduce_time(1 * GB, 8, 50 * GB) / cost.ring_all_reduce_time(1 * GB, 8, 50 * GB),
                slips=(
                    Slip(
                        "That is the ratio of the bytes through the busiest rank: the ring moves its bytes both ways "
                        "at once, the star does not.",
                        value=4.0,
                    ),
                ),
            ),
        ),
        derivation="Rank 0 takes in $(N-1)\\,S$ and then sends out $(N-1)\\,S$, one after the other. A rank of "
        "the ring "
        "sends and receives $2(N-1)S/N$ at the same time. Without latency:\n\n"
        "$$\\frac{2(N-1)\\,S/B}{2(N-1)\\,S/(N B)} = N .$$",
    ),
    Question(
        id="03-expert-tokens",
        kind="derive",
        title="Tokens on their way to experts",
        section="3.9",
        parts=(
            Part(
                "sent by each rank",
                "bytes",
                lambda: cost.traffic("all_to_all", 8192 * 4096 * 2, 8, 0)[0],
                slips=(
                    Slip("The own block does not travel.", value=67_108_864),
                    Slip("That falls with the number of ranks: almost everything leaves.", value=8_388_608),
                ),
            ),
        ),
        derivation="A rank's buffer holds $8192 \\cdot 4096 \\cdot 2$ bytes, one block in $N = 8$ of it for the rank "
        "itself. The others leave: $\\frac{N-1}{N}\\,S$.",
    ),
    Question(
        id="03-all-gather-vs",
        kind="derive",
        title="Gather all gradients, then add",
        section="3.11",
        parts=(
            Part(
                "times the bytes received under all-reduce",
                "x",
                lambda: (
                    cost.traffic("all_gather", 64 * 14 * GB, 64, 0)[1] / cost.traffic("all_reduce", 14 * GB, 64, 0)[1]
                ),
                slips=(
                    Slip("Every rank's gradient is a full tensor: 64 of them are gathered.", value=0.5),
                    Slip("That counts one phase of the all-reduce: it has two.", value=64.0),
                ),
            ),
        ),
        derivation="Each rank's gradient is a full tensor $S$. Gathered, a rank receives the $N-1$ others, "
        "$(N-1)\\,S$. The all-reduce brings it $2(N-1)S/N$. The ratio is $N/2$, with $N = 64$.",
    ),
    Question(
        id="03-softmax-bytes",
        kind="derive",
        title="Two numbers instead of the vocabulary",
        section="3.10",
        parts=(
            Part(
                "received by each rank when the row is gathered",
                "bytes",
                lambda: cost.traffic("all_gather", 128_256 * 4, 8, 0)[1],
                slips=(Slip("That counts the own shard too: it is there already.", value=513_024),),
            ),
            Part(
                "received by each rank for two scalars",
                "bytes",
                lambda: 2 * cost.traffic("all_reduce", 4, 8, 0)[1],
                slips=(
                    Slip("That is two scalars once: the formula says 2(N-1)/N of each.", value=8),
                    Slip("That is one of the two all-reduces.", value=7),
                ),
            ),
        ),
        derivation="The row has $S = 128256 \\cdot 4$ bytes; a rank lacks $\\frac{N-1}{N}\\,S$ of it. An all-reduce "
        "of one float32 brings it $\\frac{2(N-1)}{N}\\cdot 4$ bytes by the formula, and the softmax takes two of "
        "them: the maximum and the sum. $N = 8$.",
    ),
)
