"""Cost models beside published figures: every figure of the course has its row, and the rows say what pages say."""

from __future__ import annotations

import ast
import re

import pytest

from experiments import comparisons
from experiments.ch11 import published as speculation
from experiments.comparison import Compared
from rankzero.facts.units import GB, GiB, ms
from tools.common import ROOT, notebooks

EVERY = comparisons.every()
FOUND = {one.model: one for one in EVERY}

#: What stands in a chapter's ``published.py`` and is no figure that a cost model gives, with the reason.
LEFT = {
    "ch03": {
        "COPY": "a rate that a cause cites",
        "RING_BUS": "the bandwidth behind RING_16_GIB",
        "RING_16_GIB": "a row of ROWS",
    },
    "ch06": {"ALL_REDUCE_SIZE": "the size behind ALL_REDUCE_TIME"},
    "ch07": {
        "MEMORY": "memory with the weights, whose layout is not published",
        "LLAMA3_405B": "section 15.3 has the speeds themselves",
    },
    "ch08": {
        "GPT_FAST": "a source, in the rows of DECODING",
        "EAGLE": "a source, in the rows of DECODING",
        "DAY": "figures of one day that fit together; its nodes follow by division",
        "DEEPSEEK": "its source",
        "ORCA": "a ratio between two systems that no model of the course describes",
        "ORCA_SOURCE": "its source",
    },
    "ch09": {
        "MEMORY_USE": "shares that depend on the requests, which are not published",
        "HYBRIDS": "shapes",
        "HIT_RATES": "shares that depend on the requests",
    },
    "ch10": {
        "CHUNK_OVERHEAD": "a limit ('up to') for prompts of unknown length",
        "PAST_A_TILE": "a limit ('in some cases') that the model, which knows no tiles, leaves out",
        "SPLIT": "rates that go into a formula",
        "DISTSERVE": "their source",
        "COMPILED_TIMES": "a rounded figure ('about')",
        "HTTP": "a share that goes into a formula",
        "SCHEDULING": "a share that goes into a formula",
    },
    "ch11": {
        "MTP_SOURCE": "the source of two figures from which a third is solved",
        "MTP_ACCEPTED": "goes into a formula",
        "MTP_SPEEDUP": "solved for the cost of a draft",
        "MASK_SOURCE": "the source of MASK_TIME",
        "MASK_TIME": "goes into a formula",
    },
    "ch12": dict.fromkeys(
        ("INSTRUCT_GPT", "EPISODES", "DEEPSEEK_R1", "DAPO", "LOW", "HIGH", "R1_CLIP", "TRL_PASSES"), "a setting"
    ),
    "ch13": dict.fromkeys(("DAPO", "DAPO_SOURCE", "REPRODUCED_SOURCE"), "a score"),
    "ch14": {
        "NEMO": "solved for what does not scale",
        "RESHARD": "an expected range, which nobody measured",
        "VERL": "seconds by phase of a job whose lengths are not published",
        "VERL_HUNDRED": "two runs of one system",
        "VERL_MINIBATCH": "a setting",
        "ASYNC_TIMES": "a ratio of two runs of one system",
        "DEEPSEEK_EXPERTS": "a size",
        "Measured": "a type",
        "PROXIMAL_MINUTES": "two runs of one system",
        "MISMATCH": "a difference of two programs",
        "AREAL": "a score",
        "SETTINGS": "settings",
    },
}


def constants(folder) -> set[str]:
    """Names that a chapter's module of published figures assigns."""
    tree = ast.parse((folder / "published.py").read_text(encoding="utf-8"))
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def used(folder) -> set[str]:
    """Names of it that the chapter's comparisons read."""
    file = folder / "comparisons.py"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return set(re.findall(r"\bpublished\.(\w+)", text))


@pytest.mark.parametrize("folder", sorted((ROOT / "experiments").glob("ch*/")), ids=lambda folder: folder.name)
def test_every_published_figure_has_its_row(folder):
    """Kills a figure that is added to a chapter and never held against a model."""
    if not (folder / "published.py").exists():
        return
    left = set(LEFT.get(folder.name, ()))
    assert constants(folder) == used(folder) & constants(folder) | left
    assert not used(folder) & left


def test_the_functions_and_sections_are_there():
    text = "".join(path.read_text(encoding="utf-8") for path in notebooks())
    for one in EVERY:
        assert callable(one.call) or not one.function, one.function
        assert f'"## {one.section} ' in text, one.section
        assert one.rows
        assert one.cause.endswith(".")
        assert not one.trust.endswith(".")
        assert all(row.what for row in one.rows)


def test_what_authors_computed_agrees_and_what_they_measured_can_disagree():
    """Kills a table in which nothing could have failed: the same formula agrees, a clock does not always."""
    for one in EVERY:
        if one.kind == "computed":
            assert one.worst.error == pytest.approx(0, abs=0.025), one.model
    assert max(one.median_error for one in EVERY if one.kind == "measured") > 0.5


def test_a_bound_is_a_bound():
    below = ("Least time of an all-reduce", "Time for a GPU to receive", "Time of a product")
    for model, sign in (("Most tokens per second of one user", 1), *((name, -1) for name in below)):
        (one,) = (one for name, one in FOUND.items() if name.startswith(model))
        assert all(sign * row.error > 0 for row in one.rows), model


def test_the_rows_are_those_of_the_pages():
    """By other ways: the ring by hand, and the errors that chapter 11 prints."""
    ring = FOUND["Time of a ring all-reduce inside a node"]
    (eight,) = (row for row in ring.rows if row.what.startswith("8 GPUs, 8 GiB"))
    assert eight.ours == pytest.approx(2 * 7 / 8 * 8 * GiB / (450 * GB) / ms)
    errors = [row.error for row in FOUND["Speed-up of speculative decoding, one sequence"].rows]
    assert errors == pytest.approx(list(speculation.errors().values()))


def test_the_median_is_of_the_sizes():
    """Kills errors of opposite sign that cancel."""
    one = FOUND["Utilization with tensor parallelism over eight GPUs"]
    rows = (Compared("a", 10.0, 9.0), Compared("b", 10.0, 11.0), Compared("c", 10.0, 13.0))
    changed = type(one)(**{**vars(one), "rows": rows})
    assert changed.median_error == pytest.approx(0.1)
    assert changed.worst.what == "c"
