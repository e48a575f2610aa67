"""Chapter 11's bank, speculation: the list, answers as the page prints them, and what its options say."""

from __future__ import annotations

from random import Random

import pytest

from autograder.bank.ch11 import items as bank
from autograder.bank.ch11 import speculation_law as law_items
from autograder.bank.ch11 import wrong_rounds
from autograder.items import Build, Question
from experiments.ch11.speculation_law import law_of, plain_law, total_variation
from solutions.ch11.speculative import speculative_step
from tests.autograder import handed_in

QUESTIONS = {item.id: item for item in bank.ITEMS if isinstance(item, Question)}
EXERCISES = {item.function: item for item in bank.ITEMS if isinstance(item, Build)}

ANSWERS = {  # the table of the page
    "11-three-of-five": (4, 5, 1),
    "11-alpha": (0.7, 5 / 6, 1 / 6),
    "11-wrong-residual": (0.40, 0.34, 0.26, 0.1),
    "11-tokens-8-5": (3.68928,),
    "11-speedup-75": (3.05078, 2.54232),
    "11-all-five": (0.16807, 1.94117, 2.94117),
    "11-best-k": (3, 1.58312),
    "11-perfect-draft": (3.46154,),
    "11-below-half": (1, 1.25),
    "11-batch-256": (0.741430,),
    "11-break-even": (186.751,),
    "11-design-serve": (2, 1.74263),
}


@pytest.mark.parametrize("identifier", ANSWERS)
def test_the_answers_of_the_table(identifier):
    parts = QUESTIONS[identifier].parts
    assert [part.answer() for part in parts] == pytest.approx(ANSWERS[identifier], rel=1e-5)


def test_two_lengths_are_equally_good_at_a_half():
    """Why the question asks for the shortest."""
    from solutions.ch11.speculative import speculative_speedup

    assert speculative_speedup(0.5, 1, 0.2) == pytest.approx(speculative_speedup(0.5, 2, 0.2), rel=1e-12)


# The wrong rounds, by their laws.


def rows(name: str):
    def row(context):
        rng = Random(f"{name} {context}")
        weights = [rng.random() + 0.05 for _ in range(3)]
        return [weight / sum(weights) for weight in weights]

    return row


TARGET, DRAFT = rows("p"), rows("q")
NEARLY_RIGHT = ("When all are accepted", "Impossible arguments were accepted")
ROUND = EXERCISES["speculative_step"]


@pytest.mark.parametrize("slip", ROUND.slips, ids=lambda slip: slip.name)
def test_wrong_rounds_have_wrong_laws(slip):
    """But for the one that wastes a token and the one that checks nothing, every slip is wrong in law as well."""
    found = law_of(ROUND.program_of(slip), DRAFT, TARGET, 2, 3)
    off = total_variation(found, plain_law(TARGET, 3))
    assert (off < 1e-12) == slip.sentence.startswith(NEARLY_RIGHT)


def test_the_given_program_has_a_wrong_law():
    def step(tokens, draft, target, uniforms):
        return [wrong_rounds.wrong_accept(tokens[0], draft[0], target[0], (uniforms[0], uniforms[-1]))]

    assert total_variation(law_of(step, DRAFT, TARGET, 1, 1), plain_law(TARGET, 1)) > 0.01


@pytest.mark.parametrize("key", range(5))
def test_ordinary_rounds_end_at_every_place(key):
    """Kills a hidden group without rejections: the first, a middle and the last draft are rejected, and none."""
    cases = law_items._ordinary(Random(key))
    ends = [len(speculative_step(*case.args)) - 1 for case in cases]
    drafted = [len(case.args[0]) for case in cases]
    assert ends[0] == 0
    assert any(0 < end < length for end, length in zip(ends, drafted, strict=True))
    assert any(end == length for end, length in zip(ends, drafted, strict=True))


# What the report says of wrong programs.


def test_a_verdict_that_takes_the_border_has_no_ratio_upside_down():
    mark = handed_in.edited(
        EXERCISES["speculative_step"], ("if uniforms[place] * q >= p:", "if uniforms[place] * q > p:")
    )
    assert mark.state == "partly"
    assert mark.slip == ""
    assert any("u q = p does not" in sentence for sentence in mark.hidden)


def test_a_rounding_error_taken_for_a_gain_is_named():
    mark = handed_in.edited(EXERCISES["optimal_draft_length"], ("speed * (1 + MARGIN)", "speed"))
    assert mark.slip.startswith("A rounding error is no gain")


def test_digits_in_the_last_label_are_named():
    mark = handed_in.edited(EXERCISES["grammars"], ("[a-z]{2,}", "[a-z0-9-]{2,}"))
    assert mark.slip.startswith("The last label of a domain")


def test_titles_that_are_refused_are_named():
    mark = handed_in.edited(
        EXERCISES["schema_to_regex"],
        (' - _ANNOTATIONS - {"type"}', ' - {"type"}'),
        (' - _ANNOTATIONS - {"enum", "type"}', ' - {"enum", "type"}'),
    )
    assert "annotations" in mark.slip


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        ("expected_tokens", (0.5, True), "draft_length"),
        ("expected_tokens", (0.5, 2.0), "draft_length"),
        ("speculative_speedup", (0.5, 2, float("inf")), "draft_cost"),
        ("speculative_speedup", (0.5, 2, 0.1, float("inf")), "verify_cost"),
        ("optimal_draft_length", (0.5, float("inf")), "draft_cost"),
        ("optimal_draft_length", (0.5, 0.1, True), "max_length"),
    ],
)
def test_what_the_rule_of_the_course_excludes_is_refused(function, arguments, name):
    with pytest.raises(ValueError, match=f"{name} must"):
        EXERCISES[function].solution()(*arguments)
