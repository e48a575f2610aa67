"""Masked logits: the softmax of what is left, whatever the logits are."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.ch11.masking import mask_logits


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12), st.data())
def test_it_is_the_softmax_of_the_allowed_alone(values, data):
    allowed = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, unique=True))
    logits = torch.tensor(values, dtype=torch.float64)
    before = logits.clone()
    chances = mask_logits(logits, allowed).softmax(-1)
    alone = logits[allowed].softmax(-1)
    assert torch.equal(logits, before)
    torch.testing.assert_close(chances[allowed], alone)
    assert chances.sum().item() == pytest.approx(1)
    assert chances.count_nonzero() <= len(allowed)


def test_the_numbers_of_the_page():
    chances = mask_logits(torch.tensor([2.0, 1.0, 0.0, -1.0]), [0, 2]).softmax(-1)
    torch.testing.assert_close(chances, torch.tensor([0.880797, 0.0, 0.119203, 0.0]), rtol=1e-5, atol=0)
    chances = mask_logits(torch.tensor([5.0, -5.0, 1.0]), [1, 2]).softmax(-1)
    torch.testing.assert_close(chances, torch.tensor([0.0, 0.00247262, 0.997527]), rtol=1e-5, atol=0)


def test_multiplying_gives_nan():
    """What the page's question is about."""
    logits, mask = torch.tensor([2.0, 1.0]), torch.tensor([1.0, 0.0])
    assert (logits * mask + (1 - mask) * float("-inf")).softmax(-1).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_type_stays(dtype):
    assert mask_logits(torch.zeros(3, dtype=dtype), [1]).dtype == dtype


@pytest.mark.parametrize("allowed", [[], [3]])
def test_what_cannot_be_allowed(allowed):
    with pytest.raises(ValueError, match=r"allowed.* must"):
        mask_logits(torch.zeros(3), allowed)
