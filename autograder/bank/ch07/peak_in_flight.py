"""Chapter 7: ``peak_in_flight``, activations in flight."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, invalid, lazily

pipeline = lazily("solutions.ch07.pipeline")


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


def _not_held(rng: Random) -> list[Case]:
    stage = rng.randrange(8)
    ops = (["F0", "B1"], ["B0", "F0"], ["F0", "B0", "B0"], ["F0", "W1"], ["F0", "I1"])
    return [invalid([f"{stage}{op}" for op in order]) for order in ops]


EXERCISE = Build(
    "07 pipeline.peak_in_flight",
    section="7.16",
    topic="activations in flight",
    bonus=True,
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
        listed("schedules", _of_each, "One more at a forward, one less when its activations are free."),
        Group("random orders", _shuffled, 8, "Whatever the order, count what is held after each operation."),
        Group("nothing", lambda rng: Case(([],)), 1, "An empty order holds nothing."),
        one_of_each("not held", _not_held, "A backward of a micro-batch that is not held must raise ValueError."),
    ),
    slips=(
        Slip(
            "That is the number of micro-batches, but backwards free some of them along the way.",
            edit=("return peak", "return 1 + max((number for _, _, number in ops), default=-1)"),
        ),
        Slip(
            "The forward itself counts, too: when it ends, its own activations are held.",
            edit=(
                "held.add((stage, microbatch))\n            peak = max(peak, len(held))",
                "peak = max(peak, len(held))\n            held.add((stage, microbatch))",
            ),
        ),
        Slip("That counts forwards and frees nothing.", edit=("peak = max(peak, len(held))", "peak += 1")),
        Slip(
            "I frees nothing: W still needs the inputs of the layers.",
            edits=(
                ("elif (stage, microbatch) not in held:", 'elif kind != "W" and (stage, microbatch) not in held:'),
                ('elif kind != "I":', 'elif kind != "W":'),
            ),
        ),
        Slip(
            "Chunks of one micro-batch on one rank hold activations of their own.",
            edit=("len(held)", "len({number for _, number in held})"),
        ),
        Slip(
            "Backwards of micro-batches that are not held were accepted: they must raise ValueError.",
            slip_any_backward,
        ),
    ),
    promises=(
        Promise(
            "The gradient of the input alone, I, frees nothing.",
            edits=(
                ("elif (stage, microbatch) not in held:", 'elif kind != "W" and (stage, microbatch) not in held:'),
                ('elif kind != "I":', 'elif kind != "W":'),
            ),
        ),
        Promise("may be empty", edit=("    peak = 0\n", "    peak = 0 * len(order[0])\n")),
        Promise("micro-batches of each chunk count", edit=("len(held)", "len({number for _, number in held})")),
        Promise("or the gradient of the weights W, frees them", edit=('elif kind != "I":', 'elif kind == "B":')),
    ),
)
