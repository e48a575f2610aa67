"""Three parts of an RLHF step that came with mistakes. Shapes as in ``rlhf``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankzero import checks


def debug_shift(logits: Tensor, tokens: Tensor, prompt_length: int) -> Tensor:
    """The log-probability of each token of the responses, given all tokens before it.

    Args:
        logits: of one pass over prompts and responses, [B, S, V]; those at position t predict token t + 1.
        tokens: prompts and responses, [B, S].
        prompt_length: P, at least 1 and below S.

    Returns:
        [B, S - P].
    """
    checks.count(1, tokens.shape[1] - 1, prompt_length=prompt_length)
    log_probs = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return log_probs[:, prompt_length - 1 :]


def debug_nan(log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """The sum over real tokens of ratio times advantage.

    In the padding a log-probability may be minus infinity; advantages are finite. Padding reaches neither the sum nor
    its gradient. A real token that is not a number must still be seen in the sum.

    Args:
        log_probs: of the policy that learns, [B, T]; the gradient flows here.
        old_log_probs: of the policy that wrote the tokens, [B, T].
        advantages: [B, T].
        mask: 1 on real tokens, 0 on padding, [B, T].
    """
    log_ratio = (log_probs - old_log_probs).masked_fill(mask == 0, 0)
    return (log_ratio.exp() * advantages * mask).sum()


def debug_core_loop(
    policy: nn.Module,
    critic: nn.Module,
    optimizer: torch.optim.Optimizer,
    tokens: Tensor,
    prompt_length: int,
    mask: Tensor,
    scores: Tensor,
    reference: Tensor,
    epochs: int = 2,
    beta: float = 0.1,
) -> None:
    """Learn from one batch of responses: PPO with clip 0.2, discount 1 and lambda 1, one step an epoch.

    The loss is the mean over the real tokens of the clipped policy loss plus half the squared error of the critic.

    Args:
        policy: from tokens [B, S] to logits [B, S, V].
        critic: from tokens [B, S] to values [B, S]; the one at position t belongs to token t + 1.
        optimizer: of the parameters of both.
        tokens: prompts and responses, [B, S]; the policy, as it is passed in, wrote them.
        prompt_length: P.
        mask: 1 on the real tokens of the responses, which come first in each row, [B, S - P].
        scores: one for each response, paid at its last real token, [B].
        reference: log-probabilities of the responses under the reference, [B, S - P].
        epochs: passes over the batch.
        beta: price of a nat, per token.
    """
    written, rows = tokens[:, prompt_length:], torch.arange(len(tokens))
    span = slice(prompt_length - 1, -1)

    def log_probs() -> Tensor:
        return policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)

    with torch.no_grad():
        old = log_probs()
        rewards = -beta * (old - reference) * mask
        rewards[rows, mask.sum(1).long() - 1] += scores
        returns = rewards.flip(1).cumsum(1).flip(1)  # what is still to come
        advantages = returns - critic(tokens)[:, span]
    for _ in range(epochs):
        ratio = (log_probs() - old).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        error = critic(tokens)[:, span] - returns
        loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
