"""Chapter 13: ``rlhf_step``, one step of RLHF without a critic."""

from __future__ import annotations

from dataclasses import make_dataclass
from math import inf, nan
from random import Random

from autograder.bank.ch13.draws import Rows, rows, tensor
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor

#: <eos> of all cases, and tokens of a prompt.
EOS = 2


def _written(rng: Random, counts: list[int], length: int, prompt: int, vocab: int) -> list[list[int]]:
    """Responses whose <eos> comes at these places (none where the count is beyond the length), each after a prompt."""
    others = [token for token in range(vocab) if token != EOS]
    batch = []
    for count in counts:
        response = [rng.choice(others) for _ in range(length)]
        if count <= length:
            response[count - 1] = EOS
            for place in range(count, length):
                response[place] = rng.choice((EOS, *others))  # what stands behind the end means nothing
        batch.append([rng.choice(others) for _ in range(prompt)] + response)
    return batch


def _behind(values: Rows, counts: list[int], rest: tuple[float, ...]) -> Rows:
    return [
        [value if place < count else rest[(place + row) % len(rest)] for place, value in enumerate(one)]
        for row, (one, count) in enumerate(zip(values, counts, strict=True))
    ]


def _step(
    rng: Random,
    groups: int,
    size: int,
    pieces: int = 1,
    epochs: int = 1,
    rest: tuple[float, ...] = (-3.0, -1.0),
    silent: bool = False,
    length: int = 4,
    **options: float,
) -> Case:
    batch, prompt, vocab = groups * size, rng.randint(1, 3), rng.randint(5, 7)
    counts = [rng.randint(1, length + 1) for _ in range(batch)]
    counts[0] = 1
    tokens = _written(rng, counts, length, prompt, vocab)
    scores = [round(rng.uniform(-2, 2), 2) for _ in range(batch)]
    if silent:
        scores[:size] = [1.0] * size
    order: list[int] = []
    for _ in range(epochs):
        order += rng.sample(range(batch), batch)
    flat = [token for row in tokens for token in row]
    near, far = (_behind(rows(rng, batch, length, -2.6, -0.6), counts, rest) for _ in range(2))
    return Case(
        (
            rng.randrange(10**6),
            Tensor.of(flat, "int64", (batch, prompt + length)),
            prompt,
            tensor(near),
            Tensor.of(scores, "float64"),
            tensor(far),
            Tensor.of(order, "int64", (epochs * pieces, batch // pieces)),
            size,
        ),
        {"eos": EOS, **options},
    )


def _whole(rng: Random) -> Case:
    return _step(rng, rng.randint(2, 3), rng.choice((2, 4)), beta=0.0)


def _again(rng: Random) -> Case:
    return _step(rng, 2, 4, pieces=2, epochs=2, beta=0.0, clip=rng.choice((0.1, 0.2, 0.3)))


def _priced(rng: Random) -> Case:
    return _step(rng, 2, 4, pieces=rng.choice((1, 2)), epochs=2, beta=round(rng.uniform(0.2, 1.0), 2))


def _unasked(case: Case) -> Case:
    """A batch without a price, for which nobody has asked the reference."""
    nothing = tensor([[nan] * case.args[3].shape[1]] * case.args[3].shape[0])
    return Case((*case.args[:5], nothing, *case.args[6:]), case.kwargs)


def _odd(rng: Random) -> list[Case]:
    """A silent group; anything behind the end; one long row of pieces."""
    anything = (nan, -inf, inf, 50.0)
    return [
        _step(rng, 2, 3, silent=True, beta=0.0),
        _step(rng, 2, 4, pieces=2, epochs=1, rest=anything, beta=0.3),
        _step(rng, 3, 2, pieces=3, epochs=2, rest=(-inf,), beta=0.0),
        _step(rng, 2, 2, length=1, beta=0.1),
        _unasked(_step(rng, 2, 2, beta=0.0)),
    ]


def _by_hand(policy, optimizer, tokens, prompt_length, old_log_probs, scores, ref_log_probs, orders, group_size,
             eos=2, clip=0.2, beta=0.0):  # fmt: skip
    """Every sum over the real tokens is written out, row by row, with a library's cross-entropy."""
    import torch
    from torch.nn import functional

    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    length, gains, told = tokens.shape[1] - prompt_length, [], []
    for group in scores.split(group_size):
        gains += ((group - group.mean()) / (group.std() + 1e-4)).tolist()
    ends = []
    for row in tokens[:, prompt_length:].tolist():
        ends.append(row.index(eos) + 1 if eos in row else length)
    for chosen in orders.tolist():
        logits, parts, seen = policy(tokens), [], []
        for row in chosen:
            real = slice(0, ends[row])
            log_p = -functional.cross_entropy(
                logits[row, prompt_length - 1 : -1], tokens[row, prompt_length:], reduction="none"
            )
            ratio = (log_p[real] - old_log_probs[row, real]).exp()
            bound = ratio.clamp(1 - clip, 1 + clip)
            parts.append(-torch.minimum(ratio * gains[row], bound * gains[row]).sum())
            if beta:
                parts.append((beta * (log_p[real] - ref_log_probs[row, real]) ** 2 / 2).sum())
            outside, moved = abs(ratio - 1) > clip, bound * gains[row] < ratio * gains[row]
            seen += zip(outside.tolist(), moved.tolist(), (ratio - 1 - ratio.log()).tolist(), strict=True)
        optimizer.zero_grad()
        (torch.stack(parts).sum() / len(seen)).backward()
        optimizer.step()
        told.append(kind(*(sum(column) / len(seen) for column in zip(*seen, strict=True))))
    return told


EXERCISE = Build(
    "13 rlhf.rlhf_step",
    section="13.9",
    topic="one step of RLHF",
    grade="tensor",
    probe="ch13.stepped",
    tolerance=1e-6,
    cases=(
        _step(Random("one update"), 2, 2, beta=0.0),
        _step(Random("two passes"), 2, 4, pieces=2, epochs=2, beta=0.0),
        _step(Random("a price"), 2, 2, epochs=2, beta=0.5),
    ),
    groups=(
        Group("one update", _whole, 4, "Mask, gains in groups, one pass, one update by the mean over real tokens."),
        Group("several updates", _again, 4, "The ratio is to the log-probabilities that were handed over."),
        Group("a price", _priced, 4, "beta times the mean of k2 over the same tokens, added to the loss."),
        listed(
            "odd batches",
            _odd,
            "A silent group; whatever stands behind <eos>; one token; no price, and nobody asked the reference.",
        ),
    ),
    slips=(
        Slip(
            "The groups are those of the whole batch: compare first, then cut into minibatches.",
            edits=(
                ("gains = group_advantages(scores, group_size)", "gains = scores"),
                (
                    "gains[rows].unsqueeze(1)",
                    "((gains[rows] - gains[rows].mean()) / (gains[rows].std() + 1e-4)).unsqueeze(1)",
                ),
            ),
        ),
        Slip(
            "The old log-probabilities are those of the writer: taken anew, every ratio is 1.",
            edit=("old = old_log_probs[rows]", "old = now.detach()"),
        ),
        Slip(
            "Gradients of one update are still there in the next: zero_grad.",
            edit=("        optimizer.zero_grad()\n", ""),
        ),
        Slip(
            "A price is added to the loss: yours rewards distance.", edit=("loss + beta * price", "loss - beta * price")
        ),
        Slip(
            "k1 as a loss pushes nowhere on average: the price is k2.",
            edit=("gap.square() / 2", "gap"),
        ),
        Slip(
            "That is k3, whose gradient belongs to the other divergence.",
            edit=("gap.square() / 2", "((-gap).expm1() + gap)"),
        ),
        Slip(
            "The price is a mean over the real tokens, as the loss is: padding dilutes yours.",
            edit=("/ mask[rows].sum()", "/ mask[rows].numel()"),
        ),
        Slip(
            "<eos> is real: the actor chose it.",
            edit=(
                "mask = response_mask(tokens[:, prompt_length:], eos)",
                "mask = response_mask(tokens[:, prompt_length:], eos) * (tokens[:, prompt_length:] != eos)\n"
                "    mask[:, 0] = 1",
            ),
        ),
        Slip(
            "All tokens were counted, also those behind <eos>.",
            edit=("mask = response_mask(tokens[:, prompt_length:], eos)", "mask = torch.ones_like(old_log_probs)"),
        ),
        Slip(
            "The sign is turned: an answer above its group's mean has to become likelier.",
            edit=("gains = group_advantages(", "gains = -group_advantages("),
        ),
        Slip(
            "The scores went in as they are: compare each with the other answers to its prompt.",
            edit=("gains = group_advantages(scores, group_size)", "gains = scores"),
        ),
        Slip(
            "Nothing is clipped: a ratio outside the range gains no more.",
            edit=("mask[rows], clip)", "mask[rows], 1e9)"),
        ),
        Slip(
            "The logits at place t predict the token at place t + 1.",
            edit=(
                "response_log_probs(policy(tokens[rows]), tokens[rows], prompt_length)",
                "response_log_probs(policy(tokens[rows]).roll(-1, 1), tokens[rows], prompt_length)",
            ),
        ),
        Slip(
            "That subtracts the mean of the batch: each group has its own.",
            edit=("group_advantages(scores, group_size)", "group_advantages(scores, len(scores))"),
        ),
    ),
    rights=(
        Right("row by row", program=_by_hand),
        Right(
            "the price from the whole batch's gap",
            edit=(
                "gap = (now - ref_log_probs[rows]).masked_fill(~real, 0)",
                "gap = torch.where(real, now - ref_log_probs[rows], 0.0)",
            ),
        ),
    ),
    promises=(
        Promise("each row of ``orders`` is one update", edit=("for rows in orders:", "for rows in orders[:1]:")),
        Promise(
            "the reference may be anything, nan and infinities too",
            edit=("(now - ref_log_probs[rows]).masked_fill(~real, 0)", "(now - ref_log_probs[rows]) * real"),
        ),
        Promise("0: nobody looks at", edit=("if beta:", "if True:")),
    ),
)
