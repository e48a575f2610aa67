"""Chapter 11's bank, speculation: the list, answers as the page prints them, and what its options say."""

from __future__ import annotations

from random import Random

import pytest

from autograder import bank
from autograder.bank.ch11 import debug_accept
from autograder.bank.ch11 import speculative_step as bank_step
from autograder.items import Build
from experiments.ch11.speculation_law import law_of, plain_law, total_variation
from solutions.ch11.speculative import speculative_step

EXERCISES = {item.function: item for item in bank.of_chapter("ch11") if isinstance(item, Build)}


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
NEARLY_RIGHT = "When all are accepted"
ROUND = EXERCISES["speculative_step"]


@pytest.mark.parametrize("slip", ROUND.slips, ids=lambda slip: slip.name)
def test_wrong_rounds_have_wrong_laws(slip):
    """But for the one that wastes a token, every slip is wrong in law as well."""
    found = law_of(ROUND.program_of(slip), DRAFT, TARGET, 2, 3)
    off = total_variation(found, plain_law(TARGET, 3))
    assert (off < 1e-12) == slip.sentence.startswith(NEARLY_RIGHT)


def test_the_given_program_has_a_wrong_law():
    def step(tokens, draft, target, uniforms):
        return [debug_accept.wrong_accept(tokens[0], draft[0], target[0], (uniforms[0], uniforms[-1]))]

    assert total_variation(law_of(step, DRAFT, TARGET, 1, 1), plain_law(TARGET, 1)) > 0.01


@pytest.mark.parametrize("key", range(5))
def test_ordinary_rounds_end_at_every_place(key):
    """Kills a hidden group without rejections: the first, a middle and the last draft are rejected, and none."""
    cases = bank_step._ordinary(Random(key))
    ends = [len(speculative_step(*case.args)) - 1 for case in cases]
    drafted = [len(case.args[0]) for case in cases]
    assert ends[0] == 0
    assert any(0 < end < length for end, length in zip(ends, drafted, strict=True))
    assert any(end == length for end, length in zip(ends, drafted, strict=True))
