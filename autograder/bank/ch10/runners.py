"""Chapter 10: a model behind graphs, and a replay to be corrected."""

from __future__ import annotations

from random import Random

from autograder.bank.ch10.wrong_graph_runners import GRAPH_RUNNER
from autograder.items import Build, Case, Debug, Group, Slip, Tensor


def _sizes(rng: Random) -> list[int]:
    return rng.sample(range(2, 13), 3)


def _below(rng: Random) -> Case:
    sizes = _sizes(rng)
    rows = [rng.randint(1, max(sizes)) for _ in range(rng.randint(4, 8))]
    return Case((sizes, rng.randint(1, 5), [max(sizes) - 1, 1, *rows]))


def _beyond(rng: Random) -> Case:
    sizes = _sizes(rng)
    rows = [max(sizes) + rng.randint(1, 4), rng.randint(1, min(sizes)), max(sizes) + 1]
    return Case((sizes, rng.randint(1, 5), [*rows, max(sizes)]))


def _one_row(rng: Random) -> Case:
    """The same size again and again, first full and then nearly empty."""
    size = rng.randint(3, 8)
    return Case(([size], rng.randint(2, 5), [size, 1, size - 1, 1, 2]))


def _mixing(rng: Random) -> Case:
    size = rng.randint(4, 9)
    return Case(([size, size + 3], rng.randint(2, 4), [size, 1, rng.randint(2, size - 1)], True))


RUNNER = Build(
    id="10-graph-runner",
    module="graph_runner",
    function="GraphRunner",
    grade="tensor",
    section="10.3",
    topic="graphs",
    probe="ch10_graphs.batches",
    tolerance=1e-12,
    cases=(
        Case(([8, 2, 4], 3, [3, 1, 4, 2])),
        Case(([4], 2, [4, 1, 3], True)),
        Case(([2], 3, [5, 2])),
    ),
    groups=(
        Group(
            "batches in any order", _below, 4, "Copy in, replay, copy out; each answer is read at the end of all calls."
        ),
        Group(
            "larger than all",
            _beyond,
            3,
            "A batch beyond the largest size runs without a graph and without gradients.",
        ),
        Group("one size", _one_row, 2, "One graph serves all batches of its size."),
        Group("what the padding holds", _mixing, 3, "The padding is zero, at every call."),
    ),
    slips=GRAPH_RUNNER,
)


def wrong_graph(graph, x, y, new):
    x = new.clone()
    graph.replay()
    return y[: len(x)]


def _inputs(rng: Random) -> Case:
    width = rng.randint(1, 6)
    rows = [Tensor.of([rng.uniform(-5, 5) for _ in range(width)], "float64") for _ in range(rng.randint(2, 5))]
    return Case((rows,))


DEBUG_GRAPH = Debug(
    id="10-debug-graph",
    module="graph_runner",
    function="debug_graph",
    grade="tensor",
    section="10.2",
    topic="graphs",
    probe="ch10_graphs.replayed",
    tolerance=1e-12,
    cases=(
        Case(([Tensor.of([1.0, 2.0], "float64"), Tensor.of([-1.0, 0.5], "float64")],)),
        Case(([Tensor.of([3.0], "float64")] * 2,)),
    ),
    groups=(Group("inputs", _inputs, 5, "What does the graph read, and who writes into what you returned?"),),
    slips=(
        Slip(
            "The graph reads its own buffer, which nobody fills, and the next call overwrites what was returned.",
            wrong_graph,
        ),
        Slip(
            "The answer is copied out, but the input is not copied in: the name moved, the buffer did not.",
            edit=("x.copy_(new)", "x = new.clone()"),
        ),
        Slip(
            "The input is copied in, but what is returned is the static output: the next call overwrites it.",
            edit=("y.clone()", "y"),
        ),
        Slip(
            "The copy comes after the replay: the answer is that of the call before.",
            edit=("    x.copy_(new)\n    graph.replay()\n", "    graph.replay()\n    x.copy_(new)\n"),
        ),
        Slip(
            "`x.data = new` moves the buffer: a graph on a GPU reads the address it was captured with. Copy into it.",
            edit=("x.copy_(new)", "x.data = new"),
        ),
        Slip("Without a replay nothing is computed.", edit=("    graph.replay()\n", "")),
    ),
    wrong=wrong_graph,
)

ITEMS = (DEBUG_GRAPH, RUNNER)
