"""Chapter 13: masks and log-probabilities of responses, as people get them wrong; each program is complete."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip

# --- response_mask


def slip_end_left_out(tokens, eos):
    return ((tokens == eos).cumsum(1) == 0).float()


def slip_not_padding(tokens, eos):
    return (tokens != eos).float()


def slip_second_end(tokens, eos):
    return ((tokens == eos).cumsum(1) <= 1).float()


def slip_last_end(tokens, eos):
    ends = (tokens == eos).long()
    to_come = ends.flip(1).cumsum(1).flip(1)
    return ((to_come > 0) | (ends.sum(1, keepdim=True) == 0)).float()


def slip_no_end_no_response(tokens, eos):
    import torch

    first = (tokens == eos).long().argmax(1, keepdim=True)
    return (torch.arange(tokens.shape[1]) <= first).float()


MASK = (
    Slip(
        "The end is part of the response: it carries the score, and ending is learned like any token.",
        slip_end_left_out,
    ),
    Slip(
        "Tokens after the end were counted, unless they are the end once more: cut at the first end.", slip_not_padding
    ),
    Slip("What follows the first end is not part of the response: count the ends before a token.", slip_second_end),
    Slip("The first end counts, not the last.", slip_last_end),
    Slip("A response without an end is all real: argmax of nothing is 0.", slip_no_end_no_response),
)

# --- response_log_probs


def slip_no_shift(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    log_probs = logits[:, prompt_length:].log_softmax(-1)
    return log_probs.gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1)


def slip_shifted_back(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    log_probs = logits[:, prompt_length:].log_softmax(-1)
    return log_probs.gather(-1, tokens[:, prompt_length - 1 : -1].unsqueeze(-1)).squeeze(-1)


def slip_first_token_lost(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    log_probs = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length:]


def slip_log_of_softmax(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    probs = logits[:, prompt_length - 1 : -1].softmax(-1)
    return probs.gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1).log()


def slip_likeliest(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    return logits[:, prompt_length - 1 : -1].log_softmax(-1).amax(-1)


def slip_probabilities(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    probs = logits[:, prompt_length - 1 : -1].softmax(-1)
    return probs.gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1)


def slip_raw_logits(logits, tokens, prompt_length):
    if not 1 <= prompt_length < tokens.shape[1]:
        raise ValueError("prompt_length")
    return logits[:, prompt_length - 1 : -1].gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1)


LOG_PROBS = (
    Slip("The logits at position t are about token t + 1: shift by one.", slip_no_shift),
    Slip("That shifts the tokens the wrong way: pair the logits at t - 1 with the token at t.", slip_shifted_back),
    Slip("After the shift the response begins one place earlier: its first token is lost.", slip_first_token_lost),
    Slip("A small probability rounds to 0 and its logarithm is infinite: use log_softmax.", slip_log_of_softmax),
    Slip("Take the token that was written, not the likeliest one.", slip_likeliest),
    Slip("Return logarithms of the probabilities.", slip_probabilities),
    Slip("Logits are log-probabilities only after log_softmax over the vocabulary.", slip_raw_logits),
)
