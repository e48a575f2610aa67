"""What is said of a case is what happened: a world that stood still, changed arguments, a value that is None."""

from __future__ import annotations

import pytest

from autograder.items import Build, Case, Group, Slip
from autograder.marking import compare, sentences
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Asked, Paper

#: The broker's own sentences.
STUCK = {
    "deadlock: rank 0 waits in recv(src=1); rank 1 waits in recv(src=0)": "deadlock: the ranks wait for each other",
    "deadlock: rank 0 waits in recv(src=1); rank 1 has finished": "a rank waits, and another has finished",
    "deadlock: rank 0 raised; rank 1 waits in all_reduce": "a rank waits, and another raised an exception",
    "rank 1 never waited for irecv(src=0) at line 9": "a rank never waited for an operation that it had begun",
    "the message of rank 0 in isend(dst=1) was never received": "a message was never received",
    "rank 2 calls all_reduce, and not every rank of its group does": "not every rank of a group called its collective",
    "rank 0 gives 8 bytes to send(dst=1), rank 1 takes 4 bytes in recv(src=0)": "the calls of the ranks do not fit",
    "": "deadlock: the ranks wait for each other",
}


@pytest.mark.parametrize("detail", STUCK)
def test_why_a_world_stood_still(detail):
    """Kills: "the ranks wait for each other" for a handle that nobody waits for."""
    outcome = Outcome("deadlock", detail=detail)
    assert STUCK[detail] in compare.failure(outcome)
    assert STUCK[detail] in sentences._remark(Outcome("value", 1), outcome, "")
    assert not any(digit in compare.failure(outcome) for digit in "0123456789")


def reference(sizes):
    return max(sizes) if sizes else None


def item(**changes) -> Build:
    slip = Slip("Never.", program=lambda sizes: -1)
    group = Group("lists", lambda rng: Case(([1],)), 1, "The largest of the list.")
    facts = {"header": "02 x.reference", "cases": (), "groups": (group,)}
    return Build(**facts | {"slips": (slip,), "section": "2.1", "topic": "x"} | changes)  # type: ignore[arg-type]


def paper(*expected) -> Paper:
    made = item()
    cases = [Case(([place],)) for place in range(len(expected))]
    asked = tuple(Asked(case, made.groups[0], Outcome("value", one)) for case, one in zip(cases, expected, strict=True))
    return Paper(made, asked, (), moved=lambda: [() for _ in asked])


def test_print_is_asked_for_only_where_none_is_no_answer():
    nothing = Outcome("value", None, arguments=([0],))
    assert paper(3).fault(0, nothing) == "returned None where there is an answer; did you print instead of return?"
    assert paper(3, None).fault(0, nothing) == "returned None where there is an answer"


@pytest.mark.parametrize("expected", [(3, None), (3, 4)])
def test_none_for_a_hidden_case_is_told(expected):
    made = paper(*expected)
    outcomes = [Outcome("value", None, arguments=([place],)) for place in range(2)]
    _, said = sentences.hidden_sentences(made, outcomes, [made.fault(place, outcomes[place]) for place in range(2)])
    assert said[0].startswith("The largest of the list. (returned None where there is an answer")


def test_changed_arguments_of_a_hidden_case_are_told():
    """Kills: 0 of 4 with every value right, and a hint about values."""
    made = paper(3, 4)
    outcomes = [Outcome("value", value, arguments=([place + 7],)) for place, value in enumerate((3, 4))]
    faults = [made.fault(place, one) for place, one in enumerate(outcomes)]
    _, said = sentences.hidden_sentences(made, outcomes, faults)
    assert said == ["The largest of the list. (changed its arguments; leave them as they are)"]
