"""The vocabulary of the bank: questions, exercises, cases, slips. Small, frozen, declarative; standard library only.

A module of :mod:`autograder.bank` holds one exercise or the questions of one section. Importing it is cheap: whatever
needs a reference (an answer, an expected value) is a function that is called on first use and imports the reference
through :func:`lazily`. The bank writes tensors as :class:`Tensor`, so that none of its modules imports torch.
"""

from autograder.items.cases import Case, Group, Raises, Rule, invalid
from autograder.items.designs import Axis, Design, Knob, Simulated
from autograder.items.exercises import Build, Debug, Grade, Item, lazily
from autograder.items.milestones import Arena, Milestone, NoQuestion
from autograder.items.questions import (
    AnyQuestion,
    Choice,
    Estimate,
    Landmark,
    Order,
    Part,
    Question,
    QuestionKind,
)
from autograder.items.systems import Cost, Desk, Kill, Later, Level, LevelCosts, Play, Played, System, Verdict
from autograder.items.tensors import DTYPES, Array, Iterator, Stage, Tensor
from autograder.items.variants import Promise, Right, Slip, Variant

__all__ = [
    "DTYPES",
    "AnyQuestion",
    "Arena",
    "Array",
    "Axis",
    "Build",
    "Case",
    "Choice",
    "Cost",
    "Debug",
    "Design",
    "Desk",
    "Estimate",
    "Grade",
    "Group",
    "Item",
    "Iterator",
    "Kill",
    "Knob",
    "Landmark",
    "Later",
    "Level",
    "LevelCosts",
    "Milestone",
    "NoQuestion",
    "Order",
    "Part",
    "Play",
    "Played",
    "Promise",
    "Question",
    "QuestionKind",
    "Raises",
    "Right",
    "Rule",
    "Simulated",
    "Slip",
    "Stage",
    "System",
    "Tensor",
    "Variant",
    "Verdict",
    "invalid",
    "lazily",
]
