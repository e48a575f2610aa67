"""What the rule of the course excludes is refused by the references, with the name of the argument."""

from __future__ import annotations

import inspect
import math

import pytest
import torch

from autograder import bank
from rankzero.facts.models import LLAMA3_8B

NAN, INF = math.nan, math.inf
COUNTS = (True, 2.5, 0)

#: An exercise, good arguments, and bad ones to put in the place of one of them.
REFUSED = [
    ("07-bubble-fraction", (4, 8, 2), dict.fromkeys(range(3), COUNTS)),
    ("07-bubble-overhead", (4, 8, 2), dict.fromkeys(range(3), COUNTS)),
    ("07-debug-fraction", (4, 8, 2), dict.fromkeys(range(3), COUNTS)),
    ("07-debug-impossible", (70e9, 80e9), dict.fromkeys(range(2), (NAN, INF, 0.0, -1.0))),
    ("07-debug-validate", (16, 2, 2, 2, 2), dict.fromkeys(range(5), (True, 2.0, 0))),
    ("07-pipeline-schedule", ("1f1b", 4, 8, 1), {3: COUNTS}),
    ("07-pipeline-schedule", ("interleaved", 4, 8, 2), {3: COUNTS}),
    ("10-token-budget-scheduler", (8, 2, 8, 4), {"max_tokens": (True, 8.0, 2.5), "max_chunk": (True, 8.0, 2.5)}),
    ("10-future-map", (8,), {"max_running": (True, 8.0, 2.5)}),
    ("10-graph-runner", (torch.tanh, [2], 3), {"width": (True, 8.0, 2.5)}),
    ("11-expected-tokens", (0.5, 2), {"draft_length": (True, 2.0)}),
    ("11-speculative-speedup", (0.5, 2, 0.1), {"draft_cost": (INF,), "verify_cost": (INF,)}),
    ("11-optimal-draft-length", (0.5, 0.1), {"draft_cost": (INF,), "max_length": (True,)}),
    ("cap-memory-per-stage", (LLAMA3_8B, [16, 16], 1, 1, 1, 1, 4096), {1: ([16.0, 16], [True, 31], [33, -1], [])}),
]


@pytest.mark.parametrize(("identifier", "good", "bad"), REFUSED)
def test_one_bad_argument_is_refused_by_name(identifier, good, bad):
    program = bank.find(identifier).solution()
    names = list(inspect.signature(program).parameters)
    arguments = dict(zip(names, good, strict=False))
    for place, values in bad.items():
        name = names[place] if isinstance(place, int) else place
        for value in values:
            with pytest.raises(ValueError, match=f"{name} must"):
                program(**arguments | {name: value})
