"""Section 13.2, A mark from comparisons: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-noisy-labels",
        kind="trace",
        title="Better than its teachers",
        section="13.2",
        options=(
            "more often than the annotator does, above 90 %",
            "about as often as the annotator does, 84 %",
            "clearly less often, about 65 %: it learns the errors and adds its own",
            "always: with 2,000 pairs the errors cancel",
        ),
        correct=0,
        derivation="The annotator errs at random, mostly where two responses are nearly as good as each other. In six "
        "passes a model does not learn each pair's error by heart; it finds one score for each response that suits "
        "many pairs, and errors in both directions cancel. Near-ties it still gets wrong sometimes.",
        slips={
            1: "It does not copy each label. It fits one score for each response to many pairs, and errors cancel.",
            2: "No feature predicts errors that do not depend on the text: on fresh pairs they do not come back.",
            3: "They cancel on average, not to the last one; near-ties stay hard.",
        },
    ),
)
