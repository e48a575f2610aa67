"""What pages say of other chapters and of libraries, held against the chapters and the libraries themselves."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch

from experiments.ch01.token_budgets import best_split
from experiments.ch05.ddp_buckets import ddp_steps
from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.scaling_laws import BESIROGLU, CHINCHILLA, FITTED_FLOP, GOPHER
from rankzero.facts.units import MiB
from tools.common import pages_of
from tools.prose_numbers import stripped

PAGES = [chapter.number for chapter in CHAPTERS]

#: "the roofline of chapter 8", "batching (chapter 8)", "collectives from chapters 1 to 3".
NEEDS = re.compile(r"(\w+) (?:of|from) chapters? (\d+)|(\w+) \(chapters? (\d+)\)")


@cache
def prose(chapter: int) -> str:
    """The text of a chapter's page and of the one below it, each cell of Markdown in one line."""
    cells = [cell for path in pages_of(CHAPTERS[chapter - 1]) for cell in nbformat.read(path, as_version=4).cells]
    return "\n\n".join(" ".join(stripped(cell.source).split()) for cell in cells if cell.cell_type == "markdown")


def opening(chapter: int) -> str:
    """What a page says before its first section."""
    return re.split(r" ## |\n\n## ", prose(chapter))[0]


#: A link to a file of PyTorch that names something in it: name, commit and path.
TORCH_LINK = re.compile(
    r"\[`[\w.]+`, `(\w+)`\]\(https://github\.com/pytorch/pytorch/blob/([0-9a-f]{40})/torch/([\w/]+\.py)\)"
)


@pytest.mark.parametrize(("chapter", "least"), [(chapter, 2 if chapter == 15 else 0) for chapter in PAGES])
def test_what_a_link_to_pytorch_names_is_in_the_file(chapter, least):
    """Kills: a permalink to a commit whose file has no such function yet."""
    links = TORCH_LINK.findall(prose(chapter))
    assert len(links) >= least
    for name, commit, path in links:
        assert commit == torch.version.git_version, f"{name}: link at the commit that is installed"
        assert re.search(rf"\b{name}\b", (Path(torch.__file__).parent / path).read_text(encoding="utf-8")), name


@pytest.mark.parametrize("chapter", PAGES)
def test_what_a_page_needs_is_where_it_says(chapter):
    """Kills: a page that sends its reader to a chapter for something that is not there."""
    named = [(word or other, int(one or two)) for word, one, other, two in NEEDS.findall(opening(chapter))]
    assert [(word, at) for word, at in named if word.rstrip("s").lower() not in prose(at).lower()] == []


def test_some_pages_name_what_they_need():
    """Otherwise the test above looks at nothing."""
    assert sum(len(NEEDS.findall(opening(chapter))) for chapter in PAGES) >= 15


def test_the_rule_of_20_is_an_extrapolation():
    """Chapters 1 and 15: fitted up to 3e21 FLOP, tested at about 200 times that, and 18.4 there by the refit."""
    assert FITTED_FLOP[0] < FITTED_FLOP[1] < CHINCHILLA.flops / 100
    assert CHINCHILLA.flops == pytest.approx(5.76e23, rel=0.03)
    assert GOPHER.flops / FITTED_FLOP[1] > 100
    parameters, tokens = best_split(BESIROGLU, 5.76e23)
    assert tokens / parameters == pytest.approx(20, rel=0.1)
    assert "$3 \\cdot 10^{21}$ FLOP" in prose(1)
    assert "3e21 FLOP" in prose(15)


def test_the_time_outs_of_process_groups():
    """Chapters 2 and 3: 10 minutes with NCCL alone, else 30, as the installed library says and does."""
    said = " ".join((torch.distributed.init_process_group.__doc__ or "").split())
    assert "Default value is 10 minutes for NCCL and 30 minutes for other backends" in said
    for name in ("gloo", "undefined", "cpu:gloo,cuda:nccl"):  # undefined: a group that names no backend
        default = torch.distributed.distributed_c10d._get_default_timeout(torch.distributed.Backend(name))
        assert default.total_seconds() == 30 * 60, name
    for chapter in (2, 3):
        assert "30 minutes, or 10 if the group's only backend is NCCL" in prose(chapter)


