"""Chapter 7: ``simulate_schedule``, pipeline schedules."""

from __future__ import annotations

import re
from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.ch07.shared import gpipe, one_by_one
from autograder.items import Build, Case, Group, Promise, Right, Slip, invalid, lazily

pipeline = lazily("solutions.ch07.pipeline")

#: Two chunks on each of two ranks; and three stages whose backwards are halves (Qi et al., ZB-H1).
CHUNKS = [
    ["0F0", "0F1", "2F0", "2F1", "0F2", "2B0", "0F3", "2B1", "2F2", "0B0", "2F3", "0B1", "2B2", "2B3", "0B2", "0B3"],
    ["1F0", "1F1", "3F0", "3B0", "3F1", "3B1", "1F2", "1B0", "1F3", "1B1", "3F2", "3B2", "3F3", "3B3", "1B2", "1B3"],
]

HALVES = [
    ["0F0", "0F1", "0F2", "0I0", "0W0", "0F3", "0I1", "0W1", "0I2", "0W2", "0I3", "0W3"],
    ["1F0", "1F1", "1I0", "1F2", "1I1", "1W0", "1F3", "1I2", "1W1", "1I3", "1W2", "1W3"],
    ["2F0", "2I0", "2F1", "2I1", "2F2", "2I2", "2W0", "2F3", "2I3", "2W1", "2W2", "2W3"],
]

WHOLE = {"F": 1.0, "B": 2.0}
SLOW = WHOLE | {"3F": 1.23, "3B": 2.46}
CROSSED = [["0F0", "0B0", "0F1", "0B1"], ["1F1", "1B1", "1F0", "1B0"]]


def _seconds(rng: Random, stages: int) -> dict[str, float]:
    """Durations by kind, and some by stage."""
    durations = {kind: rng.randint(4, 32) / 8 for kind in "FBIW"}
    for _ in range(rng.randint(1, 3)):
        durations[f"{rng.randrange(stages)}{rng.choice('FBIW')}"] = rng.randint(4, 64) / 8
    return durations


def _played(rng: Random, name: str, hop: float = 0.0) -> Case:
    ranks, chunks = rng.randint(3, 5), 2 if name == "interleaved" else 1
    count = ranks * 2 if name == "interleaved" else rng.randint(ranks, ranks + 5)
    orders = pipeline.pipeline_schedule(name, ranks, count, chunks)
    durations = _seconds(rng, ranks * chunks)
    return Case((orders, durations, hop) if hop else (orders, durations))


NAMES = ("1f1b", "gpipe", "zb-h1", "interleaved")


def _free(rng: Random) -> Case:
    return _played(rng, rng.choice(NAMES))


def _free_of_each(rng: Random) -> list[Case]:
    return [*(_played(rng, name) for name in NAMES), _renumbered(rng)]


def _renumbered(rng: Random) -> Case:
    """1F1B in which the micro-batches run in the same order on all ranks, but not in that of their numbers."""
    ranks, count = rng.randint(3, 5), rng.randint(5, 9)
    numbers = rng.sample(range(count), count)
    while numbers == sorted(numbers):
        rng.shuffle(numbers)
    rows = [[re.split("([FB])", op) for op in order] for order in one_by_one(ranks, count)]
    orders = [[f"{stage}{kind}{numbers[int(number)]}" for stage, kind, number in row] for row in rows]
    return Case((orders, _seconds(rng, ranks)))


def _hop(rng: Random) -> Case:
    return _played(rng, rng.choice(NAMES), rng.randint(1, 16) / 16)


def _hop_of_each(rng: Random) -> list[Case]:
    return [_played(rng, name, rng.randint(1, 16) / 16) for name in NAMES]


def _forwards(rng: Random) -> Case:
    ranks, count = rng.randint(2, 5), rng.randint(2, 6)
    orders = [[f"{rank}F{i}" for i in range(count)] for rank in range(ranks)]
    return Case((orders, {"F": rng.randint(1, 16) / 8, "1F": rng.randint(1, 32) / 8}, 0.25))


def _stuck(rng: Random) -> list[Case]:
    """Orders in which some ranks wait forever."""
    ranks, count = rng.randint(3, 5), rng.randint(3, 6)
    cases = []
    for early in range(2):  # the last stage's backward before its forward
        orders = one_by_one(ranks, count)
        last = orders[-1]
        at = last.index(f"{ranks - 1}F{early}")
        last[at : at + 2] = [last[at + 1], last[at]]
        cases.append(invalid(orders, WHOLE))
    backwards = gpipe(ranks, count)
    middle = rng.randrange(1, ranks - 1)
    backwards[middle] = [f"{middle}{kind}{i}" for i in range(count) for kind in "FB"]
    backwards[middle + 1] = gpipe(ranks, count)[middle + 1]
    cases.append(invalid(backwards, WHOLE))
    early_weight = [order[:] for order in HALVES]
    early_weight[0].remove("0W0")
    early_weight[0].insert(1, "0W0")
    cases.append(invalid(early_weight, {"F": 1, "I": 1, "W": 1}))
    return cases


