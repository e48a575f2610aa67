"""Section 15.15, Ranks, steps and stages: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import part
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import million

facts = lazily("solutions.ch15.llama_405b")
plan = lazily("solutions.ch15.run_plan")


def _stages() -> list[int]:
    return plan.partition_layers(126, 16, 1, 1)


def _ramp_steps() -> float:
    steps, start = 0.0, 0.0
    for tokens, _, end in facts.RAMP:
        steps, start = steps + (end - start) / tokens, end
    return steps / million


QUESTIONS = (
    Question(
        id="cap-dp",
        kind="derive",
        title="What is left for data parallelism",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "TP 8, PP 16, CP 1",
                "",
                lambda: 16_384 // (8 * 16),
                ("Divide by the pipeline's stages, too.", 16_384 / 8),
                tolerance=0,
            ),
            part(
                "with CP 16",
                "",
                lambda: 16_384 // (8 * 16 * 16),
                ("The first version of the paper says so, but that would use only half of the GPUs.", 4),
                ("Context-parallel ranks are GPUs, too: they divide.", 128),
                tolerance=0,
            ),
        ),
        derivation="$\\mathrm{TP} \\cdot \\mathrm{CP} \\cdot \\mathrm{PP} \\cdot \\mathrm{DP} = n$ with $n = 16384$.",
    ),
    Question(
        id="cap-tokens",
        kind="derive",
        title="Tokens of one step",
        section="15.15",
        bonus=True,
        ask="tokens",
        unit="",
        answer=lambda: 16 * 128 * 8192,
        tolerance=0,
        slips=(
            Slip("That is the batch at the beginning of the ramp.", value=4 * 2**20),
            Slip("That is one replica.", value=16 * 8192),
            Slip("The M of 16M is not a million here: multiply.", value=16e6),
        ),
        derivation="Sequences per replica, 16, times replicas, 128, times tokens of a sequence, 8,192.",
    ),
    Question(
        id="cap-steps",
        kind="derive",
        title="Optimizer steps along the ramp",
        section="15.15",
        bonus=True,
        ask="steps",
        unit="million",
        answer=_ramp_steps,
        tolerance=0.05,
        slips=(
            Slip("Not all steps hold 16M tokens: the batch grows.", value=lambda: 15.6e12 / (16 * 2**20) / million),
            Slip("That is the schedule of the learning rate; the tokens end before it.", value=1.2),
        ),
        derivation="Tokens of each stretch over the tokens of its step: 252e6 at $4 \\cdot 2^{20}$, then up to "
        "2.87e12 at $8 \\cdot 2^{20}$, then up to 15.6e12 at $16 \\cdot 2^{20}$.",
    ),
    Question(
        id="cap-stages",
        kind="derive",
        title="Layers on 16 stages",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "first stage",
                "layers",
                lambda: _stages()[0],
                ("The embedding counts as a layer there.", 8),
                tolerance=0,
            ),
            part(
                "an inner stage",
                "layers",
                lambda: _stages()[1],
                ("126 over 16 is no whole number, and the ends take less.", 7),
                tolerance=0,
            ),
            part("last stage", "layers", lambda: _stages()[-1], ("The head counts as a layer there.", 8), tolerance=0),
        ),
        derivation="Embedding and head count as a layer each: 128 places on 16 stages, then one is taken from the "
        "first stage and one from the last.",
    ),
)
