"""Section 14.29, Agents: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-agent-mask",
        kind="design",
        title="The gap forgotten",
        section="14.29",
        bonus=True,
        options=(
            "It teaches the model to write the tools' results itself",
            "Nothing changes: the tool's tokens have log-probabilities like all others",
            "It raises an error, for the tool's tokens were not drawn",
            "The tool's tokens count half, because nobody drew them",
        ),
        correct=0,
        derivation="Tokens of good trajectories become likelier, the tool's among them. The model learns to guess "
        "results instead of asking for them, and the ratios of these tokens mean nothing.",
        slips={
            1: "It has log-probabilities for any text. The gradient is right for what it drew.",
            2: "Nothing in the program knows who wrote a token. That is why the mask is needed.",
            3: "A mask is 0 or 1; no ratio is made smaller.",
        },
    ),
    Choice(
        id="14-retokenize",
        kind="design",
        title="Text in between",
        section="14.29",
        bonus=True,
        options=(
            "The trainer sees other tokens than those that were drawn, without an error",
            "Nothing: the same text has the same tokens",
            "An error, because the lengths do not match",
            "The text changes, so that the model reads something else",
        ),
        correct=0,
        derivation="Text is cut greedily or by merges into one sequence of tokens, and a model may draw another one "
        "for the same text. The stored log-probabilities then belong to tokens that are not there.",
        slips={
            1: "A text has many sequences of tokens, and the model draws any of them.",
            2: "Lengths may agree or not; most programs take what they get.",
            3: "The text is the same. Its tokens are not.",
        },
    ),
    Choice(
        id="14-agent-slots",
        kind="design",
        title="Slots that wait for tools",
        section="14.29",
        bonus=True,
        options=(
            "Twelve agents, if the caches of those that wait have room or can be computed again",
            "Longer answers, so that the tool's time counts less",
            "A bound of 2 instead of 1, so that the rollout may run further ahead",
            "Eight agents: then each slot has one that writes and one that waits",
        ),
        correct=0,
        derivation="An agent writes for a third of its time. Three for each slot keep it busy.",
        slips={
            1: "That is another task, not another schedule.",
            2: "The bound admits batches. If no more than four agents run at once, four slots still wait.",
            3: "Two agents write for 4 of every 6 s: the slot is busy for two thirds of the time.",
        },
    ),
)
