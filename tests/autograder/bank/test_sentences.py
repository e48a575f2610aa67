"""What a learner is told about wrong programs, and that it is true of them. Each is the reference with an edit."""

from __future__ import annotations

import inspect
import re
import sys

import pytest

from autograder import bank
from autograder.bank.refusals import UNCHECKED
from autograder.items import edits
from autograder.marking.marks import Mark
from tests.autograder import handed_in

KEYS = pytest.mark.parametrize(
    "keys", [("0",), pytest.param(("1", "2"), marks=pytest.mark.proof(part="bank"))], ids=["a key", "keys"]
)


def marks(identifier: str, keys: tuple[str, ...], *changes: tuple[str, str]) -> list[Mark]:
    """The marks of an edited reference, with several keys where no processes are needed."""
    item = bank.find(identifier)
    chosen = keys if item.grade in ("call", "calls") else keys[:1]
    return [handed_in.edited(item, *changes, key=f"key {key}") for key in chosen]


def lost(mark: Mark) -> set[str]:
    """The groups that are not whole."""
    return {share.name for share in mark.shares if share.passed < share.total}


SHAPE = "    _check_shape(sequence, batch, hidden, ranks)\n    _check_heads(hidden, heads, kv_heads)\n"
OTHERS = (
    ('    _check_integer("ffn", ffn, 0)\n', ""),
    ("    _require(recompute in RECOMPUTE,", '    print(end="") if True else (0,'),
    ("    _require(attention in ATTENTION,", '    print(end="") if True else (0,'),
    ('    _check_size("element_bytes", element_bytes)\n    _check_size("mask_bytes", mask_bytes)\n', ""),
)
ZERO = """    _check_slices(stage, ranks)
    _check_bytes(params=params, weight_bytes=weight_bytes, gradient_bytes=gradient_bytes)
    _check_bytes(optimizer_bytes=optimizer_bytes)
"""
MADE = "        _check_rules(init_scale, growth_interval, growth_factor, backoff_factor, min_scale)\n"
LOADED = '        _check_rules(scale, interval, *factors, floor, name="scale")'
COUNTED = "if isinstance(tracker, bool) or not isinstance(tracker, int) or tracker < 0:"
GUARD = "if isinstance(time, bool) or not (math.isfinite(time) and time > 0):"
EMPTY = """        if "" in tuple(stop):
            raise ValueError(f"stop must not hold an empty string, got {stop!r}")
"""
TIMES = "    _check_times(schedule=schedule, compute=compute, post=post)\n"
AFTER = '        if self.finished:\n            raise RuntimeError("the text is finished: no token may follow")\n'
EAGERLY = "            with torch.no_grad():\n                return self._model(x)\n"
KNOWN = "if any(request == other.name for other in (*self._waiting, *self._running)):"
UNPINNED = "if type(slot) is not int or slot not in range(len(self._pins)) or not self._pins[slot]:"
MASKED = "    values, old_values, returns = (given.masked_fill(~real, 0) for given in (values, old_values, returns))\n"
FACTOR = ("values.masked_fill(~real, 0).sum()", "(values * real).sum()")
COUNTS = "not isinstance(bucket_bytes, int) or isinstance(bucket_bytes, bool) or bucket_bytes < 1"

