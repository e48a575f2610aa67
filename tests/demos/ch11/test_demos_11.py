"""The demos of chapter 11's first half: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import json

import pytest
from demo_runs import quick, refused, run, table

from demos.ch11 import combined
from experiments.ch11.wrong_samplers import WRONG, replaced_from_target
from solutions.ch11.speculative import speculative_speedup


@pytest.mark.proof(part="runs")
def test_a_round_is_printed(capsys):
    assert run("speculative", "--quick", "--trace", "--k", "3", "--seed", "2") == 0
    out = capsys.readouterr().out
    assert "replaced" in out or "one more" in out
    assert "acceptance 0." in out


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_sampler_is_found(name, capsys):
    assert run("speculative", "--quick", "--wrong", name) == 0
    assert "finds the wrong sampler: yes" in capsys.readouterr().out


def test_every_draft_pass_is_charged(tmp_path):
    rows = table(tmp_path, "speculative_model", "--quick", "--alpha", "0.7", "--c", "0.2", "--longest", "8")
    assert [float(row["speed-up"]) for row in rows] == pytest.approx(
        [speculative_speedup(0.7, k, 0.2) for k in range(9)], rel=1e-6
    )


def test_a_draft_that_is_too_dear(capsys):
    assert run("speculative_model", "--quick", "--alpha", "0.2", "--c", "0.4") == 0
    assert "do not speculate" in capsys.readouterr().out
    assert run("speculative_model", "--quick", "--alpha", "0.13", "--c", "0.13") == 0  # no gain but for rounding
    assert "best k: 0, do not speculate" in capsys.readouterr().out


@pytest.mark.proof(part="runs")
def test_each_feature_saves_passes():
    rows = {row["mask and"]: row for row in quick("combined").rows}
    passes = {name: int(row["target passes"]) for name, row in rows.items()}
    assert passes["mask"] > passes["jump"] > passes["draft and jump"]
    assert passes["mask"] > passes["draft"]
    assert rows["mask"]["tokens per pass"] == "1.0"
    assert {row["invalid"] for row in rows.values()} == {"0"}


def test_a_schema_of_ones_own(tmp_path, capsys):
    file = tmp_path / "form.json"
    file.write_text(json.dumps({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3}))
    assert run("combined", "--quick", "--schema", str(file), "--limit", "12") == 0
    assert "the last text: [" in capsys.readouterr().out


@pytest.mark.proof(part="runs")
def test_invalid_texts_are_status_1(monkeypatch, capsys):
    """A judge that finds fault with every text."""
    monkeypatch.setattr(combined, "json_fault", lambda text, schema: "no")
    assert run("combined", "--quick") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        ("{", [], "holds no JSON"),
        ("[1]", [], "--schema"),
        ('{"type": "number"}', [], "type must be one of"),
        ('{"enum": ["a long text, a long text"]}', ["--limit", "2"], "--limit must be at least"),
    ],
)
def test_a_schema_that_does_not_do(tmp_path, text, arguments, sentence):
    file = tmp_path / "form.json"
    file.write_text(text)
    assert sentence in refused("combined", "--quick", "--schema", str(file), *arguments)


def once(right):
    """One draft pass for a round."""
    return lambda acceptance, k, c, v=1.0: right(acceptance, k, c / k if k else 0.0, v)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("demo", "name", "change"),
    [
        ("speculative", "speculative_step", lambda right: replaced_from_target),
        ("speculative_model", "speculative_speedup", once),
    ],
)
def test_a_wrong_part_is_status_1(demo, name, change, found_out):
    found_out(demo, name, change, "--quick")
