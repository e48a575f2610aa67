"""Section 13.24, Marks for steps, and a teacher's marks for words: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-paid-by-step",
        kind="design",
        title="Paid for every right word",
        section="13.24",
        bonus=True,
        options=(
            "never to end: allowed words up to the limit, and the judge's mark falls below where it began",
            "to write good sentences, faster than with one mark at the end",
            "to write short sentences, because a long one risks a mistake",
            "nothing: nearly all words are allowed already, so all are paid alike",
        ),
        correct=0,
        derivation="What is still to come counts for every word, so a sentence that goes on is worth more than one "
        "that ends. The rule is right about every single word, and says nothing about what the sentence is for.",
        slips={
            1: "The marks come earlier, but for something else: whether a word may follow says nothing about praise.",
            2: "A mistake costs the mark of one word. An early end costs the marks of all words that would have come.",
            3: "Words are paid alike, sentences are not: more words earn more.",
        },
    ),
    Choice(
        id="13-distil-pay",
        kind="design",
        title="What a teacher pays",
        section="13.24",
        bonus=True,
        options=(
            "no score, a price of 1, and the teacher in place of the reference",
            "the teacher's log-probability of each word as its score, and no price",
            "the teacher's score at the end, and the old model as the reference",
            "the teacher's own answers, learned by cross-entropy",
        ),
        correct=0,
        derivation="Minus the log-ratio of student and teacher, word by word: its mean is minus KL(student||teacher), "
        "which is largest where both are equal.",
        slips={
            1: "That is largest for the one answer that the teacher finds likeliest: the student stops varying.",
            2: "A teacher has no score, only probabilities; and one mark at the end says little.",
            3: "That is distillation on the teacher's answers. The student never sees what follows its own mistakes.",
        },
    ),
)
