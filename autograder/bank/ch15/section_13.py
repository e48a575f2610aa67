"""Section 15.13, How many tokens?: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import TOKENS, part
from autograder.items import Choice, Question, lazily
from rankzero.facts.models import GPT3_175B, LLAMA2_70B, LLAMA3_405B
from rankzero.facts.units import billion, trillion

scale = lazily("solutions.ch01.scale")


QUESTIONS = (
    Question(
        id="cap-chinchilla",
        kind="derive",
        title="Twenty tokens per parameter",
        section="15.13",
        bonus=True,
        parts=(
            part(
                "parameters",
                "billion",
                lambda: scale.compute_optimal(3.8e25)[0] / billion,
                ("That is what was trained; the rule of 20 gives more.", 405),
            ),
            part(
                "tokens",
                "trillion",
                lambda: scale.compute_optimal(3.8e25)[1] / trillion,
                ("That is 20 times 405 billion, which does not spend the budget.", 20 * 405e9 / trillion),
                ("That is what was trained.", 15.6),
            ),
        ),
        derivation="$C = 6ND$ and $D = 20N$ give $N = \\sqrt{C/120}$, with $C$ = 3.8e25.",
    ),
    Question(
        id="cap-gpt3-ratio",
        kind="derive",
        title="Tokens per parameter, as trained",
        section="15.13",
        bonus=True,
        parts=(
            part(
                "GPT-3",
                "",
                lambda: 300e9 / GPT3_175B.parameters,
                ("It was not trained by the rule of 20: 300 billion tokens.", 20),
            ),
            part(
                "Llama 2 70B",
                "",
                lambda: 2e12 / LLAMA2_70B.parameters,
                ("It was not trained by the rule of 20: 2 trillion tokens.", 20),
            ),
            part(
                "Llama 3.1 405B",
                "",
                lambda: TOKENS / LLAMA3_405B.parameters,
                ("It was not trained by the rule of 20: 15.6 trillion tokens.", 20),
            ),
        ),
        derivation="Tokens over parameters: 300e9 over 174.6e9, 2e12 over 69.0e9, 15.6e12 over 405.9e9.",
    ),
    Choice(
        id="cap-exponent",
        kind="trace",
        title="A printed formula that misses its own number",
        section="15.13",
        bonus=True,
        options=(
            "the exponent is cut short: two more digits of it reproduce the text",
            "the law is for parameters, not for tokens",
            "the budget is in petaflop-days",
            "the text counts tokens twice that are seen twice",
        ),
        correct=0,
        derivation="At $C$ = 3.8e25 the logarithm of $C$ is near 59: an exponent that is short by 0.008 is off by "
        "a factor $e^{0.46}$. Rounding would explain 0.005 of it. With 0.5378 in place of 0.53, $0.29\\,C^{0.5378}$ "
        "gives the 16.55e12 of the text.",
        slips={
            1: "The law is printed for tokens, and its parameters would follow from 6ND.",
            2: "In petaflop-days C is smaller by 8.64e19, and the law would give next to nothing.",
            3: "The budget 6ND counts every token that is processed, new or not.",
        },
    ),
)
