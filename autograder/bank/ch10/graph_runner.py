"""Chapter 10: ``GraphRunner``, graphs."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


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


_EAGER = "            with torch.no_grad():\n                return self._model(x)"

#: What is added to everything that the model computes outside of a graph, in ``probes/ch10_graphs.py``.
EAGER = 1000.0


def batches(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether each batch went through a graph. The outputs show it: outside a graph the model adds a constant."""
    return {
        "outputs": answer["outputs"],
        "captures": answer["captures"],
        "graphs recorded": len(answer["shapes of each recorded graph"]),
        "with gradients": answer["outputs with gradients"],
        "went through a graph": [_replayed(output) for output in answer["outputs"]],
        "inputs after the calls": answer["inputs after the calls"],
    }


def _replayed(output: Any) -> bool:
    return isinstance(output, Tensor) and all(abs(number) < EAGER / 2 for number in output.tolist())


EXERCISE = Build(
    "10 graph_runner.GraphRunner",
    section="10.8",
    topic="graphs",
    grade="tensor",
    probe="ch10_graphs.batches",
    tolerance=1e-12,
    concludes=batches,
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
    slips=(
        Slip(
            "A new tensor under the old name is not what the graph reads: copy into its own buffer.",
            edits=(
                ("static_input.zero_()", "static_input = x.new_zeros(size, self._width)"),
                ("static_input[: len(x)].copy_(x)", "static_input[: len(x)] = x"),
            ),
        ),
        Slip(
            "The next replay overwrites what you returned: return a copy.",
            edit=("static_output[: len(x)].clone()", "static_output[: len(x)]"),
        ),
        Slip(
            "A graph is captured once for each size and then replayed; yours captures at every call.",
            edit=(
                "        if size not in self._held:\n            self._held[size] = self._captured",
                "        self._held[size] = self._captured",
            ),
        ),
        Slip(
            "Padded rows are not part of the answer: return as many rows as came in.",
            edit=("static_output[: len(x)].clone()", "static_output.clone()"),
        ),
        Slip(
            "The padding must be zero at every call: rows of an earlier, larger batch are still there.",
            edit=("        static_input.zero_()\n", ""),
        ),
        Slip(
            "That runs the model again instead of replaying its graph.",
            edits=(
                ("        graph.replay()\n", ""),
                ("static_output[: len(x)].clone()", "self._model(static_input)[: len(x)]"),
            ),
        ),
        Slip(
            "Every batch is padded to the largest size: take the smallest that is large enough.",
            edit=("capture_size(len(x), self._sizes)", "capture_size(len(x), [max(self._sizes)])"),
        ),
        Slip(
            "A size is captured when a batch first needs it; yours captures all of them at once.",
            edit=(
                "  # graph, its input, its output\n",
                "\n        for size in sizes:\n"
                "            self._held[size] = self._captured(torch.zeros(size, width, dtype=torch.float64))\n",
            ),
        ),
        Slip(
            "A batch that runs without a graph keeps gradients: nothing here is trained.",
            edit=(_EAGER, "            return self._model(x)"),
        ),
        Slip(
            "A batch larger than every size runs eagerly, as a whole; yours is cut into graphs.",
            edit=(_EAGER, "            return torch.cat([self.run(part) for part in x.split(max(self._sizes))])"),
        ),
    ),
    rights=(
        Right(
            "only the padding is zeroed",
            edit=(
                "        static_input.zero_()\n        static_input[: len(x)].copy_(x)\n",
                "        static_input[: len(x)] = x\n        static_input[len(x) :] = 0\n",
            ),
        ),
        Right(
            "detached instead of computed without gradients",
            edit=(
                "            with torch.no_grad():\n                return self._model(x)\n",
                "            return self._model(x).detach()\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "The first batch that needs a size captures its graph.",
            edit=("if size not in self._held:", "if size not in self._held or len(x) == size:"),
        ),
        Promise(
            "A graph reads and writes static buffers: rows are copied into",
            edit=(
                "        static_input[: len(x)].copy_(x)\n",
                "        static_input = torch.cat([x, static_input[len(x) :]])\n",
            ),
        ),
        Promise("its input, the rest of which is zero", edit=("        static_input.zero_()\n", "")),
        Promise(
            "its input, the rest of which is zero, and what comes back is a copy, which later calls leave alone.",
            edit=("static_output[: len(x)].clone()", "static_output[: len(x)]"),
        ),
        Promise(
            "A batch larger than every size runs eagerly.",
            edit=(
                "            with torch.no_grad():\n                return self._model(x)\n",
                "            return torch.cat([self.run(part) for part in x.split(max(self._sizes))])\n",
            ),
        ),
        Promise(
            "without gradients",
            edit=(
                "            with torch.no_grad():\n                return self._model(x)\n",
                "            return self._model(x)\n",
            ),
        ),
        Promise("Args: model: from a tensor [b, width]", why="what it is called with"),
        Promise(
            "graphs that have been captured",
            edit=("        self.captures += 1\n", "        self.captures = len(self._sizes)\n"),
        ),
    ),
)
