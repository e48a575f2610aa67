"""Docstrings as text on a page."""

from __future__ import annotations

from autograder import bank
from autograder.learner import docstrings, workbench


def example(values: list[float], count: int = 3) -> float:
    """The mean of ``values``, as :func:`statistics.mean` has it: $5 * 2 * 3 is no formula.

    Two rules:
    - first, ``a * b``;
    - then the rest.

    Args:
        values: any number of them,
            on two lines.
        count: not negative.

    Returns:
        A number.

    Raises:
        ValueError: ``count`` is negative.

    Source: a book.
    """
    raise NotImplementedError


def test_the_parts_of_a_docstring():
    """Kills a reader that loses continued lines, default values, or sections."""
    html = docstrings.task(example)
    assert "<p>The mean of <code>values</code>, as <code>mean</code> has it: $5 * 2 * 3 is no formula.</p>" in html
    assert "<ul><li>first, <code>a * b</code>;</li><li>then the rest.</li></ul>" in html
    assert "<td><p>any number of them, on two lines.</p></td>" in html
    assert '<td class="rz-type rz-together">int = 3</td>' in html
    assert "<p><b>Returns:</b> A number.</p>" in html
    assert "<summary>Errors to raise</summary><ul><li><code>ValueError</code>: <code>count</code> is negative." in html
    assert "Source: a book." in html


def test_grouped_names_have_the_type_that_they_share():
    """``rows, columns: ...`` is one line of the table."""
    html = docstrings.task(bank.find("14-transition-cost").solution())
    assert '<code>train_tp, train_pp, train_dp</code></th><td class="rz-type rz-together">int</td>' in html


def test_every_word_of_every_task_is_there():
    """Kills a parser that drops a line of a docstring, for any function of plain Python."""
    for item in filter(workbench.plain, bank.builds()):
        text = docstrings.task(item.solution())
        parts = docstrings.read(item.solution().__doc__)
        for name in parts.sections:
            if name not in ("Args", "Attributes", "Raises"):
                continue
            entries = " ".join(f"{entry}: {told}" for entry, told in parts.entries(name))
            assert entries.split() == parts.sections[name].split(), (item.id, name)
        assert ":func:" not in text, item.id
        assert "``" not in text.replace("<code>``</code>", ""), item.id


def test_emphasis_is_no_multiplication():
    """Kills stars around a word that are shown as stars, and products that become emphasis."""
    assert docstrings.marked("the step *before*, a*b*c, *args") == r"the step *before*, a\*b\*c, \*args"


def test_types_have_no_modules():
    """Kills ``collections.abc.Sequence[int]`` where the editor below says ``Sequence[int]``."""
    assert docstrings.MODULE.sub("", "collections.abc.Mapping[str, typing.Any]") == "Mapping[str, Any]"
