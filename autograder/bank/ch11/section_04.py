"""Section 11.4, A whole round: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-notice",
        kind="debug",
        title="Twenty texts of a wrong sampler",
        section="11.4",
        options=(
            "Probably none: every text is one that the target could have written.",
            "The first: its texts are full of wrong words.",
            "The third: its texts break off.",
            "All three: wrong texts look wrong.",
        ),
        correct=0,
        derivation="Each of the three draws from distributions over tokens that the target or the draft finds likely. "
        "What is wrong is how often each text comes, and twenty texts do not show a frequency. "
        "(A sharper model would give the third away: its bonus often repeats the token before.)",
        slips={
            1: "Its words come from the target's own distribution, only too often or too seldom.",
            2: "It writes one token at the end of a round from the wrong row; no text breaks off.",
            3: "They are possible texts with wrong frequencies.",
        },
    ),
)
