"""Section 10.22, Graphs for answers, overlap for prompts: its question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-one-of-two",
        kind="design",
        title="Graphs or overlap",
        section="10.22",
        bonus=True,
        options=(
            "a graph for answers, overlap for prompts",
            "overlap for both: it hides the CPU's work, whatever that is",
            "a graph for both: launches are most of the CPU's work",
            "overlap for answers, a graph for prompts",
        ),
        correct=0,
        derivation="With answers, the CPU has more to do in a step than the device, and most of it is launching: only "
        "a graph takes that away. With prompts, the device has more to do, launches hide behind its kernels anyway, "
        "and overlap hides the rest.",
        slips={
            1: "Overlap hides the shorter side behind the longer one. With answers, the CPU is the longer one.",
            2: "With prompts, launches hide behind long kernels anyway; scheduling and processing do not.",
            3: "It is the other way round: which side is longer, the CPU's or the device's?",
        },
    ),
)
