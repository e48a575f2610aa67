"""Chapter 13: ``debug_shift``, log-probabilities of responses."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import SINES, batch, draw_tokens, log_probs_by_logsumexp, log_probs_by_loss, prompts
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Right, Slip


def wrong_shift(logits, tokens, prompt_length):
    log_probs = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length:]


_SHIFT = "logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)"


EXERCISE = Debug(
    "13 rlhf_repairs.debug_shift",
    section="13.12",
    topic="log-probabilities of responses",
    bonus=True,
    grade="tensor",
    tolerance=1e-5,
    wrong=wrong_shift,
    cases=(Case((SINES, draw_tokens([[1, 3, 0, 5]]), 2)), batch(Random("a batch"))),
    groups=(
        Group("batches", batch, 5, "The logits at t - 1 are about the token at t."),
        listed("ends", prompts, "Prompt or response may be one token."),
    ),
    slips=(
        Slip(
            "The logits at position t predict token t + 1: these are probabilities of a token after itself.",
            wrong_shift,
        ),
        Slip(
            "That shifts the tokens the wrong way: pair the logits at t - 1 with the token at t.",
            edits=(("logits[:, :-1]", "logits[:, 1:]"), ("tokens[:, 1:]", "tokens[:, :-1]")),
        ),
        Slip(
            "After the shift the response begins one place earlier: its first token is missing.",
            edit=("prompt_length - 1 :", "prompt_length:"),
        ),
        Slip(
            "The prompt is not part of the response: leave its tokens out.",
            edit=("log_probs[:, prompt_length - 1 :]", "log_probs"),
        ),
    ),
    rights=(
        Right("a library's cross-entropy", program=log_probs_by_loss),
        Right("logsumexp subtracted", program=log_probs_by_logsumexp),
        Right(
            "double precision inside",
            edits=(
                (_SHIFT, _SHIFT.replace("[:, :-1]", "[:, :-1].double()")),
                (
                    "return log_probs[:, prompt_length - 1 :]",
                    "return log_probs[:, prompt_length - 1 :].to(logits.dtype)",
                ),
            ),
        ),
    ),
)
