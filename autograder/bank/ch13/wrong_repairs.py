"""Chapter 13: parts of an RLHF step as people get them wrong. Each program is complete in itself."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip

# --- debug_shift


def wrong_shift(logits, tokens, prompt_length):
    log_probs = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length:]


def slip_other_way(logits, tokens, prompt_length):
    log_probs = logits[:, 1:].log_softmax(-1).gather(-1, tokens[:, :-1].unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length - 1 :]


def slip_prompt_too_long(logits, tokens, prompt_length):
    log_probs = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length:]


def slip_prompt_kept(logits, tokens, prompt_length):
    return logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)


SHIFT = (
    Slip(
        "The logits at position t speak of token t + 1: these are probabilities of a token after itself.", wrong_shift
    ),
    Slip("That shifts the tokens the wrong way: pair the logits at t - 1 with the token at t.", slip_other_way),
    Slip("After the shift the response begins one place earlier: its first token is missing.", slip_prompt_too_long),
    Slip("The prompt is not part of the response: leave its tokens out.", slip_prompt_kept),
)

# --- debug_nan


def wrong_nan(log_probs, old_log_probs, advantages, mask):
    return ((log_probs - old_log_probs).exp() * advantages * mask).sum()


def slip_nan_to_num(log_probs, old_log_probs, advantages, mask):
    return ((log_probs - old_log_probs).exp() * advantages * mask).nan_to_num().sum()


def slip_nansum(log_probs, old_log_probs, advantages, mask):
    ratio = (log_probs - old_log_probs).masked_fill(mask == 0, 0).exp()
    return (ratio * advantages * mask).nansum()


def slip_masked_after(log_probs, old_log_probs, advantages, mask):
    ratio = (log_probs - old_log_probs).exp().masked_fill(mask == 0, 0)
    return (ratio * advantages).sum()


def slip_padding_counts_one(log_probs, old_log_probs, advantages, mask):
    ratio = (log_probs - old_log_probs).masked_fill(mask == 0, 0).exp()
    return (ratio * advantages).sum()


NAN = (
    Slip("Minus infinity less minus infinity is nan, and nan times 0 stays nan.", wrong_nan),
    Slip("nan_to_num hides a fault in a real token, and the gradient of the padding is still nan.", slip_nan_to_num),
    Slip("A sum that leaves nan out hides a fault in a real token.", slip_nansum),
    Slip("The value is right and the gradient nan: mask the difference, before exp.", slip_masked_after),
    Slip("With a difference of 0 padding has ratio 1: its advantage must still be masked.", slip_padding_counts_one),
)

# --- debug_core_loop


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


def slip_score_all(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written = tokens[:, prompt_length:]
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = (scores.unsqueeze(1) - beta * (old - reference)) * mask
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def slip_reward_target(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - rewards
        loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def slip_summed(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = ((0.5 * error.square() - gain) * mask).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def slip_all_columns(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = (0.5 * error.square() - gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def slip_piled_up(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()
        loss.backward()
        optimizer.step()


def slip_old_is_new(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    import torch

    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs():
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        old = log_probs().detach()
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


CORE_LOOP = (
    Slip("A score of a response is one number, a KL term one for each token: pay it at the last one.", wrong_core_loop),
    Slip("The score is paid at every token: it belongs to the last real one.", slip_score_all),
    Slip("The critic's target is the return, all that is still to come: not the reward.", slip_reward_target),
    Slip("A sum over tokens is a longer step the larger the batch: take the mean.", slip_summed),
    Slip("The mean runs over the real tokens alone: padding teaches nothing.", slip_all_columns),
    Slip("Gradients of one epoch are still there in the next: zero_grad.", slip_piled_up),
    Slip("Old log-probabilities are those of the rollout: taken anew, every ratio is 1.", slip_old_is_new),
)
