"""The demos of chapter 9's sizes: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table


def test_the_calculator_has_the_rows_of_the_chapter(tmp_path):
    rows = {row["TP"]: row for row in table(tmp_path, "kv_calculator")}
    assert [rows["8"][f"x {c:,}"] for c in (4096, 8192, 32_768, 131_072)] == ["324", "162", "40", "10"]
    assert rows["4"]["tokens of a replica"] == "448280"
    assert rows["1"]["x 4,096"] == "0"


def test_copied_heads_take_room(tmp_path):
    """16 GPUs for 8 heads: each keeps a head, and two keep the same one."""
    rows = {row["TP"]: row for row in table(tmp_path, "kv_calculator", "--gpus", "16")}
    assert rows["8"]["B a token and GPU"] == rows["16"]["B a token and GPU"] == "40960.0"
    assert int(rows["16"]["tokens of a replica"]) == int((16 * 72e9 - 2 * 70_553_706_496) // (16 * 40_960))


def test_what_does_not_fit_says_what_would(capsys):
    assert run("kv_calculator", "--gpus", "1") == 0
    assert "does not fit: the weights alone need a replica of 2 GPUs or more" in capsys.readouterr().out


def test_any_other_model(tmp_path):
    (row,) = table(
        tmp_path,
        "kv_calculator",
        *["--layers", "3", "--kv-heads", "2", "--head-dim", "64", "--parameters", "0", "--gpus", "1"],
    )
    assert row["B a token and GPU"] == "1536.0"


def test_a_latent_is_the_same_on_every_rank(tmp_path):
    rows = table(tmp_path, "kv_calculator", "--model", "DeepSeek-V3", "--gpu", "H200", "--gpus", "16")
    assert {row["B a token and GPU"] for row in rows} == {"70272.0"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cached_is_uncached(dtype, tmp_path):
    rows = table(tmp_path, "kv_equivalence", "--prompt", "12", "--new", "6", "--dtype", dtype)
    assert [int(row["token-forwards"]) for row in rows] == [12 * 6 + 15, 17, 17]


def test_capacity_that_forgets_the_weights_is_status_1(found_out):
    found_out("kv_calculator", "kv_capacity_tokens", lambda right: lambda m, g, w, kv, u: right(m, g, 0, kv, u))


def test_attention_without_a_mask_is_status_1(found_out):
    from torch.nn import functional

    def sees_all(right):
        def attention(*tensors):
            _, keys, values = right(*tensors)
            return functional.scaled_dot_product_attention(tensors[0], keys, values), keys, values

        return attention

    found_out("kv_equivalence", "cached_attention", sees_all, "--quick")
