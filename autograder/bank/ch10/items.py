"""Chapter 10, scheduling and CUDA graphs: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch10 import budget_questions, futures, launch_questions, repairs, runners, scheduler, sizes, times
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 10.10 comes after 10.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*launch_questions.ITEMS, *budget_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *times.ITEMS,
    *sizes.ITEMS,
    *runners.ITEMS,
    *futures.ITEMS,
    *scheduler.ITEMS,
    *repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))
