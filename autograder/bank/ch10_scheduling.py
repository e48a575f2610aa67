"""Chapter 10, scheduling and CUDA graphs: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch10_budget_questions,
    ch10_futures,
    ch10_launch_questions,
    ch10_repairs,
    ch10_runners,
    ch10_scheduler,
    ch10_sizes,
    ch10_times,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 10.10 comes after 10.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch10_launch_questions.ITEMS, *ch10_budget_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *ch10_times.ITEMS,
    *ch10_sizes.ITEMS,
    *ch10_runners.ITEMS,
    *ch10_futures.ITEMS,
    *ch10_scheduler.ITEMS,
    *ch10_repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))
