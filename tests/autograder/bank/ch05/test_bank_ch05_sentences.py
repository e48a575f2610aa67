"""Chapter 5: what a learner is told about wrong programs, and that it is true of them."""

from __future__ import annotations

import functools

import pytest

from autograder import bank
from autograder.items import edits
from autograder.marking import judge, trusted
from autograder.marking.marks import Mark
from autograder.marking.papers import Paper
from autograder.running.exam import Exam

KEYS = range(3)


@functools.cache
def paper(identifier: str, key: int) -> Paper:
    return Exam([bank.find(identifier)], f"key {key}".encode()).paper(bank.find(identifier))


def marked(identifier: str, program, key: int = 0) -> Mark:
    """The mark of a program of ours, which runs in this process."""
    asked = paper(identifier, key)
    return judge.mark(asked, trusted.run(asked.item, program, asked.cases, 2.0))


def edited(identifier: str, *changes: tuple[str, str]):
    return edits.edited(bank.find(identifier).solution(), changes)


def checks_params_alone(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    """Every value is right; of the arguments only the first is checked."""
    if params < 0:
        raise ValueError(f"params must not be negative, got {params!r}")
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    return float(params * (weights + gradients + optimizer_bytes / (ranks if stage >= 1 else 1)))


class LoadsAnything:
    """Every value is right, the count is compared with ``==``; a loaded state is not checked."""

    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        bad = type(growth_interval) is not int or growth_interval < 1 or not 1 < growth_factor < 1e300
        if bad or not 0 < init_scale < 1e300 or not 0 < backoff_factor < 1 or not 0 <= min_scale <= init_scale:
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.rules = {"growth_factor": growth_factor, "backoff_factor": backoff_factor}
        self.rules |= {"growth_interval": growth_interval, "min_scale": min_scale}

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        return [gradient / self.scale for gradient in gradients], any(g - g != 0 for g in gradients)

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.rules["backoff_factor"], self.rules["min_scale"]), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.rules["growth_interval"]:
            self.growth_tracker = 0
            grown = self.scale * self.rules["growth_factor"]
            self.scale = grown if grown <= 3.4028234663852886e38 else self.scale
        return self.scale

    def state_dict(self):
        return {"scale": self.scale, "_growth_tracker": self.growth_tracker, **self.rules}

    def load_state_dict(self, state):
        self.scale, self.growth_tracker = state["scale"], state["_growth_tracker"]
        self.rules |= {name: value for name, value in state.items() if name in self.rules}


class ChecksNothing(LoadsAnything):
    """The same without any check."""

    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        self.scale, self.growth_tracker = float(init_scale), 0
        self.rules = {"growth_factor": growth_factor, "backoff_factor": backoff_factor}
        self.rules |= {"growth_interval": growth_interval, "min_scale": min_scale}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("identifier", "program"),
    [
        ("05-zero-memory", checks_params_alone),
        ("05-loss-scaler", LoadsAnything),
        ("05-loss-scaler", ChecksNothing),
    ],
)
def test_right_values_without_checks_are_told_of_the_checks_alone(identifier, program, key):
    """Kills: a sentence about stages or about ``>=`` for programs that have both right."""
    mark = marked(identifier, program, key)
    assert mark.slip == ""
    assert mark.state == "partly"
    assert {share.name for share in mark.shares if share.passed < share.total} <= {"bad input", "public cases"}
    assert [sentence.partition(" (")[0] for sentence in mark.hidden if "ValueError" not in sentence] == []


@pytest.mark.parametrize(
    ("identifier", "changes", "slip"),
    [
        ("05-zero-memory", (("ranks if stage >= 2", "ranks if stage == 2"),), "stage 3 slices the gradients too"),
        ("05-loss-scaler", (("_growth_tracker == self", "_growth_tracker >= self"),), "A loaded count beyond"),
        (
            "05-loss-scaler",
            (("map(math.isfinite, gradients)", "math.isfinite(one / self._scale) for one in gradients"),),
            "Look for inf and nan in the gradients that come in",
        ),
        (
            "05-round-to-format",
            (("        return float(value)\n", "        return float(value) + 0.0\n"),),
            "A negative zero lost its sign",
        ),
        (
            "05-scaled-learning-rate",
            (("    _check_positive(base=base, base_batch=base_batch, batch=batch)\n", ""),),
            "",
        ),
    ],
)
def test_a_slip_is_named_where_it_was_made(identifier, changes, slip):
    mark = marked(identifier, edited(identifier, *changes))
    assert mark.state != "right"
    assert slip in mark.slip
    assert bool(slip) == bool(mark.slip)


@pytest.mark.parametrize(
    ("identifier", "changes"),
    [
        (
            "05-scaled-learning-rate",
            (("    if noise_scale is not None:\n", '    if noise_scale is not None and rule == "noise":\n'),),
        ),
        (
            "05-zero-memory",
            (("isinstance(stage, bool) or not isinstance(stage, int) or stage", "isinstance(stage, bool) or stage"),),
        ),
        ("05-min-ranks", (("_SLACK = 1e-12", "_SLACK = 0.0"),)),
        ("05-exposed-communication", (("math.isfinite(value) and value >= 0", "value >= 0"),)),
    ],
)
@pytest.mark.parametrize("key", KEYS)
def test_what_the_docstring_says_is_tried(identifier, changes, key):
    """Kills: a noise scale of nan that is taken, a stage of 1.0, states that would fit but for rounding, infinity."""
    assert marked(identifier, edited(identifier, *changes), key).state != "right"


@pytest.mark.parametrize(
    ("identifier", "change", "group"),
    [
        ("05-dynamic-loss-scale", ("growth_factor: float = 2.0", "growth_factor: float = 4.0"), "runs of steps"),
        ("05-dynamic-loss-scale", ("min_scale), 0\n", "min_scale), -1\n"), "runs of steps"),
        ("05-loss-scaler", ("init_scale: float = 65536.0", "init_scale: float = 131072.0"), "public cases"),
        ("05-loss-scaler", ("growth_interval: int = 2000", "growth_interval: int = 2001"), "public cases"),
    ],
)
@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_default_or_count_is_found_where_it_belongs(identifier, change, group, key):
    """Kills: a hint about floats of 32 bits for a wrong default, one about bad input for another."""
    mark = marked(identifier, edited(identifier, change), key)
    assert [share.passed < share.total for share in mark.shares if share.name == group] == [True]
    assert not [share for share in mark.shares if share.name == "bad input" and share.passed < share.total]


@pytest.mark.parametrize("key", KEYS)
def test_a_loss_that_is_divided_is_no_wrong_unscale(key):
    """Kills: a hint about ``unscale`` alone."""
    mark = marked("05-loss-scaler", edited("05-loss-scaler", ("loss * self._scale", "loss / self._scale")), key)
    assert mark.slip == ""
    assert mark.hidden[0].startswith("`scale_loss` multiplies.")


@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_default_interval_is_no_wrong_state(key):
    """Kills: a hint about loading, for a scaler that saves and loads rightly."""
    change = ("growth_interval: int = 2000,\n        min", "growth_interval: int = 2001,\n        min")
    mark = marked("05-loss-scaler", edited("05-loss-scaler", change), key)
    assert mark.hidden == ()
    assert "'growth_interval'" in mark.public[0]
