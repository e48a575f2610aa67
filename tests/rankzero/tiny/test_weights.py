"""Weights as text."""

from __future__ import annotations

import pytest
import torch

from rankzero.tiny.weights import as_text, from_text


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_what_is_written_is_read_to_the_last_bit(shape):
    weight = torch.rand(shape, generator=torch.Generator().manual_seed(0)) / 3
    assert torch.equal(from_text(as_text(weight), shape), weight)


def test_a_transposed_weight_is_written_row_after_row():
    assert from_text(as_text(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).T), (4,)).tolist() == [1, 3, 2, 4]


def test_a_shape_that_does_not_fit_is_refused():
    with pytest.raises(RuntimeError):
        from_text(as_text(torch.zeros(3)), (2, 2))