def _incomplete(rng: Random) -> list[Case]:
    """Schedules with an operation missing or twice, or with a stage on two ranks."""
    orders = one_by_one(3, 4)
    twice = [[*order] for order in orders]
    twice[1].append("1F1" if rng.random() < 0.5 else "1B2")
    moved = [[*order] for order in orders]
    moved[2].append(moved[1].pop())
    skipped = [[op.replace("1", "3", 1) if op[0] == "1" else op for op in order] for order in orders]
    missing = [[*order] for order in orders]
    missing[1].remove(rng.choice(["1B3", "1F3"]))
    half = [[*order] for order in HALVES]
    half[2].remove("2W3")
    return [
        invalid(twice, WHOLE),
        invalid(moved, WHOLE),
        invalid(skipped, WHOLE),
        invalid(missing, WHOLE),
        invalid(half, {"F": 1, "I": 1, "W": 1}),
    ]


def simulated_from_the_front(orders, durations, transfer_time=0.0):
    """Every start is the longest path from the first start: a search from the end backwards, with a memory."""
    from solutions.ch07.pipeline import simulate_schedule

    simulate_schedule(orders, durations, transfer_time)  # which refuses what must be refused
    home = {op: (rank, index) for rank, order in enumerate(orders) for index, op in enumerate(order)}
    times: dict[str, tuple[float, float]] = {}

    def parts(op):
        kind = next(letter for letter in "FBIW" if letter in op)
        stage, number = op.split(kind)
        return int(stage), kind, number

    def end(op):
        if op in times:
            return times[op][1]
        (stage, kind, number), (rank, place) = parts(op), home[op]
        waits = [f"{stage - 1}F{number}"] if kind == "F" else [f"{stage}{'I' if kind == 'W' else 'F'}{number}"]
        if kind in "BI":
            waits += [f"{stage + 1}B{number}", f"{stage + 1}I{number}"]
        arrivals = [end(wait) + (transfer_time if home[wait][0] != rank else 0) for wait in waits if wait in home]
        start = max([0.0, *arrivals, *([end(orders[rank][place - 1])] if place else [])])
        times[op] = (start, start + durations.get(f"{stage}{kind}", durations.get(kind)))
        return times[op][1]

    for op in home:
        end(op)
    return times


