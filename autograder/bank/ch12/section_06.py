"""Section 12.6, Use a batch twice: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-reuse",
        kind="trace",
        title="Twenty steps with logarithms",
        section="12.6",
        options=(
            "bad words are pushed down in full, however rare they have become",
            "nothing: all twenty steps have the mean direction of the first",
            "from the second step on the gradient is 0",
            "good words are pushed up in full, however likely they have become",
        ),
        correct=0,
        derivation="The push of $w \\ln \\pi(a)$ on the logits is $w\\,(\\mathrm{onehot}(a) - \\pi)$. Where "
        "$\\pi(a)$ goes to 1 it vanishes, where $\\pi(a)$ goes to 0 it does not. The push of $w\\rho$ is $\\rho$ "
        "times that, and goes away with the word.",
        slips={
            1: "The first step has. After it the words in the batch are no longer a sample of the policy, and "
            "their weighted mean is not its gradient.",
            2: "The logarithm has a gradient wherever the policy is. It is the clip that can take one away.",
            3: "At a word that is nearly certain, $1 - \\pi$ is left of the push, which is nearly nothing.",
        },
    ),
)
