"""Chapter 6: ``tensor_parallel_traffic``, traffic of a split layer."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import layer, nothing_sent
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _options(rng: Random, backward: bool | None = None, parallel: bool | None = None) -> Case:
    return Case(
        layer(rng),
        {
            "element_bytes": rng.choice((1, 4, 8, 0.5)),
            "backward": rng.random() < 0.5 if backward is None else backward,
            "sequence_parallel": rng.random() < 0.5 if parallel is None else parallel,
        },
    )


def _options_of_each(rng: Random) -> list[Case]:
    return [_options(rng, back, parallel) for back in (True, False) for parallel in (True, False)] + [
        _options(rng, True, True)
    ]


EXERCISE = Build(
    "06 activations.tensor_parallel_traffic",
    section="6.6",
    topic="traffic of a split layer",
    cases=(
        Case((4096, 1, 8192, 8)),
        Case((4096, 1, 8192, 8), {"backward": False}),
        Case((4096, 1, 8192, 8), {"sequence_parallel": True}),
        Case((2048, 4, 8192, 8)),
        Case((8192, 1, 16_384, 8)),
        Case((1024, 8, 1024, 4)),
        Case((128, 3, 64, 3, 4)),
        Case((4096, 1, 8192, 2)),
        Case((4096, 1, 8192, 1)),
    ),
    groups=(
        Group("a step", lambda rng: Case(layer(rng)), 6, "Two all-reduces forward and two backward, of whole tensors."),
        Group(
            "options",
            _options,
            8,
            "Elements may have other sizes, and norms may be split along the sequence.",
            _options_of_each,
        ),
        Group("nothing to send", nothing_sent, 3, "One rank, or no tokens: nothing is sent."),
    ),
    slips=(
        Slip(
            "That is half: a layer has two all-reduces each way, and each sends 2 (t-1)/t of a tensor.",
            edit=("shares = 4 + (4 + (2", "shares = 2 + (2 + (1"),
        ),
        Slip(
            "Activations are whole on every rank: the tensor is not divided by the ranks.",
            edit=(
                "shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes",
                "shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes / ranks",
            ),
        ),
        Slip(
            "That counts elements: multiply by the bytes of one.",
            edit=(
                "shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes",
                "shares * (ranks - 1) / ranks * sequence * batch * hidden",
            ),
        ),
        Slip("The backward pass sends bytes, too.", edit=("return float(shares", "return float(4")),
        Slip(
            "When only slices are stored, both inputs are gathered again in the backward pass: two more shares.",
            edit=("return float(shares", "return float((8 if backward else 4)"),
        ),
        Slip(
            "A rank keeps its own share: a ring sends (t-1)/t of a tensor in each phase.",
            edit=("shares * (ranks - 1) / ranks", "shares * (ranks > 1)"),
        ),
    ),
    rights=(
        Right(
            "collective by collective",
            edit=(
                "    return float(shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes)\n",
                "    share = sequence * batch * hidden * element_bytes / ranks\n"
                "    return float(sum([share * (ranks - 1)] * shares))\n",
            ),
        ),
        Right(
            "one share less",
            edit=("shares * (ranks - 1) / ranks * sequence", "(1 - 1 / ranks) * shares * sequence"),
        ),
    ),
    promises=(
        Promise(
            "the two split inputs, of which only slices were stored,",
            edit=("(2 if sequence_parallel else 0)", "0"),
        ),
        Promise("one rank sends nothing", edit=("(ranks - 1) / ranks", "(max(ranks, 2) - 1) / ranks")),
    ),
)
