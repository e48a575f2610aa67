"""Chapter 6: decisions to take before the run or the formula that settles them."""

from __future__ import annotations

from autograder.items import Choice

MATRICES = (
    Choice(
        id="06-cheaper-cut",
        kind="trace",
        title="The cut that sends less",
        section="6.1",
        options=(
            "The column cut: an all-gather sends half as many bytes as an all-reduce of the same result.",
            "The row cut: every rank already has numbers for the whole result, so less is missing.",
            "Neither: all ranks end with the whole result, so they must receive the same number of bytes.",
            "The column cut: slices are only put side by side, and that takes no communication.",
        ),
        correct=0,
        derivation="Ranks that hold slices only have to exchange them: an all-gather, one trip around the ring. Ranks "
        "that hold partial sums have to add them up and hand the sums out again: an all-reduce, two trips. So if "
        "everyone needs the whole result, the column cut sends half as much.",
        slips={
            1: "Those numbers are summands. None of them is final, and adding them up takes a trip of its own.",
            2: "What they end with is the same, but summands travel once to be added and the sums travel again.",
            3: "The slices are on different ranks. Putting them side by side is an all-gather.",
        },
    ),
    Choice(
        id="06-missing-f",
        kind="trace",
        title="A column-parallel layer without f",
        section="6.2",
        options=(
            "The gradient of x: each rank holds only the contribution of its own columns.",
            "The output: each rank multiplies with its own columns and knows no others.",
            "The gradient of this layer's weights: each rank sees a fraction of the data.",
            "Nothing: the backward pass of a correct forward pass is correct by itself.",
        ),
        correct=0,
        derivation="A rank's slice of the output needs all of x and its own columns, and it has both. The gradient of "
        "its columns needs x and the gradient of its own slice, and it has both. But every slice depends on x, so the "
        "gradient of x is a sum over all ranks, and without $f$ each rank has one summand. The layers before this "
        "one then get an incomplete gradient, and a different one on every rank.",
        slips={
            1: "A slice is what a column-parallel layer is meant to produce, and every number in it is right.",
            2: "Every rank sees all tokens. What is split here is the weights, not the data.",
            3: "Autograd knows only what one process does. It cannot see that other ranks used the same x.",
        },
    ),
    Choice(
        id="06-row-first",
        kind="trace",
        title="Rows first, then columns",
        section="6.3",
        options=(
            "It needs another all-reduce, of the wide inner activations, before the nonlinearity.",
            "It works the same: the two layers swap roles, and f and g swap places with them.",
            "It works, but needs an all-gather at the end, because the last layer gives slices.",
            "It works for ReLU, which is linear on each side of zero, and fails only for GELU.",
        ),
        correct=0,
        derivation="Cut by rows, the first layer gives partial sums, and a nonlinearity has to see the finished sum: "
        "$\\mathrm{ReLU}(3 - 4) \\ne \\mathrm{ReLU}(3) + \\mathrm{ReLU}(-4)$. So an all-reduce would be needed in the "
        "middle, where the activations are four times as wide, and the slices at the end would have to be gathered on "
        "top of that.",
        slips={
            1: "There is a nonlinearity between the layers. It can act on a slice, but not on a summand.",
            2: "The slices at the end do need an all-gather, but what goes wrong comes first, at the nonlinearity.",
            3: "3 and -4 are on different sides of zero: ReLU of the sum is 0, and the sum of the ReLUs is 3.",
        },
    ),
)

HEADS = (
    Choice(
        id="06-replicas",
        kind="trace",
        title="One KV head on four ranks",
        section="6.4",
        options=(
            "Sum the four gradients: each rank has the part that comes from its own query heads.",
            "Average the four gradients: they are four estimates of the same quantity.",
            "Nothing: equal weights and equal inputs give the same gradient on every rank.",
            "Keep rank 0's gradient and broadcast it, so that the copies stay equal.",
        ),
        correct=0,
        derivation="The copies have equal weights and equal inputs, but different query heads read them. Each rank's "
        "gradient holds what flowed back from its own query heads, and the gradient of the shared head is the sum. It "
        "is the rule behind $f$: if several ranks use the same tensor, its gradient is the sum of theirs.",
        slips={
            1: "In data parallelism, yes, where ranks see different data. Here they hold different parts of one sum.",
            2: "Weights and inputs are equal, but the gradients that arrive come from different query heads.",
            3: "The copies would stay equal, and the model would learn from one rank's query heads only.",
        },
    ),
    Choice(
        id="06-sequence-free",
        kind="trace",
        title="Two collectives in place of one",
        section="6.5",
        options=(
            "As many: an all-reduce already consists of a reduce-scatter and an all-gather.",
            "Twice as many: two collectives each move the whole activation tensor.",
            "Half as many: each rank now handles only its own share of the tokens.",
            "Fewer by the number of ranks: both collectives move one slice per rank.",
        ),
        correct=0,
        derivation="A ring all-reduce *is* a reduce-scatter followed by an all-gather (chapter 3). Sequence "
        "parallelism moves the norm, dropout and the residual addition in between the two halves, where every rank has "
        "complete sums for its own tokens. (In the backward pass, a rank that has kept only its slice gathers once "
        "more.)",
        slips={
            1: "Each of the two moves half of what an all-reduce moves: one trip around the ring, not two.",
            2: "A rank handles fewer tokens between the collectives, but it still has to receive all the others.",
            3: "In each step of a ring one slice moves, but there are N-1 steps in each collective.",
        },
    ),
)

MEMORY = (
    Choice(
        id="06-what-to-drop",
        kind="design",
        title="What to compute again",
        section="6.8",
        options=(
            "The attention matrix: it has an entry for every pair of tokens, in every head.",
            "The inner activations of the MLP: they are the widest tensors outside attention.",
            "The outputs of the norms: a norm takes almost no time, so computing it again is free.",
            "Every other layer in full: half of the memory for half of the extra time.",
        ),
        correct=0,
        derivation="What counts is bytes saved per FLOP repeated. For GPT-3 the attention matrix takes 80 of 114 bytes "
        "per number, with its mask and the copy after dropout, and computing it again takes 2.7 percent of a forward "
        "pass. The inner activations of the MLP take 16 bytes, and getting them back means a product with the widest "
        "matrix.",
        slips={
            1: "They are wide, but computing them again takes a product with the widest matrix of the layer.",
            2: "It is nearly free, but there is little to gain: 4 of 114 bytes per number for GPT-3.",
            3: "That is a fair price, but the same memory comes back for far less time inside the layer.",
        },
    ),
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
        "computation. Batch and sequence cancel. What remains is the width of the model: the computation grows with "
        "its square, the bytes only in proportion. Gradients in data parallelism are different: their bytes do not "
        "depend on the tokens at all.",
        slips={
            1: "That is data parallelism, which sends gradients. Activations grow with the batch.",
            2: "The bytes do double, but so does the computation they are compared with.",
            3: "A faster link lowers the share, but by the same factor at every batch.",
        },
    ),
)
