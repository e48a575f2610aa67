"""Chapter 13: the design ``13-design-budget``, answers to spend on a reward that can be cheated, and its reason."""

from __future__ import annotations

import math

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily

stored = lazily("solutions.ch13.best_served")

SECTION = "13.10"
#: Answers that are written in an iteration, and answers that are served in the end.
BATCH, SERVED = 64, 1000
#: The most that the judge gives, and the farthest that anybody still takes the answers for the same model's, nats.
BEST, FARTHEST = 2.0, 10.0


def spent(price: int, iterations: int, n: int) -> Simulated:
    """What training and serving come to, by the worse of two runs."""
    made = stored.worst(price / 100, iterations, n)
    answers = BATCH * iterations + SERVED * n
    told = (
        f"Training writes {BATCH * iterations:,} answers and serving {SERVED * n:,}. What the worse run serves has a "
        f"score of {made.score:.2f} and {made.gold:.2f} by the judge, at most {made.nats:.1f} nats from the reference."
    )
    broken = ""
    if made.nats > FARTHEST:
        broken = f"But beyond {FARTHEST:g} nats nobody takes these answers for your model's."
    elif made.gold <= stored.worst(price / 100, 0, 1).gold:
        broken = "But the judge finds them no better than the reference's, which cost nothing."
    return Simulated(told, (math.inf, math.inf) if broken else (answers / 1000, BEST - made.gold), broken)


QUESTIONS = (
    Design(
        id="13-design-budget",
        title="Spend answers",
        section=SECTION,
        knobs=(
            Knob("price", "hundredths of a point for a nat (`price`)", (0, 5, 10, 20, 50)),
            Knob("iterations", "iterations of training (`iterations`)", (0, 2, 5, 10, 20, 40)),
            Knob("n", "the best of so many is served (`n`)", (1, 4, 16)),
        ),
        axes=(Axis("answers written in all", "thousand"), Axis("2 less the judge of the worse run", "points")),
        simulate=spent,
        derivation=(
            "All three choices spend nats to gain score, and the score stays honest for a few of them only. A short "
            "training hardly leaves the reference, so after two iterations no price is best, if by little. A long run "
            "needs one: at 0.1 or 0.2 it holds the actor where the reward still agrees with the judge, and more "
            "iterations make it better there instead of taking it further. At 0.05 they still take it too far, and at "
            "0.5 it stays too near to gain much."
            "\n\n"
            "From there best of four is the cheapest way up, with fewer iterations and the highest price. It goes a "
            "nat or two further by itself, so training should have stopped short. Best of sixteen goes too far: it "
            "finds the answer with the highest score, and among sixteen good ones that is the one about which the "
            "reward is wrong. After 5 iterations or more, with any price above 0, the worse run is judged lower with "
            "sixteen than with four, and its score is higher. These are two runs and 96 prompts for each: a third run "
            "could turn differences of a few hundredths around."
        ),
    ),
    Choice(
        id="13-reason-budget",
        kind="design",
        title="A price, or stopping early",
        section=SECTION,
        options=(
            "Both keep the answers near the reference, where the reward was compared with people's choices.",
            "Both keep the gradients small, so that the actor's weights change slowly and training stays stable.",
            "Both keep answers short, and long answers are where the reward and the judge disagree.",
            "Both leave the reward model time to adapt to what the actor has begun to write.",
        ),
        correct=0,
        derivation=(
            "The reward model knows the reference's sentences. Near them its score and the judge rise together; far "
            "from them the score is an extrapolation, and the actor climbs it all the same. What decides is how many "
            "nats away the answers are, whether few iterations or a price kept them there. The price leaves more "
            "iterations to use the same nats well."
        ),
        slips={
            1: "The gradient is clipped to the same norm in all of these runs.",
            2: "No answer has more than 16 tokens, and the divergence counts what is said, at any length.",
            3: "The reward model is frozen: it learned from its comparisons once, before the loop began.",
        },
    ),
)
