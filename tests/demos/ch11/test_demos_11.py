"""The demos of chapter 11's first half: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import json

import pytest
from demo_runs import run, table

from demos import common
from demos.ch11 import combined, speculative, speculative_model
from experiments.ch11.wrong_samplers import WRONG, replaced_from_target
from solutions.ch11.speculative import speculative_speedup


def replaced(name: str, program):
    """``part`` with one function replaced."""
    right = common.part
    return lambda code, module, wanted: program if wanted == name else right(code, module, wanted)


def test_a_round_is_printed(capsys):
    assert run("speculative", "--quick", "--trace", "--k", "3", "--seed", "2") == 0
    out = capsys.readouterr().out
    assert "replaced" in out or "one more" in out
    assert "acceptance 0." in out


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_sampler_is_found(name, capsys):
    assert run("speculative", "--quick", "--wrong", name) == 0
    assert "finds the wrong sampler: yes" in capsys.readouterr().out


def test_a_wrong_part_is_status_1(monkeypatch, capsys):
    """Kills a check that cannot fail."""
    monkeypatch.setattr(speculative, "part", replaced("speculative_step", replaced_from_target))
    assert run("speculative", "--quick") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize("heat", ["0", "3", "warm"])
def test_a_temperature_without_a_law_of_two_bins(heat, capsys):
    with pytest.raises(SystemExit) as stopped:
        run("speculative", "--temperature", heat)
    assert stopped.value.code == 2
    assert "must be a number from 0.1 to 2" in capsys.readouterr().err


def test_every_draft_pass_is_charged(tmp_path):
    rows = table(tmp_path, "speculative_model", "--quick", "--alpha", "0.7", "--c", "0.2", "--longest", "8")
    assert [float(row["speed-up"]) for row in rows] == pytest.approx(
        [speculative_speedup(0.7, k, 0.2) for k in range(9)], rel=1e-6
    )


def test_a_draft_that_is_too_dear(capsys):
    assert run("speculative_model", "--quick", "--alpha", "0.2", "--c", "0.4") == 0
    assert "do not speculate" in capsys.readouterr().out


def test_one_draft_pass_for_a_round_is_status_1(monkeypatch, capsys):
    def once(acceptance, k, c, v=1.0):
        return speculative_speedup(acceptance, k, c / k if k else 0.0, v)

    monkeypatch.setattr(speculative_model, "part", replaced("speculative_speedup", once))
    assert run("speculative_model", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_each_feature_saves_passes(tmp_path):
    rows = {row["mask and"]: row for row in table(tmp_path, "combined", "--quick")}
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


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        ("{", [], "holds no JSON"),
        ("[1]", [], "--schema"),
        ('{"type": "number"}', [], "type must be one of"),
        ('{"type": "boolean"}', ["--limit", "0"], "must be a whole number"),
        ('{"enum": ["a long text, a long text"]}', ["--limit", "2"], "--limit must be at least"),
    ],
)
def test_a_schema_that_does_not_do(tmp_path, capsys, text, arguments, sentence):
    file = tmp_path / "form.json"
    file.write_text(text)
    with pytest.raises(SystemExit) as stopped:
        run("combined", "--quick", "--schema", str(file), *arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_invalid_texts_are_status_1(monkeypatch, capsys):
    """A judge that finds fault with every text."""
    monkeypatch.setattr(combined, "json_fault", lambda text, schema: "no")
    assert run("combined", "--quick") == 1
    assert "NO" in capsys.readouterr().out
