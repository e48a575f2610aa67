"""Wrong programs for ``GraphRunner``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

_EAGER = "            with torch.no_grad():\n                return self._model(x)"

GRAPH_RUNNER = (
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
)
