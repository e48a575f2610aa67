"""The demos of masks: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import json

import pytest
from demo_runs import run, table


@pytest.mark.proof(part="runs")
def test_a_form_fits_at_every_limit(tmp_path, capsys):
    rows = table(tmp_path, "constrained", "--samples", "60", "--max-tokens", "40")
    said = capsys.readouterr().out
    assert "limits from 24 to 40 tokens: 0 of 60 texts do not fit" in said
    text = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert list(text) == ["name", "age", "active"]
    assert rows[-1]["token"] == "'end'"
    assert {int(row["allowed tokens"]) for row in rows} > {1}


def test_the_plain_mask_is_cut_off(capsys):
    assert run("constrained", "--samples", "40", "--plain-mask") == 0
    said = capsys.readouterr().out
    assert " 0 of 40" not in said
    assert "for example" in said


@pytest.mark.parametrize("pattern", ["20[0-9]{2}-(0[1-9]|1[0-2])", "(tea|hat){1,3}", "é?[α-ω]{2}"])
def test_a_pattern_of_your_own(pattern):
    assert run("constrained", "--quick", "--regex", pattern, "--max-tokens", "14") == 0


def test_a_schema_of_your_own(tmp_path):
    file = tmp_path / "schema.json"
    schema = {"type": "array", "items": {"enum": ["a", None]}, "maxItems": 2}
    file.write_text(json.dumps(schema), encoding="utf-8")
    assert run("constrained", "--quick", "--schema", str(file), "--model", "tiny") == 0


def test_dead_ends_are_taken_out(tmp_path, capsys):
    """Two-letter tokens cannot spell three letters: ``no`` and ``a`` alone lead nowhere."""
    rows = table(tmp_path, "mask_explorer", "--regex", "(yes|no|a)+", "--longest", "2")
    assert {row["tokens"] for row in rows} == {"'ay'", "'es'"}
    assert "5 states of the automaton, 2 taken out" in capsys.readouterr().out


def test_a_table_of_states(tmp_path):
    rows = table(tmp_path, "mask_explorer", "--quick", "--regex", "a[0-9]{2}")
    assert [(row["allowed tokens"], row["may end"]) for row in rows] == [
        ("1", ""),
        ("10", ""),
        ("10", ""),
        ("0", "yes"),
    ]
    assert rows[1]["tokens"].endswith("and 4 more")


def test_a_part_that_allows_too_much_is_status_1(found_out):
    """A schema's pattern with leading zeros, which ``json.loads`` refuses."""

    def loose(right):
        return lambda schema: right(schema).replace("(0|[1-9][0-9]{0,8})", "0[0-9]{1,5}")

    found_out("constrained", "schema_to_regex", loose, "--quick")
