"""Chapter 7: ``debug_impossible``, choosing a layout."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Case, Debug, Group, Promise, Slip
from rankzero.facts.units import GB


def wrong_impossible(parameters, gpu_memory):
    return (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)


def _large(share: float, memory: float) -> Case:
    """A model of which a GPU of TP 8, PP 4 holds ``share`` of its memory in bf16 weights."""
    return Case((share * memory * 16, memory))


def _fits(rng: Random) -> Case:
    return _large(rng.uniform(0.3, 0.95), rng.choice((40, 80, 141)) * GB)


def _too_large(rng: Random, least: float = 1.05) -> Case:
    return _large(least * rng.uniform(1, 1.7), rng.choice((24, 40, 80)) * GB)


def _smaller(rng: Random) -> list[Case]:
    return [
        Case((rng.uniform(1, 9) * 1e9, 80 * GB)),
        Case((rng.uniform(1.2, 1.9) * 4e9, 8 * GB)),
        Case((rng.uniform(45, 90) * 1e9, 80 * GB)),
        Case((rng.uniform(50, 90) * 1e9, 12 * GB)),
        Case((32e9, 8 * GB)),
        *(Case((parameters, 80 * GB)) for parameters in (10e9, 15e9, 100e9, 150e9)),
    ]


EXERCISE = Debug(
    "07 layout.debug_impossible",
    section="7.25",
    topic="choosing a layout",
    bonus=True,
    wrong=wrong_impossible,
    cases=(
        Case((1.7e12, 80 * GB)),
        Case((405e9, 80 * GB)),
        Case((70e9, 80 * GB)),
        Case((7e9, 80 * GB)),
    ),
    groups=(
        Group(
            "large models",
            _fits,
            8,
            "A GPU holds 2 bytes of each parameter of its shard of its stage; None where that is more than its memory.",
            lambda rng: [_too_large(rng, least) for least in (1.05, 1.05, 1.05, 2.2, 2.2)],
        ),
        one_of_each(
            "smaller models",
            _smaller,
            "The check holds for every line of the rule; weights that just fill the memory fit.",
        ),
    ),
    slips=(
        Slip("That is the program as it was: it never asks whether the weights fit.", wrong_impossible),
        Slip(
            "TP was raised beyond the rule, across nodes. Say that the plan is impossible instead.",
            edit=(
                "return (tp, pp) if weights <= gpu_memory else None",
                "while 2 * parameters / (tp * pp) > gpu_memory:\n        tp *= 2\n    return (tp, pp)",
            ),
        ),
        Slip(
            "A GPU holds its share of the weights, not all of them.",
            edit=("2 * parameters / (tp * pp)", "2 * parameters"),
        ),
        Slip("The stages divide the weights as well.", edit=("tp * pp", "tp")),
        Slip("A bf16 weight takes 2 bytes.", edit=("2 * parameters", "parameters")),
        Slip(
            "Training states take 16 bytes, but the question is whether the weights alone fit, at 2 bytes.",
            edit=("weights = 2", "weights = 16"),
        ),
    ),
    promises=(
        Promise("or None when its bf16 weights alone do not fit so", edit=("weights = 2", "weights = 16")),
        Promise(
            "they fit when a GPU's share is at most its memory",
            edit=("weights <= gpu_memory", "weights < gpu_memory"),
        ),
        Promise("(1, 1) below 10 billion parameters", edit=("parameters < 10e9", "parameters <= 10e9")),
        Promise("(8, 1) below 100 billion", edit=("parameters < 100e9", "parameters <= 100e9")),
    ),
)
