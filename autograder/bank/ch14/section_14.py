"""Section 14.14, An iteration in numbers: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily

profile = lazily("solutions.ch14.rlhf_profile")


QUESTIONS = (
    Choice(
        id="14-reference-role",
        kind="trace",
        title="The reference in a rollout",
        section="14.14",
        bonus=True,
        options=(
            "It makes one forward pass over prompts and responses, for their log-probabilities",
            "It generates responses beside the policy, token by token",
            "It gives each response a reward",
            "It learns from the responses, more slowly than the policy",
        ),
        correct=0,
        derivation="The policy generates. The reference is frozen and looks once at what was written.",
        slips={
            1: "The policy generates; the reference never writes a token.",
            2: "That is the reward model, or a rule.",
            3: "The reference is frozen.",
        },
    ),
    Question(
        id="14-flops",
        kind="derive",
        title="The work behind one token",
        section="14.14",
        bonus=True,
        ask="FLOPs of the whole iteration",
        unit="N",
        answer=lambda: profile.flops_per_response_token(profile.Iteration(epochs=4)),
        tolerance=0,
        slips=(
            Slip("Two models learn, the actor and the critic.", value=32),
            Slip("The training passes over the batch in each epoch.", value=20),
            Slip("That is the training alone; four models make a forward pass each.", value=48),
        ),
        derivation="Generate, reference, reward and critic: $2N$ each. Training: $6N$ for each of two models in each "
        "of $E$ epochs. Together $(8 + 12E)\\,N$.",
    ),
)
