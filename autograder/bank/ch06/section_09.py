"""Section 6.9, How far to go: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-batch-cancels",
        kind="trace",
        title="Twice the batch",
        section="6.9",
        options=(
            "It stays the same: twice as many bytes to send, and twice as much to compute.",
            "It halves: a larger batch does more work for the same communication.",
            "It doubles: the activations that have to be sent grow with the batch.",
            "It depends on the link: a fast link hides more of a larger batch.",
        ),
        correct=0,
        derivation="Tensor parallelism sends activations, so its bytes grow with the tokens, and so does the "
        "computation of the matrix products. The batch cancels, and so does the length of the sequence if "
        "attention's own products are left out. The width of the model does not: the computation grows with its "
        "square, the bytes only in proportion. Gradients in data parallelism are different: their bytes do not depend "
        "on the tokens at all.",
        slips={
            1: "That is data parallelism, which sends gradients. Activations grow with the batch.",
            2: "The bytes do double, but so does the computation they are compared with.",
            3: "A faster link lowers the share, but by the same factor at every batch.",
        },
    ),
)
