"""Two lists of what tests catch, compared."""

from __future__ import annotations

import json

import pytest

from tools.gates import catches


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "the following arguments are required: before, after"),
        (["here"], "the following arguments are required: after"),
        (["here", "gone"], "there is no file gone"),
    ],
)
def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch, capsys, names, said):
    """Kills: a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").write_text("{}")
    with pytest.raises(SystemExit) as stopped:
        catches.main(names)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(said)


def test_what_is_no_longer_caught_decides_the_status(tmp_path, capsys):
    rows = {"one": {"part": "", "catches": ["kills a"]}, "two": {"part": "bank", "catches": ["kills b"]}}
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(json.dumps(rows))
    after.write_text(json.dumps({"one": rows["one"]}))
    assert catches.main([str(before), str(before)]) == 0
    assert catches.main([str(before), str(after)]) == 1
    assert "no longer caught: kills b\ngone: two\n" in capsys.readouterr().out
