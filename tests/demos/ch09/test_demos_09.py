"""The demos of chapter 9's sizes: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch09 import kv_calculator, kv_equivalence


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
    assert "does not fit: the weights alone need --gpus 2 or more" in capsys.readouterr().out


def test_any_other_model(tmp_path, capsys):
    (row,) = table(
        tmp_path,
        "kv_calculator",
        *["--layers", "3", "--kv-heads", "2", "--head-dim", "64", "--parameters", "0", "--gpus", "1"],
    )
    assert row["B a token and GPU"] == "1536.0"
    with pytest.raises(SystemExit) as ended:
        run("kv_calculator", "--layers", "3")
    assert ended.value.code == 2
    assert "together" in capsys.readouterr().err


def test_a_latent_is_the_same_on_every_rank(tmp_path):
    rows = table(tmp_path, "kv_calculator", "--model", "DeepSeek-V3", "--gpu", "H200", "--gpus", "16")
    assert {row["B a token and GPU"] for row in rows} == {"70272.0"}


def test_capacity_that_forgets_the_weights_is_status_1(monkeypatch, capsys):
    right = common.part

    def wrong(code, module, name):
        found = right(code, module, name)
        return (lambda m, g, w, kv, u: found(m, g, 0, kv, u)) if name == "kv_capacity_tokens" else found

    monkeypatch.setattr(kv_calculator, "part", wrong)
    assert run("kv_calculator") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cached_is_uncached(dtype, tmp_path):
    rows = table(tmp_path, "kv_equivalence", "--prompt", "12", "--new", "6", "--dtype", dtype)
    assert [int(row["token-forwards"]) for row in rows] == [12 * 6 + 15, 17, 17]


def test_attention_without_a_mask_is_status_1(monkeypatch, capsys):
    from torch.nn import functional

    right = common.part("solutions", "ch09.cached_attention", "cached_attention")

    def sees_all(*tensors):
        _, keys, values = right(*tensors)
        return functional.scaled_dot_product_attention(tensors[0], keys, values), keys, values

    monkeypatch.setattr(kv_equivalence, "part", lambda *_: sees_all)
    assert run("kv_equivalence", "--quick") == 1
    assert "NO" in capsys.readouterr().out
