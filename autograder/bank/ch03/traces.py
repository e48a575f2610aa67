"""Chapter 03: the questions about what a run does, and about exact statistics."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import Choice, Part, Question, Slip, lazily

walk = lazily("solutions.ch03.ring_walk")

BIG_AND_SMALL = (1e8, 1.0, -1e8, 1.0)  # one number for each of four ranks


def _chunk(chunk: int) -> Part:
    """One chunk's sum in the order chunk, chunk + 1, ..."""

    def answer() -> float:
        return walk.float32_sum(BIG_AND_SMALL[rank] for rank in walk.ring_order(4, chunk, first=0))

    slips = (Slip("Exact arithmetic says so: float32 has 24 bits, and beside 1e8 a 1 is lost.", value=2.0),)
    return Part(f"chunk {chunk}", "", answer, tolerance=0, slips=slips)


def _mean(counts: tuple[int, ...], means: tuple[float, ...]) -> Callable[[], float]:
    """The mean of all elements, from each part's count and mean."""
    return lambda: sum(n * mean for n, mean in zip(counts, means, strict=True)) / sum(counts)


TRACES = (
    Choice(
        id="03-order-swap",
        kind="trace",
        title="Two all-reduces in opposite order",
        section="3.1",
        options=(
            "a = 11 and b = 11 on both ranks, without an error",
            "a deadlock, ended by the deadline",
            "a = 2 and b = 20 on both ranks",
            "an error that names the two tensors",
        ),
        correct=0,
        derivation="A collective has no name: the first call of one rank meets the first call of the other. So "
        "rank 0's $a$ "
        "is added to rank 1's $b$, and then rank 0's $b$ to rank 1's $a$. Sizes and types agree, so nothing notices.",
        slips={
            1: "Both ranks make two calls of the same kind and size: they meet, only not as meant.",
            2: "That would be the sum of each tensor with itself: the library does not know which tensor is which.",
            3: "A tensor has no name for the library: only operation, size and type could be compared.",
        },
    ),
    Choice(
        id="03-reduce-leftover",
        kind="trace",
        title="Buffers after a reduce",
        section="3.3",
        options=(
            "no: nothing is promised there, and the library may have used it for partial sums",
            "yes: only the root's buffer is written",
            "yes, as long as the operation was not asynchronous",
        ),
        correct=0,
        derivation="`reduce` promises the result on the root. On the other ranks the buffer is scratch: a library "
        "that adds along a chain or a tree leaves partial sums in it. Copy the tensor first if you need it.",
        slips={
            1: "The result is promised on the root alone; the other buffers are scratch, not protected.",
            2: "A blocking call leaves partial sums just the same.",
        },
    ),
    Question(
        id="03-float-order",
        kind="trace",
        title="Four numbers, four orders",
        section="3.4",
        parts=tuple(_chunk(chunk) for chunk in range(4)),
        derivation="Chunk $c$ adds the numbers of ranks $c, c+1, c+2, c+3$ (modulo 4), and float32 rounds after each "
        "addition. Next to $10^8$ the spacing of float32 numbers is 8, so a 1 that meets $\\pm 10^8$ is lost; it "
        "survives only when the two large numbers have cancelled before. Every chunk is added on one rank and then "
        "copied, so all ranks hold the same four numbers.",
    ),
    Question(
        id="03-chunk-owner",
        kind="trace",
        title="Who owns what after the reduce-scatter",
        section="3.6",
        parts=(
            Part(
                "complete chunk on rank 2",
                "chunk",
                lambda: walk.complete_chunk(4, 2, first=0),
                tolerance=0,
                slips=(
                    Slip("The library returns that one, but by a walk in which rank i first sends chunk i-1.", value=2),
                    Slip("That is a ring in the other direction.", value=1),
                ),
            ),
        ),
        derivation="A chunk moves one rank to the right in each of $N-1$ steps. Chunk $c$ starts on rank $c$ and is "
        "complete on rank $c + N - 1$, which is $c - 1$ modulo $N$. So rank $i$ ends with chunk $(i+1) \\bmod N$.",
    ),
    Question(
        id="03-contributions",
        kind="trace",
        title="Contributions on the way",
        section="3.6",
        parts=(
            Part(
                "contributions in chunk 1 on rank 3",
                "contributions",
                lambda: walk.ring_walk(4, first=0)[2][3][1],
                tolerance=0,
                slips=(
                    Slip("That counts what was received: the rank's own is in the sum too.", value=2),
                    Slip("That is the chunk before the step.", value=1),
                    Slip("That takes the third step too.", value=4),
                ),
            ),
        ),
        derivation="Chunk 1 starts on rank 1 with one contribution. Each step takes it one rank to the right, and "
        "that rank adds its own: after $s$ steps it is on rank $1 + s$ with $s + 1$ contributions.",
    ),
    Question(
        id="03-mean-of-means",
        kind="derive",
        title="The mean of the means",
        section="3.10",
        parts=(
            Part(
                "true mean",
                "",
                _mean((100, 100, 100, 50), (0.0, 1.0, 2.0, 3.0)),
                tolerance=1e-3,
                slips=(Slip("That is the mean of the means: the last rank has half as many values.", value=1.5),),
            ),
            Part(
                "mean of the means",
                "",
                _mean((1, 1, 1, 1), (0.0, 1.0, 2.0, 3.0)),
                tolerance=1e-3,
                slips=(Slip("That is the true mean: averaging the averages weighs all ranks alike.", value=450 / 350),),
            ),
        ),
        derivation="The true mean weighs by count: $\\sum_r n_r m_r / \\sum_r n_r$. The mean of the means weighs all "
        "ranks alike: $\\frac{1}{N}\\sum_r m_r$. They agree only for equal counts.",
    ),
    Question(
        id="03-token-loss",
        kind="derive",
        title="The loss per token",
        section="3.10",
        parts=(
            Part(
                "loss per token",
                "",
                _mean((900, 100), (2.0, 4.0)),
                tolerance=1e-3,
                slips=(
                    Slip("That is the mean of the means: one rank has nine times the tokens.", value=3.0),
                    Slip("The weights are swapped.", value=3.8),
                ),
            ),
        ),
        derivation="Reduce the sum of the losses and the number of tokens, then divide: "
        "$\\frac{900\\cdot 2.0 + 100\\cdot 4.0}{900 + 100}$.",
    ),
    Choice(
        id="03-pick",
        kind="design",
        title="Which two collectives",
        section="3.11",
        options=(
            "reduce-scatter, then all-gather; together as many bytes as one all-reduce",
            "all-reduce, then broadcast; together three halves of the bytes of one all-reduce",
            "reduce-scatter, then all-gather; together half the bytes of one all-reduce",
            "reduce, then scatter; together as many bytes as one all-reduce",
        ),
        correct=0,
        derivation="Each owner needs the sum of its own chunk: a reduce-scatter, $\\frac{N-1}{N}\\,S$. Then each "
        "needs all chunks of the new weights: an all-gather, $\\frac{N-1}{N}\\,S$. That is an all-reduce with the "
        "optimizer's step in its middle.",
        slips={
            1: "An all-reduce brings every rank all gradients: an owner needs its own chunk only.",
            2: "Each of the two is half of an all-reduce: together they are a whole one.",
            3: "One root would receive everything, and after the scatter no rank would have all weights.",
        },
    ),
)
