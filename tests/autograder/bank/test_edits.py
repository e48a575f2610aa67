"""Programs as edits: what they name must be there once, and the rest of the program stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Slip, edits
from autograder.items.edits import DoesNotApply, edited
from autograder.maintenance import verifying
from autograder.running.exam import Exam
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch05.zero import zero_memory

GB = 10**9


def test_an_edit_changes_the_program_and_leaves_the_reference():
    twice = edited(zero_memory, [("weight_bytes / (ranks if stage >= 3", "weight_bytes / (ranks if stage >= 2")])
    assert twice(8.0, 2, 4) < zero_memory(8.0, 2, 4)
    assert twice(8.0, 3, 4) == zero_memory(8.0, 3, 4)
    assert twice.__name__ == "zero_memory"


def test_an_edit_may_be_in_a_helper_and_several_go_together():
    source = (
        "def _half(x):\n    return x / 2\n\ndef f(x):\n    return _half(x) + 1\n\ndef other(x):\n    return x / 2\n"
    )
    changed = edits.changed(source, "f", [("x / 2", "x / 4"), ("+ 1", "+ 3")])
    assert changed == source.replace("x / 2", "x / 4", 1).replace("+ 1", "+ 3")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (("no such text", ""), "occurs not at all"),
        (("ranks", "n"), "occurs"),
        (("def zero_memory", "def zero_traffic"), "occurs not at all"),
    ],
)
def test_text_that_does_not_occur_once_is_named(edit, words):
    with pytest.raises(DoesNotApply, match=words) as refusal:
        edited(ring_all_reduce_time, [edit])
    assert repr(edit[0]) in str(refusal.value)
    assert "ring_all_reduce_time" in str(refusal.value)


def test_edits_that_overlap_are_refused():
    source = "def f(x):\n    return x + 1\n"
    with pytest.raises(DoesNotApply, match="overlap"):
        edits.changed(source, "f", [("x + 1", "x"), ("+ 1", "+ 2")])


def test_an_edited_program_keeps_its_imports_and_its_dataclasses():
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom .zero import state_bytes\n\n"
        "@dataclass(frozen=True)\nclass zero_memory:\n    kind: str = 'bf16'\n\n"
        "    def bytes(self):\n        return state_bytes(self.kind)\n"
    )
    made = edits.load(edits.changed(source, "zero_memory", [("'bf16'", "'fp32'")]), zero_memory)
    assert made().bytes() == (4.0, 4.0, 8.0)


# Slips.


MEMORY = bank.find_function("zero_memory")
LATE = Slip("One stage late.", edits=(("stage >= 3", "stage > 3"), ("stage >= 2", "stage > 2")))


def test_a_slip_is_the_edited_reference_and_is_made_once():
    program = MEMORY.program_of(LATE)
    assert program(8.0, 3, 4) == zero_memory(8.0, 2, 4)
    assert MEMORY.program_of(LATE) is program
    names: dict = {}
    exec(MEMORY.source_of(LATE), names)
    assert names["zero_memory"](8.0, 3, 4) == program(8.0, 3, 4)


@pytest.mark.parametrize("ask", [MEMORY.program_of, MEMORY.source_of])
def test_an_edit_that_does_not_fit_is_named_with_item_and_sentence(ask):
    with pytest.raises(DoesNotApply) as refusal:
        ask(Slip("Stages add up.", edit=("stage == 3", "stage >= 3")))
    assert all(words in str(refusal.value) for words in ("05-zero-memory", "Stages add up.", "'stage == 3'"))


def test_an_edit_that_does_not_fit_is_a_fault_of_the_bank():
    item = replace(MEMORY, slips=(Slip("Stages add up.", edit=("stage == 3", "stage >= 3")),))
    with Exam([item], b"key") as exam:
        (sentence,) = verifying.slips(exam, item)
    assert sentence.startswith("05-zero-memory, 'Stages add up.'")


@pytest.mark.proof(part="systems")
def test_a_wrong_program_of_a_world_may_be_an_edit():
    """Kills: an edited reference that finds nothing of its package in the processes of the grader."""
    item = bank.find_function("parallel_attention")
    slip = Slip("No sum backward.", edit=("    x = copy_to_ranks(x, group)\n", ""))
    with Exam([replace(item, slips=(slip,), cases=item.cases[:1], groups=())], b"key") as exam:
        paper = exam.paper(exam.items[0])
        assert paper.slip_outcome(slip, 0).kind == "value"


def another_way(values):
    total = 0
    for value in values:
        total += value
    return total


def test_a_slip_may_edit_another_program_than_the_reference():
    """Its source is complete in itself, under the base's name."""
    slip = Slip("The last value is missing.", program=another_way, edit=("in values:", "in values[:-1]:"))
    assert MEMORY.program_of(slip)([1, 2, 3]) == 3
    assert another_way([1, 2, 3]) == 6
    namespace: dict = {}
    exec(MEMORY.source_of(slip), namespace)
    assert namespace["another_way"]([1, 2, 3]) == 3
    assert slip.name == slip.sentence
