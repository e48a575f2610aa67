"""Section 12.2, Add ten to every mark: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-plus-ten",
        kind="trace",
        title="Ten more for everybody",
        section="12.2",
        options=(
            "above 0, and well below that of 12.1",
            "the same as in 12.1, up to rounding",
            "no better than at the start: every word is praised",
        ),
        correct=0,
        derivation="The mean gradient is that of 12.1, since a constant adds $10\\,E[\\nabla \\log \\pi] = 0$. "
        "But a single batch of 64 adds ten times its own mean of $\\nabla \\log \\pi$, which is not 0: noise, and "
        "the optimizer follows it.",
        slips={
            1: "Only differences count in the mean over all sentences. In a batch of 64, the constant adds noise "
            "that is larger than what the marks have to say.",
            2: "All are praised, the better ones more: what gets less than its share of praise loses.",
        },
    ),
    Choice(
        id="12-best-mark",
        kind="trace",
        title="Nobody is praised",
        section="12.2",
        options=(
            "yes: slower at first, and it ends about where the raw marks do",
            "no: every word that it writes gets rarer, the good ones too",
            "no: the baseline depends on the marks, so the mean direction is wrong",
            "yes, exactly as with the mean: a baseline changes nothing",
        ),
        correct=0,
        derivation="The best mark of 64 is 2 in nearly every batch, so it is a constant, and a constant changes no "
        "mean. What is taken from bad sentences goes to the others, most of it to the likely ones.",
        slips={
            1: "A good sentence has weight 0 and is left alone. What bad ones lose goes to the rest, so the good "
            "ones become likelier.",
            2: "It does depend on them, but hardly: nearly every batch of 64 has a sentence with the best mark.",
            3: "It changes the noise. The mean is a better constant than the maximum.",
        },
    ),
)
