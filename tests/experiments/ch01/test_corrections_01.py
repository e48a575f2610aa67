"""A published step of which chapter 1's corrections speak."""

import pytest

from rankzero.facts.hardware import A100_SXM


def test_the_published_step_is_that_of_the_paper():
    """71.49 s a step, by the paper's own formula, is its MFU of 56.3 %: Korthikanti et al. (2022), equation A1."""
    layers, width, sequence, vocabulary, batch = 128, 25_600, 2048, 51_200, 512
    attention, head = sequence / (6 * width), vocabulary / (12 * layers * width)
    flops = 72 * batch * layers * sequence * width**2 * (1 + attention + head)
    assert flops / (71.49 * 512 * A100_SXM.peak_bf16) == pytest.approx(0.563, abs=5e-4)
