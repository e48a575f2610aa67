"""Section 11.7, Text that must fit: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-eos-when",
        kind="trace",
        title="When the end may be drawn",
        section="11.7",
        options=(
            "Exactly in states in which the text is complete.",
            "In every state: the model decides when it is done.",
            "In no state: the text ends at the limit of tokens.",
            "Only where no other token is allowed.",
        ),
        correct=0,
        slips={
            1: "Then a text may end in the middle of a string.",
            2: "Then no text ends by itself, and whether it is whole at the limit is chance.",
            3: "The number 12 is complete, and so is 123: ending must be allowed beside going on.",
        },
        derivation="EOS is a token like any other: it is allowed where the text so far, taken as a whole, is valid. "
        "That is what an accepting state means.",
    ),
    Choice(
        id="11-nan",
        kind="trace",
        title="A mask by multiplication",
        section="11.7",
        options=("1", "0.731", "NaN", "an error is raised"),
        correct=2,
        slips={
            0: "It would be, if 0 times minus infinity were 0.",
            1: "That is the softmax of 2 and 1, without a mask.",
            3: "Floating-point arithmetic goes on with NaN, without a word.",
        },
        derivation="For the allowed token the second term is $0 \\times -\\infty$, which is not a number. One NaN in "
        "the sum of the softmax makes every element NaN.",
    ),
    Choice(
        id="11-which-fit",
        kind="trace",
        title="What an automaton can decide",
        section="11.7",
        options=(
            "All but the nested JSON.",
            "All four.",
            "Only the e-mail address and the date.",
            "Only the date.",
        ),
        correct=0,
        slips={
            1: "Brackets nested without bound must be counted, and an automaton counts no further than its states.",
            2: "A list of at most three numbers has a bound: write out the four lengths.",
            3: "An address may be long, but nothing in it must be counted: a loop does.",
        },
        derivation="A finite automaton remembers one of finitely many states. What is bounded can be written out, "
        "what repeats is a loop. To match closing brackets with opening ones it would have to remember their number: "
        "no bound.",
    ),
)
