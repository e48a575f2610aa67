"""The 1F1B loop that can be read in the page, and the exchange of rows: run here as they are printed there."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
import torch
import torch.distributed as dist

from experiments.ch07 import pipeline_runs, routing_steps
from experiments.ch07.pipeline_runs import my_part, uncut_run
from rankzero import world
from tools.common import BOOK


def printed(*names: str) -> dict[str, Any]:
    """What the named cells of the page define."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(BOOK / "07-pipeline-expert.ipynb", 4).cells}
    found: dict[str, Any] = {"torch": torch, "dist": dist, "pipeline_runs": pipeline_runs}
    for name in names:
        exec(cells[name], found)
    return found


def run_loop(step, microbatches: int) -> dict[str, torch.Tensor]:
    part = my_part(microbatches)
    step(part)
    assert part.held == {}
    assert len(part.sending) == microbatches * ((part.rank < part.last) + (part.rank > 0))
    return {name: p.grad for name, p in part.stage.named_parameters()}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [1, 4])
def test_the_loop_of_the_page_computes_what_the_uncut_model_does(ranks):
    """Bit for bit, against plain accumulation; every message sent, nothing kept."""
    step = printed("loop-forward", "loop-backward", "loop-schedule")["one_f_one_b_step"]
    values = world.run(run_loop, step, 3, ranks=ranks).values
    cut = {name: gradient for part in values for name, gradient in part.items()}
    expected = uncut_run(microbatches=3).gradients
    assert cut.keys() == expected.keys()
    assert all(torch.equal(cut[name], expected[name]) for name in cut)


def two_tokens(layer) -> list[float]:
    rank = dist.get_rank()
    mine = torch.tensor([routing_steps.chosen(token) for token in (2 * rank, 2 * rank + 1)])
    x = torch.tensor([[2.0 * rank], [2.0 * rank + 1]])
    return layer(x, mine, lambda rows: rows + 100 * rank).flatten().tolist()


def test_the_exchange_of_the_page_brings_each_row_to_its_expert_and_back():
    layer = printed("exchange-program")["expert_layer"]
    values = [value for part in world.run(two_tokens, layer, ranks=3).values for value in part]
    assert values == [token + 100 * routing_steps.chosen(token) for token in range(6)]