#: Every value is right, and some bad input is accepted; words of the hint.
LENIENT = [
    ("05-zero-memory", [(ZERO, '    if params < 0:\n        raise ValueError("params")\n')], "ValueError"),
    ("05-loss-scaler", [(LOADED, "        (0)"), (COUNTED, "if False:")], "ValueError"),
    ("05-loss-scaler", [(MADE, ""), (LOADED, "        (0)"), (COUNTED, "if False:")], "ValueError"),
    ("06-activation-bytes", [(SHAPE, ""), *OTHERS], "ValueError"),
    ("06-activation-bytes", [(SHAPE, '    _check_integer("sequence", sequence, 0)\n'), *OTHERS], "ValueError"),
    ("07-bubble-fraction", [(" or isinstance(value, bool)", "")], "boolean"),
    ("08-streaming-detokenizer", [(EMPTY, "")], ""),
    ("10-overlap-time", [(TIMES, "    _check_times(schedule=schedule)\n")], "Bad input must raise ValueError"),
    ("12-policy-value", [("    _check_finite(rewards=rewards)\n", "")], ""),
    ("13-estimator-moments", [('    _check_distribution("p", p)\n', "")], ""),
    ("13-role-bytes", [("        _check_amount(name, value)\n", "        pass\n")], ""),
    ("14-best-placement", [("    _check_counts(gpus=gpus, rollout_tp=rollout_tp)\n", "")], ""),
    (
        "14-best-placement",
        [("    _check_not_negative(train_bytes=train_bytes, rollout_bytes=rollout_bytes)\n", "")],
        "",
    ),
    (
        "14-memory-timeline",
        [('    _check_not_negative(**{f"sizes[{name!r}]": size for name, size in sizes.items()})\n', "")],
        "",
    ),
    ("14-simulate-async", [("    _check_not_negative(train_time=train_time, sync_time=sync_time)\n", "")], ""),
    pytest.param("14-push-weights", [(COUNTS, "bucket_bytes <= 0")], "", marks=pytest.mark.proof(part="bank")),
    ("cap-optimal-checkpoint-interval", [(GUARD, "if False:")], "checkpoint_time"),
    ("cap-optimal-checkpoint-interval", [(GUARD, "if not time > 0:")], "finite"),
    ("cap-optimal-checkpoint-interval", [(GUARD, "if not (math.isfinite(time) and time > 0):")], "finite and positive"),
    (
        "cap-optimal-checkpoint-interval",
        [(GUARD, "if isinstance(time, bool) or not math.isfinite(time):")],
        "finite and positive",
    ),
    (
        "cap-optimal-checkpoint-interval",
        [("if method not in formulas:", "if method not in formulas and (method := 'daly') is None:")],
        "Bad input must raise ValueError",
    ),
    ("cap-simulate-run", [("if not 0 < value < math.inf:", "if not 0 < value:")], "Bad input must raise ValueError"),
    ("cap-simulate-run", [("if not 0 <= value < math.inf:", "if not value >= 0:")], "Bad input must raise ValueError"),
    ("cap-simulate-run", [("if not 0 < value < math.inf:", "if False:")], "Bad input must raise ValueError"),
    ("cap-simulate-run", [("if not gap > 0:", "if gap < 0:")], "Bad input must raise ValueError"),
]


@KEYS
@pytest.mark.parametrize(("identifier", "changes", "hint"), LENIENT)
def test_right_values_without_checks_are_told_of_the_checks_alone(identifier, changes, hint, keys):
    """Kills: a sentence about a mistake that was not made; a list of all checks for a program that has most of them."""
    for mark in marks(identifier, keys, *changes):
        assert (mark.state, mark.slip) == ("partly", "")
        assert UNCHECKED not in mark.hidden
        assert lost(mark) <= {"bad input", "after the end, bad input", "public cases"}
        assert all(hint in sentence for sentence in mark.hidden[:1])
        assert all("ValueError" in sentence for sentence in mark.hidden if hint)


