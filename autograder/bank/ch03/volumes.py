"""Chapter 03: the numbers to work out, of bytes and of time: two on the path, the others on the deeper page."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms, us

cost = lazily("solutions.ch03.collective_cost")

RING_VOLUME = (
    "A rank sends one chunk in each of the $N-1$ steps of the reduce-scatter, and one in each of the $N-1$ steps of "
    "the all-gather:\n\n"
    "$$2(N-1)\\cdot\\frac{S}{N} = \\frac{2(N-1)}{N}\\,S .$$"
)

VOLUMES = (
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
                "times the traffic of any other rank",
                "x",
                lambda: 2 * (8 - 1) / 2,
                slips=(
                    Slip("Another rank moves 2 GB: it sends its tensor, and it receives the sum.", value=14.0),
                    Slip("Seven ranks share that link, not eight: rank 0 sends nothing to itself.", value=8.0),
                ),
            ),
        ),
        derivation="Rank 0 takes in $N-1$ tensors and then sends out $N-1$ sums. Every other rank sends one tensor and "
        "receives one sum. The busiest rank moves $N-1$ times as much as any other, and the others wait for it.",
    ),
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
                    Slip("That is one trip: the all-gather sends as much again.", value=0.875),
                    Slip("That is sent plus received; the question asks for what is sent.", value=3.5),
                    Slip(
                        "That is the limit for many ranks: on each trip a rank sends seven of the eight chunks.",
                        value=2.0,
                    ),
                ),
            ),
        ),
        derivation=RING_VOLUME + "\n\nHere $N = 8$ and $S = 1$ GB.",
    ),
    Question(
        id="03-steps",
        kind="derive",
        title="Messages of a ring",
        section="3.14",
        bonus=True,
        parts=(
            Part(
                "messages that each rank sends",
                "messages",
                lambda: 2 * (16 - 1),
                tolerance=0,
                slips=(
                    Slip("That is one trip: the reduce-scatter and the all-gather take as many each.", value=15),
                    Slip("A chunk needs one step fewer than there are ranks to pass them all.", value=32),
                ),
            ),
        ),
        derivation="Each of the two phases has $N-1$ steps, and each step one message per rank: $2(N-1)$ with $N "
        "= 16$.",
    ),
    Question(
        id="03-whole-tensor-ring",
        kind="derive",
        title="A ring that passes whole tensors",
        section="3.14",
        bonus=True,
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
                    Slip("That compares with one trip: an all-reduce makes two.", value=8.0),
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
        id="03-all-gather-vs",
        kind="derive",
        title="Gather all gradients, then add",
        section="3.14",
        bonus=True,
        parts=(
            Part(
                "times the bytes received under all-reduce",
                "x",
                lambda: (
                    cost.traffic("all_gather", 64 * 14 * GB, 64, 0)[1] / cost.traffic("all_reduce", 14 * GB, 64, 0)[1]
                ),
                slips=(
                    Slip("Every rank's gradient is a full tensor, and 64 of them are gathered.", value=0.5),
                    Slip("That counts one trip of the all-reduce: it makes two.", value=64.0),
                ),
            ),
        ),
        derivation="Each rank's gradient is a full tensor $S$. Gathered, a rank receives the $N-1$ others, "
        "$(N-1)\\,S$. The all-reduce brings it $2(N-1)S/N$. The ratio is $N/2$, with $N = 64$.",
    ),
    Question(
        id="03-ring-ms",
        kind="derive",
        title="Time of a ring",
        section="3.15",
        bonus=True,
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 50 * GB) / ms,
                slips=(
                    Slip("That takes 50 GB/s for the sum of both directions: it is the rate of each.", value=140.0),
                    Slip("That is one trip around the ring: an all-reduce makes two.", value=35.0),
                    Slip("That is 2 S/B: on each trip a rank sends seven of the eight chunks.", value=80.0),
                ),
            ),
        ),
        derivation="All links are busy in every step, so the time is the bytes that one rank sends over one link's "
        "bandwidth:\n\n$$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$$\n\nwith $N = 8$, $S = 2$ GB and $B = 50$ GB/s.",
    ),
    Question(
        id="03-duplex",
        kind="derive",
        title="A data sheet that adds both directions",
        section="3.15",
        bonus=True,
        parts=(
            Part(
                "time",
                "ms",
                lambda: cost.ring_all_reduce_time(2 * GB, 8, 25 * GB) / ms,
                slips=(
                    Slip("That takes the sum of both directions for one.", value=70.0),
                    Slip("That doubles the figure, which has to be halved.", value=35.0),
                ),
            ),
        ),
        derivation="The ring sends in one direction of each link: $B$ is half of the summed figure. Then "
        "$T = \\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 8$ and $S = 2$ GB.",
    ),
    Question(
        id="03-ring-latency-share",
        kind="derive",
        title="A start-up for every step",
        section="3.15",
        bonus=True,
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
                    Slip("That is one trip: there are two.", value=35.0),
                    Slip("A trip has N-1 steps, not N.", value=80.0),
                ),
            ),
        ),
        derivation="Every one of the $2(N-1)$ steps starts a message:\n\n"
        "$$T = 2(N-1)\\left(\\alpha + \\frac{S}{N B}\\right).$$\n\n"
        "Of this, $2(N-1)\\,\\alpha$ is latency. Here $N = 8$, $S = 2$ GB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
    Question(
        id="03-expert-tokens",
        kind="derive",
        title="Tokens on their way to experts",
        section="3.16",
        bonus=True,
        parts=(
            Part(
                "sent by each rank",
                "bytes",
                lambda: cost.traffic("all_to_all", 8192 * 4096 * 2, 8, 0)[0],
                slips=(
                    Slip("A rank keeps the block that is for itself.", value=67_108_864),
                    Slip("That is one block. A rank sends seven: almost everything leaves.", value=8_388_608),
                ),
            ),
        ),
        derivation="A rank's buffer holds $8192 \\cdot 4096 \\cdot 2$ bytes, one block in $N = 8$ of it for the rank "
        "itself. The others leave: $\\frac{N-1}{N}\\,S$.",
    ),
    Question(
        id="03-mean-of-means",
        kind="derive",
        title="The mean of the means",
        section="3.17",
        bonus=True,
        parts=(
            Part(
                "true mean",
                "",
                lambda: (100 * 1.0 + 100 * 2.0 + 50 * 3.0) / 350,
                tolerance=1e-3,
                slips=(Slip("That is the mean of the means: the last rank has half as many values.", value=1.5),),
            ),
            Part(
                "mean of the means",
                "",
                lambda: (0.0 + 1.0 + 2.0 + 3.0) / 4,
                tolerance=1e-3,
                slips=(Slip("That is the true mean: averaging the averages weighs all ranks alike.", value=450 / 350),),
            ),
        ),
        derivation="The true mean weighs by count: $\\sum_r n_r m_r / \\sum_r n_r$. The mean of the means weighs all "
        "ranks alike: $\\frac{1}{N}\\sum_r m_r$. They agree only for equal counts.",
    ),
)
