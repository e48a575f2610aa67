"""Section 9.8, The same beginning: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-first-word",
        kind="trace",
        title="The same document, another first word",
        section="9.8",
        options=("none", "62 of 63", "all 63", "61 of 63"),
        correct=0,
        derivation="A name stands for all tokens up to the block's end. The first word is among them in every block, "
        "so no name is the same. That is no flaw of names: the keys and values of each token depend on all tokens "
        "before it, so they are others, too.",
        slips={
            1: "That leaves out the block of the first word. But every later token has attended to that word.",
            2: "The tokens are the same, their keys and values are not: they depend on what stands before.",
            3: "How a block is filled does not matter: no block of it has the same beginning.",
        },
    ),
    Choice(
        id="09-adapter",
        kind="design",
        title="Two adapters, one prompt",
        section="9.8",
        options=(
            "no: the adapter's id belongs in the key of the cache",
            "yes: the tokens are the same",
            "yes, when the base model is the same",
            "no: a server with adapters has to turn the prefix cache off",
        ),
        correct=0,
        derivation="An adapter changes weights, and so the keys and values of the same tokens. What tells two caches "
        "apart has to be in the key: tokens, adapter, and a salt where tenants must not see each other's hits.",
        slips={
            1: "The same tokens get other keys and values from other weights.",
            2: "The adapter changes what the base model computes, keys and values included.",
            3: "Within one adapter prefixes are shared as before: the adapter has to be part of the key.",
        },
    ),
)
