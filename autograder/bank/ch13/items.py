"""Chapter 13, the RLHF computation: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch13 import kl, memory, tensors
from autograder.bank.ch13.questions import ESTIMATORS, MEMORY, PLACEMENTS, WHO
from autograder.bank.ch13.run_questions import RUN_QUESTIONS
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 13.10 comes after 13.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*WHO, *ESTIMATORS, *PLACEMENTS, *MEMORY, *RUN_QUESTIONS)
EXERCISES: tuple[Item, ...] = (*kl.ITEMS, *memory.ITEMS)

TENSORS: tuple[Item, ...] = tuple(item for item in tensors.ITEMS if item not in tensors.CLOSING)

ITEMS: tuple[Item, ...] = tuple(sorted((*TENSORS, *QUESTIONS, *EXERCISES, *tensors.CLOSING), key=_place))
