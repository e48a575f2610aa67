"""Chapter 13: ``debug_core_loop``, one step of RLHF."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.draws import ending, lengths, rows, tensor
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Right, Slip, Tensor


def _lesson(rng: Random, counts: list[int], length: int, prompt: int, **options: float) -> Case:
    """A batch of responses with padding for a policy that the seed makes."""
    batch, vocab = len(counts), rng.randint(5, 7)
    flat = [rng.randrange(vocab) for _ in range(batch * (prompt + length))]
    flat[0] = vocab - 1
    mask = ending(counts, length)
    return Case(
        (
            rng.randrange(10**6),
            Tensor.of(flat, "int64", (batch, prompt + length)),
            prompt,
            tensor(mask),
            Tensor.of([round(rng.uniform(0.5, 2) * rng.choice((-1, 1)), 2) for _ in range(batch)], "float64"),
            tensor(rows(rng, batch, length, -4, -1)),
        ),
        options,
    )


def _lessons(rng: Random) -> Case:
    length = rng.randint(3, 5)
    return _lesson(rng, lengths(rng, rng.randint(2, 4), length), length, rng.randint(1, 3))


def _square(rng: Random) -> Case:
    """As many responses as tokens: shapes that should not fit do."""
    return _lesson(rng, [3, *lengths(rng, 2, 3)], 3, 2)


def _other_lessons(rng: Random) -> list[Case]:
    return [
        _lesson(rng, [2, 4], 4, 2, epochs=3, beta=0.5),
        _lesson(rng, [3, 2], 3, 1, epochs=1),
        _lesson(rng, [3, 3], 3, 2, beta=0.0),
    ]


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


_CORE = "loss = ((0.5 * error.square() - gain) * mask).sum() / mask.sum()"


EXERCISE = Debug(
    "13 rlhf_repairs.debug_core_loop",
    section="13.18",
    topic="one step of RLHF",
    bonus=True,
    grade="tensor",
    probe="ch13.learned",
    tolerance=1e-5,
    wrong=wrong_core_loop,
    cases=(_lesson(Random("square"), [3, 2, 1], 3, 2), _lesson(Random("oblong"), [2, 4], 4, 2)),
    groups=(
        Group("batches", _lessons, 4, "Five things are wrong; compare each line with what the docstring says."),
        Group("square batches", _square, 2, "B may equal T: shapes that fit by accident are no proof."),
        listed("others", _other_lessons, "Other epochs and betas."),
    ),
    slips=(
        Slip(
            "A score of a response is one number, a KL term one for each token: pay it at the last one.",
            wrong_core_loop,
        ),
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
            "Gradients of one epoch are still there in the next: zero_grad.",
            edit=("        optimizer.zero_grad()\n", ""),
        ),
        Slip(
            "Old log-probabilities are those of the rollout: taken anew, every ratio is 1.",
            edit=("        ratio = ", "        old = log_probs().detach()\n        ratio = "),
        ),
    ),
    rights=(
        Right(
            "by index, a mean of each part",
            edit=(_CORE, "loss = 0.5 * error[mask > 0].square().mean() - gain[mask > 0].mean()"),
        ),
        Right(
            "returns from the left, a library's cross-entropy",
            edits=(
                ("rewards.flip(1).cumsum(1).flip(1)", "rewards.sum(1, keepdim=True) - rewards.cumsum(1) + rewards"),
                (
                    "policy(tokens)[:, span].log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)",
                    "-nn.functional.cross_entropy(policy(tokens)[:, span].transpose(1, 2), written, reduction='none')",
                ),
            ),
        ),
    ),
)
