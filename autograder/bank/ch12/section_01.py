"""Section 12.1, Learning from a mark: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-forty-batches",
        kind="trace",
        title="Forty steps later",
        section="12.1",
        options=(
            "close to 2",
            "still about 0",
            "about 1, and it stays there",
            "below -1",
        ),
        correct=0,
        derivation="Each step makes the words of well-marked sentences more likely and those of badly marked ones less "
        "likely. The next batch holds more good sentences, and so on, up to the best mark that there is.",
        slips={
            1: "A mark says nothing about what would have been better. But the model writes 64 "
            "sentences, and the marks say which of them were.",
            2: "One mark for a dozen words gives each word a share of noise. Over some 2,500 sentences it "
            "averages out.",
            3: "A loophole needs a reward that differs from what is wanted. Here the judge's mark is what is "
            "wanted; chapter 13 has the other case.",
        },
    ),
)
