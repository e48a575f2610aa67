"""Chapter 8: ``generate_batch``, padded batches."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Right, Slip

#: Tokens of the small model of the driver.
VOCAB = 11


def one_by_one(model, prompts, max_new_tokens, eos=None):
    import torch

    rows = []
    for prompt in prompts:
        tokens = list(prompt)
        for _ in range(max_new_tokens):
            token = int(model(torch.tensor([tokens]))[0, -1].argmax())
            if token == eos:
                break
            tokens.append(token)
        rows.append(tokens[len(prompt) :])
    return rows


def _prompts(rng: Random, least: int = 2, most: int = 6) -> list[list[int]]:
    """Prompts of different lengths."""
    lengths = rng.sample(range(1, 13), rng.randint(least, most))
    return [[rng.randrange(VOCAB) for _ in range(length)] for length in lengths]


def _unequal(rng: Random) -> Case:
    return Case((rng.randrange(10**6), _prompts(rng), rng.randint(6, 12)))


def _ending(rng: Random) -> Case:
    return Case((rng.randrange(10**6), _prompts(rng, 4), rng.randint(8, 14), rng.randrange(VOCAB)))


def _special(rng: Random) -> list[Case]:
    seed, prompt = rng.randrange(10**6), [rng.randrange(VOCAB) for _ in range(rng.randint(2, 9))]
    equal = [[rng.randrange(VOCAB) for _ in range(5)] for _ in range(3)]
    return [Case((seed, [prompt], 7)), Case((seed, [], 3)), Case((seed, [[3], prompt], 1)), Case((seed, equal, 5))]


def batched(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Whether there was at most one forward pass per new token, and no token was computed twice or prompt changed."""
    _, prompts, max_new_tokens, *_ = case.args
    fed = answer["tokens of a row in each pass"]
    return {
        "new tokens": answer["new tokens"],
        "prompts are as they were": answer["prompts afterwards"] == prompts,
        "at most one pass per new token": len(fed) <= max_new_tokens,
        "no token is computed twice": sum(fed) <= max_new_tokens - 1 + max(map(len, prompts), default=0),
    }


EXERCISE = Build(
    "08 tiny_serving.generate_batch",
    section="8.17",
    topic="padded batches",
    bonus=True,
    grade="tensor",
    probe="ch08_batches.batched",
    concludes=batched,
    cases=(
        Case((8, [[1, 2, 3, 4, 5], [6], [7, 8]], 6)),
        Case((8, [[1, 2, 3, 4, 5], [6], [7, 8]], 12, 0)),
        Case((8, [[4, 4, 4]], 4)),
        Case((8, [], 4)),
    ),
    groups=(
        Group("unequal prompts", _unequal, 5, "Each row must be what its prompt gives alone."),
        Group("rows that end early", _ending, 6, "A row ends before its end token; the others go on."),
        one_of_each("special batches", _special, "One row, none, one new token."),
    ),
    slips=(
        Slip(
            "Padding is attended to: a mask must hide the columns before a row's first token.",
            edit=("cache, mask)", "cache)"),
        ),
        Slip(
            "Positions count padding: a row's first token is at position 0.",
            edit=("(new - padding).clamp(min=0)", "None"),
        ),
        Slip(
            "Padded on the right, a row's last token is not in the last column.",
            edits=(
                ("[0] * (longest - len(prompt)) + prompt for", "prompt + [0] * (longest - len(prompt)) for"),
                ("(columns >= padding)", "((columns < longest - padding) | (columns >= longest))"),
                ("(new - padding).clamp(min=0)", "new - padding if cache.length else new.expand(tokens.shape)"),
            ),
        ),
        Slip(
            "A row goes on after its end token.",
            edit=(
                "for row in running:",
                "for row in [row for row in range(len(rows)) if running and tokens[row] != eos]:",
            ),
        ),
        Slip(
            "The end token is not part of the answer.",
            edits=(
                ("        running -= {row for row in running if tokens[row] == eos}\n", ""),
                (
                    "        if not running:",
                    "        running -= {row for row in running if tokens[row] == eos}\n        if not running:",
                ),
            ),
        ),
        Slip("Each prompt runs alone: put all rows through one pass per new token.", one_by_one),
        Slip(
            "Tokens are computed more than once: with a cache a pass takes one new token per row.",
            edits=(
                ("cache, mask)", "None, mask)"),
                (
                    "tokens = logits[:, -1:].argmax(-1)",
                    "tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)",
                ),
                ("yield tokens.squeeze(1).tolist()", "yield tokens[:, -1].tolist()"),
            ),
        ),
        Slip(
            "The prompts that were handed in have the new tokens at their ends: leave arguments as they are.",
            edits=(
                (
                    "    rows: list[list[int]] = [[] for _ in prompts]\n",
                    "    rows, lengths = prompts, list(map(len, prompts))\n",
                ),
                (
                    "            break\n    return rows",
                    "            break\n    return [row[length:] for row, length in zip(rows, lengths, strict=True)]",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "where the model is",
            edit=(
                "    tokens = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])",
                "    at = next(model.parameters()).device\n"
                "    tokens = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts], device=at)",
            ),
        ),
    ),
    promises=(
        Promise(
            "Each row is what its prompt gives alone.",
            edit=("(columns >= padding).unsqueeze(1) & ", "(columns >= padding * 0).unsqueeze(1) & "),
        ),
        Promise(
            "Padding does not count in positions", edit=("(new - padding).clamp(min=0)", "new.expand(tokens.shape)")
        ),
        Promise("and no token attends to it", edit=("(columns >= padding)", "(columns >= padding - 1)")),
        Promise(
            "no token is computed twice.",
            edits=(
                ("cache, mask)", "None, mask)"),
                (
                    "tokens = logits[:, -1:].argmax(-1)",
                    "tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)",
                ),
                ("yield tokens.squeeze(1).tolist()", "yield tokens[:, -1].tolist()"),
            ),
        ),
        Promise(
            "One forward pass gives the next token of all rows",
            edit=(
                "_greedy(model, prompts, max_new_tokens):",
                "list(_greedy(model, prompts, max_new_tokens + 1))[:max_new_tokens]:",
            ),
        ),
        Promise(
            "mask is True where a new token may attend to one of the S cached and new ones",
            why="what the model expects",
        ),
        Promise(
            "The longest prompt and all new tokens but the last fit the context.",
            edit=(
                "_greedy(model, prompts, max_new_tokens):",
                "list(_greedy(model, prompts, max_new_tokens + 1))[:max_new_tokens]:",
            ),
        ),
        Promise(
            "without ``eos``",
            edits=(
                ("        running -= {row for row in running if tokens[row] == eos}\n", ""),
                (
                    "            rows[row].append(tokens[row])\n",
                    "            rows[row].append(tokens[row])\n"
                    "        running -= {row for row in running if tokens[row] == eos}\n",
                ),
            ),
        ),
        Promise(
            "and the others go on",
            edit=(
                "        if not running:\n            break",
                "        if len(running) < len(rows):\n            break",
            ),
        ),
    ),
)