#: A mistake of the bank in other clothes, and words of the sentence that is said of it.
NAMED = [
    ("05-zero-memory", [("ranks if stage >= 2", "ranks if stage == 2")], "stage 3 slices the gradients too"),
    ("05-loss-scaler", [("_growth_tracker == self", "_growth_tracker >= self")], "A loaded count beyond"),
    (
        "05-loss-scaler",
        [("map(math.isfinite, gradients)", "math.isfinite(one / self._scale) for one in gradients")],
        "Look for inf and nan in the gradients that come in",
    ),
    (
        "05-round-to-format",
        [("        return float(value)\n", "        return float(value) + 0.0\n")],
        "A negative zero lost its sign",
    ),
    (
        "08-streaming-detokenizer",
        [(AFTER, "")],
        "A token after the end is a RuntimeError",
    ),
    (
        "08-streaming-detokenizer",
        [(AFTER, '        if self.finished:\n            return ""\n')],
        "A token after the end is a RuntimeError",
    ),
    ("08-streaming-detokenizer", [("max(complete, key=len)", "complete[0]")], "the longest counts"),
    ("08-replicas-needed", [(" * (1 - 1e-9)", "")], "A plain `ceil`"),
    (
        "10-graph-runner",
        [(EAGERLY, "            return self._model(x)\n")],
        "A batch that runs without a graph keeps gradients",
    ),
    (
        "10-graph-runner",
        [(EAGERLY, "            return torch.cat([self.run(part) for part in x.split(max(self._sizes))])\n")],
        "A batch larger than every size runs eagerly",
    ),
    ("11-optimal-draft-length", [("speed * (1 + MARGIN)", "speed")], "A rounding error is no gain"),
    ("11-grammars", [("[a-z]{2,}", "[a-z0-9-]{2,}")], "The last label of a domain"),
    (
        "11-schema-to-regex",
        [(' - _ANNOTATIONS - {"type"}', ' - {"type"}'), (' - _ANNOTATIONS - {"enum", "type"}', ' - {"enum", "type"}')],
        "annotations",
    ),
    (
        "13-policy-loss",
        [("torch.where(gains < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1))", "log_ratio")],
        "Where a ratio overflows",
    ),
    (
        "13-token-rewards",
        [("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real")],
        "The mask is a factor",
    ),
    (
        "13-masked-whiten",
        [FACTOR, (").masked_fill(~real, 0)\n    return centred", ") * real\n    return centred")],
        "The mask is a factor",
    ),
    ("13-value-loss", [(MASKED, ""), FACTOR], "The mask is a factor"),
    ("14-best-placement", [("min(found,", "min(found[::-1],")], "Of equally fast placements"),
    ("cap-optimal-checkpoint-interval", [("(1 + math.sqrt(x) / 3 + x / 9)", "1")], "after its first term"),
]


@KEYS
@pytest.mark.parametrize(("identifier", "changes", "slip"), NAMED)
def test_a_slip_is_named_where_it_was_made(identifier, changes, slip, keys):
    for mark in marks(identifier, keys, *changes):
        assert mark.state != "right"
        assert slip in mark.slip


CLOCK = "`nodes` shows the tree with its times"
#: Mistakes that are not the bank's: no sentence of its slips is said, and one of the hints speaks of it.
HINTED = [
    ("05-loss-scaler", [("loss * self._scale", "loss / self._scale")], "`scale_loss` multiplies."),
    ("08-streaming-detokenizer", [("max(complete, key=len)", "complete[-1]")], "the longe"),
    (
        "09-block-manager",
        [("tokens) <= len(self._free)", "tokens) < len(self._free)")],
        "`can_allocate` is true where the free blocks just suffice",
    ),
    ("09-radix-cache", [("self._clock += 1", "self._clock += 2")], CLOCK),
    ("09-radix-cache", [("self._created = 0", "self._created = 1")], CLOCK + " and numbers"),
    ("09-radix-cache", [("self._next_handle += 1", "self._next_handle += 2")], "Handles are 0, 1, 2, ..."),
    ("10-token-budget-scheduler", [(KNOWN, "if False:")], "a name that waits or runs"),
    ("11-speculative-step", [("if uniforms[place] * q >= p:", "if uniforms[place] * q > p:")], "u q = p does not"),
    ("11-constraint-state", [("        if count:\n", "        if True:\n")], "A rollback of 0 changes nothing"),
    ("14-weight-slots", [(UNPINNED, "if slot not in range(len(self._pins)):")], "wrong slot"),
    (
        "cap-simulate-run",
        [("gaps = iter(failure_gaps)", "gaps = iter(list(failure_gaps))")],
        "Take a gap when it is needed",
    ),
    ("cap-simulate-run", [("math.ceil(work / interval - 1e-9)", "math.ceil(work / interval)")], "1e-9"),
    (
        "cap-simulate-run",
        [("max(1, math.ceil(work / interval - 1e-9))", "math.ceil(work / interval - 1e-9)")],
        "at least one",
    ),
]


