"""Section 13.12, A batch in numbers: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip

EPOCHS = 4

#: The batch of the questions about shapes: B, P, T, V.
RESPONSES, PROMPT, NEW, VOCABULARY = 4, 64, 100, 50_257

_SHAPES: tuple[tuple[str, int, tuple[Slip, ...]], ...] = (
    ("tokens", RESPONSES * (PROMPT + NEW), (Slip("The models read the prompts, too.", value=RESPONSES * NEW),)),
    (
        "logits of the responses",
        RESPONSES * NEW * VOCABULARY,
        (Slip("The logits of the prompt are not needed.", value=RESPONSES * (PROMPT + NEW) * VOCABULARY),),
    ),
    (
        "log-probabilities of the responses",
        RESPONSES * NEW,
        (Slip("Of the whole vocabulary only the token that was written counts.", value=RESPONSES * NEW * VOCABULARY),),
    ),
    (
        "values",
        RESPONSES * NEW,
        (Slip("That is one for each response: the critic judges every prefix.", value=RESPONSES),),
    ),
    ("scores", RESPONSES, (Slip("The reward model judges a response once, when it is whole.", value=RESPONSES * NEW),)),
    ("advantages", RESPONSES * NEW, (Slip("Every token has an advantage of its own.", value=RESPONSES),)),
)


QUESTIONS = (
    Question(
        id="13-shapes",
        kind="trace",
        title="How many numbers",
        section="13.12",
        bonus=True,
        parts=tuple(Part(label, "numbers", lambda count=count: count, 0, slips) for label, count, slips in _SHAPES),
        derivation="Tokens are $B \\times S$ with $S = P + T$. Logits of the responses are $B \\times T \\times V$. "
        "Log-probabilities, values and advantages have one number for each token of the responses, $B \\times T$; "
        "scores one for each response, $B$.",
    ),
    Question(
        id="13-logit-bytes",
        kind="derive",
        title="Bytes of logits",
        section="13.12",
        bonus=True,
        ask="logits of the responses",
        unit="bytes",
        answer=lambda: 4 * RESPONSES * NEW * VOCABULARY,
        tolerance=0.001,
        slips=(
            Slip(
                "The logits of the prompt are counted, too: drop them early.",
                value=4 * RESPONSES * (PROMPT + NEW) * VOCABULARY,
            ),
            Slip("That is two bytes each: float32 has four.", value=2 * RESPONSES * NEW * VOCABULARY),
        ),
        derivation="Four bytes for each of $B \\times T \\times V$ numbers. Log-probabilities of the same tokens are "
        "$V$ times smaller: gather them piece by piece and never keep the logits.",
    ),
    Question(
        id="13-passes",
        kind="derive",
        title="Passes of an iteration",
        section="13.12",
        bonus=True,
        parts=(
            Part(
                "forward",
                "passes over the batch",
                lambda: 4 + 2 * EPOCHS,
                tolerance=0,
                slips=(
                    Slip("Those are the passes before anything is learnt: each epoch adds two.", value=4),
                    Slip(
                        "The epochs alone: the old log-probabilities, reference, reward and critic come first.", value=8
                    ),
                    Slip("That is one epoch.", value=6),
                    Slip(
                        "Reference and reward model do not run again in the epochs: nothing of theirs changes.",
                        value=20,
                    ),
                ),
            ),
            Part(
                "backward",
                "passes over the batch",
                lambda: 2 * EPOCHS,
                tolerance=0,
                slips=(
                    Slip("That is one epoch.", value=2),
                    Slip("That is the actor alone: the critic learns, too.", value=4),
                    Slip("Reference and reward model are frozen: no gradient flows into them.", value=16),
                ),
            ),
        ),
        derivation="Before learning, one forward pass each of the actor (old log-probabilities), the reference, the "
        "reward model and the critic. Then every epoch takes one forward and one backward pass of the actor and of "
        "the critic.",
    ),
    Choice(
        id="13-traffic",
        kind="trace",
        title="What travels in a step",
        section="13.12",
        bonus=True,
        options=(
            "Tokens, log-probabilities, values and scores.",
            "Tokens and logits.",
            "Tokens and the weights of the actor.",
            "Tokens, scores and the gradients of all four models.",
        ),
        correct=0,
        slips={
            1: "Logits are one number for each word of the vocabulary: the model that computes them keeps the one "
            "that it needs, the log-probability of the token.",
            2: "No weights change hands inside a step. (When the engine that generates holds a copy of its own, "
            "weights travel to it between steps: the next chapter.)",
            3: "Two models have no gradients, and those of the other two stay with them.",
        },
        derivation="Every model reads the tokens. What it says of them fits a number per token, or one per response. "
        "Losses need nothing else.",
    ),
)
