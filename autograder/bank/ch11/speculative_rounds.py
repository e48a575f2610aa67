"""Chapter 11: ``speculative_rounds``, the speed-up simulated."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _text(rng: Random, alpha: float, tokens: int) -> list[bool]:
    return [rng.random() < alpha for _ in range(tokens)]


def _texts(rng: Random) -> Case:
    return Case((_text(rng, rng.uniform(0.4, 0.9), rng.randint(20, 60)), rng.randint(2, 6)))


def _easy(rng: Random) -> list[Case]:
    """All right, all wrong, and one wrong guess just behind the last draft of a round."""
    drafts = rng.randint(2, 5)
    behind = [True] * drafts + [False] + [True] * (2 * drafts + 2)
    return [Case(([True] * rng.randint(15, 30), drafts)), Case(([False] * 6, drafts)), Case((behind, drafts))]


def _ends(rng: Random) -> Case:
    """A last round that just fits, or that lacks one token."""
    drafts = rng.randint(1, 5)
    text = _text(rng, 0.5, rng.randint(0, 3)) + [True] * (drafts + rng.randint(0, 1))
    return Case((text, drafts))


def _none(rng: Random) -> list[Case]:
    return [Case(([], rng.randint(0, 4))), Case((_text(rng, 0.7, 9), 0)), Case(([True], 1))]


EXERCISE = Build(
    "11 speculative_rounds.speculative_rounds",
    section="11.22",
    topic="the speed-up simulated",
    bonus=True,
    cases=(
        Case(([True, True, False, True, True, True], 2)),
        Case(([False, True, True, True, False], 3)),
        Case(([True] * 10, 4)),
        Case(([], 2)),
    ),
    groups=(
        Group("texts", _texts, 6, "Count the right drafts up to the first wrong one; one token more is written."),
        listed("all right, all wrong", _easy, "After k right drafts the next token is the target's own."),
        Group("the end of the text", _ends, 5, "A round needs room for all its drafts and for one token more."),
        listed("no draft, no text", _none, "Without drafts, each round writes one token."),
    ),
    slips=(
        Slip(
            "Right guesses behind the first wrong draft do not count: what follows a wrong token is thrown away.",
            edit=(
                "        while accepted < draft_length and right[written + accepted]:\n            accepted += 1\n",
                "        accepted = sum(right[written : written + draft_length])\n",
            ),
        ),
        Slip(
            "The target adds a token of its own in every round, and the next round begins behind it.",
            edit=("written += accepted + 1", "written += max(accepted, 1)"),
        ),
        Slip(
            "The next round begins behind the target's token; yours skips tokens there that nobody wrote.",
            edit=("written += accepted + 1", "written += draft_length + 1"),
        ),
        Slip(
            "A round drafts k tokens. What the draft would guess for the next one does not matter: the target adds it.",
            edits=(
                ("while accepted < draft_length and", "while accepted <= draft_length and"),
                ("while written + draft_length + 1 <= len(right):", "while written + draft_length + 1 < len(right):"),
            ),
        ),
        Slip(
            "A round that does not fit into the rest of the text is not begun.",
            edits=(
                ("while written + draft_length + 1 <= len(right):", "while written < len(right):"),
                (
                    "while accepted < draft_length and right[written + accepted]:",
                    "while accepted < draft_length and right[written:][accepted : accepted + 1] == [True]:",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "adds one token of its own: in place of the first wrong draft, or after the last one if all are right.",
            edit=("written += accepted + 1", "written += max(accepted, 1)"),
        ),
    ),
)
