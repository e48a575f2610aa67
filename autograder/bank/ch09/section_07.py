"""Section 9.7, Prefix reuse: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import MB, MiB

kv = lazily("solutions.ch09.kv_cache")

#: Bytes of a token of Llama 3 70B.
TOKEN = 327_680


def _hit_share(cached: str = "everything") -> float:
    """Five turns: a system prompt of 200, then 50 of the user and 150 of the answer in each; what is found cached."""
    hits = total = before = 0
    for turn in range(5):
        prompt = 200 + 200 * turn + 50
        hits, total = hits + before, total + prompt
        before = {"everything": prompt + 150, "prompts": prompt, "earlier turns": prompt - 50}[cached]
    return hits / total


def _saved_of_three(copies: int = 2) -> float:
    """The share saved when prompts of 100, 120 and 90 tokens have 7 in common."""
    return copies * 7 / (100 + 120 + 90)


QUESTIONS = (
    Choice(
        id="09-which-evicted",
        kind="trace",
        title="Two evictions",
        section="9.7",
        options=("B, then C", "A, then B", "C, then B", "B, then A"),
        correct=0,
        derivation="A match refreshes what it touches. After it, B was touched longest ago, then C, then A; all three "
        "are leaves.",
        slips={
            1: "A is the oldest insert, but the match has refreshed it.",
            2: "C was touched after B: the least recently used goes first.",
            3: "The match has refreshed A: it is the last to go.",
        },
    ),
    Question(
        id="09-sharing-3",
        kind="derive",
        title="Three prompts share seven tokens",
        section="9.7",
        parts=(
            Part(
                "saved share",
                "",
                _saved_of_three,
                slips=(
                    Slip("One copy stays: two of the three are saved.", value=lambda: _saved_of_three(3)),
                    Slip("Two copies are saved, not one.", value=lambda: _saved_of_three(1)),
                    Slip("The share is of the tokens without sharing.", value=14 / (310 - 14)),
                ),
            ),
            Part(
                "saved memory",
                "MB",
                lambda: 2 * 7 * TOKEN / MB,
                slips=(
                    Slip("One copy stays: two of the three are saved.", value=lambda: 3 * 7 * TOKEN / MB),
                    Slip("Two copies are saved, not one.", value=lambda: 7 * TOKEN / MB),
                    Slip("That is in MiB: a MB is 1e6 bytes.", value=lambda: 2 * 7 * TOKEN / MiB),
                ),
            ),
        ),
        derivation="Of three copies of 7 tokens, one stays. The share is of all tokens of the three prompts.",
    ),
    Question(
        id="09-sharing-limit",
        kind="derive",
        title="More and more requests",
        section="9.7",
        parts=(
            Part(
                "100 requests",
                "",
                lambda: kv.prefix_sharing_saving(100, 500, 100),
                tolerance=0.005,
                slips=(
                    Slip("One copy of the prefix stays.", value=500 / 600),
                    Slip("The 100 tokens of each request are its own.", value=0.99),
                ),
            ),
            Part(
                "in the limit",
                "",
                lambda: 500 / 600,
                tolerance=0.005,
                slips=(Slip("The unique part stays, however many requests come.", value=1.0),),
            ),
        ),
        derivation="$(r - 1) p / (r (p + u))$ with $p = 500$ and $u = 100$; for large $r$ it tends to $p / (p + u)$.",
    ),
    Question(
        id="09-few-shot",
        kind="derive",
        title="Five examples in front",
        section="9.7",
        ask="saved share",
        unit="",
        answer=lambda: kv.prefix_sharing_saving(100, 1000, 50),
        tolerance=0.005,
        slips=(
            Slip("The 50 tokens of each request are its own.", value=0.99),
            Slip("One copy of the examples stays.", value=1000 / 1050),
        ),
        derivation="$(r - 1) p / (r (p + u))$ with $p = 5 \\cdot 200$, $u = 50$ and $r = 100$.",
    ),
    Question(
        id="09-chat-hits",
        kind="derive",
        title="A chat of five turns",
        section="9.7",
        ask="share of prompt tokens found cached",
        unit="",
        answer=_hit_share,
        tolerance=0.005,
        slips=(
            Slip(
                "The answers are cached, too: they were computed token by token.",
                value=partial(_hit_share, "prompts"),
            ),
            Slip("The previous turn is cached as well.", value=partial(_hit_share, "earlier turns")),
            Slip("The first request finds an empty cache.", value=(200 + 400 + 600 + 800 + 1000) / 3250),
        ),
        derivation="The prompts have 250, 450, 650, 850 and 1,050 tokens. All but the newest 50 of each are there, "
        "from the second on: 0, 400, 600, 800, 1,000.",
    ),
    Choice(
        id="09-prefix-order",
        kind="trace",
        title="What comes first in a prompt",
        section="9.7",
        options=("the document, then the question", "the question, then the document", "it makes no difference"),
        correct=0,
        derivation="Only equal beginnings are shared. With the document in front, its tokens are the beginning of all; "
        "with the question in front, prompts part at their first token.",
        slips={
            1: "Different questions part the prompts at once: no document is shared.",
            2: "Keys and values of a token depend on all tokens before it: order counts.",
        },
    ),
    Choice(
        id="09-adapter",
        kind="design",
        title="Two adapters, one prompt",
        section="9.7",
        options=(
            "no: the adapter's id (or a tenant's salt) belongs in the key of the cache",
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
