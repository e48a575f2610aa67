"""Wrong programs that people wrote from docstrings: each loses points with every key. Right ones are in tests/luck."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from autograder import bank
from autograder.bank.ch04 import debug_barrier
from tools.luck import Right, failures

KEYS = range(3)


def _sampled(kept_at_k, kept_at_p, kind=lambda logits: logits.dtype):
    """Sampling with other rules for the tokens that are kept."""

    def next_token_probabilities(logits, temperature=1.0, top_k=0, top_p=1.0):
        if not 0 <= temperature < math.inf or type(top_k) is not int or top_k < 0 or not 0 < top_p <= 1:
            raise ValueError("out of range")
        if temperature == 0:
            return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(kind(logits))
        scaled = logits / temperature
        if top_k:
            scaled = kept_at_k(scaled, min(top_k, logits.shape[-1]))
        probabilities = scaled.softmax(-1)
        ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
        before = ranked.cumsum(-1) - ranked
        kept = torch.zeros_like(ranked, dtype=torch.bool).scatter(-1, order, kept_at_p(before, top_p))
        probabilities = probabilities.masked_fill(~kept, 0.0)
        return (probabilities / probabilities.sum(-1, keepdim=True)).to(kind(logits))

    return next_token_probabilities


def _lowest(scaled, k):
    order = scaled.sort(dim=-1, descending=True, stable=True)[1]
    return torch.full_like(scaled, -torch.inf).scatter(-1, order[..., :k], scaled.gather(-1, order[..., :k]))


def _threshold(scaled, k):
    return scaled.masked_fill(scaled < scaled.topk(k).values[..., -1:], -torch.inf)


def _highest(scaled, k):
    return _lowest(scaled.flip(-1), k).flip(-1)


def _below(before, p):
    return before < p


def _up_to(before, p):
    return before <= p


def _full(logits):
    return torch.float32 if logits.dtype.itemsize < 4 else logits.dtype


def _bytes(falsy: bool, critic_default: bool = True):
    def rlhf_bytes(algorithm, policy, critic=None, reward=None, masters=True, reference=True):
        from solutions.ch13.rlhf_memory import rlhf_bytes as right

        if falsy and algorithm == "ppo":
            critic = critic or (policy if critic_default else 0)
        return right(algorithm, policy, critic, reward, masters, reference)

    return rlhf_bytes


WRONG = [
    ("08-next-token-probabilities", "all of equal logits at k", _sampled(_threshold, _below)),
    ("08-next-token-probabilities", "the last of equal logits at k", _sampled(_highest, _below)),
    ("08-next-token-probabilities", "one more where the sum equals top_p", _sampled(_lowest, _up_to)),
    ("08-next-token-probabilities", "half types in float32", _sampled(_lowest, _below, _full)),
    ("13-rlhf-bytes", "a critic of 0 is the policy", _bytes(True)),
    ("13-rlhf-bytes", "no critic is none", _bytes(True, False)),
]


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(("identifier", "what", "program"), WRONG, ids=[f"{one[0]}: {one[1]}" for one in WRONG])
def test_a_wrong_program_fails_with_every_key(identifier, what, program):
    item: Any = bank.find(identifier)
    caught = {failure.key for failure in failures(item, [Right(what, program=program)], KEYS)}
    assert caught == set(KEYS)


@pytest.mark.parametrize("kept_at_k", [_lowest])
def test_the_right_twin_of_the_wrong_ones_passes(kept_at_k):
    item: Any = bank.find("08-next-token-probabilities")
    assert not list(failures(item, [Right("the twin", program=_sampled(kept_at_k, _below))], KEYS))


def _measured(value: float, calls: int, late: float = 0.0) -> str | None:
    """What the rule says of a rank that returned ``value`` after calls of a millisecond each."""
    from autograder.items import Case, Tensor
    from rankzero.events import Event

    events = [Event(0, "barrier", (0,), 0, 0, 0.0, 0.001)]
    events += [
        Event(0, "all_reduce", (0,), 4, 4, 0.001 * n + late, 0.001 * (n + 1) + late) for n in range(1, calls + 1)
    ]
    return debug_barrier.one_meeting(Case(args=((Tensor.of([1.0]), calls),)), [value], events)


@pytest.mark.parametrize("value", [1e9, 5.0, math.inf, math.nan, 0.2, 1.0])
def test_a_time_has_a_bound_from_above(value):
    """Kills: a constant, seconds for milliseconds, the total for the mean."""
    assert "longer than the whole run" in (_measured(value, 200) or "")


def test_the_mean_of_a_call_is_right_on_a_busy_host_too():
    assert _measured(0.00101, 200) is None
    assert _measured((0.2 + 1.5) / 200, 200) is None  # 1.5 s between the last call and the clock
    assert "shorter" in (_measured(0.0009, 200) or "")
