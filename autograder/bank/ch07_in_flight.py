"""Chapter 07: how many micro-batches a rank of a pipeline holds."""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated,index"

from __future__ import annotations

from random import Random

from autograder.bank.ch07_schedules import NAMES
from autograder.bank.ch07_words import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid, lazily

pipeline = lazily("solutions.pipeline")


def slip_always_p(order):
    import re

    ops = [re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", op) for op in order]
    if not all(ops):
        raise ValueError("an operation")
    held = set()
    for op in ops:
        if op[2] == "F":
            held.add((op[1], op[3]))
        elif (op[1], op[3]) not in held:
            raise ValueError("a backward before its forward")
        elif op[2] != "I":
            held.discard((op[1], op[3]))
    return max((int(op[3]) for op in ops), default=-1) + 1


def slip_before_the_last(order):
    import re

    held, peak = set(), 0
    for text in order:
        op = re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", text)
        if not op:
            raise ValueError("an operation")
        key = (op[1], op[3])
        if op[2] == "F":
            peak = max(peak, len(held))
            held.add(key)
        elif key not in held:
            raise ValueError("a backward before its forward")
        elif op[2] != "I":
            held.remove(key)
    return peak


def slip_all_forwards(order):
    import re

    held, total = set(), 0
    for text in order:
        op = re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", text)
        if not op:
            raise ValueError("an operation")
        key = (op[1], op[3])
        if op[2] == "F":
            held.add(key)
            total += 1
        elif key not in held:
            raise ValueError("a backward before its forward")
        elif op[2] != "I":
            held.remove(key)
    return total


def slip_freed_at_input(order):
    import re

    held, stored, peak = set(), set(), 0
    for text in order:
        op = re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", text)
        if not op:
            raise ValueError("an operation")
        key = (op[1], op[3])
        if op[2] == "F":
            held.add(key)
            stored.add(key)
            peak = max(peak, len(held))
        elif key not in stored:
            raise ValueError("a backward before its forward")
        elif op[2] != "W":
            held.discard(key)
    return peak


def slip_never_freed_whole(order):
    import re

    held, peak = set(), 0
    for text in order:
        op = re.fullmatch(r"([0-9]+)([FBIW])([0-9]+)", text)
        if not op:
            raise ValueError("an operation")
        stage, kind, number = op.groups()
        if kind == "F":
            held.add((stage, number))
            peak = max(peak, len({number for _, number in held}))
        elif (stage, number) not in held:
            raise ValueError("a backward before its forward")
        elif kind != "I":
            held.remove((stage, number))
    return peak


def slip_any_backward(order):
    held = peak = 0
    for op in order:
        held += "F" in op
        peak = max(peak, held)
        held -= "B" in op or "W" in op
    return peak


def _rank_order(rng: Random, name: str) -> Case:
    ranks = rng.randint(3, 8)
    if name == "interleaved":
        orders = pipeline.pipeline_schedule(name, ranks, ranks * 2, rng.randint(2, 3))
        return Case((orders[0],))
    orders = pipeline.pipeline_schedule(name, ranks, rng.randint(ranks + 1, 20))
    return Case((orders[rng.randrange(ranks - 1)],))


def _of_each(rng: Random) -> list[Case]:
    return [_rank_order(rng, name) for name in ("1f1b", "1f1b", "1f1b", "interleaved", "interleaved", "zb-h1", "zb-h1")]


def _any_order(rng: Random) -> Case:
    return _rank_order(rng, rng.choice(NAMES))


def _shuffled(rng: Random) -> Case:
    """A random legal order of one rank: what waits, and what may come next."""
    halves, count = rng.random() < 0.6, rng.randint(4, 10)
    chains = [[f"2{kind}{i}" for kind in ("FIW" if halves else "FB")] for i in range(count)]
    order = []
    while chains:
        chain = rng.choice(chains)
        order.append(chain.pop(0))
        chains = [left for left in chains if left]
    return Case((order,))


def _bad_release(rng: Random) -> list[Case]:
    stage = rng.randrange(8)
    ops = (["F0", "B1"], ["B0", "F0"], ["F0", "B0", "B0"], ["F0", "W1"], ["F0", "X0"], ["F0", "F"])
    return [invalid([f"{stage}{op}" for op in order]) for order in ops]


PEAK = Build(
    id="07-peak-in-flight",
    module="pipeline",
    function="peak_in_flight",
    grade="call",
    section="7.4",
    topic="activations in flight",
    cases=(
        Case((["0F0", "0F1", "0F2", "0B0", "0B1", "0B2"],)),
        Case((["3F0", "3B0", "3F1", "3B1", "3F2", "3B2"],)),
        Case((["1F0", "1F1", "1I0", "1F2", "1I1", "1W0", "1F3", "1I2", "1W1", "1I3", "1W2", "1W3"],)),
        Case((["0F0", "0F1", "2F0", "2F1", "0F2", "2B0", "0F3", "2B1", "2F2", "0B0"],)),
        Case(([],)),
        invalid(["0F0", "0B1"]),
        invalid(["0B0", "0F0"]),
    ),
    groups=(
        Group("schedules", _any_order, 7, "One more at a forward, one less when its activations are free.", _of_each),
        Group("random orders", _shuffled, 8, "Whatever the order, count what is held after each operation."),
        Group("nothing", lambda rng: Case(([],)), 1, "An empty order holds nothing."),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_release(rng)),
            6,
            "What frees activations that are not held, and what is no operation, must raise ValueError.",
            _bad_release,
        ),
    ),
    slips=(
        Slip("That is the number of micro-batches: backwards free them on the way.", slip_always_p),
        Slip("A forward counts, too: when it ends, its own activations are held.", slip_before_the_last),
        Slip("That counts forwards and frees nothing.", slip_all_forwards),
        Slip("I frees nothing: W still needs the inputs of the layers.", slip_freed_at_input),
        Slip("Chunks of one micro-batch on one rank hold activations of their own.", slip_never_freed_whole),
        Slip(UNCHECKED.format("a backward before its forward, an operation of no kind"), slip_any_backward),
    ),
)

ITEMS = (PEAK,)
