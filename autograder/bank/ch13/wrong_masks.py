"""Chapter 13: masks and log-probabilities of responses, as people get them wrong: edits of the references."""

from __future__ import annotations

from autograder.items import Slip

MASK = (
    Slip(
        "The end is part of the response: it carries the score, and ending is learned like any token.",
        edit=("before == 0", "before + ends == 0"),
    ),
    Slip(
        "Tokens after the end were counted, unless they are the end once more: cut at the first end.",
        edit=("before == 0", "tokens != eos"),
    ),
    Slip(
        "What follows the first end is not part of the response: count the ends before a token.",
        edit=("before == 0", "before + ends <= 1"),
    ),
    Slip(
        "The first end counts, not the last.",
        edits=(
            (
                "before = ends.cumsum(1) - ends  # how many ends come before a token",
                "to_come = ends.flip(1).cumsum(1).flip(1)",
            ),
            ("before == 0", "(to_come > 0) | (ends.sum(1, keepdim=True) == 0)"),
        ),
    ),
    Slip(
        "A response without an end is all real: argmax of nothing is 0.",
        edit=("before == 0", "torch.arange(tokens.shape[1]) <= ends.argmax(1, keepdim=True)"),
    ),
)

LOG_PROBS = (
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
)
