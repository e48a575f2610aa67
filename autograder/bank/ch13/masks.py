"""Chapter 13: what of a batch is a response, and how likely each of its tokens was."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch13.wrong_masks import LOG_PROBS, MASK
from autograder.bank.ch13.wrong_repairs import SHIFT, wrong_shift
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Tensor

# --- response_mask


def _tokens(given: list[list[int]], dtype: str = "int64") -> Tensor:
    return Tensor.of([token for row in given for token in row], dtype, (len(given), len(given[0])))


def _padded(rng: Random, batch: int, length: int, eos: int, pad: int) -> list[list[int]]:
    """Responses that end once, but for some that do not end, filled up with ``pad``."""
    made = []
    for _ in range(batch):
        words = [rng.randint(5, 20) for _ in range(rng.randint(1, length))]
        row = [*words[:-1], eos] if len(words) < length or rng.random() < 0.5 else words
        made.append([*row, *[pad] * (length - len(row))])
    return made


def _responses(rng: Random) -> Case:
    length, eos = rng.randint(4, 12), rng.randint(1, 4)
    given = _padded(rng, rng.randint(2, 6), length, eos, 0)
    given.append([rng.randint(5, 20) for _ in range(length)])
    return Case((_tokens(given, rng.choice(("int64", "int32"))), eos))


def _several_ends(rng: Random) -> Case:
    """Anything follows the first end, more ends among it."""
    length = rng.randint(5, 10)
    given = [[rng.randint(5, 9) for _ in range(length)] for _ in range(rng.randint(2, 5))]
    for row in given:
        for place in rng.sample(range(length), rng.randint(2, 3)):
            row[place] = 2
    return Case((_tokens(given), 2))


def _mask_ends(rng: Random) -> list[Case]:
    """The end as padding, the end first, one column, no end at all."""
    length = rng.randint(3, 6)
    return [
        Case((_tokens(_padded(rng, 4, length, 3, 3)), 3)),
        Case((_tokens([[2, *(rng.randint(3, 9) for _ in range(length))], [2] * (length + 1)]), 2)),
        Case((_tokens([[rng.choice((2, 7))] for _ in range(3)]), 2)),
        Case((_tokens([[rng.randint(3, 9) for _ in range(length)]]), 2)),
    ]


RESPONSE_MASK = Build(
    id="13-response-mask",
    module="rlhf",
    function="response_mask",
    grade="tensor",
    section="13.4",
    topic="masks of responses",
    cases=(
        Case((_tokens([[5, 2, 0, 0], [5, 6, 7, 8], [2, 2, 5, 2]]), 2)),
        Case((_tokens([[4], [9]]), 9)),
        Case((_tokens([[3, 4, 1, 1, 1]]), 1)),
    ),
    groups=(
        Group("responses", _responses, 5, "1 up to and including the first end, 0 after it; without an end all is 1."),
        Group("several ends", _several_ends, 3, "Only the first end counts."),
        listed("ends", _mask_ends, "The end may come first, or fill up."),
    ),
    slips=MASK,
)

# --- response_log_probs


def _batch(rng: Random, scale: float = 3.0, dtype: str = "float64", prompt: int | None = None) -> Case:
    batch, length, vocab = rng.randint(1, 3), rng.randint(4, 8), rng.randint(4, 9)
    size = (batch, length, vocab)
    logits = Tensor.of([round(rng.uniform(-scale, scale), 3) for _ in range(math.prod(size))], dtype, size)
    tokens = [[rng.randrange(vocab) for _ in range(length)] for _ in range(batch)]
    return Case((logits, _tokens(tokens), prompt or rng.randint(2, length - 2)))


def _extreme(rng: Random) -> list[Case]:
    """Probabilities far below the smallest number of the type, in both types."""
    return [_batch(rng, 300.0, "float32"), _batch(rng, 2500.0, "float64")]


def _prompts(rng: Random) -> list[Case]:
    """A prompt of one token, and a response of one."""
    whole = _batch(rng)
    return [_batch(rng, prompt=1), Case((*whole.args[:2], whole.args[1].shape[1] - 1))]


SINES = Tensor.of([2 * math.sin(place) for place in range(24)], "float64", (1, 4, 6))

RESPONSE_LOG_PROBS = Build(
    id="13-response-log-probs",
    module="rlhf",
    function="response_log_probs",
    grade="tensor",
    probe="ch13.sent_back",
    section="13.4",
    topic="log-probabilities of responses",
    tolerance=1e-5,
    cases=(
        Case((SINES, _tokens([[1, 3, 0, 5]]), 2)),
        Case((SINES, _tokens([[1, 3, 0, 5]]), 1)),
        Case((SINES, _tokens([[1, 3, 0, 5]]), 3)),
    ),
    groups=(
        Group("batches", _batch, 5, "The logits at t - 1 are about the token at t, from the end of the prompt on."),
        Group(
            "far logits",
            lambda rng: rng.choice(_extreme(rng)),
            3,
            "Logits may lie hundreds apart: no logarithm of 0. The type stays.",
            _extreme,
        ),
        listed("ends", _prompts, "Prompt or response may be one token."),
    ),
    slips=LOG_PROBS,
)

# --- debug_shift

DEBUG_SHIFT = Debug(
    id="13-debug-shift",
    module="rlhf_repairs",
    function="debug_shift",
    grade="tensor",
    section="13.4",
    topic="log-probabilities of responses",
    tolerance=1e-5,
    cases=(Case((SINES, _tokens([[1, 3, 0, 5]]), 2)), _batch(Random("a batch"))),
    groups=(
        Group("batches", _batch, 5, "The logits at t - 1 are about the token at t."),
        listed("ends", _prompts, "Prompt or response may be one token."),
    ),
    slips=SHIFT,
    wrong=wrong_shift,
)
