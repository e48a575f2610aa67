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


def _visits(drop_last: bool = False) -> int:
    """Visits of one of 64 ranks to 50,000 samples."""
    return len(sharding.shard_indices(50_000, 64, 0, drop_last=drop_last))


def _accuracy_over_visits() -> float:
    """Samples 0 and 1 of 10 are right; 4 ranks, padded."""
    visits = [sample for rank in range(4) for sample in sharding.shard_indices(10, 4, rank)]
    return sum(sample in (0, 1) for sample in visits) / len(visits)


PROCESSES = (
    Choice(
        id="01-nobody-first",
        kind="trace",
        title="When rank 0 waits as well",
        section="1.1",
        options=(
            "nothing is printed: every rank waits for another one",
            "rank 0 gets an error, because no rank -1 exists",
            "rank 0 waits, and ranks 1 to 3 print as before",
            "the same four lines are printed, only later",
        ),
        correct=0,
        derivation="The rank before rank 0 is taken modulo the number of ranks, so it is rank 3. Follow the waits: 0 "
        "waits for 3, 3 for 2, 2 for 1, and 1 for 0. Each would send after its receive, and no receive ever ends.",
        slips={
            1: "$(0 - 1) \\bmod 4$ is 3, a rank that exists: the call is valid, and it waits.",
            2: "Rank 1 waits for rank 0's message, and rank 0 sends only after its own receive.",
            3: "Somebody has to send first, and now nobody does.",
        },
    ),
    Choice(
        id="01-why-processes",
        kind="trace",
        title="One process per device",
        section="1.2",
        options=(
            "because they run Python in parallel, crash alone, and can span machines",
            "because the lock keeps two threads from multiplying matrices at once",
            "because the threads of one process cannot use different devices",
            "because tensors move faster between processes than between threads",
        ),
        correct=0,
        derivation="Matrix products, backward passes and communication release the interpreter's lock, so threads do "
        "overlap in them. What stays serial is the Python that starts them. A process has an interpreter and a memory "
        "of its own, so it crashes alone, and it can run on any machine.",
        slips={
            1: "A matrix product releases the lock while it computes, so two threads do overlap there.",
            2: "One process can use all devices of its node. Older data-parallel code did, with threads.",
            3: "Threads share memory and need no copy at all: that is an argument for threads.",
        },
    ),
    Choice(
        id="01-order-of-arrival",
        kind="trace",
        title="Order in a world of eight",
        section="1.3",
        options=(
            "it is in rank order, although the ranks reach the call in any order",
            "it is in the order in which the ranks reached the call",
            "it is in rank order, because the ranks reach the call in rank order",
            "it starts with the rank's own pair, so it differs from rank to rank",
        ),
        correct=0,
        derivation="An all-gather promises where each value ends up: entry $r$ is what rank $r$ handed in. It promises "
        "nothing about when anybody calls it; the operating system decides that, differently in every run.",
        slips={
            1: "Then each run would give a different list. The place in the list is the sender's rank.",
            2: "Nothing makes rank 0 call first: four independent processes run at their own pace.",
            3: "The list is the same on every rank: rank 5's own pair is at place 5.",
        },
    ),
    Choice(
        id="01-who-sets-it",
        kind="trace",
        title="Variables that a plain spawn sets",
        section="1.4",
        options=(
            "none of the five",
            "two: RANK and WORLD_SIZE",
            "four: all but LOCAL_RANK",
            "all five",
        ),
        correct=0,
        derivation="Spawning starts processes and hands over arguments; the environment is inherited as it is. A "
        "launcher such as torchrun adds the five variables. Without one, the script has to set them itself, or pass "
        "address, rank and world size as arguments.",
        slips={
            1: "The rank is an argument of the function that is spawned. Nothing writes it into the environment.",
            2: "Nobody told the spawn where to meet, so it cannot set an address and a port either.",
            3: "That is what torchrun does.",
        },
    ),
)

