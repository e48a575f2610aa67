"""Section 12.18, A whole step of REINFORCE, with a second network: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-fit-first",
        kind="debug",
        title="The value network learns first",
        section="12.18",
        bonus=True,
        options=(
            "they shrink towards 0: it expects what it has just been told, the luck of these actions included",
            "they get better: the baseline is closer to the true value",
            "nothing: a baseline changes the noise of the gradient and not its mean",
            "they all turn negative: the network overestimates",
        ),
        correct=0,
        derivation="A baseline may depend on the state, not on what the action brought. Fitted to the same returns, it "
        "holds them: in the limit every weight is 0 and nothing is learned.",
        slips={
            1: "Closer to these returns, not to their mean over what might have happened.",
            2: "That holds for a baseline that does not depend on the action. This one was told the action's return.",
            3: "A fit is as often above as below.",
        },
    ),
)
