"""Why this course and not another one: what it has, each with the place to try it, and its neighbours."""

from __future__ import annotations

from autograder import bank
from experiments.corrections import every
from rankzero.facts.ideas import named
from tools.install_cells import address

from .markup import address as section_address
from .teaching import graded_levels

#: Neighbours and where they are, with what they are best at and what they ask of a reader; read in November 2026, of
#: the assignment and of Machine Learning Engineering the README.
NEIGHBOURS = {
    "How to Scale Your Model": (
        "https://jax-ml.github.io/scaling-book/",
        "the arithmetic of TPUs and GPUs, with problems whose answers unfold",
    ),
    "Stanford CS336, assignment 2": (
        "https://github.com/stanford-cs336/assignment2-systems",
        "attention kernels in Triton and sharded training from an empty folder, for those who have the GPUs",
    ),
    "LLM Training Puzzles": (
        "https://github.com/srush/LLM-Training-Puzzles",
        "eight training schedules to write, on simulated GPUs that draw what you did",
    ),
    "Machine Learning Engineering": (
        "https://github.com/stas00/ml-engineering",
        "what somebody learned who ran large trainings: debugging, networks, precision, SLURM",
    ),
}


def _section(idea: str, text: str) -> str:
    return f'<a href="{section_address(named(idea).section)}">{text}</a>'


def text() -> str:
    """What the course has, and its neighbours, in Markdown."""
    builds = bank.builds()
    slips = sum(len(item.slips) for item in builds)
    questions = len(bank.items()) - len(builds)
    levels = sum(map(graded_levels, bank.systems()))
    results = f"{address()}/blob/main/RESULTS.md"
    neighbours = "".join(f"- [{name}]({where}): {best}.\n" for name, (where, best) in NEIGHBOURS.items())
    return (
        "- **Ranks run where you read.** Up to four start in the page, wait for each other, and every byte they send is"
        " counted. A program that hangs ends with the lines in which its ranks wait: break the one above, or go to"
        f" {_section('deadlock', 'deadlock')}.\n"
        f"- **You commit before you see.** There are {questions:,} questions, and what a run prints after one stays"
        " covered until you answer or ask to see it.\n"
        f"- **A mistake has a name.** There are {len(builds)} functions to write or repair, and the grader knows"
        f" {slips:,} wrong versions of them. If yours is one, it says which, and where to read.\n"
        "- **Whole systems are graded.** A trainer, an inference server, an RLHF loop and a run that survives being"
        f" killed, each from an empty stub, on {levels} levels. Bytes, memory and time stand beside the least possible"
        " or the reference's.\n"
        f"- **Figures are held against others.** Cost models stand [beside published measurements]({results}), and a"
        f" page lists [{len(every())} numbers on which sources disagree](reference/numbers-that-disagree.md).\n"
        "- **Nothing to rent.** No GPU, no account; on a hosted copy, pages that you have opened work without a"
        " network.\n"
        "\n"
        "Read its neighbours too, which are better at other things:\n"
        "\n"
        f"{neighbours}"
        "\n"
        "As we have read them, none of the four runs communicating processes in the page, and none covers a result"
        " until you predict it.\n"
    )