PLACES = (
    Choice(
        id="01-device-of-rank",
        kind="debug",
        title="The device of rank 9",
        section="1.5",
        options=(
            "it fails on ranks 8 to 15: no node has a device with that number",
            "it works: device 9 is the second device of the second node",
            "it fails on every rank, because a device needs a name and not a number",
            "it works, but ranks 8 to 15 share the devices of the first node",
        ),
        correct=0,
        derivation="Devices are numbered on each node, from 0 to 7. Rank 9 is on node 1, where its local rank is "
        "$9 \\bmod 8 = 1$. The program works on the first node, where the two numbers agree, and fails on the second.",
        slips={
            1: "A process sees the devices of its own node, numbered from 0: there is no device 9.",
            2: "A number is a valid name for a CUDA device, and ranks 0 to 7 get the right one.",
            3: "A process cannot reach devices of another machine.",
        },
    ),
)

GROUPS = (
    Question(
        id="01-coordinates-405b",
        kind="trace",
        title="Where rank 5000 is",
        section="1.6",
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
                    Slip("Divide by the stride of dp, not by its size.", value=lambda: 5000 // 64),
                ),
            ),
        ),
        derivation="The stride of the slowest axis is the product of the sizes of the others, $16 \\cdot 8$. So the "
        "index is $\\lfloor 5000 / (16 \\cdot 8) \\rfloor$.",
    ),
    Choice(
        id="01-tp-in-node",
        kind="design",
        title="An order for nodes of eight",
        section="1.6",
        options=(
            "dp, pp, tp",
            "pp, dp, tp",
            "dp, tp, pp",
            "pp, tp, dp",
        ),
        correct=0,
        derivation="The last axis has stride 1: with tp there, and 8 ranks on a node, a tensor group is a node. "
        "The axis before it has stride 8, one node further: with pp there, both stages are on neighboring nodes. The "
        "first axis has the largest stride, and dp, which communicates once a step, can best afford the distance.",
        slips={
            1: "No tensor group leaves its node, but pp has stride 32: its two stages are four nodes apart.",
            2: "tp has stride 2 there: every tensor group spans 2 nodes.",
            3: "tp has stride 4 there: every tensor group spans 4 nodes.",
        },
    ),
    Choice(
        id="01-own-groups-only",
        kind="debug",
        title="Each rank makes its own groups",
        section="1.6",
        options=(
            "it differs from run to run: a hang, or wrong sums",
            "the same sums as before, with half as many calls",
            "an error on every rank: the calls do not match",
            "a hang in every run: all ranks wait in new_group",
        ),
        correct=0,
        derivation="Each process counts the groups it has made, and members meet by that count. Rank 0's first "
        "group is [0, 2] and rank 1's first group is [1, 3]. Both are number 1, so ranks meet that do not belong "
        "together. Whether they hang or add up wrong numbers depends on who arrives first.",
        slips={
            1: "With fewer calls the counts differ from rank to rank, and two groups get the same number.",
            2: "Nobody compares the calls, and that is the trouble: a wrong meeting looks like a right one.",
            3: "That happens in some runs. In others all ranks finish, with wrong sums.",
        },
    ),
    Question(
        id="01-group-count",
        kind="derive",
        title="Pipeline groups of 8,192 ranks",
        section="1.11",
        bonus=True,
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
)

SHARDS = (
    Question(
        id="01-sampler-padding",
        kind="derive",
        title="Samples visited twice",
        section="1.12",
        bonus=True,
        parts=(
            Part(
                "visited twice",
                "samples",
                lambda: 64 * _visits() - 50_000,
                tolerance=0,
                slips=(
                    Slip(
                        "That many would be left out with drop_last.",
                        value=lambda: 50_000 - 64 * _visits(drop_last=True),
                    ),
                    Slip("That is how many one rank visits.", value=_visits),
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
        section="1.12",
        bonus=True,
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
        title="A sampler that is never told the epoch",
        section="1.7",
        options=(
            "every epoch has the same order, and every rank repeats its samples",
            "every epoch has a different order, but every rank visits all samples",
            "some samples are visited by two ranks, others by none",
            "the sampler raises an error in the second epoch",
        ),
        correct=0,
        derivation="The order is a permutation drawn with `seed + epoch`. Without `set_epoch` the epoch stays 0: the "
        "permutation is the same each time. It is still the same on all ranks, so the shards do not overlap.",
        slips={
            1: "The order does not change, and it is still dealt out: a rank gets only its share.",
            2: "All ranks draw with the same seed, so their shards still fit together.",
            3: "Nothing checks it, and that makes the mistake hard to find.",
        },
    ),
)

QUESTIONS = (*PROCESSES, *PLACES, *GROUPS, *SHARDS)
