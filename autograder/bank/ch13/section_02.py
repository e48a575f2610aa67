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
        derivation="The annotator errs at random, mostly where two responses are nearly as good as each other. A model "
        "cannot remember each pair's error; it has to find one score for each response that suits many pairs, and "
        "errors in both directions cancel. Near-ties it still gets wrong sometimes.",
        slips={
            1: "It does not copy each label. It fits one score for each response to many pairs, and errors cancel.",
            2: "Errors that do not depend on the text cannot be learned: no feature predicts them.",
            3: "They cancel on average, not to the last one; near-ties stay hard.",
        },
    ),
)
