"""Eight GPUs in two nodes, split in three ways, and what crosses between the nodes. Standard library only.

A stepper draws it. The numbers are round ones, of no real machine or model.

>>> [(way.name, round(way.seconds, 3)) for way in WAYS]
[('TP 8', 8.0), ('TP 4, DP 2', 0.4), ('TP 4, PP 2', 0.05)]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from rankzero.explore.scene import Tone
from rankzero.facts.units import GB, MB

#: The machine: nodes and GPUs in each; bytes/s of one GPU inside its node, and of its port to the other node.
NODES, PER_NODE, NVLINK, PORT = 2, 4, 400 * GB, 10 * GB
#: The job: layers; micro-batches of a step; bytes of the activation of one micro-batch, and of all gradients.
LAYERS, MICROBATCHES, ACTIVATION, GRADIENTS = 40, 20, 100 * MB, 16 * GB
#: Seconds of computing in a step, shared evenly by all GPUs.
COMPUTE = 3.0
#: All-reduces that TP needs in a layer, two in the forward and two in the backward pass.
ALL_REDUCES = 4

#: Layout of the picture, pixels: margins to the left and above, the distance between boxes, their size.
LEFT, TOP, ACROSS, DOWN = 6, 26, 82, 150
WIDTH, HEIGHT = 76, 44


@dataclass(frozen=True)
class Way:
    """A way to split the job over both nodes.

    Attributes:
        name: in the usual notation.
        piece: the share of every matrix that a GPU holds.
        owners: what the GPUs of each node belong to.
        crossing: what crosses between the nodes, as a sentence.
        count: messages that a GPU sends through its port in a step.
        size: of one of them, bytes.
    """

    name: str
    piece: str
    owners: tuple[str, str]
    crossing: str
    count: int
    size: float

    @property
    def seconds(self) -> float:
        """How long a port works for one step."""
        return self.count * self.size / PORT


def exchanged(tensor: float) -> float:
    """Bytes that a GPU sends to the other node when a tensor is all-reduced in two levels, bytes.

    After the reduce-scatter inside its node a GPU all-reduces a share of the tensor with its counterparts.

    Args:
        tensor: bytes on each GPU of a group with all GPUs of both nodes, or the bytes of a tensor that each node splits
            among its GPUs.
    """
    return 2 * (NODES - 1) / NODES * tensor / PER_NODE


WAYS = (
    Way(
        "TP 8",
        "1/8",
        ("all layers", "all layers"),
        "Every all-reduce of every layer crosses.",
        ALL_REDUCES * LAYERS * MICROBATCHES,
        exchanged(ACTIVATION),
    ),
    Way(
        "TP 4, DP 2",
        "1/4",
        ("replica 0", "replica 1"),
        "Only the gradients cross, once a step.",
        1,
        exchanged(GRADIENTS),
    ),
    Way(
        "TP 4, PP 2",
        "1/4",
        ("stage 0", "stage 1"),
        "One activation per micro-batch crosses, and its gradient comes back.",
        MICROBATCHES,
        ACTIVATION / PER_NODE,
    ),
)


def placement_scene(step: int) -> Scene:
    """The GPUs of both nodes; from step 1 on with the split ``WAYS[step - 1]`` and what goes through the ports."""
    way = WAYS[step - 1] if step else None
    marks: list[Mark] = [mark for node in range(NODES) for mark in _node(node, way)]
    middle = TOP + HEIGHT + (DOWN - HEIGHT) / 2
    if way:
        marks += [arrow for gpu in range(PER_NODE) for arrow in _exchange(gpu)]
        marks.append(Label(LEFT, TOP + DOWN + HEIGHT + 24, _total(way), "start"))
    else:
        marks.append(Label(LEFT, middle, f"a port for each GPU, {PORT / GB:g} GB/s", "start", quiet=True))
    width, height = LEFT + ACROSS * PER_NODE, TOP + DOWN + HEIGHT + 34
    return Scene(width, height, tuple(marks), _says(way), _shows(way))


def _node(node: int, way: Way | None) -> list[Mark]:
    """A row of GPUs under the name of their node."""
    y = TOP + DOWN * node
    marks: list[Mark] = [Label(LEFT, y - 8, f"node {node}: NVLink, {NVLINK / GB:g} GB/s", "start", 11, quiet=True)]
    for gpu in range(PER_NODE):
        text, note = (f"{way.piece} of", way.owners[node]) if way else (f"GPU {node * PER_NODE + gpu}", "")
        apart = way is not None and way.owners[0] != way.owners[1]
        tone: Tone = "right" if apart and node else "accent"
        marks.append(Box(LEFT + ACROSS * gpu, y, WIDTH, HEIGHT, text, note, tone, 0.5 if way else 0.0))
    return marks


def _exchange(gpu: int) -> list[Arrow]:
    """A GPU and its counterpart send to each other."""
    x, high, low = LEFT + ACROSS * gpu + WIDTH / 2, TOP + HEIGHT + 4, TOP + DOWN - 24
    return [Arrow(x - 8, high, x - 8, low), Arrow(x + 8, low, x + 8, high)]


def _total(way: Way) -> str:
    """What one port sends in a step."""
    sent = f"{way.size / MB:g} MB" if way.size < GB else f"{way.size / GB:g} GB"
    product = f"{way.count:,} × {sent} = " if way.count > 1 else ""
    return f"each port sends {product}{way.count * way.size / GB:g} GB in {way.seconds:g} s"


def _says(way: Way | None) -> str:
    """What crosses between the nodes in this split, and how long the ports work for it."""
    if way is None:
        return (
            f"There are {NODES} nodes with {PER_NODE} GPUs each. A GPU sends {NVLINK / GB:g} GB/s inside its node and "
            f"{PORT / GB:g} GB/s to the other one. The GPUs compute for {COMPUTE:g} s in each step."
        )
    return f"{way.name}. {way.crossing} In a step {_total(way)}; the GPUs compute for {COMPUTE:g} s."


def _shows(way: Way | None) -> str:
    """Everything in the picture, for readers who cannot see it."""
    if way is None:
        return f"Two rows of {PER_NODE} GPUs, a row for each node, with a port for each GPU between them."
    rows = [f"Node {node}: {PER_NODE} GPUs, each with {way.piece} of {owner}." for node, owner in enumerate(way.owners)]
    return f"{' '.join(rows)} Arrows go both ways between the nodes: {_total(way)}."
