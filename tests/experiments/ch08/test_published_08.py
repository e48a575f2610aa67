"""The published numbers of chapter 8 beside its formulas, and the claims that the page makes about them."""

from __future__ import annotations

import pytest

from experiments.ch08 import published
from experiments.ch08.published import DAY, DECODING, bound
from rankzero.facts.hardware import A100_SXM


def test_no_row_beats_its_bound():
    """Kills a bound that is none: 2 bytes a parameter at 2.039 TB/s, worked out here again."""
    for row in DECODING:
        assert row.speed < bound(row)
        read = row.element * row.model.parameters / (row.gpus * row.gpu.memory_bandwidth)
        assert bound(row) == pytest.approx(1 / read)


@pytest.mark.parametrize(
    ("row", "most", "reached"),
    [(0, 151.3, 0.69), (3, 1210.4, 0.27), (4, 302.6, 0.51), (5, 127.0, 0.74), (8, 118.2, 0.53), (9, 40.2, 0.39)],
)
def test_how_much_of_the_bound_is_reached(row, most, reached):
    assert bound(DECODING[row]) == pytest.approx(most, rel=1e-3)
    assert DECODING[row].speed / bound(DECODING[row]) == pytest.approx(reached, abs=0.005)


def test_sglang_on_an_h100():
    assert DECODING[-1].speed / bound(DECODING[-1]) == pytest.approx(0.76, abs=0.005)


def test_the_share_falls_with_each_gpu_that_is_added():
    for model in ("Llama 2 7B", "Llama 2 70B"):
        rows = [one for one in DECODING if (one.model.name, one.element, one.gpu) == (model, 2, A100_SXM)]
        shares = [one.speed / bound(one) for one in sorted(rows, key=lambda one: one.gpus)]
        assert len(shares) > 2
        assert shares == sorted(shares, reverse=True)


def test_a_day_of_deepseek():
    """0.1 % from the published number of nodes; 88 answers and 31 GB of caches on a GPU; 11 cents a million tokens."""
    prompts, answers = DAY.tokens_in / 86_400 / DAY.node_in, DAY.tokens_out / 86_400 / DAY.node_out
    assert (prompts, answers) == pytest.approx((95.5, 131.4), abs=0.05)
    assert (prompts + answers) / DAY.nodes - 1 == pytest.approx(0.001, abs=0.0005)
    each = DAY.tokens_out / 86_400 / 21 / (answers * DAY.gpus)
    assert each == pytest.approx(88, abs=0.5)
    assert each * DAY.context * DAY.kv_bytes / 1e9 == pytest.approx(30.9, abs=0.05)
    assert DAY.dollars / (DAY.tokens_in + DAY.tokens_out) * 1e6 == pytest.approx(0.11, abs=0.005)
    assert DAY.dollars == pytest.approx(DAY.nodes * DAY.gpus * DAY.rate * 24, rel=1e-4)
    assert published.DAY.from_cache / published.DAY.tokens_in == pytest.approx(0.563, abs=0.001)
