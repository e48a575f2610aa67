"""The pictures of the README: each is there, shown and described, and the report is about a mistake that has a name."""

import re

from autograder import bank
from tools.common import ROOT
from tools.handouts import screenshot


def test_the_readme_shows_each_picture_with_a_description():
    """Kills a picture that nobody sees, and one of a book that is gone."""
    shown = re.findall(r"!\[([^\]]+)\]\((docs/\w+\.png)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [path for _, path in shown] == [f"docs/{name}.png" for name in screenshot.PICTURES]
    assert all((ROOT / path).stat().st_size > 10_000 for _, path in shown)
    assert all(len(words) > 30 for words, _ in shown)


def test_what_is_handed_in_for_the_report_has_one_mistake_and_it_is_the_named_one():
    text = screenshot.hand_in()
    compile(text, "functions.py", "exec")
    item = bank.find(screenshot.WRONG)
    slip = item.slips[screenshot.SLIP]
    assert "latency was counted once" in slip.sentence
    assert text.count(f"def {item.function}(") == 2  # the right one, and below it the wrong one, which counts
    assert text.rstrip().endswith(item.source_of(slip).rstrip()[-60:])


def test_an_unknown_picture_is_refused(capsys):
    assert screenshot.main(["tree"]) == 1
    assert "there is no picture tree; there are ring, deadlock, report" in capsys.readouterr().err
