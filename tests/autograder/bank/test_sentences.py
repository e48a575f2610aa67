"""What a learner is told about wrong programs, and that it is true of them. Each is the reference with an edit."""

from __future__ import annotations

import pytest

from autograder import bank
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


AFTER = '        if self.finished:\n            raise RuntimeError("the text is finished: no token may follow")\n'
EAGERLY = "            with torch.no_grad():\n                return self._model(x)\n"
KNOWN = "if any(request == other.name for other in (*self._waiting, *self._running)):"
MASKED = "    values, old_values, returns = (given.masked_fill(~real, 0) for given in (values, old_values, returns))\n"
FACTOR = ("values.masked_fill(~real, 0).sum()", "(values * real).sum()")

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
        [(' | _ANNOTATIONS | {"type"}', ' | {"type"}')],
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
    ("10-token-budget-scheduler", [(KNOWN, "if False:")], "a name that is taken"),
    ("11-speculative-step", [("if uniforms[place] * q >= p:", "if uniforms[place] * q > p:")], "u q = p does not"),
    ("11-constraint-state", [("        if count:\n", "        if True:\n")], "A rollback of 0 changes nothing"),
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


@KEYS
def test_states_that_fit_but_for_rounding_fit(keys):
    for mark in marks("05-min-ranks", keys, ("_SLACK = 1e-12", "_SLACK = 0.0")):
        assert mark.state != "right"
        assert mark.slip == ""


@KEYS
@pytest.mark.parametrize(
    ("identifier", "old", "new", "group"),
    [
        ("05-dynamic-loss-scale", "init_scale: float = 65536.0", "init_scale: float = 131072.0", "runs of steps"),
        ("05-dynamic-loss-scale", "scale / 2, 0\n", "scale / 2, -1\n", "runs of steps"),
        ("05-loss-scaler", "init_scale: float = 65536.0", "init_scale: float = 131072.0", "public cases"),
        ("05-loss-scaler", "growth_interval: int = 2000", "growth_interval: int = 2001", "public cases"),
    ],
)
def test_a_wrong_default_or_count_is_found_where_it_belongs(identifier, old, new, group, keys):
    """Kills: a hint about floats of 32 bits for a wrong default, one about loading for another."""
    for mark in marks(identifier, keys, (old, new)):
        assert group in lost(mark)
        assert group != "public cases" or not any("load" in sentence for sentence in mark.hidden)
