"""Section 9.9, What it is worth, and what goes first: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Choice, Question, Slip


def _hit_share(cached: str = "everything") -> float:
    """Five turns: a system prompt of 200, then 50 of the user and 150 of the answer in each; what is found cached."""
    hits = total = before = 0
    for turn in range(5):
        prompt = 200 + 200 * turn + 50
        hits, total = hits + before, total + prompt
        before = {"everything": prompt + 150, "prompts": prompt, "earlier turns": prompt - 50}[cached]
    return hits / total


QUESTIONS = (
    Question(
        id="09-chat-hits",
        kind="derive",
        title="A chat of five turns",
        section="9.9",
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
        "from the second on: 0, 400, 600, 800, 1,000. (A server has not run the last token of an answer.)",
    ),
    Choice(
        id="09-prefix-order",
        kind="trace",
        title="What comes first in a prompt",
        section="9.9",
        options=("the document, then the question", "the question, then the document", "it makes no difference"),
        correct=0,
        derivation="Only equal beginnings are shared. With the document in front, its tokens are the beginning of all; "
        "with the question in front, prompts part within the question, before any of the document.",
        slips={
            1: "Different questions part the prompts before the document: no document is shared.",
            2: "Keys and values of a token depend on all tokens before it: order counts.",
        },
    ),
)