EXERCISE = Build(
    "07 pipeline.simulate_schedule",
    section="7.15",
    topic="pipeline schedules",
    bonus=True,
    cases=(
        Case((one_by_one(2, 2), WHOLE)),
        Case((gpipe(4, 8), WHOLE)),
        Case((one_by_one(4, 8), WHOLE)),
        Case((gpipe(4, 8), WHOLE, 0.5)),
        Case((one_by_one(4, 8), WHOLE, 0.5)),
        Case((one_by_one(4, 8), SLOW)),
        Case((one_by_one(3, 1), {"F": 0.04, "B": 0.08}, 0.005)),
        Case((CHUNKS, {"F": 0.5, "B": 1.0}, 0.1)),
        Case((HALVES, {"F": 1, "I": 1, "W": 1})),
        Case(([["0F0", "0F1"], ["1F0", "1F1"]], {"F": 1.0})),
        invalid(CROSSED, WHOLE),
        invalid([["0B0", "0F0"]], WHOLE),
        invalid([["0F0", "0F0", "0B0"]], WHOLE),
        invalid([["0F0"], ["1F0", "1B0"]], WHOLE),
    ),
    groups=(
        Group(
            "free transfers",
            _free,
            7,
            "An operation starts when its rank is free and what it waits for has ended.",
            _free_of_each,
        ),
        Group(
            "transfers that take time",
            _hop,
            6,
            "What comes from another rank arrives a transfer time later; on the same rank it is available at once.",
            _hop_of_each,
        ),
        Group("forwards alone", _forwards, 2, "A schedule may have no backwards at all."),
        one_of_each(
            "schedules that cannot run",
            lambda rng: [*_stuck(rng), *_incomplete(rng)],
            "Ranks that wait for one another, or for themselves, are in a deadlock; an operation that is missing, or "
            "there twice, or a stage on two ranks, is no schedule: ValueError.",
        ),
    ),
    slips=(
        Slip(
            "The transfer time was also added between operations on the same rank, where nothing is sent.",
            edit=("transfer_time if homes[source[0]] != homes[stage] else 0.0", "transfer_time"),
        ),
        Slip(
            "A backward waited for the stage before it: the gradient comes from the stage after it.",
            edit=('(stage + 1, "B")', '(stage - 1, "B")'),
        ),
        Slip(
            "The last stage went backward before its own forward.",
            edit=('[(stage, "F"), (stage + 1, "B")]', '[(stage, "F"), (stage + 1, "B")] if stage + 1 in homes else []'),
        ),
        Slip(
            "Operations started while their rank was busy: a rank does one thing at a time.",
            edit=("max([clock[rank], *(", "max([0.0, *("),
        ),
        Slip(
            "A rank took whatever was ready, but it has to keep to the order of its list.",
            edit=(
                "    place, clock = [0] * len(ops), [0.0] * len(ops)\n",
                "    todo, clock = [list(order) for order in ops], [0.0] * len(ops)\n"
                "    while any(todo):\n"
                "        free = []\n"
                "        for rank, order in enumerate(todo):\n"
                "            for at, (stage, kind, i) in enumerate(order):\n"
                "                starts = [clock[rank], *(row[i] + delay for row, delay in inputs[stage, kind])]\n"
                "                free += [] if any(map(math.isnan, starts)) else [(max(starts), rank, at)]\n"
                "        start, rank, at = min(free)\n"
                "        stage, kind, i = todo[rank].pop(at)\n"
                "        ends[stage, _PHASES[kind]][i] = clock[rank] = start + seconds[stage, kind]\n"
                '        times[f"{stage}{kind}{i}"] = (start, clock[rank])\n'
                "    return times\n",
            ),
        ),
        Slip(
            "The transfer time was left out.",
            edit=("transfer_time if homes[source[0]] != homes[stage] else 0.0", "0.0"),
        ),
        Slip(
            "Impossible schedules were accepted: operations that are missing or there twice, stages on two ranks.",
            edits=(
                ("if homes.setdefault(stage, rank) != rank:", "if homes.setdefault(stage, rank) < 0:"),
                ("if forwards != every or sorted(whole + inputs) != backwards or inputs != weights:", "if False:"),
            ),
        ),
    ),
    rights=(
        Right("the longest path", program=simulated_from_the_front),
        Right(
            "arrivals compared before the clock",
            edits=(
                ("max([clock[rank], *(", "max([0.0, *("),
                (
                    "= clock[rank] = start + seconds[stage, kind]",
                    "= clock[rank] = max(start, clock[rank]) + seconds[stage, kind]",
                ),
                ("= (start, row[i])", "= (row[i] - seconds[stage, kind], row[i])"),
            ),
        ),
    ),
    promises=(
        Promise(
            "for B or I(s+1, i) unless s is the last stage",
            edit=('[(stage, "F"), (stage + 1, "B")]', '[(stage, "F"), (stage + 1, "B")] if stage + 1 in homes else []'),
        ),
        Promise(
            "B(s, i), or I(s, i), waits for F(s, i), and for B or I(s+1, i) unless s is the last stage",
            edit=(
                '[(stage, "F"), (stage + 1, "B")]',
                '[(stage, "F"), (max(ends)[0], "B")] if stage < max(ends)[0] else [(stage, "F")]',
            ),
        ),
        Promise("each as early as possible", edit=("max([clock[rank], *(", "max([*clock, *(")),
        Promise(
            "the sender goes on at once",
            edits=(
                ("clock[rank] = start + seconds[stage, kind]", "start + seconds[stage, kind]"),
                (
                    "            times[orders[rank][place[rank]]] = (start, row[i])\n",
                    "            times[orders[rank][place[rank]]] = (start, row[i])\n"
                    "            other = homes.get(stage + (1 if kind == 'F' else -1), rank)\n"
                    "            clock[rank] = row[i] + (transfer_time if other != rank and kind != 'W' else 0)\n",
                ),
            ),
        ),
        Promise(
            "arrives ``transfer_time`` after its end",
            edit=("transfer_time if homes[source[0]] != homes[stage] else 0.0", "0.0"),
        ),
        Promise(
            "What comes from another rank",
            edit=("transfer_time if homes[source[0]] != homes[stage] else 0.0", "transfer_time"),
        ),
        Promise("or no stage runs any backward", edit=(' if any(kind != "F" for _, kind in runs) else []', "")),
        Promise(
            'seconds by stage and kind, ``"3F"``, or else by kind',
            edit=(
                'durations.get(f"{stage}{kind}", durations.get(kind, 0.0))',
                'durations.get(kind, durations.get(f"{stage}{kind}", 0.0))',
            ),
        ),
        Promise(
            "W(s, i) waits for I(s, i)",
            edit=('{"F": [(stage - 1, "F")], "W": [(stage, "B")]}', '{"F": [(stage - 1, "F")], "W": []}'),
        ),
    ),
)
