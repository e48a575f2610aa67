"""Chapter 12's demos without training: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import table

from solutions.ch12.rl import gae as right_gae
from tests.wrong_programs import wrong as wrong_program


def column(rows, name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def test_errors_and_advantages_of_the_default_episode(tmp_path):
    rows = table(tmp_path, "gae")
    assert column(rows, "TD error") == pytest.approx(column(rows, "lambda 0"))
    wanted = right_gae((0, 0, 0, 1), (0.5,) * 4, (0.5,) * 4, (0, 0, 0, 1), (0,) * 4, 0.99, 0.95)
    assert column(rows, "lambda 0.95") == pytest.approx(wanted, rel=1e-5)


def test_a_cut_keeps_its_bootstrap(tmp_path):
    arguments = ("--rewards", "1,1,1", "--values", "50,50,50", "--gamma", "0.98", "--end", "cut", "--after", "50")
    assert column(table(tmp_path, "gae", *arguments), "TD error") == pytest.approx([0, 0, 0])
    assert column(table(tmp_path, "gae", *arguments[:-4]), "TD error") == pytest.approx([0, 0, -49])


CUT, NO_LAMBDA = (wrong_program("12-gae", words) for words in ("Truncation does not end", "Lambda is missing"))


@pytest.mark.parametrize("wrong", [CUT, lambda *args: NO_LAMBDA(*args[:-1], 0.5)[::-1]])
def test_a_wrong_part_is_status_1(found_out, wrong):
    found_out("gae", "gae", lambda right: wrong, "--end", "cut", "--rewards", "1,2,4,1")
