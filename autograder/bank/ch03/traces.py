"""Chapter 03: the questions about what a run does, and why."""

from __future__ import annotations

from autograder.items import Choice, Order

TRACES = (
    Choice(
        id="03-order-swap",
        kind="trace",
        title="Two all-reduces in opposite order",
        section="3.1",
        options=(
            "a = 11 and b = 11 on both ranks, without an error",
            "nothing: both ranks wait for each other until the timeout",
            "a = 2 and b = 20 on both ranks, without an error",
            "an error on both ranks that names the two tensors",
        ),
        correct=0,
        derivation="The library pairs calls by their order, not by their tensors: the first call of one rank meets "
        "the first call of the other. So rank 0's $a$ is added to rank 1's $b$, and then rank 0's $b$ to rank 1's "
        "$a$. Operation, size and type agree, so nothing can notice.",
        slips={
            1: "Both ranks make two calls of the same kind and size. They pair up, only not in the way you meant.",
            2: "For that, the library would have to know which tensor is which. It pairs first with first.",
            3: "To the library a tensor has no name: it could only compare operation, size and type, which agree.",
        },
    ),
    Choice(
        id="03-scattered-sum",
        kind="trace",
        title="Three ranks, one reduce-scatter",
        section="3.2",
        options=(
            "222, the sum of the middle numbers of all ranks",
            "60, the sum of its own three numbers",
            "111, 222 and 333, the three sums",
            "2, 20 and 200, the middle numbers of all ranks",
        ),
        correct=0,
        derivation="Each rank contributes three blocks. Block $r$ of every rank is added up, and rank $r$ keeps that "
        "one sum: $2 + 20 + 200$ for rank 1.",
        slips={
            1: "No rank would have to send anything for that. The sum runs over the ranks, block by block.",
            2: "That is an all-reduce. A reduce-scatter leaves each rank with one of the sums.",
            3: "That is an all-to-all: the blocks have arrived, and nobody has added them.",
        },
    ),
    Choice(
        id="03-reduce-leftover",
        kind="trace",
        title="Buffers after a reduce",
        section="3.3",
        options=(
            "no, its tensor may hold anything now",
            "yes, only the root's tensor changes",
            "yes, unless the call was asynchronous",
        ),
        correct=0,
        derivation="`reduce` promises a result on the root. On the other ranks the buffer is scratch space: a library "
        "that adds along a chain or a tree leaves partial sums in it. Copy the tensor first if you still need it.",
        slips={
            1: "The result is promised on the root alone, but nothing protects the other ranks' tensors.",
            2: "A blocking call leaves partial sums behind just the same.",
        },
    ),
    Order(
        id="03-ring-order",
        kind="trace",
        title="The walk of chunk 2",
        section="3.6",
        steps=(
            "rank 3 sends its own 42",
            "rank 0 adds 12 and holds 54",
            "rank 1 adds 22 and holds 76",
            "rank 2 adds 32 and holds 108, the complete sum",
            "rank 3 receives 108 and overwrites its 42",
        ),
        derivation="A chunk moves one rank to the right in each step. It ends its first trip on the rank of its own "
        "number, so it starts one rank further on: chunk 2 starts on rank 3, and passes ranks 0 and 1 on its way to "
        "rank 2. Then the finished sum starts a second trip, on which nobody adds.",
    ),
    Choice(
        id="03-chunk-owner",
        kind="trace",
        title="Who owns what after the reduce-scatter",
        section="3.6",
        options=(
            "chunk 3",
            "chunk 2, its own",
            "chunk 1",
            "none: every sum still lacks a number",
        ),
        correct=0,
        derivation="A chunk moves one rank to the right in each of $N-1$ steps. Chunk 3 starts on rank 3 and is "
        "complete three ranks further on, on rank 2. So rank $i$ ends with chunk $(i+1) \\bmod N$.",
        slips={
            1: "Rank 2 gives chunk 2 away in the first step, and three steps do not bring it back. To end with chunk "
            "2, rank 2 has to start with chunk 1.",
            2: "Chunk 1 starts on rank 1, and three steps to the right take it to rank 0, not to rank 2.",
            3: "The sender's own number is in the chunk from the start, so three additions make four contributions.",
        },
    ),
    Choice(
        id="03-race",
        kind="trace",
        title="Three programs, one sum",
        section="3.7",
        options=(
            "in the ring of whole tensors, each rank sends as much as the star's rank 0",
            "both rings send the same bytes; chunks only make the messages smaller",
            "the star sends the most in total, since everything passes through rank 0",
            "the ring of chunks sends the least in total, less than the star",
        ),
        correct=0,
        derivation="Rank 0 of the star sends $N-1$ whole tensors, and so does *every* rank of the ring of whole "
        "tensors. The ring of chunks sends $2\\frac{N-1}{N}$ tensors per rank, $2(N-1)$ in total, exactly as many as "
        "the star. It does not save bytes. It spreads them evenly.",
        slips={
            1: "A rank of either ring sends a message in every step, but one ring sends the whole tensor each time.",
            2: "The star sends $2(N-1)$ tensors in total, the ring of whole tensors $N(N-1)$.",
            3: "It sends exactly as much as the star. Its advantage is that no link carries more than the others.",
        },
    ),
    Choice(
        id="03-pick",
        kind="design",
        title="Which two collectives",
        section="3.14",
        bonus=True,
        options=(
            "reduce-scatter, then all-gather; together as many bytes as one all-reduce",
            "all-reduce, then broadcast; together 1.5 times the bytes of one all-reduce",
            "reduce-scatter, then all-gather; together half the bytes of one all-reduce",
            "reduce, then scatter; together as many bytes as one all-reduce",
        ),
        correct=0,
        derivation="Each owner needs the sum of its own chunk, which a reduce-scatter gives it. Afterwards every rank "
        "needs all chunks of the new weights: an all-gather. Those are the two halves of an all-reduce, with the "
        "optimizer step between them.",
        slips={
            1: "An all-reduce brings every rank all gradients, and an owner needs its own chunk only.",
            2: "Each of the two is half of an all-reduce: together they are a whole one.",
            3: "One root would receive everything, and after the scatter no rank would have all weights.",
        },
    ),
    Choice(
        id="03-beats-the-ring",
        kind="trace",
        title="Faster than the formula",
        section="3.8",
        options=(
            "the switches between the GPUs add, so fewer bytes cross each link",
            "the links carry 900 GB/s in all, and the formula uses half of that",
            "NCCL runs a second ring the other way around, at twice the speed",
            "it does not: 7 percent is within the error of the measurement",
        ),
        correct=0,
        derivation="The formula is a lower bound as long as the *ranks* do the adding: then some link must carry "
        "$2\\frac{N-1}{N}S$ bytes. A switch that adds receives every rank's tensor once and returns the sum once, "
        "about $S$ per link. So a time below the bound does not mean that the links are faster. It means that "
        "another algorithm ran.",
        slips={
            1: "900 GB/s is both directions together. A rank of the ring sends at most 450.",
            2: "In every step each rank already sends and receives at full rate: both directions are in use.",
            3: "Two benchmarks on this node agree to within 1 percent, and the difference here is 7.",
        },
    ),
    Choice(
        id="03-bits",
        kind="trace",
        title="One sum, four orders",
        section="3.9",
        options=(
            "the same four numbers on every rank, but not all four are equal",
            "2, 2, 2, 2 on every rank, the exact sum",
            "different numbers on each rank, since each adds in its own order",
            "0, 0, 0, 0 on every rank, since next to 1e8 a 1 is always lost",
        ),
        correct=0,
        derivation="Each chunk is added up on its way around the ring and then *copied* to all ranks, so all ranks "
        "hold the same bits. But each chunk started on another rank. A 1 survives only where the two large numbers "
        "have canceled before it is added.",
        slips={
            1: "That is exact arithmetic. Near $10^8$, float32 numbers are 8 apart.",
            2: "That happens if whole tensors go around and each rank adds for itself. Here one rank finishes each "
            "chunk, and the others copy it.",
            3: "It is lost only if it meets a large number. Some chunks add the large numbers first.",
        },
    ),
    Choice(
        id="03-token-loss",
        kind="derive",
        title="The loss per token",
        section="3.10",
        options=(
            "the log says 3.0; the loss per token is 2.2",
            "the log says 3.0, and that is the loss per token",
            "the log says 2.2: an all-reduce weighs each rank by its data",
            "the log says 3.0; the loss per token is 3.8",
        ),
        correct=0,
        derivation="Add up the losses and the tokens, then divide: "
        "$\\frac{900\\cdot 2.0 + 100\\cdot 4.0}{900 + 100}$. The mean of the two means gives 100 tokens as much "
        "weight as 900.",
        slips={
            1: "Nine tokens in ten have a mean of 2.0, so the mean of all cannot lie halfway.",
            2: "An all-reduce sees two numbers, 2.0 and 4.0. It knows nothing of the tokens behind them.",
            3: "The weights are swapped: rank 0 has 900 of the tokens.",
        },
    ),
)
