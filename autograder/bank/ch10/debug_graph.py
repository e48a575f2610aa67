"""Chapter 10: ``debug_graph``, graphs."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Right, Slip, Tensor


def wrong_graph(graph, x, y, new):
    x = new.clone()
    graph.replay()
    return y[: len(x)]


def _inputs(rng: Random) -> Case:
    width = rng.randint(1, 6)
    rows = [Tensor.of([rng.uniform(-5, 5) for _ in range(width)], "float64") for _ in range(rng.randint(2, 5))]
    return Case((rows,))


EXERCISE = Debug(
    "10 graph_runner.debug_graph",
    section="10.8",
    topic="graphs",
    grade="tensor",
    probe="ch10_graphs.replayed",
    tolerance=1e-12,
    wrong=wrong_graph,
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
    rights=(
        Right("assigned in place", edit=("x.copy_(new)", "x[:] = new")),
        Right("copied into a tensor of its own", edit=("return y.clone()", "return torch.empty_like(y).copy_(y)")),
    ),
    promises=(
        Promise("What a recorded program gives for a new input.", edit=("    graph.replay()\n", "")),
        Promise(
            "what the program gives for ``new``, in a tensor that later calls leave alone.",
            edit=("return y.clone()", "return y"),
        ),
        Promise(
            "what the program gives for ``new``",
            edit=("    x.copy_(new)\n    graph.replay()\n", "    graph.replay()\n    x.copy_(new)\n"),
        ),
        Promise("new: in the shape of x.", why="what it is called with"),
    ),
)
