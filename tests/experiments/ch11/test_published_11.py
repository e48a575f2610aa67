"""Published figures of chapter 11 beside the formulas, and the steppers."""

from __future__ import annotations

import pytest

from experiments.ch11 import guess_steps, mask_steps, published
from rankzero.explore.steppers import frames
from solutions.ch11.speculative import judge_draft, speculative_speedup

SCENES = {
    "guess": (guess_steps.guess_scene, 3),
    "certain": (guess_steps.certain_scene, 3),
    "outcomes": (guess_steps.outcome_scene, 1),
    "allowed": (mask_steps.allowed_scene, 3),
    "budget": (mask_steps.budget_scene, 3),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone (it raises), and a step without news."""
    scenes = frames(*SCENES[name])
    assert len({scene.svg() for scene in scenes}) == len(scenes)
    assert all(scene.says and scene.alt for scene in scenes)


def test_the_formula_gives_what_the_authors_printed():
    """Their alpha has two decimals, their prediction one."""
    for row in published.LEVIATHAN:
        found = speculative_speedup(row.alpha, row.length, row.cost)
        assert found == pytest.approx(row.predicted, abs=0.075), row.name


def test_the_errors_of_twelve_rows():
    """What the page says: too low for all six summaries, too high where the largest draft translates."""
    errors = {name: round(100 * error) for name, error in published.errors().items()}
    assert [*errors.values()] == [-7, 16, 47, -13, -2, 38, -23, -13, -8, -18, -18, -9]
    assert all(error < 0 for name, error in errors.items() if name.startswith("CNNDM"))


def test_the_roofline_is_too_high_for_every_batch():
    flat = speculative_speedup(published.ASSUMED_ALPHA, published.EAGLE_LENGTH, published.ASSUMED_COST)
    off = [round(100 * (flat / third - 1)) for third, _ in published.EAGLE.values()]
    assert (off[0], off[-1]) == (19, 56)
    assert min(off) > 15
    assert [round(published.round_cost(third), 1) for third, _ in published.EAGLE.values()][::8] == [1.4, 1.8]


def test_one_more_token():
    assert [round(published.draft_cost(alpha), 3) for alpha in published.MTP_ACCEPTED] == [0.028, 0.056]


def test_a_certain_draft_comes_out_as_the_target():
    """The stepper's sums are those of the exercise, counted over a grid of uniforms."""
    words, size = [*guess_steps.P], 200
    drafted = words.index(guess_steps.DRAFTED)
    draft = [float(place == drafted) for place in range(3)]
    counts = dict.fromkeys(words, 0)
    for first in range(size):
        for second in range(size):
            uniforms = ((first + 0.5) / size, (second + 0.5) / size)
            counts[words[judge_draft(drafted, draft, [*guess_steps.P.values()], uniforms)[0]]] += 1
    shares = {word: count / size**2 for word, count in counts.items()}
    assert shares == pytest.approx(guess_steps.total(guess_steps.replaced()), abs=0.003)
    assert guess_steps.total(guess_steps.redrawn())["rug"] == pytest.approx(0.51)
