"""Chapters 12 to 14: what a learner is told about wrong programs, and that it is true of them."""

from __future__ import annotations

import functools

import pytest

from autograder import bank
from autograder.bank.refusals import UNCHECKED
from autograder.items import edits
from autograder.marking import judge, trusted
from autograder.marking.marks import Mark
from autograder.marking.papers import Paper
from autograder.running.exam import Exam

_FACTOR = ("values.masked_fill(~real, 0).sum()", "(values * real).sum()")
_MASKED = "    values, old_values, returns = (given.masked_fill(~real, 0) for given in (values, old_values, returns))\n"
_UNMASKED = (_MASKED, "")


@functools.cache
def paper(identifier: str) -> Paper:
    return Exam([bank.find(identifier)], b"key 0").paper(bank.find(identifier))


def marked(identifier: str, program) -> Mark:
    """The mark of a program of ours."""
    asked = paper(identifier)
    return judge.mark(asked, trusted.run(asked.item, program, asked.cases, 5.0))


def edited(identifier: str, *changes: tuple[str, str]):
    return edits.edited(bank.find(identifier).solution(), changes)


@pytest.mark.parametrize(
    ("identifier", "check"),
    [
        ("12-policy-value", "    _check_finite(rewards=rewards)\n"),
        ("13-estimator-moments", '    _check_distribution("p", p)\n'),
        ("13-role-bytes", "        _check_amount(name, value)\n"),
        ("14-best-placement", "    _check_counts(gpus=gpus, rollout_tp=rollout_tp)\n"),
        ("14-best-placement", "    _check_not_negative(train_bytes=train_bytes, rollout_bytes=rollout_bytes)\n"),
        (
            "14-memory-timeline",
            '    _check_not_negative(**{f"sizes[{name!r}]": size for name, size in sizes.items()})\n',
        ),
        ("14-simulate-async", "    _check_not_negative(train_time=train_time, sync_time=sync_time)\n"),
    ],
)
def test_a_program_that_lacks_one_check_is_not_said_to_lack_all(identifier, check):
    """Kills: a list of what a program without any check accepts, told of one that refuses most of it."""
    mark = marked(identifier, edited(identifier, (check, "        pass\n" if check.startswith("        ") else "")))
    assert mark.state == "partly"
    assert mark.slip == ""
    assert UNCHECKED not in mark.hidden
    assert {share.name for share in mark.shares if share.passed < share.total} <= {"bad input", "public cases"}


def test_buckets_of_a_size_that_is_no_count_are_not_buckets_of_any_size():
    """Kills: what is said of a program without a check, said of one that refuses 0 and below."""
    counts = "not isinstance(bucket_bytes, int) or isinstance(bucket_bytes, bool) or bucket_bytes < 1"
    mark = marked("14-push-weights", edited("14-push-weights", (counts, "bucket_bytes <= 0")))
    assert mark.state == "partly"
    assert mark.slip == ""
    assert UNCHECKED not in mark.hidden


@pytest.mark.parametrize(
    ("identifier", "changes", "slip"),
    [
        (
            "13-policy-loss",
            (("torch.where(gains < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1))", "log_ratio"),),
            "Where a ratio overflows",
        ),
        (
            "13-token-rewards",
            (("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real"),),
            "The mask is a factor",
        ),
        (
            "13-masked-whiten",
            (
                ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
                (").masked_fill(~real, 0)\n    return centred", ") * real\n    return centred"),
            ),
            "The mask is a factor",
        ),
        ("13-value-loss", (_UNMASKED, _FACTOR), "The mask is a factor"),
        ("14-best-placement", (("min(found,", "min(found[::-1],"),), "Of equally fast placements"),
    ],
)
def test_a_slip_is_named_where_it_was_made(identifier, changes, slip):
    assert slip in marked(identifier, edited(identifier, *changes)).slip
