"""Chapter 01: the questions about processes, ranks, groups and shards."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

ranks = lazily("solutions.ch01.ranks")
sharding = lazily("solutions.ch01.sharding")

#: Llama 3 405B on 8,192 GPUs, slowest axis first, and with its first two axes the other way round.
LAYOUT = {"dp": 64, "pp": 16, "tp": 8}
SWAPPED = {"pp": 16, "dp": 64, "tp": 8}


def _groups(axis: str) -> list[list[int]]:
    return ranks.process_groups(LAYOUT, axis)


def _step(axis: str) -> int:
    """How far apart neighbours in a group are when pp is the slowest axis."""
    first, second = ranks.process_groups(SWAPPED, axis)[0][:2]
    return second - first


def _visits(drop_last: bool = False) -> int:
    """Visits of one of 64 ranks to 50,000 samples."""
    return len(sharding.shard_indices(50_000, 64, 0, drop_last=drop_last))


def _accuracy_over_visits() -> float:
    """Samples 0 and 1 of 10 are right; 4 ranks, padded."""
    visits = [sample for rank in range(4) for sample in sharding.shard_indices(10, 4, rank)]
    return sum(sample in (0, 1) for sample in visits) / len(visits)


PROCESSES = (
    Choice(
        id="01-why-processes",
        kind="trace",
        title="One process per device",
        section="1.4",
        options=(
            "the interpreter of one process dispatches serially, a crash stays in one rank, and several machines "
            "work alike",
            "the interpreter lock keeps two threads from multiplying matrices at the same time",
            "threads of one process cannot use different devices",
            "tensors move faster between processes than between threads",
        ),
        correct=0,
        derivation="Kernels, backward passes and collectives release the interpreter's lock, so threads do overlap. "
        "What stays serial is the Python code that starts them. A process has an interpreter, an address space and a "
        "device context of its own, and it does not matter on which machine it runs.",
        slips={
            1: "Matrix products release the lock: two threads do overlap in them.",
            2: "One process can use all devices of its node; older data-parallel code did, with threads.",
            3: "Threads share memory and need no copy: that is not why processes are taken.",
        },
    ),
    Question(
        id="01-sum-of-ranks",
        kind="derive",
        title="The sum of eight ranks",
        section="1.5",
        parts=(
            Part(
                "sum on rank 5",
                "",
                lambda: sum(range(8)),
                tolerance=0,
                slips=(
                    Slip("Ranks start at 0: the last of eight is 7.", value=lambda: sum(range(1, 9))),
                    Slip("That is what rank 5 brings: every rank gets the sum of all.", value=5),
                    Slip(
                        "That is the sum of the ranks up to 5: every rank gets the sum of all.",
                        value=lambda: sum(range(6)),
                    ),
                ),
            ),
        ),
        derivation="An all-reduce leaves the same sum on every rank, so it does not matter which one is asked: "
        "$\\sum_{r=0}^{N-1} r = N(N-1)/2$ with $N = 8$.",
    ),
    Choice(
        id="01-who-sets-it",
        kind="trace",
        title="Variables that a plain spawn sets",
        section="1.6",
        options=("0", "2", "4", "5"),
        correct=0,
        derivation="Spawning starts processes and hands over arguments. The environment is inherited as it is. A "
        "launcher such as torchrun adds the five variables; without one, the script has to set what `env://` reads, or "
        "to give address, rank and world size itself.",
        slips={
            1: "Address and port are set by the script, if at all: the spawn does not know them.",
            2: "The rank is an argument of the function; nothing writes it into the environment.",
            3: "That is torchrun.",
        },
    ),
)

PLACES = (
    Question(
        id="01-device-of-rank",
        kind="derive",
        title="The device of rank 9",
        section="1.7",
        parts=(
            Part(
                "device index",
                "",
                lambda: ranks.locate(9, 8)[1],
                tolerance=0,
                slips=(
                    Slip("A node with 8 devices has none of that number: take the local rank.", value=9),
                    Slip("That is rank 8's, or what a program takes when LOCAL_RANK was never set.", value=0),
                ),
            ),
        ),
        derivation="Ranks fill the nodes one after the other: with 8 ranks on a node, rank $r$ is on node "
        "$\\lfloor r / 8 \\rfloor$ and takes device $r \\bmod 8$. Here $r = 9$.",
    ),
    Question(
        id="01-even-odd",
        kind="trace",
        title="Even ranks of seven",
        section="1.7",
        parts=(
            Part(
                "in the even branch",
                "ranks",
                lambda: sum(rank % 2 == 0 for rank in range(7)),
                tolerance=0,
                slips=(Slip("Rank 0 is even.", value=lambda: sum(rank % 2 == 1 for rank in range(7))),),
            ),
        ),
        derivation="The ranks are $0, 1, \\ldots, 6$, and $r \\bmod 2$ is 0 for every second one, the first "
        "among them.",
    ),
)

GROUPS = (
    Question(
        id="01-group-count",
        kind="derive",
        title="Pipeline groups of 8,192 ranks",
        section="1.8",
        parts=(
            Part(
                "pipeline groups",
                "groups",
                lambda: len(_groups("pp")),
                tolerance=0,
                slips=(
                    Slip("That is how many ranks are in one of them.", value=lambda: len(_groups("pp")[0])),
                    Slip("Those are the tensor groups.", value=lambda: len(_groups("tp"))),
                    Slip("Those are the data groups.", value=lambda: len(_groups("dp"))),
                ),
            ),
        ),
        derivation="There is one pipeline group for every choice of the other positions: $64 \\cdot 8$. Together they "
        "hold all ranks, 16 in each.",
    ),
    Question(
        id="01-coordinates-405b",
        kind="trace",
        title="Where rank 5000 stands",
        section="1.8",
        parts=(
            Part(
                "data-parallel index",
                "",
                lambda: ranks.coordinates(5000, LAYOUT)["dp"],
                tolerance=0,
                slips=(
                    Slip(
                        "dp and pp are swapped: dp is the slowest axis.",
                        value=lambda: ranks.coordinates(5000, SWAPPED)["dp"],
                    ),
                    Slip("Divide by what one step along dp skips, not by the size of dp.", value=lambda: 5000 // 64),
                ),
            ),
        ),
        derivation="One step along the slowest axis skips all ranks of the faster ones: $16 \\cdot 8$. So the index is "
        "$\\lfloor 5000 / (16 \\cdot 8) \\rfloor$.",
    ),
    Question(
        id="01-stride",
        kind="derive",
        title="The stride of a pipeline group",
        section="1.8",
        parts=(
            Part(
                "difference of neighbours in a group",
                "",
                lambda: _step("pp"),
                tolerance=0,
                slips=(
                    Slip("That is the stride of dp.", value=lambda: _step("dp")),
                    Slip("That is the size of the axis: the stride is the product of the faster axes.", value=16),
                    Slip("dp is faster than pp, and so is tp: multiply both.", value=64),
                ),
            ),
        ),
        derivation="The stride of an axis is the product of the sizes of all faster ones, those listed after it: here "
        "$64 \\cdot 8$.",
    ),
    Choice(
        id="01-tp-in-node",
        kind="design",
        title="An order for nodes of eight",
        section="1.8",
        options=(
            "tp last, and dp first: dp, pp, tp",
            "tp last, and dp in the middle: pp, dp, tp",
            "pp last: dp, tp, pp",
            "dp last: pp, tp, dp",
        ),
        correct=0,
        derivation="The last axis has stride 1: with tp there, and 8 ranks on a node, a tensor group is a node. "
        "The axis before it has stride 8, so its neighbours sit on neighbouring nodes; the first axis has the "
        "largest stride, and its neighbours are the farthest apart.",
        slips={
            1: "No tensor group leaves its node, but dp has stride 8: its partners sit on adjacent nodes.",
            2: "tp has stride 2 there: every tensor group spans 2 nodes.",
            3: "tp has stride 4 there: every tensor group spans 4 nodes.",
        },
    ),
)

SHARDS = (
    Question(
        id="01-sampler-padding",
        kind="derive",
        title="Samples visited twice",
        section="1.9",
        parts=(
            Part(
                "visited twice",
                "samples",
                lambda: 64 * _visits() - 50_000,
                tolerance=0,
                slips=(
                    Slip(
                        "So many would be left out with drop_last.", value=lambda: 50_000 - 64 * _visits(drop_last=True)
                    ),
                    Slip("So many does one rank visit.", value=_visits),
                ),
            ),
        ),
        derivation="Every rank makes $\\lceil 50000 / 64 \\rceil$ visits. What all of them make together, less "
        "the size of the data set, is repeated from the start of the order.",
    ),
    Question(
        id="01-eval-bias",
        kind="trace",
        title="Accuracy over padded shards",
        section="1.9",
        parts=(
            Part(
                "accuracy over all visits, as a fraction",
                "",
                _accuracy_over_visits,
                tolerance=0.015,  # 0.33 is right
                slips=(
                    Slip(
                        "That is in percent: a fraction of 1 is asked for.",
                        value=lambda: 100 * _accuracy_over_visits(),
                    ),
                    Slip("That is how many visits are right: divide by all visits.", value=4),
                    Slip(
                        "That is the true accuracy: but samples 0 and 1 are visited twice.",
                        value=lambda: sharding.debug_eval([1.0] * 2 + [0.0] * 8, 4),
                    ),
                    Slip("Each of the two counts twice, and so do the visits: 12, not 10.", value=lambda: 4 / 10),
                ),
            ),
        ),
        derivation="Four ranks make $\\lceil 10 / 4 \\rceil$ visits each, 12 together. The two that are repeated "
        "are the first two of the order, samples 0 and 1, which are the right ones: 4 right visits of 12.",
    ),
    Choice(
        id="01-forgot-set-epoch",
        kind="trace",
        title="An epoch that is never told",
        section="1.9",
        options=(
            "every epoch has the same order, and every rank its same samples",
            "every rank visits all samples",
            "some samples are visited by two ranks, others by none",
            "the sampler raises an error in the second epoch",
        ),
        correct=0,
        derivation="The order is a permutation drawn with `seed + epoch`. Without `set_epoch` the epoch stays 0: the "
        "permutation is the same each time. It is still the same on all ranks, so the shards do not overlap.",
        slips={
            1: "The shards are cut as before: a rank has its share.",
            2: "All ranks draw with the same seed, so their shards still fit together.",
            3: "Nothing notices: that is what makes it hard to find.",
        },
    ),
)

QUESTIONS = (*PROCESSES, *PLACES, *GROUPS, *SHARDS)