@KEYS
@pytest.mark.parametrize(("identifier", "changes", "hint"), HINTED)
def test_another_mistake_is_not_taken_for_a_slip(identifier, changes, hint, keys):
    for mark in marks(identifier, keys, *changes):
        assert mark.state != "right"
        assert mark.slip == ""
        assert any(hint in sentence for sentence in mark.hidden)


#: What the docstring says, and a program that does not keep it.
WRONG = [
    (
        "05-scaled-learning-rate",
        "    if noise_scale is not None:\n",
        "    if False:\n",
    ),
    ("05-scaled-learning-rate", "    _check_positive(base=base, base_batch=base_batch, batch=batch)\n", ""),
    (
        "05-zero-memory",
        "isinstance(stage, bool) or not isinstance(stage, int) or stage",
        "isinstance(stage, bool) or stage",
    ),
    ("05-min-ranks", "_SLACK = 1e-12", "_SLACK = 0.0"),
    ("05-exposed-communication", "math.isfinite(value) and value >= 0", "value >= 0"),
    ("06-activation-bytes", "whole and value >= least", "value >= least"),
    ("06-tensor-parallel-traffic", "whole and value >= least", "value >= least"),
    ("06-head-partition", "not isinstance(count, int) or isinstance(count, bool) or count < 1", "count < 1"),
    ("06-padded-vocabulary", "whole and value >= least", "value >= least"),
    ("06-best-segment", "whole and value >= least", "value >= least"),
    ("07-pipeline-schedule", "or isinstance(value, bool) or value < 1", "or value < 1"),
]


@KEYS
@pytest.mark.parametrize(("identifier", "old", "new"), WRONG)
def test_what_the_docstring_says_is_tried(identifier, old, new, keys):
    """Kills: a noise scale of nan, a stage of 1.0, states that would fit but for rounding, 8.0 ranks, 2.5 layers."""
    for mark in marks(identifier, keys, (old, new)):
        assert mark.state != "right"
        assert mark.slip == ""


@KEYS
@pytest.mark.parametrize(
    ("identifier", "old", "new", "group"),
    [
        ("05-dynamic-loss-scale", "growth_factor: float = 2.0", "growth_factor: float = 4.0", "runs of steps"),
        ("05-dynamic-loss-scale", "min_scale), 0\n", "min_scale), -1\n", "runs of steps"),
        ("05-loss-scaler", "init_scale: float = 65536.0", "init_scale: float = 131072.0", "public cases"),
        ("05-loss-scaler", "growth_interval: int = 2000", "growth_interval: int = 2001", "public cases"),
    ],
)
def test_a_wrong_default_or_count_is_found_where_it_belongs(identifier, old, new, group, keys):
    """Kills: a hint about floats of 32 bits for a wrong default, one about bad input or loading for another."""
    for mark in marks(identifier, keys, (old, new)):
        assert group in lost(mark)
        assert "bad input" not in lost(mark)
        assert group != "public cases" or not any("load" in sentence for sentence in mark.hidden)


FLAGSHIPS = ("05-zero-memory", "05-dynamic-loss-scale", "05-loss-scaler", "cap-optimal-checkpoint-interval")


@pytest.mark.parametrize("identifier", FLAGSHIPS)
def test_a_program_that_refuses_nothing_loses_that_group_alone(identifier):
    """Kills a bank whose slips explain every failure: none of them is what happened here."""
    item = bank.find(identifier)
    source = inspect.getsource(sys.modules[item.solution().__module__])
    program = edits.load(re.sub(r"raise ValueError\(.*\)", "pass", source), item.solution())
    mark = handed_in.marked(item, program)
    assert lost(mark) == {"public cases", "bad input"}
    assert len(mark.hidden) == 1
    assert mark.hidden[0].startswith("Bad input must raise ValueError")