#: Two ranks break the contract of section 3.1 in its three ways, each in a group of its own.
BREACHES = """
import datetime, sys
import torch, torch.distributed as dist, torch.multiprocessing as processes

def operation(rank):
    dist.all_reduce(torch.ones(1)) if rank == 0 else dist.broadcast(torch.ones(1), 0)

def order(rank):
    a, b = torch.tensor([1.0]), torch.tensor([10.0])
    for x in (a, b) if rank == 0 else (b, a):
        dist.all_reduce(x)
    assert a == b == 11

def length(rank):
    dist.all_reduce(torch.ones(4 - 2 * rank))

def run(rank, folder):
    for breach in (operation, order, length):
        store = f"file://{folder}/{breach.__name__}"
        dist.init_process_group("gloo", store, datetime.timedelta(seconds=30), 2, rank)
        try:
            breach(rank)
            end = "unnoticed"
        except RuntimeError as error:
            end = "named" if "Detected mismatch" in str(error) else " ".join(str(error).split())
        with open(f"{folder}/ends-{rank}", "a") as ends:
            print(breach.__name__, end, file=ends)
        dist.destroy_process_group()

if __name__ == "__main__":
    processes.start_processes(run, (sys.argv[1],), 2, start_method="fork")  # torch is imported once
"""


@pytest.mark.proof(part="guides")
def test_a_referee_who_is_asked_for(tmp_path):
    """Chapter 3: with TORCH_DISTRIBUTED_DEBUG=DETAIL the first and the third breach are named, the second is not."""
    (tmp_path / "breaches.py").write_text(BREACHES, encoding="utf-8")
    debug = {**os.environ, "TORCH_DISTRIBUTED_DEBUG": "DETAIL", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    command = [sys.executable, str(tmp_path / "breaches.py"), str(tmp_path)]
    subprocess.run(command, env=debug, capture_output=True, timeout=120, check=True)
    ends = [line for rank in (0, 1) for line in (tmp_path / f"ends-{rank}").read_text("utf-8").splitlines()]
    assert ends.count("order unnoticed") == 2, ends
    assert {"operation named", "length named"} <= set(ends), ends  # one rank may only see that the other has left
    assert not {"operation unnoticed", "length unnoticed"} & set(ends), ends
    assert "`TORCH_DISTRIBUTED_DEBUG=DETAIL`" in prose(3)


def test_a_graph_can_branch_on_the_device():
    """Chapter 10: the installed PyTorch captures ``torch.cond`` as conditional nodes."""
    assert importlib.util.find_spec("torch._higher_order_ops.cudagraph_conditional_nodes") is not None
    assert "No graph can" not in prose(10)
    assert "No CUDA graph can hold" not in prose(10)
    assert "conditional nodes since 12.4" in prose(10)


def test_the_largest_numbers_of_8_bits():
    """Chapter 5: 448 with three bits of mantissa, 57,344 with two."""
    e4m3, e5m2 = torch.finfo(torch.float8_e4m3fn), torch.finfo(torch.float8_e5m2)
    assert [(kind.max, kind.eps) for kind in (e4m3, e5m2)] == [(448, 2**-3), (57_344, 2**-2)]
    assert "E4M3 reaches up to 448 with three bits of mantissa, E5M2 up to 57,344 with two" in prose(5)


def test_buckets_are_ordered_anew_after_the_first_backward_pass():
    """Chapter 5: not before the first step."""
    first, second = (step.buckets for step in ddp_steps(layers=8, layer_bytes=MiB, ranks=2)[:2])
    assert [bucket.size for bucket in first] != [bucket.size for bucket in second]
    assert "After that, DDP rebuilds the buckets in the order in which the gradients became ready" in prose(5)
    assert "before the first step" not in prose(3)


def test_what_is_said_of_later_chapters_and_of_drafts():
    """Chapter 2 sends nobody to a later use of ``ring_shift``; chapter 11 counts EAGLE's passes."""
    told = next(cell for cell in prose(2).split("\n\n") if "**Build** (optional) `ring_shift`" in cell)
    assert re.findall(r"chapters? (\d+)", told) == []
    assert re.search(r"a small head on the target's hidden states that runs \$k\$ times for \$k\$ guesses", prose(11))
