"""Chapter 6: bytes that a split layer sends: a closed form, and one to fix."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip


def wrong_traffic(sequence, batch, hidden, ranks):
    return 4 * 2 * sequence * batch * hidden / ranks * (ranks - 1) / ranks


def _layer(rng: Random) -> tuple[int, int, int, int]:
    ranks = rng.choice((2, 3, 4, 7, 8, 16, 64))
    return (
        rng.choice((1, 17, 1024, 4096, 8192)),
        rng.choice((1, 3, 4, 64)),
        rng.choice((1, 64, 4096, 8192, 16_384)),
        ranks,
    )


def _options(rng: Random, backward: bool | None = None, parallel: bool | None = None) -> Case:
    return Case(
        _layer(rng),
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


def _nothing_sent(rng: Random) -> Case:
    s, b, h, t = _layer(rng)
    return Case(rng.choice(((s, b, h, 1), (0, b, h, t), (s, 0, h, t))))


TRAFFIC = Build(
    id="06-tensor-parallel-traffic",
    module="activations",
    function="tensor_parallel_traffic",
    grade="call",
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
        Group(
            "a step", lambda rng: Case(_layer(rng)), 6, "Two all-reduces forward and two backward, of whole tensors."
        ),
        Group(
            "options",
            _options,
            8,
            "Elements may have other sizes, and norms may be split along the sequence.",
            _options_of_each,
        ),
        Group("nothing to send", _nothing_sent, 3, "One rank, or no tokens: nothing is sent."),
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
)


DEBUG_TRAFFIC = Debug(
    id="06-debug-traffic",
    module="activations",
    function="debug_traffic",
    grade="call",
    section="6.16",
    bonus=True,
    topic="traffic of a split layer",
    cases=(Case((4096, 1, 8192, 8)), Case((2048, 4, 8192, 8)), Case((1024, 8, 1024, 4)), Case((4096, 1, 8192, 1))),
    groups=(
        Group(
            "several ranks",
            lambda rng: Case(_layer(rng)),
            8,
            "Which tensor is all-reduced, and how many bytes does that send?",
        ),
        Group("nothing to send", _nothing_sent, 2, "One rank, or no tokens: nothing is sent."),
    ),
    slips=(
        Slip("Activations are whole on every rank, and an all-reduce sends 2 (t-1)/t of them.", wrong_traffic),
        Slip(
            "A factor of 2 is missing: the bytes of an element, or the two phases of an all-reduce.",
            edit=("4 * 2 * (ranks - 1) / ranks * tensor", "8 * sequence * batch * hidden * (ranks - 1) / ranks"),
        ),
        Slip(
            "A rank keeps its own share: a ring sends (t-1)/t of a tensor in each phase.",
            edit=("4 * 2 * (ranks - 1) / ranks * tensor", "4 * 2 * 2 * sequence * batch * hidden * (ranks > 1)"),
        ),
        Slip(
            "Both phases are there, but the tensor should not be divided by the ranks.",
            edit=(
                "4 * 2 * (ranks - 1) / ranks * tensor",
                "4 * 2 * 2 * sequence * batch * hidden * (ranks - 1) / ranks / ranks",
            ),
        ),
    ),
    wrong=wrong_traffic,
)


ITEMS = (TRAFFIC, DEBUG_TRAFFIC)
