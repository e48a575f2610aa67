"""Chapter 13: ``response_log_probs``, log-probabilities of responses."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import SINES, batch, draw_tokens, log_probs_by_logsumexp, log_probs_by_loss, prompts
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _extreme(rng: Random) -> list[Case]:
    """Probabilities far below the smallest number of the type, in both types."""
    return [batch(rng, 300.0, "float32"), batch(rng, 2500.0, "float64")]


EXERCISE = Build(
    "13 rlhf.response_log_probs",
    section="13.3",
    topic="log-probabilities of responses",
    grade="tensor",
    probe="ch13.sent_back",
    tolerance=1e-5,
    cases=(
        Case((SINES, draw_tokens([[1, 3, 0, 5]]), 2)),
        Case((SINES, draw_tokens([[1, 3, 0, 5]]), 1)),
        Case((SINES, draw_tokens([[1, 3, 0, 5]]), 3)),
    ),
    groups=(
        Group("batches", batch, 5, "The logits at t - 1 are about the token at t, from the end of the prompt on."),
        Group(
            "far logits",
            lambda rng: rng.choice(_extreme(rng)),
            3,
            "Logits may lie hundreds apart: no logarithm of 0. The type stays.",
            _extreme,
        ),
        listed("ends", prompts, "Prompt or response may be one token."),
    ),
    slips=(
        Slip(
            "The logits at position t are about token t + 1: shift by one.",
            edit=("logits[:, prompt_length - 1 : -1]", "logits[:, prompt_length:]"),
        ),
        Slip(
            "That shifts the tokens the wrong way: pair the logits at t - 1 with the token at t.",
            edits=(
                ("logits[:, prompt_length - 1 : -1]", "logits[:, prompt_length:]"),
                ("tokens[:, prompt_length:]", "tokens[:, prompt_length - 1 : -1]"),
            ),
        ),
        Slip(
            "After the shift the response begins one place earlier: its first token is lost.",
            edits=(
                ("logits[:, prompt_length - 1 : -1]", "logits[:, prompt_length:-1]"),
                ("tokens[:, prompt_length:]", "tokens[:, prompt_length + 1 :]"),
            ),
        ),
        Slip(
            "A small probability rounds to 0 and its logarithm is infinite: use log_softmax.",
            edits=((".log_softmax(-1)", ".softmax(-1)"), (".squeeze(-1)", ".squeeze(-1).log()")),
        ),
        Slip(
            "Take the token that was written, not the likeliest one.",
            edit=("log_probs.gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1)", "log_probs.amax(-1)"),
        ),
        Slip("Return logarithms of the probabilities.", edit=(".log_softmax(-1)", ".softmax(-1)")),
        Slip("Logits are log-probabilities only after log_softmax over the vocabulary.", edit=(".log_softmax(-1)", "")),
    ),
    rights=(
        Right("logsumexp subtracted", program=log_probs_by_logsumexp),
        Right("a library's cross-entropy", program=log_probs_by_loss),
        Right(
            "double precision inside",
            edits=(
                (".log_softmax(-1)", ".double().log_softmax(-1)"),
                (".unsqueeze(-1)).squeeze(-1)", ".unsqueeze(-1)).squeeze(-1).to(logits.dtype)"),
            ),
        ),
    ),
    promises=(Promise("of the type of ``logits``", edit=(".log_softmax(-1)", ".double().log_softmax(-1)")),),
)
