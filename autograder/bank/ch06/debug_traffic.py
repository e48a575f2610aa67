"""Chapter 6: ``debug_traffic``, traffic of a split layer."""

from __future__ import annotations

from autograder.bank.ch06.shared import layer, nothing_sent
from autograder.items import Case, Debug, Group, Right, Slip


def wrong_traffic(sequence, batch, hidden, ranks):
    return 4 * 2 * sequence * batch * hidden / ranks * (ranks - 1) / ranks


EXERCISE = Debug(
    "06 activations.debug_traffic",
    section="6.16",
    topic="traffic of a split layer",
    bonus=True,
    wrong=wrong_traffic,
    cases=(Case((4096, 1, 8192, 8)), Case((2048, 4, 8192, 8)), Case((1024, 8, 1024, 4)), Case((4096, 1, 8192, 1))),
    groups=(
        Group(
            "several ranks",
            lambda rng: Case(layer(rng)),
            8,
            "Which tensor is all-reduced, and how many bytes does that send?",
        ),
        Group("nothing to send", nothing_sent, 2, "One rank, or no tokens: nothing is sent."),
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
    rights=(
        Right(
            "one share less",
            edit=("4 * 2 * (ranks - 1) / ranks * tensor", "8 * tensor * (1 - 1 / ranks)"),
        ),
        Right(
            "a share, as often as it is sent",
            edit=("4 * 2 * (ranks - 1) / ranks * tensor", "tensor / ranks * (ranks - 1) * 8"),
        ),
    ),
)
