"""Chapter 13: parts of an RLHF step as people get them wrong: the programs to correct, and edits of what is right."""

# What is to be corrected carries no types: it is code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def wrong_shift(logits, tokens, prompt_length):
    log_probs = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length:]


SHIFT = (
    Slip(
        "The logits at position t speak of token t + 1: these are probabilities of a token after itself.", wrong_shift
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
)


def wrong_nan(log_probs, old_log_probs, advantages, mask):
    return ((log_probs - old_log_probs).exp() * advantages * mask).sum()


NAN = (
    Slip("Minus infinity less minus infinity is nan, and nan times 0 stays nan.", wrong_nan),
    Slip(
        "nan_to_num hides a fault in a real token, and the gradient of the padding is still nan.",
        program=wrong_nan,
        edit=("* mask)", "* mask).nan_to_num()"),
    ),
    Slip("A sum that leaves nan out hides a fault in a real token.", edit=(".sum()", ".nansum()")),
    Slip(
        "The value is right and the gradient nan: mask the difference, before exp.",
        edits=((".masked_fill(mask == 0, 0)", ""), ("log_ratio.exp()", "log_ratio.exp().masked_fill(mask == 0, 0)")),
    ),
    Slip("With a difference of 0 padding has ratio 1: its advantage must still be masked.", edit=(" * mask", "")),
)


def wrong_core_loop(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written = tokens[:, prompt_length:]
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        rewards = scores - beta * (log_probs() - reference) * mask
        returns = rewards.flip(1).cumsum(1).flip(1)  # what is still to come
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        old = log_probs().detach()
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - rewards
        loss = (0.5 * error.square() - gain) * mask
        loss.backward()
        optimizer.step()


CORE_LOOP = (
    Slip("A score of a response is one number, a KL term one for each token: pay it at the last one.", wrong_core_loop),
    Slip(
        "The score is paid at every token: it belongs to the last real one.",
        edit=(
            "-beta * (old - reference) * mask\n        rewards[rows, mask.sum(1).long() - 1] += scores\n",
            "(scores.unsqueeze(1) - beta * (old - reference)) * mask\n",
        ),
    ),
    Slip(
        "The critic's target is the return, all that is still to come: not the reward.",
        edit=("[:, span] - returns", "[:, span] - rewards"),
    ),
    Slip("A sum over tokens is a longer step the larger the batch: take the mean.", edit=(" / mask.sum()", "")),
    Slip(
        "The mean runs over the real tokens alone: padding teaches nothing.",
        edit=("((0.5 * error.square() - gain) * mask).sum() / mask.sum()", "(0.5 * error.square() - gain).mean()"),
    ),
    Slip(
        "Gradients of one epoch are still there in the next: zero_grad.", edit=("        optimizer.zero_grad()\n", "")
    ),
    Slip(
        "Old log-probabilities are those of the rollout: taken anew, every ratio is 1.",
        edit=("        ratio = ", "        old = log_probs().detach()\n        ratio = "),
    ),
)
