"""Section 6.8, Recompute: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
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
        derivation="What counts is how much is saved, and how little it costs to repeat. For GPT-3 at 2,048 tokens "
        "without flash attention, the attention matrix, its mask and the copy after dropout take 80 of 114 "
        "bytes per number. Repeating the attention core takes 2.7 percent of a layer's forward FLOPs. The "
        "inner activations of the MLP take 16 bytes, and getting all of them back means a product with the "
        "widest matrix.",
        slips={
            1: "They are wide, but computing them again takes a product with the widest matrix of the layer.",
            2: "It is nearly free, but there is little to gain: 4 of 114 bytes per number for GPT-3.",
            3: "That is a fair price, but dropping the attention matrix of every layer saves more for far fewer FLOPs.",
        },
    ),
)
